/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "replay/replay.h"
#include "cli/cli.h"
#include "plugin/plugin.h"
#include "report/report.h"

#include <string.h>

static const char HELP[] =
    "usage: lockstep replay [OPTION...] TRACE\n"
    "\n"
    "Does the run of a trace again and tells it choice by choice, with what followed "
    "from each indented below it. Exit\n"
    "status 1 if the run violates a property, 0 if not, 2 if the trace cannot be read "
    "or no longer fits the program.\n"
    "\n"
    "  --recipe FILE.so    the recipe, or the name of one, in place of the trace's own: "
    "where a trace from\n"
    "                      elsewhere finds it, or a mended one\n"
    "  --property FILE.so  judge it by the property of this shared object too; one "
    "that the trace was\n"
    "                      judged by is found where the trace says, or here\n"
    "\n"
    "examples:\n"
    "  lockstep run --recipe broken-no-protection --out build/one "
    "scenarios/mutex/create_reply_lost.scn\n"
    "  lockstep replay build/one/*.trace\n"
    "  cat build/one/*.trace | lockstep replay - | tail\n"
    "  lockstep replay --step build/one/*.trace\n"
    "  printf 'violation\\nprint line\\nchoices\\n' | lockstep replay --step build/one/*.trace\n";

void cli_guard_replay(const struct trace *trace)
{
    if (strstr(trace->found, "contract_is_kept") != NULL) {
        guard_watch_program();
    }
}

static int check_arguments(const struct cli_options *options)
{
    if (options->paths != 1) {
        return cli_usage_error("replay", "one trace", options->paths > 1 ? options->path[1] : "");
    }
    if (options->step && options->json) {
        return cli_usage_error("replay", "--step or --json", "both");
    }
    if (options->step && strcmp(options->path[0], "-") == 0) {
        return cli_usage_error("replay", "a trace in a file with --step, which reads standard input", "-");
    }
    return 0;
}

/* Replays the trace at once. */
static int replay(const struct cli_options *options, const struct trace *trace)
{
    struct input_error error;
    enum replay_result result =
        options->json ? report_replay_json(stdout, trace, &error) : replay_trace(trace, stdout, &error);
    if (result == REPLAY_UNFIT) {
        fflush(stdout);
        fprintf(stderr, "%s\n", error.text);
        return CLI_USAGE;
    }
    return result == REPLAY_VIOLATED ? CLI_VIOLATED : CLI_OK;
}

static const uint64_t ALLOWED = OPTION_PROPERTY | OPTION_RECIPE | OPTION_JSON | OPTION_STEP;

int cli_replay(int argc, char **argv)
{
    struct cli_options options;
    struct trace trace;
    int status = cli_options(&options, "replay", ALLOWED, argc, argv);
    if (status == 0 && options.help) {
        fputs(HELP, stdout);
        return CLI_OK;
    }
    status = status != 0 ? status : check_arguments(&options);
    if (status != 0) {
        return status;
    }
    if (cli_read_trace(&options, &trace) != 0) {
        return CLI_USAGE;
    }
    if (strcmp(trace.tool, LOCKSTEP_VERSION) != 0) {
        fprintf(stderr, "recorded by lockstep %s, replayed by lockstep %s\n", trace.tool, LOCKSTEP_VERSION);
    }
    cli_guard_replay(&trace);
    status = options.step ? cli_replay_step(&trace) : replay(&options, &trace);
    trace_close(&trace);
    return status;
}
