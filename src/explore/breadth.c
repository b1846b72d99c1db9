/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Breadth first: all states of one depth before those of the next, so that the first violation is a shortest one. Each
 * state remembers from which one it came and by what; those that wait are kept whole. */
#include "explore/distrust.h"

#include <stdlib.h>

struct origin {
    uint32_t parent; /* number of a state */
    uint32_t depth;
    struct action action;
};

struct wave {
    struct search *search;
    struct origin *origin; /* of each state, in the order in which they were found */
    size_t states, states_max;
    struct world_image **image; /* of each state that waits, by the same number */
    size_t next;                /* the first that waits */
    size_t image_bytes;
};

static bool make_room(struct wave *w)
{
    if (w->states < w->states_max) {
        return true;
    }
    size_t more = w->states_max * 2 + 1024;
    struct origin *origins = realloc(w->origin, more * sizeof *origins);
    if (origins == NULL) {
        return false;
    }
    w->origin = origins;
    struct world_image **images = realloc(w->image, more * sizeof(void *));
    if (images == NULL) {
        return false;
    }
    w->image = images;
    w->states_max = more;
    return true;
}

static bool add_state(struct wave *w, size_t parent, const struct action *action, uint32_t depth)
{
    struct search *search = w->search;
    struct world_image *image =
        w->states < UINT32_MAX && make_room(w) ? world_save(search->run->world) : NULL;
    if (image == NULL) {
        search->limit = "memory is short";
        return false;
    }
    w->origin[w->states] = (struct origin){.parent = (uint32_t)parent, .depth = depth, .action = *action};
    w->image[w->states++] = image;
    w->image_bytes += world_image_bytes(image);
    search->counts->waiting_bytes = w->image_bytes + w->states_max * (sizeof *w->origin + sizeof(void *));
    search->counts->depth = depth;
    return true;
}

/* What leads to a state, then one more action if there is one. */
static void keep_path(struct wave *w, size_t state, const struct action *last)
{
    uint64_t length = w->origin[state].depth;
    struct action *path = malloc((length + 2) * sizeof *path);
    for (uint64_t i = length; path != NULL && i > 0; i--) {
        path[i - 1] = w->origin[state].action;
        state = w->origin[state].parent;
    }
    if (path != NULL && last != NULL) {
        path[length++] = *last;
    }
    search_keep_path(w->search, path, length);
}

/* Does one action of a state and goes back. False when the search is over. */
static bool try_action(struct wave *w, size_t state, const struct action *action)
{
    struct search *search = w->search;
    uint32_t depth = w->origin[state].depth + 1;
    bool twice = distrust_is_due(search, DISTRUST_STEP_EVERY, &search->next_twice);
    bool goes_on = (twice ? distrust_step : search_step)(search, action, depth);
    if (!goes_on && search->violated) {
        keep_path(w, state, action);
    }
    if (goes_on) {
        enum visited_answer answer = search_visit(search);
        goes_on = answer != VISITED_FULL && (answer == VISITED_KNOWN || add_state(w, state, action, depth));
    }
    world_restore(search->run->world, w->image[state]);
    return goes_on;
}

static bool expand(struct wave *w, size_t state)
{
    static struct action actions[WORLD_ACTIONS_MAX];
    struct search *search = w->search;
    world_restore(search->run->world, w->image[state]);
    int count = world_actions(search->run->world, actions);
    if (!search_moves(actions, count)) {
        if (!search_rest(search, w->origin[state].depth)) {
            if (search->violated) {
                keep_path(w, state, NULL);
            }
            return false;
        }
        world_restore(search->run->world, w->image[state]);
    }
    for (int i = 0; i < count; i++) {
        if (search_limited(search) || !try_action(w, state, &actions[i])) {
            return false;
        }
    }
    return true;
}

void search_breadth_first(struct search *search)
{
    struct wave w = {.search = search};
    bool goes_on = search_visit(search) != VISITED_FULL && add_state(&w, 0, &(struct action){0}, 0);
    for (; goes_on && w.next < w.states; w.next++) {
        goes_on = expand(&w, w.next);
        w.image_bytes -= world_image_bytes(w.image[w.next]);
        world_image_free(w.image[w.next]);
        search->counts->frontier = w.states - w.next;
    }
    while (w.next < w.states) {
        world_image_free(w.image[w.next++]);
    }
    free(w.image);
    free(w.origin);
}
