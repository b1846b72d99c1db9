/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "base/nearest.h"
#include "cli/cli.h"

#include <lockstep/version.h>
#include <stdbool.h>
#include <string.h>

static const char HELP[] =
    "usage: lockstep COMMAND [ARGUMENT...]\n"
    "\n"
    "Runs lock recipes in a simulated world of connections that break, sessions that expire and replies that "
    "are lost,\n"
    "and judges what they do.\n"
    "\n"
    "  run      scenarios: compares them with their expected traces and judges all properties\n"
    "  check    exploring scenarios: searches all their runs\n"
    "  replay   a trace: the same run again, event by event; --step: forward and back, by commands\n"
    "  debug    a trace: gdb in the recipe's code, at a step of the run\n"
    "  report   a trace: a page for the browser that shows the run\n"
    "  shrink   a trace: a shorter one with the same violation\n"
    "  explain  a trace: the fault that mattered, the last moment, the stale knowledge\n"
    "  export   a trace: a regression test in C with the same violation\n"
    "  merge    what the shards of a run or check have done (--shard I/N)\n"
    "  triage   what a fuzzer has found: sorted, shrunk, as scenarios\n"
    "  list     recipes, properties, faults, verbs or scenarios\n"
    "  new      a folder with a recipe to begin with\n"
    "\n"
    "lockstep COMMAND --help, or lockstep help COMMAND, tells more; lockstep --version the version. Exit "
    "status: 0 all holds, 1 "
    "violated or different,\n"
    "2 usage or unreadable input, 3 inconclusive, 4 the environment failed.\n"
    "\n"
    "examples:\n"
    "  lockstep run                                   all of scenarios/\n"
    "  lockstep run --recipe broken-no-protection     the same with a recipe that is wrong on purpose\n"
    "  lockstep replay build/reports/XXXXXXXX.trace   as the last line of a failing run says\n"
    "  lockstep list properties\n";

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
} COMMANDS[] = {{"run", cli_run},         {"check", cli_check},   {"replay", cli_replay},
                {"debug", cli_debug},     {"report", cli_report}, {"shrink", cli_shrink},
                {"explain", cli_explain}, {"export", cli_export}, {"merge", cli_merge},
                {"triage", cli_triage},   {"list", cli_list},     {"new", cli_new}};

static const char EXPECTED[] = "run, check, replay, debug, report, shrink, explain, export, merge, triage, "
                               "list or new (see lockstep --help)";

static int complain(const char *found)
{
    struct nearest nearest;
    nearest_begin(&nearest, found, strlen(found));
    for (size_t i = 0; i < sizeof COMMANDS / sizeof COMMANDS[0]; i++) {
        nearest_look_at(&nearest, COMMANDS[i].name);
    }
    fprintf(stderr, "lockstep: expected %s, found '%s'%s\n", EXPECTED, found, nearest_text(&nearest));
    return CLI_USAGE;
}

static int run(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof COMMANDS / sizeof COMMANDS[0]; i++) {
        if (strcmp(argv[0], COMMANDS[i].name) == 0) {
            return COMMANDS[i].run(argc, argv);
        }
    }
    return complain(argv[0]);
}

/* lockstep help, lockstep help COMMAND. */
static int help(char *command)
{
    static char option[] = "--help";
    char *argv[] = {command, option, NULL};
    if (command != NULL) {
        return run(2, argv);
    }
    fputs(HELP, stdout);
    return CLI_OK;
}

static bool is_one_of(const char *word, const char *a, const char *b)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

static int do_as_told(int argc, char **argv)
{
    if (argc < 2) {
        fprintf(stderr, "lockstep: expected %s, found the end of the line\n", EXPECTED);
        return CLI_USAGE;
    }
    if (is_one_of(argv[1], "--help", "-h") || strcmp(argv[1], "help") == 0) {
        return help(argv[1][0] == 'h' ? argv[2] : NULL);
    }
    if (is_one_of(argv[1], "--version", "-V")) {
        printf("lockstep %s\n", ls_version());
        return CLI_OK;
    }
    return run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
    if (argc > 0) {
        cli_set_program(argv[0]);
    }
    int status = do_as_told(argc, argv);
    if (status == CLI_OK && (fflush(stdout) != 0 || ferror(stdout))) {
        fputs("lockstep: standard output cannot be written\n", stderr);
        status = CLI_ENVIRONMENT;
    }
    return status;
}
