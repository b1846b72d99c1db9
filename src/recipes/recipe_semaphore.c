/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The semaphore as a recipe. An owner of the driver holds n leases, the count of the lock in the
 * configuration: owner o has the leases o * n + 1 to o * n + n. Reports are about owners, not leases.
 *
 * `semaphore-shared` follows a shared count, the node PATH/count. Its set_capacity() writes that node. Each
 * process reports a new capacity that it reads there. Until a write has succeeded, each new connection sends
 * it again. */
#include "lock/claim.h"
#include "recipes/recipe_invariants.h"
#include "recipes/recipe_mutex.h"
#include "recipes/recipe_refusals.h"
#include "recipes/recipe_session.h"

#include <lockstep/semaphore.h>
#include <stdio.h>
#include <string.h>

#define COUNT "count"

enum { TROUBLES_MAX = 8 };

/* A running release of which a lease was freed with a code other than 0. */
struct trouble {
    int16_t rc; /* code of the first such lease; 0 = this place is free */
    uint8_t lock, owner;
};

struct state {
    struct ls_session session; /* first: callbacks find the state by it */
    struct ls_session_listener listener;
    const struct ls_recipe_config *config;
    struct ls_semaphore *semaphores; /* config->lock_count of them */
    const char *taken;               /* result of lock_arguments_taken() at start; NULL = as it should be */
    int32_t opened;                  /* number of semaphores that are initialised */
    uint8_t stopped;
    bool shared;        /* the semaphores follow their counts */
    int16_t write;      /* a capacity that is to be written, until that has succeeded; 0 = none */
    uint8_t writes;     /* the lock whose count is to be written, if `write` */
    uint64_t releasing; /* the last lease of a running release(); 0 = none */
    struct trouble trouble[TROUBLES_MAX];
};

static uint32_t count_of(const struct state *state, int lock)
{
    uint16_t count = state->config->locks[lock].count;
    return count ? count : 1;
}

static uint64_t first_of(const struct state *state, int lock, int owner)
{
    return (uint64_t)owner * count_of(state, lock) + 1;
}

static struct state *state_of(const struct ls_mutex *leases)
{
    return (struct state *)(void *)leases->session;
}

static int lock_of(const struct ls_mutex *leases)
{
    return (int)((const struct ls_semaphore *)(const void *)leases - state_of(leases)->semaphores);
}

static int owner_of(const struct ls_mutex *leases, uint64_t lease)
{
    return (int)((lease - 1) / count_of(state_of(leases), lock_of(leases)));
}

static void report(struct ls_mutex *leases, uint64_t lease, struct ls_report *what)
{
    struct state *state = state_of(leases);
    what->lock = lock_of(leases);
    what->owner = owner_of(leases, lease);
    what->session = ls_session_id(leases->session);
    if (!state->stopped)
        ls_report(state->session.env, what);
}

/* Returns the lease with the oldest node among those of an owner, which begin with `first`. */
static uint64_t oldest_from(const struct ls_mutex *leases, uint64_t first)
{
    uint64_t oldest = first;
    for (uint32_t i = 1; i < count_of(state_of(leases), lock_of(leases)); i++)
        if (ls_mutex_token(leases, first + i) < ls_mutex_token(leases, oldest))
            oldest = first + i;
    return oldest;
}

static void on_done(struct ls_mutex *leases, uint64_t lease, const struct ls_outcome *outcome)
{
    struct ls_report what = {.kind = outcome->rc ? LS_REPORT_FAILED : LS_REPORT_GRANTED};
    what.rc = outcome->rc;
    what.depth = (int)outcome->depth;
    what.token = outcome->rc ? 0 : ls_mutex_token(leases, oldest_from(leases, lease));
    report(leases, lease, &what);
}

