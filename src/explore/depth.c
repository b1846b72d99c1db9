/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Depth first: down into each new state at once, back along the trail. */
#include "base/trail.h"
#include "explore/distrust.h"
#include "explore/share.h"

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
    const struct share_piece *piece; /* what leads to the first place, NULL = nothing */
    struct trail *trail;
    struct action *action;
    size_t actions, actions_max;
    struct place *place;
    size_t depth, depth_max;
};

/* Steps of the path from the first state of all to the present one. */
static uint64_t depth_of(const struct descent *d)
{
    return (d->piece != NULL ? d->piece->length : 0) + d->depth;
}

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
        size_t more = d->actions_max * 2 + (size_t)2 * WORLD_ACTIONS_MAX;
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
    bool well = search_rest(search, depth_of(d));
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
    if (depth_of(d) > search->counts->depth) {
        search->counts->depth = depth_of(d);
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
    search->counts->waiting_bytes =
        trail_bytes(d->trail) + d->actions_max * sizeof *d->action + d->depth_max * sizeof *d->place;
}

/* The action that each place of the path has taken last. */
static void copy_path(const struct descent *d, struct action *to, size_t places)
{
    for (size_t i = 0; d->place != NULL && i < places; i++) {
        const struct place *place = &d->place[i];
        to[i] = d->action[place->first + (size_t)place->next - 1];
    }
}

/* All actions that led to the present state; owned by the caller, NULL if memory is short. */
static struct action *whole_path(const struct descent *d, size_t length)
{
    size_t before = d->piece != NULL ? d->piece->length : 0;
    struct action *path = malloc((length + 1) * sizeof *path);
    if (path != NULL) {
        if (before > 0) {
            memcpy(path, d->piece->action, before * sizeof *path);
        }
        copy_path(d, path + before, length - before);
    }
    return path;
}

static bool doubt_path(struct descent *d)
{
    size_t length = (size_t)depth_of(d);
    struct action *path = whole_path(d, length);
    bool right = path == NULL || distrust_path(d->search, path, length);
    free(path);
    return right;
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
    bool twice = distrust_is_due(search, DISTRUST_STEP_EVERY, &search->next_twice);
    if (!(twice ? distrust_step : search_step)(search, action, depth_of(d) + 1)) {
        return false;
    }
    switch (search_visit(search)) {
    case VISITED_NEW:
        return go_down(d) &&
               (!distrust_is_due(search, DISTRUST_PATH_EVERY, &search->next_again) || doubt_path(d));
    case VISITED_KNOWN:
        trail_back(d->trail);
        return true;
    default:
        return false;
    }
}

static void keep_path(struct descent *d)
{
    size_t length = (size_t)d->search->run->steps;
    search_keep_path(d->search, whole_path(d, length), length);
}

/* ---- among several workers ---- */

/* What the place nearest to the first state has not tried is the largest part that can be given away. */
static void give_away(struct descent *d)
{
    static struct share_piece piece;
    size_t before = d->piece != NULL ? d->piece->length : 0;
    for (size_t i = 0; i <= d->depth && before + i <= SHARE_PATH_MAX; i++) {
        struct place *place = &d->place[i];
        int untried = place->count - place->next -
                      (i == d->depth); /* the last of the present place is the giver's own */
        if (untried <= 0) {
            continue;
        }
        piece.length = (uint32_t)(before + i);
        piece.untried = (uint32_t)untried;
        if (before > 0) {
            memcpy(piece.action, d->piece->action, before * sizeof piece.action[0]);
        }
        copy_path(d, piece.action + before, i);
        memcpy(piece.action + piece.length, d->action + place->first + (size_t)(place->count - untried),
               (size_t)untried * sizeof piece.action[0]);
        place->count -= share_put(d->search->share, &piece) ? untried : 0;
        return;
    }
}

/* Goes to the state that a piece begins at: what its giver has counted is not counted again. */
static bool enter_piece(struct descent *d)
{
    const struct share_piece *piece = d->piece;
    struct run *run = d->search->run;
    struct check_stats stats = run->stats;
    for (uint32_t i = 0; i < piece->length; i++) {
        run_do(run, &piece->action[i], i + 1);
    }
    run->stats = stats;
    if (!make_room(d)) {
        d->search->limit = "memory is short";
        return false;
    }
    memcpy(d->action, piece->action + piece->length, piece->untried * sizeof *d->action);
    d->actions = piece->untried;
    d->place[0] = (struct place){.count = (int)piece->untried};
    return true;
}

static bool begin(struct descent *d)
{
    struct search *search = d->search;
    if (d->piece != NULL && !enter_piece(d)) {
        return false;
    }
    bool known = d->piece != NULL || search_visit(search) != VISITED_FULL;
    world_fingerprint(search->run->world);
    d->trail = known ? world_trail(search->run->world) : NULL;
    if (known && d->trail == NULL) {
        search->limit = "memory is short";
    }
    return d->trail != NULL && (d->piece != NULL || enter_state(d));
}

void search_depth_first(struct search *search, const struct share_piece *piece)
{
    struct descent d = {.search = search, .piece = piece};
    bool goes_on = begin(&d);
    while (goes_on && !search_limited(search)) {
        goes_on = advance(&d);
        if (search->counts->transitions >= search->look) {
            note_progress(&d);
        }
        if (search->share != NULL && share_is_hungry(search->share)) {
            give_away(&d);
        }
    }
    if (search->violated) {
        keep_path(&d);
    }
    if (d.trail != NULL) {
        trail_close(d.trail);
    }
    free(d.action);
    free(d.place);
}
