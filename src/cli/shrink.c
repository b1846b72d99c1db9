/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "replay/shrink.h"

#include "base/assert.h"
#include "base/file.h"
#include "cli/cli.h"
#include "scenario/loaded_properties.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define PROGRESS_MS 100

static const char HELP[] =
    "usage: lockstep shrink [OPTION...] TRACE\n"
    "\n"
    "Looks for a shorter run with the same violation: fewer faults, fewer processes, fewer steps. Writes it "
    "beside the\n"
    "trace, NAME.trace as NAME.min.trace, and replays it once more. No single choice can be left out of the "
    "result.\n"
    "Ctrl-C ends the search with the best so far. Exit status 0 if the trace was written, 2 if the input "
    "cannot be read\n"
    "or violates nothing, 3 if a limit was reached first (the best so far is written), 4 if it cannot be "
    "written.\n"
    "\n"
    "  --out FILE        write to this file; needed if TRACE is - (standard input)\n"
    "  --property NAME   keep this violation (default: what the trace was found for; of several, the\n"
    "                    first that shows)\n"
    "  --property FILE.so  take the property of this shared object, in place of where the trace says that it "
    "is\n"
    "  --recipe FILE.so  the recipe, or the name of one, in place of the trace's own\n"
    "  --max-steps N     replay at most so many steps while looking (default: any number)\n"
    "  --quiet           print the replay line alone\n"
    "\n"
    "examples:\n"
    "  lockstep run --recipe broken-no-protection --seeds 50 --no-shrink --out build/one "
    "scenarios/mutex/create_reply_lost.scn\n"
    "  lockstep shrink --out build/short.trace build/one/*.trace\n"
    "  lockstep replay build/short.trace\n"
    "  lockstep shrink --property no_orphan_node --max-steps 100000 --out build/short.trace - "
    "<build/one/*.trace\n";

static const unsigned ALLOWED =
    OPTION_OUT | OPTION_PROPERTY | OPTION_RECIPE | OPTION_MAX_STEPS | OPTION_QUIET;

/* ---- limits and progress ---- */

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal)
{
    (void)signal;
    interrupted = 1;
}

struct watch {
    struct timespec start;
    int64_t shown_ms; /* time after `start` at which the progress line was last drawn */
    bool shows;       /* standard error is a terminal */
};

static int64_t elapsed_ms(const struct watch *watch)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (now.tv_sec - watch->start.tv_sec) * 1000 + (now.tv_nsec - watch->start.tv_nsec) / 1000000;
}

static struct watch start_watch(bool shows)
{
    struct watch watch = {.shown_ms = -PROGRESS_MS, .shows = shows};
    clock_gettime(CLOCK_MONOTONIC, &watch.start);
    return watch;
}

static bool is_interrupted(void *ctx)
{
    (void)ctx;
    return interrupted != 0;
}

static void show_progress(void *ctx, const struct shrink_size *best, uint64_t runs)
{
    struct watch *watch = ctx;
    int64_t now = watch->shows ? elapsed_ms(watch) : 0;
    LS_ASSERT(best->faults <= best->steps && best->processes <= best->steps);
    if (watch->shows && now >= watch->shown_ms + PROGRESS_MS) {
        watch->shown_ms = now;
        fprintf(stderr, "\r%llu runs, %d steps, %d faults, %d processes\033[K", (unsigned long long)runs,
                best->steps, best->faults, best->processes);
    }
}

static void end_progress(const struct watch *watch)
{
    if (watch->shows) {
        fputs("\r\033[K", stderr);
    }
}

/* ---- the command ---- */

