/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "scenario/record.h"

#include "base/assert.h"
#include "scenario/direct.h"
#include "scenario/random.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* The file of a trace, in memory. */
struct recorder {
    char *bytes; /* NULL = memory was short */
    size_t size;
};

/* Writes the trace of a run that has ended, with all its choices, those behind a violation included. */
static void record(void *ctx, const struct run *run)
{
    struct recorder *recorder = ctx;
    struct trace trace;
    char found[OUTCOME_FOUND_MAX];
    LS_ASSERT(run->recording && recorder->bytes == NULL);
    FILE *file = open_memstream(&recorder->bytes, &recorder->size);
    if (file == NULL) {
        return;
    }
    outcome_found(run, found);
    outcome_trace_of(run, found[0] != 0 ? found : RECORD_NOTHING, &trace);
    trace.choices = run->choices;
    int result = trace_write(file, &trace);
    if (fclose(file) != 0 || result != 0) {
        free(recorder->bytes);
        recorder->bytes = NULL;
    }
}

/* Does what direct_run() does, without the story and without the comparison. */
static int record_directed(const struct run_setup *setup, struct recorder *recorder)
{
    struct run run;
    const struct scenario *scenario = setup->scenario;
    LS_ASSERT(!scenario->exploring && setup->schedule == SCHEDULE_DIRECTED);
    if (run_init(&run, setup) != 0) {
        return -1;
    }
    run.recording = true;
    run_begin(&run, SCHEDULE_DIRECTED, setup->seed);
    for (int i = 0; i < scenario->groups; i++) {
        direct_group(&run, &scenario->group[i]);
    }
    if (!run_trouble(&run)) {
        run_rest(&run);
    }
    record(recorder, &run);
    run_close(&run);
    return 0;
}

int record_run(const struct run_setup *setup, struct trace *trace, struct input_error *error)
{
    struct recorder recorder = {0};
    const char *name = setup->scenario->input.name;
    int result = setup->scenario->exploring ? random_record(setup, setup->seed, record, &recorder)
                                            : record_directed(setup, &recorder);
    if (result != 0 || recorder.bytes == NULL) {
        char found[80];
        snprintf(found, sizeof found, "'%.60s'", strerror(result != 0 ? errno : ENOMEM));
        free(recorder.bytes);
        return input_complain_words(error, name, 1, 1, found, "memory for its run");
    }
    result = trace_read_bytes(trace, name, recorder.bytes, recorder.size, error);
    free(recorder.bytes);
    return result;
}
