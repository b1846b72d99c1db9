/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "base/assert.h"
#include "cli/cli.h"
#include "scenario/loaded_properties.h"
#include "scenario/recipes.h"
#include "scenario/verbs.h"

#include <string.h>

static const char HELP[] = "usage: lockstep list recipes | faults | verbs\n"
                           "       lockstep list properties [--property FILE.so]\n"
                           "       lockstep list scenarios [--table] [--filter GLOB] [PATH... | --suite]\n"
                           "\n"
                           "Lists what is built in, or scenarios with the sentence that they open with. "
                           "--table runs them and counts which fault\n"
                           "met a process in which phase of its acquire and release. --property adds the "
                           "property of a\n"
                           "shared object.\n"
                           "\n"
                           "examples:\n"
                           "  lockstep list recipes\n"
                           "  lockstep list scenarios --table\n"
                           "  lockstep list scenarios --suite\n";

static void list_recipes(void)
{
    for (int i = 0; recipe_at(i); i++) {
        const struct ls_recipe *recipe = recipe_at(i);
        printf("%-34s %s\n", recipe->name, recipe->summary);
        if (recipe->breaks) {
            printf("%-34s   breaks %s\n", "", recipe->breaks);
        }
    }
}

static void list_properties(void)
{
    int count;
    const struct property *const *all = check_all(&count);
    for (int i = 0; i < count; i++) {
        const char *where = all[i]->modes & PROPERTY_SEVERAL    ? "where several locks are asked for at once"
                            : all[i]->modes & PROPERTY_LEASES   ? "where locks are leases, untimed"
                            : all[i]->modes == PROPERTY_ALWAYS  ? "always"
                            : all[i]->modes == PROPERTY_TIMED   ? "timed"
                            : all[i]->modes == PROPERTY_UNTIMED ? "untimed"
                                                                : "only where named";
        printf("%s (%s%s)\n  %s\n", all[i]->name, where, all[i]->loaded ? ", loaded" : "", all[i]->sentence);
        printf("  counts:   %s\n  blind to: %s\n", all[i]->premise, all[i]->blind_to);
    }
}

static void print_verb(const struct verb *verb)
{
    printf("  %-42s %s\n", verb->usage, verb->help);
}

static void list_verbs_with(unsigned flag)
{
    LS_ASSERT(flag == 0 || flag == VERB_CLIENT || flag == VERB_FAULT);
    int count;
    const struct verb *verbs = verb_all(&count);
    for (int i = 0; i < count; i++) {
        if ((verbs[i].flags & (VERB_CLIENT | VERB_FAULT)) == flag) {
            print_verb(&verbs[i]);
        }
    }
    for (int i = 0; flag == VERB_FAULT && verb_own(i) != NULL; i++) {
        print_verb(verb_own(i));
    }
}

static void list_faults(void)
{
    puts("in commands:");
    list_verbs_with(VERB_FAULT);
    printf("with a budget, in an explore line:\n ");
    for (int i = 0; i < WORLD_FAULTS; i++) {
        const char *name = world_fault_name((enum world_fault)i);
        if (name != NULL) {
            printf(" %s", name);
        }
    }
    puts(" total");
}

static void list_verbs(void)
{
    struct header_word header;
    puts("the situation:");
    for (int i = 0; header_at(i, &header); i++) {
        printf("  %-42s %s\n", header.usage, header.help);
    }
    puts("what a process does:");
    list_verbs_with(VERB_CLIENT);
    puts("faults:");
    list_verbs_with(VERB_FAULT);
    puts("running:");
    list_verbs_with(0);
}

static int list_scenarios(struct cli_options *options)
{
    struct cli_job *jobs = NULL;
    int count = 0;
    int status = cli_collect(options, "list", &jobs, &count);
    if (status == 0 && options->table) {
        status = cli_print_table(options, jobs, count);
    } else if (status == 0) {
        for (int i = 0; i < count; i++) {
            char text[400];
            printf("%s\n  %s\n", jobs[i].scenario.input.name,
                   scenario_summary(&jobs[i].scenario, text, sizeof text));
        }
    }
    cli_free_jobs(jobs, count);
    return status;
}

int cli_list(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*list)(void);
    } LISTS[] = {{"recipes", list_recipes},
                 {"properties", list_properties},
                 {"faults", list_faults},
                 {"verbs", list_verbs}};
    static const char EXPECTED[] = "recipes, properties, faults, verbs or scenarios";
    struct cli_options options;
    int status = cli_options(&options, "list", OPTION_TABLE | OPTION_FILTER | OPTION_SUITE | OPTION_PROPERTY,
                             argc, argv);
    if (status != 0) {
        return status;
    }
    if (options.help) {
        fputs(HELP, stdout);
        return CLI_OK;
    }
    const char *what = options.paths > 0 ? options.path[0] : "";
    options.path++;
    options.paths--;
    if (property_loaded(0) != NULL && strcmp(what, "properties") != 0) {
        return cli_usage_error("list", "properties with --property", what);
    }
    if (strcmp(what, "scenarios") == 0) {
        return list_scenarios(&options);
    }
    for (size_t i = 0; i < sizeof LISTS / sizeof LISTS[0]; i++) {
        if (strcmp(what, LISTS[i].name) == 0) {
            if (options.paths > 0 || options.table || options.filter || options.suite) {
                return cli_usage_error("list", "nothing more",
                                       options.paths > 0 ? options.path[0] : "an option");
            }
            LISTS[i].list();
            return CLI_OK;
        }
    }
    return cli_usage_error("list", EXPECTED, what);
}
