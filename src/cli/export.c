/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "replay/export_test.h"

#include "base/assert.h"
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

#define DEFAULT_NAME "regression.c"

static const char HELP[] =
    "usage: lockstep export [OPTION...] TRACE\n"
    "\n"
    "Writes a trace that violates a property as a regression test: one C file for cmocka that carries the "
    "scenario and the\n"
    "choices. It links liblockstep_sim and the recipe under test, fails while that breaks the promise in "
    "this "
    "run, and passes\n"
    "when it is mended. Its head says how to compile it. The run is done once before: what does not fail now "
    "is not written.\n"
    "Exit status 0 if it was written, 2 if the trace cannot be read, does not fit or violates nothing, 4 if "
    "the file cannot\n"
    "be written.\n"
    "\n"
    "  -o, --out FILE     write there (default: standard output)\n"
    "  --recipe FILE.so   the recipe, or the name of one, in place of the trace's own\n"
    "\n"
    "examples:\n"
    "  lockstep check --recipe broken-no-sort --out build/one scenarios/explore/mutex_2.scn\n"
    "  lockstep export -o build/one/regression.c build/one/*.min.trace\n"
    "  cat build/one/*.min.trace | lockstep export - | head -n 12\n";

int cli_export(int argc, char **argv)
{
    struct cli_options options;
    struct input_error error;
    struct trace trace;
    size_t size = 0;
    int status = cli_options(&options, "export", OPTION_OUT | OPTION_RECIPE, argc, argv);
    if (status != 0) {
        return status;
    }
    if (options.help) {
        fputs(HELP, stdout);
        return CLI_OK;
    }
    if (options.paths != 1) {
        return cli_usage_error("export", "one trace", options.paths > 1 ? options.path[1] : "");
    }
    if (cli_read_trace(&options, &trace) != 0) {
        return CLI_USAGE;
    }
    char *text = export_test(&trace, options.out_given ? options.out : DEFAULT_NAME, &size, &error);
    trace_close(&trace);
    if (!text) {
        fprintf(stderr, "%s\n", error.text);
        return CLI_USAGE;
    }
    LS_ASSERT(size > 0 && text[size] == 0);
    status = cli_write_out(options.out_given ? options.out : NULL, text, size);
    free(text);
    return status;
}
