/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The work on a violation before its report: a shorter run, and the text of its replay, the story. */

#include "base/assert.h"
#include "base/file.h"
#include "cli/cli.h"
#include "replay/replay.h"
#include "replay/shrink.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SUFFIX ".trace"
#define MIN_SUFFIX ".min.trace"
#define MAX_STEPS 5000000 /* some seconds */

int cli_min_path(const char *path, char *out, size_t size)
{
    size_t length = strlen(path), suffix = sizeof SUFFIX - 1;
    if (length > suffix && strcmp(path + length - suffix, SUFFIX) == 0) {
        length -= suffix;
    }
    return snprintf(out, size, "%.*s" MIN_SUFFIX, (int)length, path) < (int)size ? 0 : -1;
}

void cli_replace_recipe(const struct cli_options *options, struct trace *trace)
{
    LS_ASSERT(trace->choice != NULL || trace->choices == 0);
    if (options->recipe_given) {
        snprintf(trace->recipe, sizeof trace->recipe, "%s", options->found_recipe->name);
    }
}

int cli_read_trace(const struct cli_options *options, struct trace *trace)
{
    struct input_error error;
    if (trace_read(trace, options->path[0], &error) != 0) {
        fprintf(stderr, "%s\n", error.text);
        return CLI_USAGE;
    }
    cli_replace_recipe(options, trace);
    return 0;
}

static void keep_shrunk(struct outcome *outcome, const struct shrunk *shrunk, bool minimal)
{
    char path[OUTCOME_TRACE_MAX];
    LS_ASSERT(outcome->trace[0] != 0 && outcome->shrunk[0] == 0);
    if (cli_min_path(outcome->trace, path, sizeof path) != 0) {
        errno = ENAMETOOLONG;
    } else if (file_replace(path, shrunk->bytes, shrunk->size) == 0) {
        snprintf(outcome->shrunk_property, sizeof outcome->shrunk_property, "%s", shrunk->property->name);
        outcome->shrunk_from = shrunk->before.steps;
        outcome->shrunk_steps = shrunk->after.steps;
        outcome->shrunk_minimal = minimal;
        memcpy(outcome->shrunk, path, sizeof outcome->shrunk);
        return;
    }
    outcome_say(outcome, "  no shorter trace could be written: %s\n", strerror(errno));
}

static bool is_asked(void *ctx)
{
    return *(const volatile int *)ctx != 0;
}

static void shrink(struct outcome *outcome, const struct trace *trace, volatile int *stop)
{
    struct input_error error;
    struct shrunk shrunk;
    struct shrink_options how = {.max_steps = MAX_STEPS, .stop = is_asked, .ctx = (void *)stop};
    enum shrink_result result = shrink_trace(trace, &how, &shrunk, &error);
    if (result == SHRINK_DONE || result == SHRINK_LIMIT) {
        LS_ASSERT(shrunk.size > 0);
        keep_shrunk(outcome, &shrunk, result == SHRINK_DONE);
        free(shrunk.bytes);
    }
}

static void replay(struct outcome *outcome, const struct trace *trace)
{
    struct input_error error = {.text = "its trace violates nothing"};
    char *story = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&story, &size);
    LS_ASSERT(outcome->verdict == VERDICT_VIOLATED);
    enum replay_result result = out ? replay_trace(trace, out, &error) : REPLAY_UNFIT;
    if (out && fclose(out) == 0 && size < sizeof outcome->story && result == REPLAY_VIOLATED) {
        memcpy(outcome->story, story, size);
    }
    free(story);
    if (result != REPLAY_VIOLATED) {
        outcome->verdict = VERDICT_ERROR;
        outcome_say(outcome, "  a violation was found that its replay does not show again: %s\n", error.text);
    }
}

void cli_prepare_failure(struct outcome *outcome, bool shrinks, volatile int *stop)
{
    struct input_error error;
    struct trace trace;
    if (outcome->verdict != VERDICT_VIOLATED || !outcome->trace[0]) {
        return;
    }
    if (shrinks && trace_read(&trace, outcome->trace, &error) == 0) {
        shrink(outcome, &trace, stop);
        trace_close(&trace);
    }
    if (trace_read(&trace, outcome->shrunk[0] ? outcome->shrunk : outcome->trace, &error) == 0) {
        replay(outcome, &trace);
        trace_close(&trace);
    } else {
        outcome_say(outcome, "  %s\n", error.text);
    }
}
