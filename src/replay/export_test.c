/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "replay/export_test.h"

#include "base/assert.h"
#include "base/shared_object_path.h"
#include "replay/replay.h"
#include "scenario/loaded_properties.h"

#include <lockstep/replay.h>
#include <stdlib.h>
#include <string.h>

#define FOUND_LINE 6
#define FOUND_COLUMN 7
#define SCENARIO_LINE 7

struct export
{
    const struct trace *trace;
    const char *name; /* name of the C file */
    char **line;      /* lines of the scenario, NULL behind the last; owned */
    const char **label;
    const struct property *property[CHECK_PROPERTIES_MAX];
    struct ls_replay_result result[CHECK_PROPERTIES_MAX];
    int properties;
    FILE *out;
};

/* ---- what the trace holds ---- */

static int no_memory(const struct trace *trace, struct input_error *error)
{
    return input_complain_words(error, trace->input.name, 1, 1, "'out of memory'", "memory");
}

static int split_scenario(struct export *e, struct input_error *error)
{
    const char *text = e->trace->text, *end = text + e->trace->text_size;
    size_t lines = 0;
    for (const char *at = text; at < end; at++) {
        lines += *at == '\n' || at + 1 == end;
    }
    e->line = calloc(lines + 1, sizeof *e->line);
    for (size_t i = 0; e->line && i < lines; i++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        e->line[i] = strndup(text, (size_t)((stop ? stop : end) - text));
        if (!e->line[i]) {
            return no_memory(e->trace, error);
        }
        text = stop ? stop + 1 : end;
    }
    return e->line ? 0 : no_memory(e->trace, error);
}

static int list_labels(struct export *e, struct input_error *error)
{
    e->label = calloc((size_t)e->trace->choices + 1, sizeof *e->label);
    for (int i = 0; e->label && i < e->trace->choices; i++) {
        e->label[i] = e->trace->choice[i].label;
    }
    return e->label ? 0 : no_memory(e->trace, error);
}

/* Lists the properties of the trace's line `found`. Its words `difference` and `limit` name none. */
static int list_properties(struct export *e, struct input_error *error)
{
    const char *at = e->trace->found;
    while (*at) {
        char word[TRACE_WORD_MAX];
        size_t size = strcspn(at, " ");
        snprintf(word, sizeof word, "%.*s", (int)size, at);
        const struct property *property = size < sizeof word ? check_find(word) : NULL;
        if (property && e->properties < CHECK_PROPERTIES_MAX) {
            e->property[e->properties++] = property;
        }
        at += size;
        at += strspn(at, " ");
    }
    return e->properties > 0
               ? 0
               : input_complain(error, e->trace->input.name, FOUND_LINE, FOUND_COLUMN, e->trace->found,
                                strlen(e->trace->found), "names of properties that the trace violates");
}

/* ---- the proof ---- */

/* Does the run of the test for one property, and complains if the test would not fail now. */
static int prove(struct export *e, const struct run_setup *setup, int index, struct input_error *error)
{
    LS_ASSERT(index >= 0 && index < e->properties);
    static const char *const SEEDED[] = {
        [TRACE_SEED_NONE] = NULL, [TRACE_SEED_GIVEN] = "given", [TRACE_SEED_SWEPT] = "swept"};
    struct ls_replay_result *result = &e->result[index];
    struct ls_replay replay = {.recipe = setup->recipe,
                               .property = e->property[index]->name,
                               .scenario = (const char *const *)e->line,
                               .choices = e->label,
                               .schedule = e->trace->schedule,
                               .seed = e->trace->seed,
                               .seeded = SEEDED[e->trace->seeded],
                               .without = e->trace->without};
    char expected[160];
    if (ls_replay_run(&replay, result) != 0) {
        result->text[strcspn(result->text, "\n")] = 0;
        return input_complain_words(error, e->trace->input.name, 1, 1, result->text,
                                    "a run that can be done again");
    }
    if (result->verdict == LS_REPLAY_VIOLATED && result->fits == result->choices) {
        return 0;
    }
    snprintf(expected, sizeof expected, "a run that violates %s and fits to its end (see lockstep replay)",
             replay.property);
    return input_complain_words(error, e->trace->input.name, FOUND_LINE, FOUND_COLUMN, "another", expected);
}

