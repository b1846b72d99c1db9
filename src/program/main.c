/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "cli/cli.h"

#include <lockstep/version.h>
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
    "  replay   a trace: the same run again, event by event\n"
    "  shrink   a trace: a shorter one with the same violation\n"
    "  export   a trace: a regression test in C with the same violation\n"
    "  merge    what the shards of a run or check have done (--shard I/N)\n"
    "  triage   what a fuzzer has found: sorted, shrunk, as scenarios\n"
    "  list     recipes, properties, faults, verbs or scenarios\n"
    "\n"
    "lockstep COMMAND --help tells more; lockstep --version the version. Exit status: 0 all holds, 1 "
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
} COMMANDS[] = {{"run", cli_run},       {"check", cli_check}, {"replay", cli_replay}, {"shrink", cli_shrink},
                {"export", cli_export}, {"merge", cli_merge}, {"triage", cli_triage}, {"list", cli_list}};

int main(int argc, char **argv)
{
    static const char EXPECTED[] =
        "run, check, replay, shrink, export, merge, triage or list (see lockstep --help)";
    if (argc < 2) {
        fprintf(stderr, "lockstep: expected %s, found the end of the line\n", EXPECTED);
        return CLI_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        fputs(HELP, stdout);
        return CLI_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("lockstep %s\n", ls_version());
        return CLI_OK;
    }
    for (size_t i = 0; i < sizeof COMMANDS / sizeof COMMANDS[0]; i++) {
        if (strcmp(argv[1], COMMANDS[i].name) == 0) {
            return COMMANDS[i].run(argc - 1, argv + 1);
        }
    }
    fprintf(stderr, "lockstep: expected %s, found '%s'\n", EXPECTED, argv[1]);
    return CLI_USAGE;
}
