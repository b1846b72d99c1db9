/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "report/report.h"

#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

static const char HELP[] =
    "usage: lockstep report [OPTION...] TRACE\n"
    "\n"
    "Replays a trace and writes its run as one HTML page that needs no other file and no network: a lane for "
    "each process\n"
    "and server, messages as arrows, who waits, who holds and who believes to hold, the state behind each "
    "step, and the\n"
    "choices that were possible there. Exit status 0 if the page was written, 2 if the trace cannot be read "
    "or no longer\n"
    "fits the program, 4 if the page cannot be written.\n"
    "\n"
    "  -o, --out FILE      write there (default: the trace's path with .html in place of .trace; of\n"
    "                      standard input: standard output)\n"
    "  --recipe FILE.so    the recipe, or the name of one, in place of the trace's own\n"
    "  --property FILE.so  judge it by the property of this shared object too\n"
    "\n"
    "examples:\n"
    "  lockstep run --recipe broken-no-protection --out build/one "
    "scenarios/mutex/create_reply_lost.scn\n"
    "  lockstep report -o build/one/run.html build/one/*.min.trace\n"
    "  cat build/one/*.min.trace | lockstep report - | head -n 1\n";

/* Writes the path of the page: that of the trace with another ending. Empty = standard output. */
static void page_path(const struct cli_options *options, char path[PATH_MAX])
{
    const char *trace = options->path[0], *end = trace + strlen(trace), suffix[] = ".trace";
    size_t size = sizeof suffix - 1;
    if (options->out_given) {
        snprintf(path, PATH_MAX, "%s", options->out);
    } else if (strcmp(trace, "-") == 0) {
        path[0] = 0;
    } else {
        size_t kept = (size_t)(end - trace);
        kept -= kept > size && strcmp(end - size, suffix) == 0 ? size : 0;
        snprintf(path, PATH_MAX, "%.*s.html", (int)kept, trace);
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

static int report_trace_file(const struct cli_options *options, const struct trace *trace)
{
    struct input_error error;
    char again[PATH_MAX * 2], path[PATH_MAX], *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out) {
        return cli_cannot_write("(memory)");
    }
    snprintf(again, sizeof again, "%s replay %s", cli_program(), options->path[0]);
    enum replay_result result = report_page(out, trace, again, &error);
    if (fclose(out) != 0) {
        free(text);
        return cli_cannot_write("(memory)");
    }
    page_path(options, path);
    if (result == REPLAY_UNFIT) {
        fprintf(stderr, "%s\n", error.text);
    }
    int status = result == REPLAY_UNFIT ? CLI_USAGE : write_page(path, text, size);
    free(text);
    return status;
}

int cli_report(int argc, char **argv)
{
    struct cli_options options;
    struct trace trace;
    int status = cli_options(&options, "report", OPTION_OUT | OPTION_RECIPE | OPTION_PROPERTY, argc, argv);
    if (status != 0) {
        return status;
    }
    if (options.help) {
        fputs(HELP, stdout);
        return CLI_OK;
    }
    if (options.paths != 1) {
        return cli_usage_error("report", "one trace", options.paths > 1 ? options.path[1] : "");
    }
    if (cli_read_trace(&options, &trace) != 0) {
        return CLI_USAGE;
    }
    cli_guard_replay(&trace);
    status = report_trace_file(&options, &trace);
    trace_close(&trace);
    return status;
}