/* The test is linked with liblockstep_sim, which has worlds of ZooKeeper alone. */
static int check_coordinator(const struct export *e, const struct scenario *scenario,
                             struct input_error *error)
{
    const char *coordinator = scenario->options.coordinator;
    return coordinator == NULL || strcmp(coordinator, "zookeeper") == 0
               ? 0
               : input_complain_words(error, e->trace->input.name, SCENARIO_LINE, 1, coordinator,
                                      "a scenario of zookeeper (liblockstep_sim has no other worlds)");
}

static int prove_all(struct export *e, struct input_error *error)
{
    struct scenario scenario;
    struct run_setup setup;
    if (replay_setup(e->trace, &scenario, &setup, error) != 0) {
        return -1;
    }
    int foreign = check_coordinator(e, &scenario, error);
    scenario_close(&scenario);
    if (foreign != 0) {
        return -1;
    }
    for (int i = 0; i < e->properties; i++) {
        if (prove(e, &setup, i, error) != 0) {
            return -1;
        }
    }
    return 0;
}

/* ---- writing C ---- */

/* Writes a string literal for any compiler: without trigraphs and bytes beyond ASCII. */
static void put_literal(FILE *out, const char *text)
{
    fputc('"', out);
    for (const char *at = text; *at; at++) {
        unsigned char c = (unsigned char)*at;
        if (c == '"' || c == '\\' || (c == '?' && at > text && at[-1] == '?')) {
            fprintf(out, "\\%c", c);
        } else if (c < 0x20 || c > 0x7e) {
            fprintf(out, "\\%03o", c);
        } else {
            fputc(c, out);
        }
    }
    fputc('"', out);
}

/* Writes text into a comment. Characters that could end the comment or begin another, backslashes, and all
 * but printable ASCII become dots. */
static void put_comment(FILE *out, const char *text)
{
    for (const char *at = text; *at; at++) {
        unsigned char c = (unsigned char)*at;
        bool marks = c == '*' || (c == '/' && at[1] == '*');
        fputc(c < 0x20 || c > 0x7e || c == '\\' || marks ? '.' : c, out);
    }
}

static void put_lines(FILE *out, const char *name, const char *const *line)
{
    fprintf(out, "static const char *const %s[] = {\n", name);
    for (int i = 0; line[i]; i++) {
        fputs("    ", out);
        put_literal(out, line[i]);
        fputs(",\n", out);
    }
    fputs("    NULL,\n};\n", out);
}

static void put_head(const struct export *e)
{
    fputs("/* A regression test: a run that breaks a promise of a lock recipe, step by step.\n *\n", e->out);
    for (int i = 0; i < e->properties; i++) {
        const struct ls_replay_result *result = &e->result[i];
        fprintf(e->out, " *   %s: ", result->property);
        put_comment(e->out, result->promise);
        fprintf(e->out, "\n *     in this run, at step %llu of %llu: ", (unsigned long long)result->step,
                (unsigned long long)result->steps);
        const char *why = strstr(result->text, ": ");
        char line[CHECK_WHY_MAX + 1];
        snprintf(line, sizeof line, "%.*s", (int)strcspn(why ? why + 2 : "", "\n"), why ? why + 2 : "");
        put_comment(e->out, line);
        fputc('\n', e->out);
    }
    fputs(" *\n * `lockstep export` (lockstep ", e->out);
    put_comment(e->out, e->trace->tool);
    fputs(") wrote it from a run of the recipe ", e->out);
    put_comment(e->out, e->trace->recipe);
    fputs(" in the scenario\n * ", e->out);
    put_comment(e->out, e->trace->name);
    fputs(". It fails for as long as the recipe under test breaks the promise in this run. A mended recipe\n"
          " * acts otherwise from some choice on; what is possible of the rest is done all the same, and the "
          "end is judged.\n"
          " * The file is yours to keep and to change.\n *\n",
          e->out);
}