/* Returns whether another lease of the same owner is being given back. */
static bool others_go(const struct ls_mutex *leases, uint64_t lease)
{
    bool some = false;
    struct ls_env *env = leases->session->env;
    ls_env_lock(env);
    for (const struct lock_claim *claim = leases->session->claims; claim; claim = claim->next)
        some = some || (claim->mutex == leases && claim->owner != lease &&
                        (claim->state == LOCK_RELEASING || claim->notes & LOCK_NOTE_FREED) &&
                        owner_of(leases, claim->owner) == owner_of(leases, lease));
    ls_env_unlock(env);
    return some;
}

/* Returns the trouble of an owner, or else a free place; NULL if there is none. */
static struct trouble *trouble_of(struct state *state, int lock, int owner)
{
    struct trouble *found = NULL;
    for (struct trouble *at = state->trouble; at < state->trouble + TROUBLES_MAX; at++) {
        if (at->rc && at->lock == lock && at->owner == owner)
            return at;
        found = !found && !at->rc ? at : found;
    }
    return found;
}

/* Reports FREED once for all leases of an owner, with the first code other than 0. */
static void on_freed(struct ls_mutex *leases, uint64_t lease, int rc)
{
    struct state *state = state_of(leases);
    int lock = lock_of(leases), owner = owner_of(leases, lease);
    struct trouble *trouble = trouble_of(state, lock, owner);
    bool others =
        state->releasing && lease != state->releasing && owner == owner_of(leases, state->releasing);
    if (rc && trouble && !trouble->rc)
        *trouble = (struct trouble){.rc = (int16_t)rc, .lock = (uint8_t)lock, .owner = (uint8_t)owner};
    if (others || others_go(leases, lease))
        return;
    struct ls_report what = {.kind = LS_REPORT_FREED, .rc = trouble && trouble->rc ? trouble->rc : rc};
    if (trouble)
        *trouble = (struct trouble){0};
    report(leases, lease, &what);
}

static void on_warning(struct ls_mutex *leases, uint64_t lease, enum ls_warning warning)
{
    struct ls_report what = {.kind = LS_REPORT_WARNING, .rc = (int)warning};
    report(leases, lease, &what);
}

static void on_capacity(struct ls_semaphore *semaphore, void *user, uint32_t capacity)
{
    struct state *state = user;
    struct ls_report what = {.kind = LS_REPORT_CAPACITY, .rc = (int)capacity};
    what.lock = (int)(semaphore - state->semaphores);
    if (!state->stopped)
        ls_report(state->session.env, &what);
}

static void count_path(const struct state *state, int lock, char path[LS_MUTEX_PATH_SIZE_MAX + 1])
{
    snprintf(path, LS_MUTEX_PATH_SIZE_MAX + 1, "%s/" COUNT, state->config->lock_paths[lock]);
}

static void on_written(int rc, const struct Stat *stat, const void *data)
{
    struct state *state = (struct state *)(uintptr_t)data;
    (void)stat;
    if (rc == ZOK)
        state->write = 0;
}

static void write_count(struct state *state)
{
    char path[LS_MUTEX_PATH_SIZE_MAX + 1];
    char value[4] = {0, 0, (char)(state->write >> 8), (char)(state->write & 255)};
    zhandle_t *zh = recipe_handle(state);
    if (!state->write || !zh)
        return;
    count_path(state, state->writes, path);
    (void)zoo_aset(zh, path, value, sizeof value, -1, on_written, state);
}

static int share_capacity(void *memory, int lock, int capacity)
{
    struct state *state = memory;
    if (lock < 0 || lock >= state->opened)
        return LS_EINVAL;
    state->write = (int16_t)capacity;
    state->writes = (uint8_t)lock;
    write_count(state);
    return LS_OK;
}

static void on_event(struct ls_session *session, struct ls_session_listener *listener,
                     enum ls_session_event event, int64_t session_id)
{
    struct state *state = (struct state *)(void *)session;
    struct ls_report what;
    (void)listener;
    if (recipe_event(event, session_id, &what) && !state->stopped)
        ls_report(session->env, &what);
    if (event == LS_SESSION_CONNECTED || event == LS_SESSION_RECONNECTED)
        write_count(state);
}

