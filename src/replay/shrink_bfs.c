/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "replay/shrink_bfs.h"

#include "base/assert.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

#define STATES_MAX 30000
#define SEEN_SLOTS (1u << 16) /* more than STATES_MAX: a search for a free slot ends */
#define WAITING_BYTES_MAX (128u << 20)

struct spot {
    int parent; /* index of the spot one step earlier; -1 = this is the first spot */
    int depth;
    int next; /* index of the next fault or verb of the list; its length = all are done */
    int faults;
    struct action action;      /* step that led here */
    struct world_image *image; /* the world here; NULL = the spot was expanded */
};

struct wave {
    struct attempt *attempt;
    const struct attempt_list *in;
    struct around how;
    int depth_max; /* limit of the depth of spots: a violation is one step deeper at most */
    struct spot *spot;
    int spots;
    uint64_t *seen; /* fingerprints; 0 = a free slot */
    size_t bytes;
    int last; /* spot from which the step `final` shows the violation; -1 = none yet */
    struct action final;
    bool limited;
};

/* ---- states ---- */

static bool is_new(struct wave *w, int next)
{
    LS_ASSERT(w->spots <= STATES_MAX && next >= 0 && next <= w->in->count);
    uint64_t print = hash_mix(world_fingerprint(w->attempt->run.world) + (uint64_t)next);
    uint32_t at = (uint32_t)print & (SEEN_SLOTS - 1);
    print += print == 0;
    while (w->seen[at] != 0 && w->seen[at] != print) {
        at = (at + 1) & (SEEN_SLOTS - 1);
    }
    bool fresh = w->seen[at] == 0;
    w->seen[at] = print;
    return fresh;
}

/* Returns the index of the first fault or verb from `from` on. */
static int next_asked(const struct wave *w, int from)
{
    LS_ASSERT(from >= 0 && from <= w->in->count);
    while (from < w->in->count && (action_has(&w->in->choice[from].action, TRAIT_SYSTEM) ||
                                   w->in->choice[from].action.kind == ATTEMPT_REST)) {
        from++;
    }
    return from;
}

static void add_spot(struct wave *w, struct spot spot)
{
    LS_ASSERT(spot.parent < w->spots && spot.image == NULL);
    if (w->spots == STATES_MAX || w->bytes > WAITING_BYTES_MAX) {
        w->limited = true;
        return;
    }
    spot.image = world_save(w->attempt->run.world);
    w->limited |= spot.image == NULL;
    w->bytes += spot.image ? world_image_bytes(spot.image) : 0;
    w->spot[w->spots++] = spot;
}

static void drop_image(struct wave *w, struct spot *spot)
{
    if (spot->image) {
        LS_ASSERT(w->bytes >= world_image_bytes(spot->image));
        w->bytes -= world_image_bytes(spot->image);
        world_image_free(spot->image);
        spot->image = NULL;
    }
}

/* ---- steps ---- */

static bool is_over(const struct wave *w)
{
    return w->last >= 0 || w->limited;
}

/* Judges the present state. Keeps it if it is new and not too deep. */
static void look(struct wave *w, const struct spot *spot)
{
    LS_ASSERT(spot->parent >= 0 && spot->depth == w->spot[spot->parent].depth + 1);
    struct attempt *attempt = w->attempt;
    if (attempt_violated(attempt)) {
        w->last = spot->parent;
        w->final = spot->action;
    } else if (run_trouble(&attempt->run)) {
        w->limited = true; /* the world stays marked until the next run */
    } else if (spot->depth <= w->depth_max && is_new(w, spot->next)) {
        add_spot(w, *spot);
    }
}

static void step(struct wave *w, int parent, const struct action *action, bool asked)
{
    struct attempt *attempt = w->attempt;
    const struct spot *before = &w->spot[parent];
    LS_ASSERT(before->image != NULL && (!asked || before->next < w->in->count));
    struct spot spot = {
        .parent = parent, .depth = before->depth + 1, .next = before->next, .action = *action};
    spot.faults = before->faults + attempt_is_fault(action);
    spot.next = asked ? next_asked(w, before->next + 1) : before->next;
    if (w->how.free && spot.faults > w->how.faults) {
        return;
    }
    attempt->steps++;
    if (run_apply(&attempt->run, action) == 0) {
        look(w, &spot);
        world_restore(attempt->run.world, before->image);
    }
}

