/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "replay/hopeless_check.h"

#include "base/assert.h"
#include "sim/waiters.h"
#include "state/canon.h"

#include <stdlib.h>

#define PLACES (1u << 16)

_Static_assert(PLACES > 3 * HOPELESS_STATES_MAX, "the table of states never fills up");

struct look {
    struct run *run;
    struct waiter waiter;
    struct canon *canon;
    struct run_events events;   /* events of the search, shown to no judge */
    uint64_t *seen;             /* fingerprints; 0 = a free place */
    struct world_image **image; /* states that are not expanded yet */
    int images, states;
    struct action *action;
};

/* Keeps the present state if it is new. Answers for this state alone: HOPELESS_YES if the waiter waits in it,
 * HOPELESS_UNKNOWN if it cannot be kept. */
static enum hopeless_answer visit(struct look *look)
{
    LS_ASSERT(look->images >= 0 && look->images <= look->states && look->states <= HOPELESS_STATES_MAX);
    uint64_t print = canon_fingerprint(look->canon);
    print += print == 0;
    uint32_t at = (uint32_t)print & (PLACES - 1);
    while (look->seen[at] != 0 && look->seen[at] != print) {
        at = (at + 1) & (PLACES - 1);
    }
    if (look->seen[at] == print) {
        return HOPELESS_YES;
    }
    if (!waiter_waits(&look->waiter)) {
        return HOPELESS_NO;
    }
    struct world_image *image = look->states < HOPELESS_STATES_MAX ? world_save(look->run->world) : NULL;
    if (image == NULL) {
        return HOPELESS_UNKNOWN;
    }
    LS_ASSERT(look->images < HOPELESS_STATES_MAX);
    look->seen[at] = print;
    look->image[look->images++] = image;
    look->states++;
    return HOPELESS_YES;
}

static enum hopeless_answer expand(struct look *look, const struct world_image *image)
{
    struct world *world = look->run->world;
    enum hopeless_answer answer = HOPELESS_YES;
    world_restore(world, image);
    int count = world_actions(world, look->action);
    for (int i = 0; i < count && answer == HOPELESS_YES; i++) {
        world_restore(world, image);
        look->events.count = 0;
        run_do_held(look->run, &look->action[i], look->run->steps, &look->events);
        answer = visit(look);
    }
    return answer;
}

static enum hopeless_answer look_through(struct look *look)
{
    world_end_faults(look->run->world);
    enum hopeless_answer answer = visit(look);
    while (answer == HOPELESS_YES && look->images > 0) {
        struct world_image *image = look->image[--look->images];
        answer = expand(look, image);
        world_image_free(image);
    }
    return answer;
}

static void close_look(struct look *look)
{
    while (look->images > 0) {
        world_image_free(look->image[--look->images]);
    }
    canon_close(look->canon);
    free(look->events.event);
    free(look->seen);
    free(look->image);
    free(look->action);
    LS_ASSERT(look->images == 0);
}

enum hopeless_answer hopeless_judge(struct run *run, int waiter, int *states)
{
    struct waiter list[WAITERS_MAX];
    LS_ALWAYS(waiter >= 0 && waiter < waiters_list(world_get_options(run->world), list));
    struct look look = {.run = run, .waiter = list[waiter]};
    struct world_image *here = world_save(run->world);
    enum hopeless_answer answer = HOPELESS_UNKNOWN;
    look.canon = world_canon(run->world);
    look.seen = calloc(PLACES, sizeof *look.seen);
    look.image = malloc(HOPELESS_STATES_MAX * sizeof(struct world_image *));
    look.action = malloc(WORLD_ACTIONS_MAX * sizeof *look.action);
    if (here != NULL && look.canon != NULL && look.seen != NULL && look.image != NULL &&
        look.action != NULL) {
        answer = look_through(&look);
        world_restore(run->world, here);
    }
    *states = look.states;
    close_look(&look);
    world_image_free(here);
    return answer;
}