static const struct ls_mutex_ops ops = {.on_done = on_done, .on_freed = on_freed, .on_warning = on_warning};
static const struct ls_mutex_options options = {.ops = &ops};
static const struct ls_session_ops session_ops = {.on_event = on_event};

static void close_semaphores(struct state *state)
{
    while (state->opened)
        ls_semaphore_close(&state->semaphores[--state->opened]);
    recipe_free_locks(state->session.env, state->semaphores);
}

static int open_lock_at(struct state *state, int lock)
{
    const struct ls_recipe_config *config = state->config;
    struct ls_semaphore *semaphore = &state->semaphores[lock];
    int err = ls_semaphore_init(semaphore, &state->session, config->lock_paths[lock],
                                config->locks[lock].capacity, &options);
    if (!err && config->contents)
        err = ls_mutex_set_contents(&semaphore->leases, config->contents, config->contents_size);
    if (!err && state->shared) {
        char path[LS_MUTEX_PATH_SIZE_MAX + 1];
        count_path(state, lock, path);
        err = ls_semaphore_follow(semaphore, path, on_capacity, state);
    }
    return err;
}

static int open_semaphores(struct state *state)
{
    state->semaphores =
        recipe_alloc_locks(state->session.env, state->config->lock_count, sizeof *state->semaphores);
    if (!state->semaphores)
        return LS_ENOMEM;
    for (; state->opened < state->config->lock_count; state->opened++) {
        int err = open_lock_at(state, state->opened);
        if (err)
            return err;
    }
    return LS_OK;
}

static int start(void *memory, struct ls_env *env, const struct ls_recipe_config *config)
{
    struct state *state = memory;
    int err = recipe_init_session(&state->session, &state->listener, &session_ops, env, config,
                                  recipe_session_options(config));
    if (err)
        return err;
    state->config = config;
    err = open_semaphores(state);
    if (!err)
        err = ls_session_start(&state->session);
    if (err)
        close_semaphores(state);
    else
        state->taken = lock_arguments_taken(&state->session, &state->semaphores->leases);
    return err;
}

static int start_shared(void *memory, struct ls_env *env, const struct ls_recipe_config *config)
{
    ((struct state *)memory)->shared = true;
    return start(memory, env, config);
}

static void stop(void *memory)
{
    struct state *state = memory;
    ls_session_close(&state->session);
    state->stopped = 1;
    close_semaphores(state);
}

static bool is_open(const struct state *state, int lock)
{
    return lock >= 0 && lock < state->opened;
}

static int acquire(void *memory, int lock, int owner, int timeout_ms)
{
    struct state *state = memory;
    if (!is_open(state, lock))
        return LS_EINVAL;
    return ls_semaphore_acquire_start(&state->semaphores[lock], first_of(state, lock, owner),
                                      count_of(state, lock), timeout_ms);
}

static int cancel(void *memory, int lock, int owner)
{
    struct state *state = memory;
    return is_open(state, lock) ? ls_semaphore_cancel(&state->semaphores[lock], first_of(state, lock, owner))
                                : LS_EINVAL;
}

static int release(void *memory, int lock, int owner)
{
    struct state *state = memory;
    if (!is_open(state, lock))
        return LS_EINVAL;
    int rc = LS_OK;
    uint32_t count = count_of(state, lock);
    state->releasing = first_of(state, lock, owner) + count - 1;
    for (uint32_t i = 0; i < count && !rc; i++)
        rc = ls_mutex_release_start(&state->semaphores[lock].leases, first_of(state, lock, owner) + i);
    state->releasing = 0;
    return rc;
}