static void judge_at_rest(struct wave *w, int at)
{
    struct attempt *attempt = w->attempt;
    if (run_rest(&attempt->run)) {
        if (attempt_violated(attempt)) {
            w->last = at;
            w->final = (struct action){.kind = ATTEMPT_REST};
        }
        world_restore(attempt->run.world, w->spot[at].image);
    }
}

static void expand(struct wave *w, int at)
{
    LS_ASSERT(at >= 0 && at < w->spots && w->spot[at].image != NULL);
    static struct action enabled[WORLD_ACTIONS_MAX];
    struct run *run = &w->attempt->run;
    struct action action;
    const char *why;
    world_restore(run->world, w->spot[at].image);
    judge_at_rest(w, at);
    int next = w->spot[at].next;
    if (!w->how.free && next < w->in->count && !is_over(w) &&
        world_find(run->world, w->in->choice[next].label, &action, &why) == 0 &&
        attempt_is_allowed(w->attempt, &action)) {
        step(w, at, &action, true);
    }
    int count = world_actions(run->world, enabled);
    for (int i = 0; i < count && !is_over(w); i++) {
        if (w->how.free || action_has(&enabled[i], TRAIT_SYSTEM)) {
            step(w, at, &enabled[i], false);
        }
    }
}

/* ---- the whole ---- */

/* Does the first how.from choices of the list. Returns false if no search can begin behind them. */
static bool begin(struct wave *w, int limit, struct attempt_list *out)
{
    LS_ASSERT(w->how.from >= 0 && w->how.from <= w->in->count && w->spots == 0);
    struct attempt *attempt = w->attempt;
    struct spot start = {.parent = -1, .next = next_asked(w, w->how.from)};
    attempt_begin(attempt, limit, out);
    for (int i = 0; i < w->how.from; i++) {
        if (attempt_violated(attempt) || !attempt_take(attempt, &w->in->choice[i])) {
            return false;
        }
        start.faults += out->choice[i].fault;
    }
    if (attempt_violated(attempt) || run_trouble(&attempt->run)) {
        return false;
    }
    is_new(w, start.next);
    add_spot(w, start);
    return !w->limited;
}

/* Does the found run from its beginning, so that *out gets its choices with labels. */
static bool show(struct wave *w, int limit, struct attempt_list *out)
{
    LS_ASSERT(w->last >= 0 && w->last < w->spots);
    struct attempt *attempt = w->attempt;
    int length = w->spot[w->last].depth;
    struct action *path = malloc(((size_t)length + 1) * sizeof *path);
    bool fits = path != NULL;
    for (int at = w->last, i = length; fits && i > 0; at = w->spot[at].parent) {
        path[--i] = w->spot[at].action;
    }
    if (fits) {
        path[length] = w->final;
    }
    LS_ASSERT(!fits || length == 0 || w->spot[0].parent == -1);
    attempt_begin(attempt, limit, out);
    for (int i = 0; fits && i < w->how.from; i++) {
        fits = attempt_take(attempt, &w->in->choice[i]);
    }
    for (int i = 0; fits && i <= length; i++) {
        fits = attempt_take_action(attempt, &path[i]);
    }
    free(path);
    return fits && attempt_ends(attempt);
}

static enum around_result search(struct wave *w, int limit, struct attempt_list *out)
{
    if (!begin(w, limit, out)) {
        return w->limited ? AROUND_LIMIT : AROUND_NONE;
    }
    for (int at = 0; at < w->spots && !is_over(w); at++) {
        expand(w, at);
        drop_image(w, &w->spot[at]);
    }
    for (int at = 0; at < w->spots; at++) {
        drop_image(w, &w->spot[at]);
    }
    if (w->last < 0) {
        return w->limited ? AROUND_LIMIT : AROUND_NONE;
    }
    LS_ASSERT(w->bytes == 0);
    return show(w, limit, out) ? AROUND_FOUND : AROUND_LIMIT;
}

enum around_result around_search(struct attempt *attempt, const struct attempt_list *in, struct around how,
                                 int limit, struct attempt_list *out)
{
    struct wave w = {.attempt = attempt, .in = in, .how = how, .depth_max = limit - how.from - 1, .last = -1};
    enum around_result result = AROUND_LIMIT;
    w.spot = malloc(STATES_MAX * sizeof *w.spot);
    w.seen = calloc(SEEN_SLOTS, sizeof *w.seen);
    if (w.spot && w.seen && limit > how.from) {
        result = search(&w, limit, out);
    }
    free(w.spot);
    free(w.seen);
    return result;
}
