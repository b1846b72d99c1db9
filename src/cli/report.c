/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "report/report.h"

#include "base/assert.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/work_plan.h"
#include "explain/behind.h"
#include "plugin/plugin.h"
#include "scenario/record.h"
#include "sim/sandbox.h"
#include "trace/real_line.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

static const char HELP[] =
    "usage: lockstep report [OPTION...] TRACE | SCENARIO | JOURNAL\n"
    "\n"
    "Writes a run as one HTML page that needs no other file and no network: a lane for each process and "
    "server, "
    "messages as\n"
    "arrows, who waits, who holds and who believes to hold, the state behind each step, and the choices that "
    "were possible\n"
    "there. Exit status 0 if the page was written, 2 if the file cannot be read or no longer fits the "
    "program, 4 "
    "if the page\n"
    "cannot be written.\n"
    "\n"
    "  TRACE               is replayed; its first word is lockstep-trace\n"
    "  JOURNAL             the journal of a real run (docs/real-run.md): its first line is one of a journal\n"
    "  SCENARIO            any other file NAME.scn, and other text on standard input: a directed one is run, "
    "an "
    "exploring\n"
    "                      one has a page for each --seed\n"
    "\n"
    "  -o, --out FILE      write there (default: the file's path with .html in place of .trace or .scn; of\n"
    "                      standard input: standard output)\n"
    "  --recipe FILE.so    the recipe, or the name of one, in place of the trace's own\n"
    "  --property FILE.so  judge it by the property of this shared object too\n"
    "  --seed N            of a directed scenario: the seed of its run constants; of an exploring one: draw "
    "the "
    "random\n"
    "                      schedule of this seed\n"
    "  --strategy S        how that schedule chooses, as in lockstep run\n"
    "  --depth D           likewise\n"
    "  --explain           of a violation: add the cause, as lockstep explain --no-shrink tells it, and what "
    "a "
    "search\n"
    "                      finds behind the choices; that takes some seconds\n"
    "  --max-states N      most states of each of these searches\n"
    "\n"
    "examples:\n"
    "  lockstep run --recipe broken-no-protection --out build/one "
    "scenarios/mutex/create_reply_lost.scn\n"
    "  lockstep report -o build/one/run.html build/one/*.min.trace\n"
    "  lockstep report --explain -o build/one/cause.html build/one/*.min.trace\n"
    "  lockstep report -o build/one/holds.html scenarios/mutex/create_reply_lost.scn\n"
    "  lockstep report -o build/one/seed_7.html --seed 7 scenarios/explore/mutex_2.scn\n"
    "  lockstep report -o build/real.html build/real/journal\n"
    "  cat build/one/*.min.trace | lockstep report - | head -n 1\n";

static bool ends_with(const char *text, const char *suffix)
{
    size_t size = strlen(text), length = strlen(suffix);
    return size > length && strcmp(text + size - length, suffix) == 0;
}

/* Writes the path of the page: that of --out, or that of the file with another ending. Empty = standard
 * output. */
static void page_path(const struct cli_options *options, char path[PATH_MAX])
{
    static const char *const SUFFIXES[] = {".trace", ".scn"};
    const char *file = options->path[0];
    if (options->out_given) {
        snprintf(path, PATH_MAX, "%s", options->out);
    } else if (strcmp(file, "-") == 0) {
        path[0] = 0;
    } else {
        size_t kept = strlen(file);
        for (size_t i = 0; i < sizeof SUFFIXES / sizeof SUFFIXES[0]; i++) {
            kept -= kept == strlen(file) && ends_with(file, SUFFIXES[i]) ? strlen(SUFFIXES[i]) : 0;
        }
        snprintf(path, PATH_MAX, "%.*s.html", (int)kept, file);
    }
}

static int write_page(const char *path, const char *text, size_t size)
{
    int status = cli_write_out(path[0] != 0 ? path : NULL, text, size);
    if (status == CLI_OK && path[0] != 0) {
        printf("%s\n", path);
    }
    return status;
}

static int unreadable(const struct input_error *error)
{
    fprintf(stderr, "%s\n", error->text);
    return CLI_USAGE;
}

/* A page in memory. */
struct drawing {
    char *text;
    size_t size;
    FILE *out;
};

