/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Several locks at once as a recipe. The driver declares mutexes, for `multi-mixed` read-write locks too, and
 * asks for one or several of them. Each set of locks gets a struct ls_multi when it is first asked for.
 * Owners 0 .. 255 of the driver are owners 1 .. 256 of a multi. */
#include "lock/claim.h"
#include "recipes/recipe_invariants.h"
#include "recipes/recipe_mutex.h"
#include "recipes/recipe_session.h"

#include <lockstep/multi.h>
#include <lockstep/recipe.h>
#include <string.h>

enum { SETS_MAX = 6, LOCKS_MAX = 4, HOLDS_MAX = 8 };

struct set {
    struct ls_multi multi; /* first: callbacks find the set by it */
    struct ls_multi_member member[LOCKS_MAX];
    int32_t lock[LOCKS_MAX]; /* the driver's lock of each member */
    int32_t count;           /* 0 = this place is free */
};

/* A hold of one owner that was reported as granted. */
struct hold {
    int64_t token[LOCKS_MAX]; /* of each member */
    uint64_t owner;           /* 0 = this place is free */
    uint64_t set;             /* index into state.sets */
};

struct state {
    struct ls_session session; /* first: callbacks find the state by it */
    struct ls_session_listener listener;
    const struct ls_recipe_config *config;
    struct set *sets; /* SETS_MAX of them */
    struct hold hold[HOLDS_MAX];
    uint8_t stopped;
};

static struct state *state_of(const struct ls_multi *multi)
{
    return (struct state *)(void *)multi->session;
}

static struct set *set_of(struct ls_multi *multi)
{
    return (struct set *)(void *)multi;
}

static bool has_lock(const struct set *set, int lock)
{
    int i = 0;
    while (i < set->count && set->lock[i] != lock)
        i++;
    return i < set->count;
}

static bool is_set_of(const struct set *set, const int *locks, int count)
{
    bool same = set->count == count;
    for (int i = 0; same && i < count; i++)
        same = has_lock(set, locks[i]);
    return same;
}

static struct set *find_set(const struct state *state, const int *locks, int count)
{
    for (int i = 0; i < SETS_MAX; i++)
        if (is_set_of(&state->sets[i], locks, count))
            return &state->sets[i];
    return NULL;
}

static struct hold *find_hold(struct state *state, uint64_t owner, const struct set *set)
{
    struct hold *hold = state->hold;
    uint64_t number = set ? (uint64_t)(set - state->sets) : 0;
    while (hold < state->hold + HOLDS_MAX && (hold->owner != owner || hold->set != number))
        hold++;
    return hold < state->hold + HOLDS_MAX ? hold : NULL;
}

static void forget(struct hold *hold)
{
    if (hold)
        memset(hold, 0, sizeof *hold);
}

static void report(struct state *state, const struct ls_report *what)
{
    if (!state->stopped)
        ls_report(state->session.env, what);
}

/* Makes the report *what for each member, with the tokens of `hold`, or 0 if that is NULL. */
static void report_all(struct set *set, uint64_t owner, const struct ls_report *what, const struct hold *hold)
{
    struct state *state = state_of(&set->multi);
    for (int i = 0; i < set->count; i++) {
        struct ls_report of_one = *what;
        of_one.lock = set->lock[i];
        of_one.owner = (int)owner - 1;
        of_one.token = hold ? hold->token[i] : 0;
        of_one.session = ls_session_id(&state->session);
        report(state, &of_one);
    }
}

static void report_granted(struct set *set, uint64_t owner, uint32_t depth)
{
    struct state *state = state_of(&set->multi);
    struct hold *hold = find_hold(state, owner, set);
    hold = hold ? hold : find_hold(state, 0, NULL);
    if (!hold)
        return; /* no room for so many owners: the driver gets no answer */
    hold->owner = owner;
    hold->set = (uint64_t)(set - state->sets);
    for (int i = 0; i < set->count; i++)
        hold->token[i] = ls_multi_token(&set->multi, owner, i);
    const struct hold told = *hold; /* the owner may release within the reports, which clears *hold */
    report_all(set, owner, &(struct ls_report){.kind = LS_REPORT_GRANTED, .depth = (int)depth}, &told);
}

static void on_done(struct ls_multi *multi, uint64_t owner, const struct ls_multi_outcome *outcome)
{
    if (outcome->rc)
        report_all(set_of(multi), owner, &(struct ls_report){.kind = LS_REPORT_FAILED, .rc = outcome->rc},
                   NULL);
    else
        report_granted(set_of(multi), owner, outcome->depth);
}

static void on_freed(struct ls_multi *multi, uint64_t owner, int rc)
{
    report_all(set_of(multi), owner, &(struct ls_report){.kind = LS_REPORT_FREED, .rc = rc}, NULL);
}

