/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "explain/explain.h"

#include "base/assert.h"
#include "cli/cli.h"

#include <stdlib.h>

static const char HELP[] =
    "usage: lockstep explain [OPTION...] TRACE\n"
    "\n"
    "Tells the cause of the violation in a trace: the faults that mattered, the last moment at which another "
    "choice\n"
    "would have kept the promise, and the knowledge that was stale. Each answer comes with the search behind "
    "it. "
    "Exit\n"
    "status 0 if the violation is explained, 2 if the trace cannot be read or violates nothing, 3 if a "
    "search was "
    "not\n"
    "decided within its bounds, 4 if the output cannot be written.\n"
    "\n"
    "  --json              one JSON object in place of sentences\n"
    "  --max-states N      end each search after N states (default: 100000; of all runs of a scenario "
    "500000)\n"
    "  --max-time SECONDS  end all searches after this time (default: no limit)\n"
    "  --no-shrink         explain the run as it is (default: look for a shorter one with the violation "
    "first)\n"
    "  --property NAME     explain this violation (default: what the trace was found for; of several, the\n"
    "                      first that shows)\n"
    "  --property FILE.so  take the property of this shared object, in place of where the trace says that it "
    "is\n"
    "  --recipe FILE.so    the recipe, or the name of one, in place of the trace's own\n"
    "\n"
    "examples:\n"
    "  lockstep check --recipe broken-no-protection --out build/one scenarios/explore/mutex_2.scn\n"
    "  lockstep explain build/one/*.min.trace\n"
    "  lockstep explain --json --max-states 10000 build/one/*.min.trace\n";

static const uint64_t ALLOWED =
    OPTION_PROPERTY | OPTION_RECIPE | OPTION_JSON | OPTION_NO_SHRINK | OPTION_MAX_STATES | OPTION_MAX_TIME;

static int write_it(const struct cli_options *options, const struct explanation *explanation)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    int status = CLI_ENVIRONMENT;
    bool written = out != NULL;
    if (out != NULL && options->json) {
        written = explain_write_json(out, explanation) == 0;
    } else if (out != NULL) {
        explain_write(out, explanation);
    }
    written = out != NULL && fclose(out) == 0 && written;
    status = written ? cli_write_out(NULL, text, size) : cli_cannot_write("(standard output)");
    free(text);
    return status;
}

static int explain(const struct cli_options *options, const struct trace *trace)
{
    static struct explanation explanation; /* too large for the stack */
    struct input_error error;
    struct explain_options how = {.property = options->property,
                                  .no_shrink = options->no_shrink,
                                  .states_max = options->search.states_max,
                                  .seconds_max = options->search.seconds_max};
    enum explain_result result = explain_trace(trace, &how, &explanation, &error);
    if (result == EXPLAIN_UNFIT) {
        fprintf(stderr, "%s\n", error.text);
        return CLI_USAGE;
    }
    if (result == EXPLAIN_HOLDS) {
        fprintf(stderr, "%s:1:1: expected a trace that violates %s, found one that does not\n",
                trace->input.name, options->property ? options->property : "a property");
        return CLI_USAGE;
    }
    LS_ASSERT(explanation.property != NULL && explanation.step <= explanation.steps);
    int status = write_it(options, &explanation);
    return status == CLI_OK && result == EXPLAIN_LIMIT ? CLI_LIMIT : status;
}

int cli_explain(int argc, char **argv)
{
    struct cli_options options;
    struct trace trace;
    int status = cli_options(&options, "explain", ALLOWED, argc, argv);
    if (status == 0 && options.help) {
        fputs(HELP, stdout);
        return CLI_OK;
    }
    if (status == 0 && options.paths != 1) {
        status = cli_usage_error("explain", "one trace", options.paths > 1 ? options.path[1] : "");
    }
    if (status != 0) {
        return status;
    }
    if (cli_read_trace(&options, &trace) != 0) {
        return CLI_USAGE;
    }
    cli_guard_replay(&trace);
    status = cli_check_property(&options, "explain", &trace);
    status = status != 0 ? status : explain(&options, &trace);
    trace_close(&trace);
    return status;
}