static void tell(const struct cli_options *options, const struct shrunk *shrunk, enum shrink_result result,
                 const char *path)
{
    const struct shrink_size *before = &shrunk->before, *after = &shrunk->after;
    bool same = before->steps == after->steps && before->faults == after->faults &&
                before->processes == after->processes;
    if (!options->quiet) {
        printf("%s: %s\n", shrunk->property->name, shrunk->property->sentence);
        printf("  %s\n", shrunk->why);
        printf("           before   after\n");
        printf("steps      %6d  %6d\n", before->steps, after->steps);
        printf("faults     %6d  %6d\n", before->faults, after->faults);
        printf("processes  %6d  %6d\n", before->processes, after->processes);
        if (result == SHRINK_LIMIT) {
            printf("%s after %llu runs: it may get shorter\n",
                   interrupted ? "interrupted" : "a limit was reached", (unsigned long long)shrunk->runs);
        } else {
            printf("%s, after %llu runs\n",
                   same ? "it cannot get shorter" : "no choice can be left out of it",
                   (unsigned long long)shrunk->runs);
        }
    }
    printf("replay: %s replay %s\n", cli_program(), path);
}

static int write_shrunk(const struct cli_options *options, const struct shrunk *shrunk,
                        enum shrink_result result, const char *path)
{
    LS_ASSERT(result == SHRINK_DONE || result == SHRINK_LIMIT);
    if (file_replace(path, shrunk->bytes, shrunk->size) != 0) {
        fprintf(stderr, "%s:1:1: expected a file that can be written, found '%s'\n", path, strerror(errno));
        return CLI_ENVIRONMENT;
    }
    tell(options, shrunk, result, path);
    return result == SHRINK_LIMIT ? CLI_LIMIT : CLI_OK;
}

static int shrink(const struct cli_options *options, const struct trace *trace, const char *path)
{
    struct input_error error;
    struct shrunk shrunk;
    struct watch watch = start_watch(isatty(STDERR_FILENO));
    struct shrink_options how = {.property = options->property,
                                 .max_steps = options->max_steps,
                                 .stop = is_interrupted,
                                 .progress = show_progress,
                                 .ctx = &watch};
    struct sigaction action = {.sa_handler = on_interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    enum shrink_result result = shrink_trace(trace, &how, &shrunk, &error);
    end_progress(&watch);
    int status = CLI_USAGE;
    if (result == SHRINK_UNFIT) {
        fprintf(stderr, "%s\n", error.text);
    } else if (result == SHRINK_HOLDS) {
        fprintf(stderr, "%s:1:1: expected a trace that violates %s, found one that does not\n",
                trace->input.name,
                options->property ? options->property : "a property that its scenario does not declare");
    } else {
        status = write_shrunk(options, &shrunk, result, path);
        free(shrunk.bytes);
    }
    return status;
}

int cli_check_property(const struct cli_options *options, const char *command, const struct trace *trace)
{
    struct input_error error;
    if (property_load_for(trace, &error) != 0) {
        fprintf(stderr, "%s\n", error.text);
        return CLI_USAGE;
    }
    return !options->property || check_find(options->property)
               ? 0
               : cli_usage_error(command, "a property (see lockstep list properties) after --property",
                                 options->property);
}

static int check_arguments(const struct cli_options *options, char *path, size_t size)
{
    if (options->paths != 1) {
        return cli_usage_error("shrink", "one trace", options->paths > 1 ? options->path[1] : "");
    }
    if (options->out_given) {
        return snprintf(path, size, "%s", options->out) < (int)size
                   ? 0
                   : cli_usage_error("shrink", "a shorter name after --out", options->out);
    }
    if (strcmp(options->path[0], "-") == 0) {
        return cli_usage_error("shrink", "--out FILE with a trace from standard input", "-");
    }
    return cli_min_path(options->path[0], path, size) == 0
               ? 0
               : cli_usage_error("shrink", "a shorter name", options->path[0]);
}

int cli_shrink(int argc, char **argv)
{
    struct cli_options options;
    struct trace trace;
    char path[OUTCOME_TRACE_MAX];
    int status = cli_options(&options, "shrink", ALLOWED, argc, argv);
    if (status == 0 && options.help) {
        fputs(HELP, stdout);
        return CLI_OK;
    }
    status = status != 0 ? status : check_arguments(&options, path, sizeof path);
    if (status != 0) {
        return status;
    }
    if (cli_read_trace(&options, &trace) != 0) {
        return CLI_USAGE;
    }
    status = cli_check_property(&options, "shrink", &trace);
    status = status != 0 ? status : shrink(&options, &trace, path);
    trace_close(&trace);
    return status;
}