static enum ls_belief query(const void *memory, int lock, int owner)
{
    const struct state *state = memory;
    if (!is_open(state, lock))
        return LS_NOT_HELD;
    enum ls_belief belief = LS_HELD;
    for (uint32_t i = 0; i < count_of(state, lock) && belief == LS_HELD; i++)
        belief = ls_mutex_query(&state->semaphores[lock].leases, first_of(state, lock, owner) + i);
    return belief;
}

static int guard(const void *memory, int lock, int owner, zoo_op_t *op, char *path, size_t size)
{
    const struct state *state = memory;
    if (!is_open(state, lock))
        return LS_EINVAL;
    const struct ls_mutex *leases = &state->semaphores[lock].leases;
    if (!leases->session)
        return LS_ENOTOWNER;
    return ls_mutex_guard(leases, oldest_from(leases, first_of(state, lock, owner)), op, path, size);
}

static int close_lock(void *memory, int lock)
{
    struct state *state = memory;
    return is_open(state, lock) ? ls_semaphore_close(&state->semaphores[lock]) : LS_EINVAL;
}

static int open_lock(void *memory, int lock)
{
    struct state *state = memory;
    if (!is_open(state, lock))
        return LS_EINVAL;
    return state->semaphores[lock].leases.session ? LS_EALREADY : open_lock_at(state, lock);
}

static int set_capacity(void *memory, int lock, int capacity)
{
    struct state *state = memory;
    return is_open(state, lock) ? ls_semaphore_set_capacity(&state->semaphores[lock], (uint32_t)capacity)
                                : LS_EINVAL;
}

static const char *wrong(const void *memory)
{
    struct state *state = (struct state *)(uintptr_t)memory; /* a refused call changes nothing */
    const char *what = state->taken ? state->taken : lock_invariants_broken(&state->session);
    for (int lock = 0; lock < state->opened && !what; lock++)
        what = lock_refusals_broken(&state->session, &state->semaphores[lock].leases, 2);
    return what;
}

static enum ls_node_class classify(const struct ls_recipe_config *config, const char *below, int *lock)
{
    const char *key;
    bool is_lease = strncmp(below, "leases/", 7) == 0;
    enum lock_role role = is_lease ? LOCK_ROLE_LEASE : LOCK_ROLE_MUTEX;
    (void)config;
    (void)lock;
    if (lock_names_key(role, below, &key) != LOCK_KEY_CONTENDER)
        return LS_NODE_OTHER;
    return is_lease ? LS_NODE_CONTENDER : LS_NODE_QUEUED;
}

static const char *const directories[] = {"leases", "locks", NULL};

#define SEMAPHORE                                                                                            \
    .breaks = NULL, .kinds = LS_LOCK_BIT(LS_LOCK_SEMAPHORE), .state_size = sizeof(struct state),             \
    .stop = stop, .acquire = acquire, .cancel = cancel, .release = release, .query = query,                  \
    .idle = recipe_idle, .guard = guard, .handle = recipe_handle, .multi = recipe_multi,                     \
    .canon = recipe_canon, .symmetric = true, .states = recipe_states_with_taking,                           \
    .states_now = recipe_states_now_with_taking, .marks = "src/lock/", .close = close_lock,                  \
    .open = open_lock, .in_reports = true, .wrong = wrong, .classify = classify, .directories = directories, \
    .contender_per_unit = true, .queues = true, .timers = recipe_timers

const struct ls_recipe ls_recipe_semaphore = {
    .name = "semaphore",
    .summary = "semaphore with the core of the mutex; several leases at once, all of them or none",
    .start = start,
    .sets_no_data = true,
    .set_capacity = set_capacity,
    SEMAPHORE,
};

const struct ls_recipe ls_recipe_semaphore_shared = {
    .name = "semaphore-shared",
    .summary = "the same, whose capacity stands in the node PATH/count",
    .start = start_shared,
    .set_capacity = share_capacity,
    .count = COUNT,
    SEMAPHORE,
};
