/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "report/report.h"
#include "report/steps.h"

#include <cjson/cJSON.h>
#include <stdlib.h>

struct writer {
    FILE *out;
    struct steps steps;
    bool failed; /* memory was short */
};

/* Writes an object on a line, and deletes it. */
static void write_line(struct writer *writer, cJSON *object)
{
    char *line = object != NULL ? cJSON_PrintUnformatted(object) : NULL;
    writer->failed |= line == NULL;
    if (line != NULL) {
        fprintf(writer->out, "%s\n", line);
    }
    free(line);
    cJSON_Delete(object);
}

static void write_head(void *ctx, const struct trace *trace, struct run *run)
{
    struct writer *writer = ctx;
    write_line(writer, steps_head(&writer->steps, trace, run));
}

static void look_at_choice(void *ctx, const struct replay_step *step)
{
    steps_choice(&((struct writer *)ctx)->steps, step);
}

static void write_step(void *ctx, const struct replay_step *step)
{
    struct writer *writer = ctx;
    write_line(writer, steps_step(&writer->steps, step));
}

static void write_end(void *ctx)
{
    struct writer *writer = ctx;
    write_line(writer, steps_end(&writer->steps));
}

enum replay_result report_replay_json(FILE *out, const struct trace *trace, struct input_error *error)
{
    struct writer writer = {.out = out};
    struct replay_listener listener = {&writer, write_head, look_at_choice, write_step, write_end};
    enum replay_result result = replay_run(trace, &listener, error);
    steps_close(&writer.steps);
    if (result != REPLAY_UNFIT && writer.failed) {
        input_complain_words(error, trace->input.name, 1, 1, "'out of memory'", "memory");
        return REPLAY_UNFIT;
    }
    return result;
}
