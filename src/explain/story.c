/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "explain/story.h"

#include "base/array.h"
#include "base/assert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void begin(void *ctx, const struct trace *trace, struct run *run)
{
    (void)trace;
    struct story *story = ctx;
    LS_ASSERT(story->run == NULL);
    story->run = run;
    story->declared = run->setup.scenario->violates;
}

static bool keep_events(struct story *story, const struct replay_step *step)
{
    for (int i = 0; i < step->events; i++) {
        if (!array_room(&story->event, (size_t)story->events, &story->events_max, sizeof *story->event,
                        256)) {
            return false;
        }
        story->event[story->events] = step->event[i];
        story->event[story->events++].path = NULL;
    }
    return true;
}

/* Returns whether the step breaks something, and does not end a fault. An expiry that is due anyway shows no
 * event of a fault. */
static bool is_fault(const struct replay_step *step)
{
    bool shown = action_has(step->action, TRAIT_VERB);
    for (int i = 0; i < step->events; i++) {
        shown = shown || step->event[i].kind == EVENT_FAULT;
    }
    return shown && action_has(step->action, TRAIT_BREAKS) && !world_is_healing(step->action);
}

static void keep(void *ctx, const struct replay_step *step)
{
    struct story *story = ctx;
    struct story_choice choice = {.step = step->number, .first = story->events, .violated = step->violated};
    snprintf(choice.label, sizeof choice.label, "%s", step->label);
    snprintf(choice.remark, sizeof choice.remark, "%s", step->remark);
    if (step->action != NULL) {
        choice.action = *step->action;
        choice.fault = is_fault(step);
    }
    if (!keep_events(story, step) ||
        !array_room(&story->choice, (size_t)story->choices, &story->choices_max, sizeof *story->choice, 64)) {
        story->refused = true;
        return;
    }
    choice.events = story->events - choice.first;
    LS_ASSERT((size_t)story->choices < story->choices_max);
    story->choice[story->choices++] = choice;
}

static void end(void *ctx)
{
    struct story *story = ctx;
    LS_ASSERT(story->run != NULL);
    story->stats = story->run->stats;
    story->violated = story->stats.violated;
    story->steps = story->run->steps;
}

enum replay_result story_read(struct story *story, const struct trace *trace, struct input_error *error)
{
    struct replay_listener listener = {story, begin, NULL, keep, end};
    *story = (struct story){0};
    enum replay_result result = replay_run(trace, &listener, error);
    story->run = NULL;
    if (result != REPLAY_UNFIT && story->refused) {
        input_complain_words(error, trace->input.name, 1, 1, "'out of memory'", "memory");
        return REPLAY_UNFIT;
    }
    return result;
}

void story_close(struct story *story)
{
    free(story->choice);
    free(story->event);
    story->choice = NULL;
    story->event = NULL;
}