static int begin_drawing(struct drawing *drawing)
{
    *drawing = (struct drawing){0};
    drawing->out = open_memstream(&drawing->text, &drawing->size);
    return drawing->out != NULL ? 0 : cli_cannot_write("(memory)");
}

/* Writes the page, unless `error` says why there is none. */
static int end_drawing(const struct cli_options *options, struct drawing *drawing,
                       const struct input_error *error)
{
    char path[PATH_MAX];
    bool whole = fclose(drawing->out) == 0;
    page_path(options, path);
    int status = error != NULL ? unreadable(error)
                 : whole       ? write_page(path, drawing->text, drawing->size)
                               : cli_cannot_write("(memory)");
    free(drawing->text);
    return status;
}

/* Explains the violation of a trace. The caller frees the text, and deletes `behind`. Returns false with the
 * complaint in *error, also if there is no violation. */
static bool find_cause(const struct cli_options *options, const struct trace *trace, char **text,
                       cJSON **behind, struct input_error *error)
{
    static struct explanation explanation; /* too large for the stack */
    struct explain_options how = {.states_max = options->search.states_max, .no_shrink = true};
    size_t size;
    enum explain_result result = explain_trace(trace, &how, &explanation, error);
    if (result != EXPLAIN_UNFIT && result != EXPLAIN_HOLDS) {
        result = explain_behind(trace, &how, behind, error);
    }
    if (result == EXPLAIN_HOLDS) {
        input_complain_words(error, trace->input.name, 1, 1, "one that violates nothing",
                             "a run that violates a property, for --explain");
    }
    FILE *out = result == EXPLAIN_DONE ? open_memstream(text, &size) : NULL;
    if (out != NULL) {
        explain_write(out, &explanation);
    } else if (result == EXPLAIN_DONE) {
        input_complain_words(error, trace->input.name, 1, 1, "'out of memory'", "memory");
    }
    return out != NULL && fclose(out) == 0;
}

static enum replay_result draw_cause(const struct cli_options *options, const struct trace *trace,
                                     const char *again, FILE *out, struct input_error *error)
{
    char *text = NULL;
    cJSON *behind = NULL;
    bool found = find_cause(options, trace, &text, &behind, error);
    struct report_cause cause = {text, behind};
    enum replay_result result = found ? report_page(out, trace, again, &cause, error) : REPLAY_UNFIT;
    free(text);
    cJSON_Delete(behind);
    return result;
}

/* Draws the run of a trace. `again` is the line to paste. */
static int draw(const struct cli_options *options, const struct trace *trace, const char *again)
{
    struct input_error error;
    struct drawing drawing;
    if (begin_drawing(&drawing) != 0) {
        return CLI_ENVIRONMENT;
    }
    enum replay_result result = options->explain ? draw_cause(options, trace, again, drawing.out, &error)
                                                 : report_page(drawing.out, trace, again, NULL, &error);
    return end_drawing(options, &drawing, result == REPLAY_UNFIT ? &error : NULL);
}

/* ---- journals ---- */

static int report_journal(const struct cli_options *options, const struct input *input)
{
    struct input_error error;
    struct drawing drawing;
    char again[PATH_MAX * 2], given[PATH_MAX];
    if (options->explain || cli_given(options, 0, given, sizeof given)) {
        return cli_usage_error("report", "no option but --out with a journal",
                               options->explain ? "--explain" : given);
    }
    if (begin_drawing(&drawing) != 0) {
        return CLI_ENVIRONMENT;
    }
    snprintf(again, sizeof again, "%s report %s", cli_program(), options->path[0]);
    int result = report_journal_page(drawing.out, input, again, &error);
    return end_drawing(options, &drawing, result != 0 ? &error : NULL);
}

/* Returns the line by which the command does the run again, with the given options that affect it. The caller
 * frees it. NULL: memory is short. */
static char *line_again(const struct cli_options *options, const char *command, const char *more)
{
    char given[PATH_MAX], *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        return NULL;
    }
    fprintf(out, "%s %s", cli_program(), command);
    for (int i = 0; cli_given(options, i, given, sizeof given); i++) {
        if (!text_begins(given, "--max-states")) { /* the bound of --explain */
            fprintf(out, " %s", given);
        }
    }
    fprintf(out, "%s %s", more, options->path[0]);
    return fclose(out) == 0 ? text : (free(text), NULL);
}

/* ---- traces ---- */