/* Reports the loss of one hold. If the session was lost, on_event() has reported that and cleared the
 * hold. */
static void on_lost(struct ls_multi *multi, uint64_t owner, int member)
{
    struct hold *hold = find_hold(state_of(multi), owner, set_of(multi));
    (void)member;
    if (!hold)
        return;
    const struct hold lost = *hold;
    forget(hold);
    report_all(set_of(multi), owner, &(struct ls_report){.kind = LS_REPORT_HOLD_LOST}, &lost);
}

static void on_warning(struct ls_multi *multi, uint64_t owner, int member, enum ls_warning warning)
{
    struct ls_report what = {.kind = LS_REPORT_WARNING, .rc = (int)warning};
    what.lock = set_of(multi)->lock[member];
    what.owner = (int)owner - 1;
    report(state_of(multi), &what);
}

static void on_event(struct ls_session *session, struct ls_session_listener *listener,
                     enum ls_session_event event, int64_t session_id)
{
    struct state *state = (struct state *)(void *)session;
    struct ls_report what;
    (void)listener;
    if (!recipe_event(event, session_id, &what))
        return;
    if (what.kind == LS_REPORT_LOST)
        memset(state->hold, 0, sizeof state->hold);
    report(state, &what);
}

static const struct ls_multi_ops multi_ops = {
    .on_done = on_done, .on_freed = on_freed, .on_lost = on_lost, .on_warning = on_warning};
static const struct ls_multi_options multi_options = {.ops = &multi_ops};
static const struct ls_session_ops session_ops = {.on_event = on_event};

static void close_set(struct set *set)
{
    if (set->count)
        ls_multi_close(&set->multi);
    memset(set, 0, sizeof *set);
}

static int add_lock(struct state *state, struct ls_multi *multi, int lock)
{
    const struct ls_recipe_config *config = state->config;
    const char *path = config->lock_paths[lock];
    if (!config->locks || config->locks[lock].kind != LS_LOCK_READ_WRITE)
        return ls_multi_add_mutex(multi, &state->session, path);
    return config->locks[lock].mode == LS_MODE_SHARED ? ls_multi_add_reader(multi, &state->session, path)
                                                      : ls_multi_add_writer(multi, &state->session, path);
}

/* Sets *out to the set of these locks, which is made if there is none. */
static int open_set(struct state *state, const int *locks, int count, struct set **out)
{
    struct set *set = find_set(state, locks, count);
    *out = set ? set : find_set(state, NULL, 0);
    if (set)
        return LS_OK;
    set = *out;
    if (!set)
        return LS_ENOMEM;
    int rc = ls_multi_init(&set->multi, set->member, LOCKS_MAX, &multi_options);
    for (int i = 0; i < count && rc >= 0; i++) {
        set->lock[i] = locks[i];
        rc = add_lock(state, &set->multi, locks[i]);
        set->count += rc >= 0;
    }
    if (rc >= 0)
        return LS_OK;
    close_set(set);
    return rc;
}

static int start(void *memory, struct ls_env *env, const struct ls_recipe_config *config)
{
    struct state *state = memory;
    int err = recipe_init_session(&state->session, &state->listener, &session_ops, env, config,
                                  recipe_session_options(config));
    if (err)
        return err;
    state->config = config;
    state->sets = recipe_alloc_locks(env, SETS_MAX, sizeof *state->sets);
    err = state->sets ? ls_session_start(&state->session) : LS_ENOMEM;
    if (err && state->sets)
        recipe_free_locks(env, state->sets);
    return err;
}

static void stop(void *memory)
{
    struct state *state = memory;
    memset(state->hold, 0, sizeof state->hold); /* a hold that ends by the stop is not reported as lost */
    ls_session_close(&state->session);
    state->stopped = 1;
    for (int i = 0; i < SETS_MAX; i++)
        close_set(&state->sets[i]);
    recipe_free_locks(state->session.env, state->sets);
}

static bool are_locks(const struct state *state, const int *locks, int count)
{
    bool known = count > 0 && count <= LOCKS_MAX;
    for (int i = 0; known && i < count; i++)
        known = locks[i] >= 0 && locks[i] < state->config->lock_count;
    return known;
}

static int acquire_all(void *memory, const int *locks, int count, int owner, int timeout_ms)
{
    struct state *state = memory;
    uint64_t id = (uint64_t)owner + 1;
    struct set *set;
    if (!are_locks(state, locks, count))
        return LS_EINVAL;
    int rc = open_set(state, locks, count, &set);
    if (rc)
        return rc;
    rc = ls_multi_acquire_start(&set->multi, id, timeout_ms);
    if (rc != 1)
        return rc;
    report_granted(set, id, ls_multi_depth(&set->multi, id));
    return LS_OK;
}