/* Returns whether the recipe comes from a shared object. Then the test is linked with the recipe's source. */
static bool is_loaded(const struct export *e)
{
    return shared_is_path(e->trace->recipe);
}

/* Writes the last part of a path, without `suffix`. */
static void put_base(const struct export *e, const char *path, const char *suffix)
{
    char base[256];
    const char *slash = strrchr(path, '/');
    snprintf(base, sizeof base, "%s", slash ? slash + 1 : path);
    size_t size = strlen(base), end = strlen(suffix);
    if (size > end && strcmp(base + size - end, suffix) == 0) {
        base[size - end] = 0;
    }
    put_comment(e->out, base);
}

static void put_sources(const struct export *e)
{
    put_base(e, e->name, "");
    fputc(' ', e->out);
    put_base(e, is_loaded(e) ? e->trace->recipe : "my_recipe", ".so");
    fputs(".c", e->out);
}

static void put_build_by_hand(const struct export *e)
{
    if (is_loaded(e)) {
        fputs(
            " * To build it with the source of the recipe, which ends with LS_RECIPE_MODULE(), and run it:\n"
            " *   cc -std=c11 ",
            e->out);
    } else {
        fputs(" * To build it with your recipe, a `const struct ls_recipe my_recipe` in my_recipe.c, and run "
              "it:\n"
              " *   cc -std=c11 -DRECIPE_OBJECT=my_recipe ",
              e->out);
    }
    put_sources(e);
    fputs(" \\\n"
          " *       $(pkg-config --cflags --libs lockstep-sim) -lcmocka -o regression && ./regression\n",
          e->out);
    if (!is_loaded(e)) {
        fputs(" * With a built-in recipe: -DRECIPE='\"mutex\"' in place of -DRECIPE_OBJECT=my_recipe and "
              "my_recipe.c.\n",
              e->out);
    }
}

static void put_build(const struct export *e)
{
    put_build_by_hand(e);
    fputs(" *\n"
          " * With CMake:\n"
          " *   find_package(lockstep REQUIRED)\n"
          " *   find_library(CMOCKA cmocka REQUIRED)\n"
          " *   add_executable(regression ",
          e->out);
    put_sources(e);
    fputs(")\n", e->out);
    if (!is_loaded(e)) {
        fputs(" *   target_compile_definitions(regression PRIVATE RECIPE_OBJECT=my_recipe)\n", e->out);
    }
    fputs(" *   target_link_libraries(regression PRIVATE lockstep::sim ${CMOCKA})\n"
          " *   add_test(NAME regression COMMAND regression) */\n",
          e->out);
}

static void put_recipe(const struct export *e)
{
    fputs("#include <lockstep/replay.h>\n"
          "\n"
          "#include <setjmp.h>\n"
          "#include <stdarg.h>\n"
          "#include <stddef.h>\n"
          "#include <stdint.h>\n"
          "\n"
          "#include <cmocka.h>\n"
          "\n"
          "/* The recipe under test. */\n",
          e->out);
    if (is_loaded(e)) {
        fputs("extern const struct ls_recipe_module ls_recipe_module;\n"
              "#define THE_RECIPE (ls_recipe_module.recipe)\n\n",
              e->out);
        return;
    }
    fputs("#ifdef RECIPE_OBJECT\n"
          "extern const struct ls_recipe RECIPE_OBJECT;\n"
          "#define THE_RECIPE (&RECIPE_OBJECT)\n"
          "#else\n"
          "#ifndef RECIPE\n"
          "#define RECIPE ",
          e->out);
    put_literal(e->out, e->trace->recipe);
    fputs("\n"
          "#endif\n"
          "#define THE_RECIPE ls_recipe_find(RECIPE)\n"
          "#endif\n\n",
          e->out);
}