/* Reads the loaded file as a trace, and closes it. */
static int report_trace_file(const struct cli_options *options, struct input *input)
{
    struct input_error error;
    struct trace trace;
    bool random = options->seed_given || options->plan.strategy || options->plan.depth;
    if (random) {
        input_close(input);
        return cli_usage_error("report", "no --seed, --strategy and --depth with a trace", options->path[0]);
    }
    if (trace_read_loaded(&trace, input, &error) != 0) {
        return unreadable(&error);
    }
    cli_replace_recipe(options, &trace);
    cli_guard_replay(&trace);
    char *again = line_again(options, "replay", "");
    int status = again != NULL ? draw(options, &trace, again) : cli_cannot_write("(memory)");
    free(again);
    trace_close(&trace);
    return status;
}

/* ---- scenarios ---- */

/* Refuses a scenario that has no single run to draw. */
static int look_at(const struct cli_options *options, const struct scenario *scenario)
{
    struct input_error error;
    if (scenario->exploring && !options->seed_given) {
        input_complain_words(&error, scenario->input.name, 1, 1, "an exploring scenario",
                             "a directed one, or --seed N for one random run (lockstep check FILE finds a "
                             "violation, and lockstep report TRACE draws it)");
        return unreadable(&error);
    }
    if (!scenario->exploring && (options->plan.strategy || options->plan.depth)) {
        return cli_usage_error("report", "an exploring scenario with --strategy and --depth",
                               options->path[0]);
    }
    return 0;
}

static int run_and_draw(const struct cli_options *options, const struct scenario *scenario)
{
    struct run_setup setup;
    struct input_error error;
    struct trace trace;
    parts_setup(options, scenario, &setup);
    if (!world_guard_is_set()) {
        guard_watch_program(); /* otherwise a recipe that is linked in and crashes would have no page */
    }
    if (record_run(&setup, &trace, &error) != 0) {
        return unreadable(&error);
    }
    char *again = line_again(options, "run", scenario->exploring ? " --seeds=1 --no-search" : "");
    int status = again != NULL ? draw(options, &trace, again) : cli_cannot_write("(memory)");
    free(again);
    trace_close(&trace);
    return status;
}

static int report_scenario(const struct cli_options *options, const struct input *input)
{
    struct input_error error;
    struct scenario scenario;
    if (scenario_read_bytes(&scenario, input->name, input->text, input->size, &error) != 0) {
        return unreadable(&error);
    }
    int status = look_at(options, &scenario);
    status = status == 0 ? run_and_draw(options, &scenario) : status;
    scenario_close(&scenario);
    return status;
}

/* ---- the command ---- */

/* Returns whether a file that is no journal is a scenario. It is one if its first word is not that of a
 * trace, and it is standard input or has a name such as NAME.scn. */
static bool is_scenario(const struct cli_options *options, const struct input *input)
{
    const char *path = options->path[0], *word = input->text + strspn(input->text, " \t\r\n");
    bool trace = text_begins(word, "lockstep-trace");
    LS_ASSERT(input->size > 0);
    return !trace && (strcmp(path, "-") == 0 || ends_with(path, ".scn"));
}

static int report_file(const struct cli_options *options)
{
    struct input input;
    struct input_error error;
    if (input_load(&input, options->path[0], TRACE_BYTES_MAX, &error) != 0) {
        return unreadable(&error);
    }
    bool journal = real_line_begins(&input);
    if (!journal && !is_scenario(options, &input)) {
        return report_trace_file(options, &input);
    }
    int status = journal ? report_journal(options, &input) : report_scenario(options, &input);
    input_close(&input);
    return status;
}

int cli_report(int argc, char **argv)
{
    struct cli_options options;
    int status = cli_options(&options, "report",
                             OPTION_OUT | OPTION_RECIPE | OPTION_PROPERTY | OPTION_SEED | OPTION_STRATEGY |
                                 OPTION_DEPTH | OPTION_EXPLAIN | OPTION_MAX_STATES,
                             argc, argv);
    if (status != 0) {
        return status;
    }
    if (options.help) {
        fputs(HELP, stdout);
        return CLI_OK;
    }
    if (options.paths != 1) {
        return cli_usage_error("report", "one trace, scenario or journal",
                               options.paths > 1 ? options.path[1] : "");
    }
    return report_file(&options);
}
