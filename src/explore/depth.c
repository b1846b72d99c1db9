/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Depth first: down into each new state at once, back along the trail. */
#include "base/trail.h"
#include "explore/search.h"

#include <stdlib.h>
#include <string.h>

/* One state of the path: its actions stand in one list for all, and this is its part of it. */
struct place {
    size_t first;
    int count;
    int next;
};

struct descent {
    struct search *search;
    struct trail *trail;
    struct action *action;
    size_t actions, actions_max;
    struct place *place;
    size_t depth, depth_max;
};

static bool make_room(struct descent *d)
{
    if (d->depth + 1 >= d->depth_max) {
        size_t more = d->depth_max * 2 + 256;
        struct place *list = realloc(d->place, more * sizeof *list);
        if (list == NULL) {
            return false;
        }
        d->place = list;
        d->depth_max = more;
    }
    if (d->actions + WORLD_ACTIONS_MAX > d->actions_max) {
        size_t more = d->actions_max * 2 + 2 * WORLD_ACTIONS_MAX;
        struct action *list = realloc(d->action, more * sizeof *list);
        if (list == NULL) {
            return false;
        }
        d->action = list;
        d->actions_max = more;
    }
    return true;
}

/* Lists what can happen in the present state, which is on the trail, and judges it if nothing but faults can. */
static bool enter_state(struct descent *d)
{
    struct search *search = d->search;
    if (!make_room(d)) {
        search->limit = "memory is short";
        return false;
    }
    struct place *place = &d->place[d->depth];
    *place = (struct place){.first = d->actions};
    place->count = world_actions(search->run->world, d->action + d->actions);
    d->actions += (size_t)place->count;
    if (search_moves(d->action + place->first, place->count)) {
        return true;
    }
    bool well = search_rest(search, d->depth);
    if (well) {
        world_fingerprint(search->run->world);
        trail_back(d->trail);
    }
    return well;
}

static bool go_down(struct descent *d)
{
    struct search *search = d->search;
    if (!trail_push(d->trail)) {
        search->limit = "memory is short";
        return false;
    }
    d->depth++;
    if (d->depth > search->counts->depth) {
        search->counts->depth = d->depth;
    }
    return enter_state(d);
}

static void go_up(struct descent *d)
{
    d->actions = d->place[d->depth].first;
    trail_pop(d->trail);
    d->depth--;
}

static void note_progress(struct descent *d)
{
    struct search *search = d->search;
    search->counts->frontier = d->depth + 1;
    search->waiting_bytes =
        trail_bytes(d->trail) + d->actions_max * sizeof *d->action + d->depth_max * sizeof *d->place;
}

/* One step. False when the search is over. */
static bool advance(struct descent *d)
{
    struct search *search = d->search;
    struct place *place = &d->place[d->depth];
    if (place->next == place->count) {
        if (d->depth == 0) {
            return false;
        }
        go_up(d);
        return true;
    }
    const struct action *action = &d->action[place->first + (size_t)place->next++];
    if (!search_step(search, action, d->depth + 1)) {
        return false;
    }
    switch (search_visit(search)) {
    case VISITED_NEW:
        return go_down(d);
    case VISITED_KNOWN:
        trail_back(d->trail);
        return true;
    default:
        return false;
    }
}

/* The action that each state of the path has taken last. */
static void keep_path(struct descent *d)
{
    struct search *search = d->search;
    size_t length = (size_t)search->run->steps;
    struct action *path = malloc((length + 1) * sizeof *path);
    for (size_t i = 0; path != NULL && i < length; i++) {
        const struct place *place = &d->place[i];
        path[i] = d->action[place->first + (size_t)place->next - 1];
    }
    search_keep_path(search, path, length);
}

void search_depth_first(struct search *search)
{
    struct descent d = {.search = search, .trail = world_trail(search->run->world)};
    if (d.trail == NULL) {
        search->limit = "memory is short";
        return;
    }
    bool goes_on = search_visit(search) != VISITED_FULL && enter_state(&d);
    while (goes_on && !search_limited(search)) {
        goes_on = advance(&d);
        if (search->counts->transitions >= search->look) {
            note_progress(&d);
        }
    }
    if (search->violated) {
        keep_path(&d);
    }
    trail_close(d.trail);
    free(d.action);
    free(d.place);
}