static int release_all(void *memory, const int *locks, int count, int owner)
{
    struct state *state = memory;
    uint64_t id = (uint64_t)owner + 1;
    struct set *set = are_locks(state, locks, count) ? find_set(state, locks, count) : NULL;
    if (!set)
        return are_locks(state, locks, count) ? LS_ENOTOWNER : LS_EINVAL;
    if (ls_multi_depth(&set->multi, id) == 1)
        forget(find_hold(state, id, set));
    return ls_multi_release_start(&set->multi, id);
}

static int acquire(void *memory, int lock, int owner, int timeout_ms)
{
    return acquire_all(memory, &lock, 1, owner, timeout_ms);
}

static int release(void *memory, int lock, int owner)
{
    return release_all(memory, &lock, 1, owner);
}

/* Cancels the acquire of a set that has this lock. */
static int cancel(void *memory, int lock, int owner)
{
    struct state *state = memory;
    int rc = are_locks(state, &lock, 1) ? LS_ENOENT : LS_EINVAL;
    for (int i = 0; i < SETS_MAX && rc == LS_ENOENT; i++)
        if (has_lock(&state->sets[i], lock))
            rc = ls_multi_cancel(&state->sets[i].multi, (uint64_t)owner + 1);
    return rc;
}

static struct set *held_set(const struct state *state, int lock, int owner)
{
    for (int i = 0; i < SETS_MAX; i++)
        if (has_lock(&state->sets[i], lock) && ls_multi_depth(&state->sets[i].multi, (uint64_t)owner + 1))
            return &state->sets[i];
    return NULL;
}

static enum ls_belief query(const void *memory, int lock, int owner)
{
    const struct set *set = held_set(memory, lock, owner);
    return set ? ls_multi_query(&set->multi, (uint64_t)owner + 1) : LS_NOT_HELD;
}

static int guard(const void *memory, int lock, int owner, zoo_op_t *op, char *path, size_t size)
{
    const struct set *set = held_set(memory, lock, owner);
    int member = 0;
    if (!set)
        return LS_ENOTOWNER;
    while (set->lock[member] != lock)
        member++;
    return ls_multi_guard(&set->multi, (uint64_t)owner + 1, member, op, path, size);
}

static void canon(const void *memory, struct ls_rename *rename)
{
    const struct state *state = memory;
    recipe_canon(memory, rename);
    for (int i = 0; i < HOLDS_MAX; i++)
        for (int j = 0; j < LOCKS_MAX; j++)
            rename->zxid(rename, &state->hold[i].token[j]);
}

static void unread(void (*completion)(void), const struct String_vector *names, const uint8_t id[16],
                   bool *list)
{
    (void)completion;
    lock_names_unread(LOCK_ROLE_MUTEX, names, id, list);
}

static const char *wrong(const void *memory)
{
    const struct state *state = memory;
    for (int i = 0; i < SETS_MAX; i++)
        if (state->sets[i].multi.busy)
            return "!multi.busy";
    return lock_invariants_broken(&state->session);
}

static enum ls_node_class classify_mixed(const struct ls_recipe_config *config, const char *below, int *lock)
{
    const char *key;
    bool both = config->locks && config->locks[*lock].kind == LS_LOCK_READ_WRITE;
    enum lock_role role = both ? LOCK_ROLE_READER : LOCK_ROLE_MUTEX;
    *lock += both && lock_names_is_writer(below);
    return lock_names_key(role, below, &key) == LOCK_KEY_CONTENDER ? LS_NODE_CONTENDER : LS_NODE_OTHER;
}

#define MULTI                                                                                                \
    .state_size = sizeof(struct state), .start = start, .stop = stop, .acquire = acquire, .cancel = cancel,  \
    .release = release, .query = query, .idle = recipe_idle, .guard = guard, .handle = recipe_handle,        \
    .multi = recipe_multi, .canon = canon, .symmetric = true, .reentrant = true, .states = recipe_states,    \
    .states_now = recipe_states_now, .marks = "src/lock/", .ignores_children = true, .sets_no_data = true,   \
    .wrong = wrong, .timers = recipe_timers, .acquire_all = acquire_all, .release_all = release_all

const struct ls_recipe ls_recipe_multi = {
    .name = "multi",
    .summary = "several mutexes at once, all of them or none, without a deadlock by order",
    .unread = unread,
    MULTI,
};

const struct ls_recipe ls_recipe_multi_mixed = {
    .name = "multi-mixed",
    .summary = "the same, with halves of read-write locks among the mutexes",
    .kinds = LS_LOCK_BIT(LS_LOCK_MUTEX) | LS_LOCK_BIT(LS_LOCK_READ_WRITE),
    .classify = classify_mixed,
    MULTI,
};