static void put_replay(const struct export *e)
{
    static const char *const SEEDED[] = {[TRACE_SEED_GIVEN] = "given", [TRACE_SEED_SWEPT] = "swept"};
    fputs("static void keeps(const char *property)\n"
          "{\n"
          "    static struct ls_replay_result result;\n"
          "    const struct ls_replay replay = {\n"
          "        .recipe = THE_RECIPE,\n"
          "        .property = property,\n"
          "        .scenario = scenario,\n"
          "        .choices = choices,\n"
          "        .schedule = ",
          e->out);
    put_literal(e->out, e->trace->schedule);
    fprintf(e->out, ",\n        .seed = %lluu,\n", (unsigned long long)e->trace->seed);
    if (e->trace->seeded != TRACE_SEED_NONE) {
        fprintf(e->out, "        .seeded = \"%s\",\n", SEEDED[e->trace->seeded]);
    }
    if (e->trace->without[0]) {
        fprintf(e->out, "        .without = \"%s\",\n", e->trace->without);
    }
    fputs("    };\n"
          "    int rc = ls_replay_run(&replay, &result);\n"
          "    if (rc != 0 || result.verdict == LS_REPLAY_VIOLATED || result.verdict == LS_REPLAY_LIMIT) {\n"
          "        fail_msg(\"%s\", result.text);\n"
          "    }\n"
          "    print_message(\"%s\", result.text);\n"
          "    if (result.verdict == LS_REPLAY_NOT_JUDGED) {\n"
          "        skip();\n"
          "    }\n"
          "}\n\n",
          e->out);
}

static void put_loading(const struct export *e)
{
    for (int i = 0; i < e->trace->properties; i++) {
        const struct trace_property *property = &e->trace->property[i];
        fprintf(e->out, "    char why_%s[400];\n    if (ls_property_load(", property->name);
        put_literal(e->out, property->path);
        fprintf(e->out, ", why_%s, sizeof why_%s) != 0) {\n        print_error(\"%%s\\n\", why_%s);\n",
                property->name, property->name, property->name);
        fputs("        return 1;\n    }\n", e->out);
    }
}

static void put_tests(const struct export *e)
{
    for (int i = 0; i < e->properties; i++) {
        const char *name = e->property[i]->name;
        fprintf(e->out, "static void %s(void **state)\n{\n    (void)state;\n    keeps(\"%s\");\n}\n\n", name,
                name);
    }
    fputs("int main(void)\n{\n", e->out);
    put_loading(e);
    fputs("    const struct CMUnitTest tests[] = {\n", e->out);
    for (int i = 0; i < e->properties; i++) {
        fprintf(e->out, "        cmocka_unit_test(%s),\n", e->property[i]->name);
    }
    fputs("    };\n    return cmocka_run_group_tests(tests, NULL, NULL);\n}\n", e->out);
}

static void put_all(const struct export *e)
{
    put_head(e);
    put_build(e);
    put_recipe(e);
    fputs("/* The situation. What stands behind ---- is not compared. */\n", e->out);
    put_lines(e->out, "scenario", (const char *const *)e->line);
    fputs("\n/* What happens in it, in this order. */\n", e->out);
    put_lines(e->out, "choices", e->label);
    fputc('\n', e->out);
    put_replay(e);
    put_tests(e);
}

/* ---- the whole ---- */

static void close_export(struct export *e)
{
    for (int i = 0; e->line && e->line[i]; i++) {
        free(e->line[i]);
    }
    free(e->line);
    free(e->label);
}

char *export_test(const struct trace *trace, const char *name, size_t *size, struct input_error *error)
{
    static struct export e;
    char *text = NULL;
    e = (struct export){.trace = trace, .name = name};
    if (property_load_for(trace, error) == 0 && list_properties(&e, error) == 0 &&
        split_scenario(&e, error) == 0 && list_labels(&e, error) == 0 && prove_all(&e, error) == 0) {
        e.out = open_memstream(&text, size);
        if (e.out) {
            put_all(&e);
        }
        if (!e.out || fclose(e.out) != 0) {
            free(text);
            text = NULL;
            no_memory(trace, error);
        }
    }
    close_export(&e);
    return text;
}
