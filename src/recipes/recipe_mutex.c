/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The mutex and the read-write lock as recipes. Owners 0 .. 255 of the driver are owners 1 .. 256 of the
 * mutex. There are two recipes of the mutex: in one the session opens its handles, in the other it has them
 * on loan. A read-write lock is two locks of the driver, one after the other as its halves are in struct
 * ls_rwlock. */
#include "recipes/recipe_mutex.h"
#include "lock/claim.h"
#include "recipes/recipe_invariants.h"
#include "recipes/recipe_refusals.h"
#include "recipes/recipe_session.h"

#include <lockstep/mutex.h>
#include <lockstep/recipe.h>
#include <lockstep/rwlock.h>
#include <stddef.h>
#include <string.h>

_Static_assert(offsetof(struct ls_rwlock, read) == 0 &&
                   offsetof(struct ls_rwlock, write) == sizeof(struct ls_mutex),
               "the halves are as the locks of a read-write lock in struct ls_recipe_config");

struct state {
    struct ls_session session; /* first: callbacks find the state by it */
    struct ls_session_listener listener;
    const struct ls_recipe_config *config;
    struct ls_mutex *mutexes; /* config->lock_count of them */
    const char *taken;        /* result of lock_arguments_taken() at start; NULL = as it should be */
    int32_t opened;           /* number of mutexes that are initialised */
    uint8_t stopped;
    uint8_t lends; /* this is the state of a struct lender */
};

static void report(struct state *state, const struct ls_report *what)
{
    if (!state->stopped)
        ls_report(state->session.env, what);
}

static struct state *state_of(const struct ls_mutex *mutex)
{
    return (struct state *)(void *)mutex->session;
}

static int index_of(const struct ls_mutex *mutex)
{
    return (int)(mutex - state_of(mutex)->mutexes);
}

static void on_done(struct ls_mutex *mutex, uint64_t owner, const struct ls_outcome *outcome)
{
    struct ls_report what = {.kind = outcome->rc ? LS_REPORT_FAILED : LS_REPORT_GRANTED};
    what.lock = index_of(mutex);
    what.owner = (int)owner - 1;
    what.rc = outcome->rc;
    what.depth = (int)outcome->depth;
    what.token = outcome->token;
    what.session = ls_session_id(mutex->session);
    report(state_of(mutex), &what);
}

static void on_freed(struct ls_mutex *mutex, uint64_t owner, int rc)
{
    struct ls_report what = {.kind = LS_REPORT_FREED};
    what.lock = index_of(mutex);
    what.owner = (int)owner - 1;
    what.rc = rc;
    what.session = ls_session_id(mutex->session);
    report(state_of(mutex), &what);
}

static void on_warning(struct ls_mutex *mutex, uint64_t owner, enum ls_warning warning)
{
    struct ls_report what = {.kind = LS_REPORT_WARNING};
    what.lock = index_of(mutex);
    what.owner = (int)owner - 1;
    what.rc = (int)warning;
    report(state_of(mutex), &what);
}

static void on_revoke(struct ls_mutex *mutex, uint64_t owner, int64_t token)
{
    struct ls_report what = {.kind = LS_REPORT_REVOKE, .token = token};
    what.lock = index_of(mutex);
    what.owner = (int)owner - 1;
    what.session = ls_session_id(mutex->session);
    report(state_of(mutex), &what);
}

static void on_asked(struct ls_session *session, void *user, int rc)
{
    struct ls_report what = {.kind = LS_REPORT_ASKED, .lock = (int)(uintptr_t)user, .rc = rc};
    report((struct state *)(void *)session, &what);
}

/* Asks the participant at the place `user`, from 1, to give the lock back. */
static void on_participants(struct ls_mutex *mutex, void *user, int rc, const struct ls_participant *list,
                            int count)
{
    int place = (int)(uintptr_t)user;
    void *lock = (void *)(uintptr_t)index_of(mutex);
    char path[LS_MUTEX_PATH_SIZE_MAX + 64];
    if (!rc && place > count)
        rc = LS_ENOENT;
    if (!rc)
        rc = ls_mutex_contender_path(mutex, list[place - 1].name, path, sizeof path);
    if (!rc)
        rc = ls_mutex_request_revoke_start(mutex->session, path, on_asked, lock);
    if (rc)
        on_asked(mutex->session, lock, rc);
}

static void on_event(struct ls_session *session, struct ls_session_listener *listener,
                     enum ls_session_event event, int64_t session_id)
{
    (void)listener;
    struct ls_report what;
    if (recipe_event(event, session_id, &what))
        report((struct state *)(void *)session, &what);
}

static const struct ls_mutex_ops mutex_ops = {.on_done = on_done,
                                              .on_freed = on_freed,
                                              .on_warning = on_warning,
                                              .on_participants = on_participants,
                                              .on_revoke = on_revoke};
static const struct ls_mutex_options mutex_options = {.ops = &mutex_ops};
static const struct ls_mutex_options lent_mutex_options;
static const struct ls_session_ops session_ops = {.on_event = on_event};

static bool is_read_write(const struct state *state, int lock)
{
    return state->config->locks && state->config->locks[lock].kind == LS_LOCK_READ_WRITE;
}

static struct ls_rwlock *rwlock_of(struct ls_mutex *reader)
{
    return (struct ls_rwlock *)(void *)reader;
}

static void close_mutexes(struct state *state)
{
    while (state->opened) {
        if (is_read_write(state, --state->opened))
            ls_rwlock_close(rwlock_of(&state->mutexes[--state->opened]));
        else
            ls_mutex_close(&state->mutexes[state->opened]);
    }
    recipe_free_locks(state->session.env, state->mutexes);
}

static int set_contents(struct state *state, int lock)
{
    const struct ls_recipe_config *config = state->config;
    return ls_mutex_set_contents(&state->mutexes[lock], config->contents,
                                 config->contents ? config->contents_size : 0);
}

static int open_mutex(struct state *state, int lock)
{
    int err = ls_mutex_init(&state->mutexes[lock], &state->session, state->config->lock_paths[lock],
                            state->lends ? &lent_mutex_options : &mutex_options);
    return err ? err : set_contents(state, lock);
}

/* Opens the read-write lock that is the driver's lock `lock` and the one after it. */
static int open_rwlock(struct state *state, int lock)
{
    int err = ls_rwlock_init(rwlock_of(&state->mutexes[lock]), &state->session,
                             state->config->lock_paths[lock], &mutex_options);
    err = err ? err : set_contents(state, lock);
    return err ? err : set_contents(state, lock + 1);
}

static int open_mutexes(struct state *state)
{
    const struct ls_recipe_config *config = state->config;
    state->mutexes = recipe_alloc_locks(state->session.env, config->lock_count, sizeof *state->mutexes);
    if (!state->mutexes)
        return LS_ENOMEM;
    while (state->opened < config->lock_count) {
        bool both = is_read_write(state, state->opened);
        int err = both ? open_rwlock(state, state->opened) : open_mutex(state, state->opened);
        if (err)
            return err;
        state->opened += both ? 2 : 1;
    }
    return LS_OK;
}

static int start_with(struct state *state, struct ls_env *env, const struct ls_recipe_config *config,
                      const struct ls_session_options *options, int (*open)(struct ls_session *session))
{
    int err = recipe_init_session(&state->session, &state->listener, &session_ops, env, config, options);
    if (err)
        return err;
    state->config = config;
    err = open_mutexes(state);
    if (!err)
        err = open(&state->session);
    if (err)
        close_mutexes(state);
    else
        state->taken = lock_arguments_taken(&state->session, state->mutexes);
    return err;
}

static int start(void *memory, struct ls_env *env, const struct ls_recipe_config *config)
{
    return start_with(memory, env, config, recipe_session_options(config), ls_session_start);
}

static void stop(void *memory)
{
    struct state *state = memory;
    ls_session_close(&state->session);
    state->stopped = 1;
    close_mutexes(state);
}

static struct ls_mutex *mutex_at(struct state *state, int lock)
{
    return lock >= 0 && lock < state->opened ? &state->mutexes[lock] : NULL;
}

static int acquire(void *memory, int lock, int owner, int timeout_ms)
{
    struct state *state = memory;
    struct ls_mutex *mutex = mutex_at(state, lock);
    if (!mutex)
        return LS_EINVAL;
    uint64_t id = (uint64_t)owner + 1;
    int rc = ls_mutex_acquire_start(mutex, id, timeout_ms);
    if (rc != 1)
        return rc;
    struct ls_outcome again = {.depth = ls_mutex_depth(mutex, id), .token = ls_mutex_token(mutex, id)};
    on_done(mutex, id, &again);
    return LS_OK;
}

static int cancel(void *memory, int lock, int owner)
{
    struct ls_mutex *mutex = mutex_at(memory, lock);
    return mutex ? ls_mutex_cancel(mutex, (uint64_t)owner + 1) : LS_EINVAL;
}

static int release(void *memory, int lock, int owner)
{
    struct ls_mutex *mutex = mutex_at(memory, lock);
    return mutex ? ls_mutex_release_start(mutex, (uint64_t)owner + 1) : LS_EINVAL;
}

static enum ls_belief query(const void *memory, int lock, int owner)
{
    const struct state *state = memory;
    if (lock < 0 || lock >= state->opened)
        return LS_NOT_HELD;
    return ls_mutex_query(&state->mutexes[lock], (uint64_t)owner + 1);
}

static int guard(const void *memory, int lock, int owner, zoo_op_t *op, char *path, size_t size)
{
    const struct state *state = memory;
    if (lock < 0 || lock >= state->opened)
        return LS_EINVAL;
    return ls_mutex_guard(&state->mutexes[lock], (uint64_t)owner + 1, op, path, size);
}

static int revocable(void *memory, int lock)
{
    struct ls_mutex *mutex = mutex_at(memory, lock);
    return mutex ? ls_mutex_make_revocable(mutex) : LS_EINVAL;
}

static int revoke(void *memory, int lock, int place)
{
    struct ls_mutex *mutex = mutex_at(memory, lock);
    if (!mutex || place < 1)
        return LS_EINVAL;
    return ls_mutex_participants_start(mutex, (void *)(uintptr_t)place);
}

static int close_lock(void *memory, int lock)
{
    struct ls_mutex *mutex = mutex_at(memory, lock);
    return mutex ? ls_mutex_close(mutex) : LS_EINVAL;
}

static int open_lock(void *memory, int lock)
{
    struct ls_mutex *mutex = mutex_at(memory, lock);
    if (!mutex)
        return LS_EINVAL;
    return mutex->session ? LS_EALREADY : open_mutex(memory, lock);
}

static void unread(void (*completion)(void), const struct String_vector *names, const uint8_t id[16],
                   bool *list)
{
    if (!lock_participants_read(completion))
        lock_names_unread(LOCK_ROLE_MUTEX, names, id, list);
}

static const char *wrong(const void *memory)
{
    struct state *state = (struct state *)(uintptr_t)memory; /* a refused call changes nothing */
    const char *what = state->taken ? state->taken : lock_invariants_broken(&state->session);
    return what ? what : lock_refusals_broken(&state->session, state->mutexes, state->opened);
}

#define OF_THE_MUTEX                                                                                         \
    .acquire = acquire, .cancel = cancel, .release = release, .query = query, .idle = recipe_idle,           \
    .guard = guard, .handle = recipe_handle, .multi = recipe_multi, .revocable = revocable,                  \
    .revoke = revoke, .reentrant = true, .canon = recipe_canon, .states = recipe_states,                     \
    .states_now = recipe_states_now, .marks = "src/lock/", .ignores_children = true, .sets_no_data = true,   \
    .in_reports = true, .timers = recipe_timers

const struct ls_recipe ls_recipe_mutex = {
    .name = "mutex",
    .summary = "reentrant mutex with protected creation, janitor and fencing token",
    .breaks = NULL,
    .state_size = sizeof(struct state),
    .start = start,
    .stop = stop,
    .symmetric = true,
    .close = close_lock,
    .open = open_lock,
    .unread = unread,
    .wrong = wrong,
    OF_THE_MUTEX,
};

/* ---- the read-write lock ---- */

static void unread_of_rwlock(void (*completion)(void), const struct String_vector *names,
                             const uint8_t id[16], bool *list)
{
    if (!lock_participants_read(completion))
        lock_names_unread(LOCK_ROLE_READER, names, id, list);
}

static enum ls_node_class classify(const struct ls_recipe_config *config, const char *below, int *lock)
{
    const char *key;
    (void)config;
    *lock += lock_names_is_writer(below);
    return lock_names_key(LOCK_ROLE_READER, below, &key) == LOCK_KEY_CONTENDER ? LS_NODE_CONTENDER
                                                                               : LS_NODE_OTHER;
}

const struct ls_recipe ls_recipe_rwlock = {
    .name = "rwlock",
    .summary = "reentrant read-write lock with the core of the mutex, and a downgrade without a gap",
    .breaks = NULL,
    .kinds = LS_LOCK_BIT(LS_LOCK_READ_WRITE),
    .state_size = sizeof(struct state),
    .start = start,
    .stop = stop,
    .symmetric = true,
    .unread = unread_of_rwlock,
    .classify = classify,
    .wrong = wrong,
    OF_THE_MUTEX,
};

/* ---- on a handle of the application's ---- */

/* An application that opens its handles itself. It lends the first handle as soon as it is open, or connected
 * while it is being opened. It lends each later handle when that is connected. */
struct lender {
    struct state state; /* first: the functions above use it */
    struct ls_session_listener listener;
    struct ls_loan loan;
    zhandle_t *zh;              /* NULL: the client library had no memory for a handle */
    struct ls_timer next_timer; /* runs until the next handle is opened */
    struct ls_session_options options;
    struct ls_session_counters counters;
    int64_t untold; /* losses that settle_counters() has added up, minus losses that on_lost has told */
    uint8_t opened; /* zh is open and still to be lent */
    uint8_t closed; /* a lock was closed: holds of it are counted neither as released nor as lost */
};

#define NEXT_HANDLE_MS 100 /* between two attempts to open a handle, if memory was short */

static void open_next(struct lender *lender, uint32_t delay_ms);

static void watch(zhandle_t *zh, int type, int state, const char *path, void *context)
{
    (void)path;
    struct lender *lender = context;
    bool connected = state == ZOO_CONNECTED_STATE || state == ZOO_READONLY_STATE;
    if (type == ZOO_SESSION_EVENT && lender->opened && state == ZOO_EXPIRED_SESSION_STATE)
        open_next(lender, 0);
    if (type == ZOO_SESSION_EVENT && lender->opened && connected) {
        lender->opened = 0;
        ls_session_lend(&lender->state.session, &lender->loan, zh);
    }
    ls_loan_on_event(&lender->loan, zh, type, state);
}

static void open_handle(struct lender *lender)
{
    const struct ls_recipe_config *config = lender->state.config;
    lender->opened = 1;
    lender->zh = zookeeper_init(config->hosts, watch, config->session_timeout_ms, NULL, lender,
                                config->read_only ? ZOO_READONLY : 0);
}

static void on_next_timer(void *context)
{
    struct lender *lender = context;
    struct ls_env *env = lender->loan.env;
    ls_env_unlock(env);
    if (lender->zh)
        zookeeper_close(lender->zh);
    open_handle(lender);
    if (!lender->zh)
        open_next(lender, NEXT_HANDLE_MS);
    ls_env_lock(env);
}

static void open_next(struct lender *lender, uint32_t delay_ms)
{
    struct ls_env *env = lender->loan.env;
    ls_env_lock(env);
    ls_env_timer_start(env, &lender->next_timer, "next-handle-timer", delay_ms, on_next_timer, lender);
    ls_env_unlock(env);
}

static void take_off(uint64_t *one, uint64_t *other)
{
    uint64_t both = *one < *other ? *one : *other;
    *one -= both;
    *other -= both;
}

/* Subtracts finished acquires and holds from the counters: states that behave alike have equal counters. */
static void settle_counters(struct lender *lender)
{
    struct ls_env *env = lender->loan.env;
    struct ls_mutex_counters *locks = &lender->counters.locks;
    ls_env_lock(env);
    uint64_t grants = locks->grants;
    lender->untold += lender->closed ? 0 : (int64_t)locks->losses;
    take_off(&locks->acquires, &locks->failures);
    take_off(&locks->grants, &locks->releases);
    take_off(&locks->grants, &locks->losses);
    locks->acquires -= grants - locks->grants;
    take_off(&lender->counters.connections, &lender->counters.losses);
    take_off(&lender->counters.suspensions, &lender->counters.reconnections);
    locks->waits = locks->wakeups = locks->retries = locks->ambiguous = 0;
    locks->revocations = locks->revoke_misses = 0;
    locks->handovers = locks->handover_ms = locks->handover_ms_max = 0;
    lender->counters.revoke_requests = lender->counters.revoke_failures = 0;
    ls_env_unlock(env);
}

static struct lender *lender_of(struct ls_session *session)
{
    return (struct lender *)(void *)session;
}

static void on_lent_done(struct ls_mutex *mutex, uint64_t owner, const struct ls_outcome *outcome)
{
    struct lender *lender = lender_of(mutex->session);
    on_done(mutex, owner, outcome);
    settle_counters(lender);
}

static void on_lent_freed(struct ls_mutex *mutex, uint64_t owner, int rc)
{
    struct lender *lender = lender_of(mutex->session);
    on_freed(mutex, owner, rc);
    settle_counters(lender);
}

/* Settles a loss. on_lost also tells of a hold that a close gives back, which is not counted as a loss. So
 * after a close the counters of grants, releases and losses are not compared. */
static void on_lent_lost(struct ls_mutex *mutex, uint64_t owner, int64_t token)
{
    struct lender *lender = lender_of(mutex->session);
    bool over = token && ls_mutex_query(mutex, owner) != LS_HELD;
    lender->untold -= over && !lender->closed;
    settle_counters(lender);
}

static const struct ls_mutex_ops lent_mutex_ops = {.on_done = on_lent_done,
                                                   .on_freed = on_lent_freed,
                                                   .on_warning = on_warning,
                                                   .on_participants = on_participants,
                                                   .on_revoke = on_revoke,
                                                   .on_lost = on_lent_lost};
static const struct ls_mutex_options lent_mutex_options = {.ops = &lent_mutex_ops};

/* Returns NULL, or the equation of telemetry.h that does not hold. */
static const char *wrong_counters(const struct lender *lender)
{
    const struct ls_session *session = &lender->state.session;
    struct ls_session_counters counted;
    uint64_t pending = 0, held = 0;
    for (const struct lock_claim *claim = session->claims; claim; claim = claim->next) {
        pending += lock_mutex_pending(claim);
        held += claim->state == LOCK_HELD;
    }
    if (ls_session_counters(session, &counted))
        return "the counters of the options can be asked for";
    if (counted.locks.acquires != counted.locks.grants + counted.locks.failures + pending)
        return "acquires == grants + failures + pending";
    if (!lender->closed && counted.locks.grants != counted.locks.releases + counted.locks.losses + held)
        return "grants == releases + losses + held";
    if (!lender->closed && (uint64_t)-lender->untold != counted.locks.losses)
        return "each loss is told once, with a token, and ends the belief";
    if (counted.connections != counted.losses + (session->told_id != 0))
        return "connections == losses + connected";
    if (counted.suspensions < counted.reconnections)
        return "suspensions >= reconnections";
    return NULL;
}

static const char *wrong_lender(const void *memory)
{
    const char *what = wrong(memory);
    return what ? what : wrong_counters(memory);
}

static int close_lent(void *memory, int lock)
{
    struct lender *lender = memory;
    lender->closed = 1;
    return close_lock(memory, lock);
}

static void on_lent_event(struct ls_session *session, struct ls_session_listener *listener,
                          enum ls_session_event event, int64_t session_id)
{
    (void)listener;
    (void)session_id;
    struct lender *lender = lender_of(session);
    settle_counters(lender);
    if (event != LS_SESSION_LOST)
        return;
    lender->counters.suspensions = 0; /* no RECONNECTED of this session will follow */
    open_next(lender, 0);
}

static const struct ls_session_ops lent_ops = {.on_event = on_lent_event};

static int lend_the_first(struct ls_session *session)
{
    struct lender *lender = lender_of(session);
    ls_session_listener_init(&lender->listener, &lent_ops);
    ls_session_listener_add(session, &lender->listener);
    open_handle(lender);
    if (!lender->zh)
        return LS_ENOMEM;
    bool lent = !lender->opened;
    lender->opened = 0;
    return lent ? LS_OK : ls_session_lend(session, &lender->loan, lender->zh);
}

static int start_lender(void *memory, struct ls_env *env, const struct ls_recipe_config *config)
{
    struct lender *lender = memory;
    ls_loan_init(&lender->loan, env);
    lender->state.lends = 1;
    lender->options = *recipe_session_options(config);
    lender->options.counters = &lender->counters;
    return start_with(&lender->state, env, config, &lender->options, lend_the_first);
}

/* Tells the session that the handle is dead, and closes the handle. With a living handle ls_session_close()
 * might wait for answers, and a world has no thread that can wait. */
static void stop_lender(void *memory)
{
    struct lender *lender = memory;
    struct ls_session *session = &lender->state.session;
    lender->state.stopped = 1;
    ls_session_listener_remove(session, &lender->listener);
    ls_loan_on_event(&lender->loan, lender->zh, ZOO_SESSION_EVENT, ZOO_EXPIRED_SESSION_STATE);
    if (lender->zh)
        zookeeper_close(lender->zh);
    ls_session_close(session);
    close_mutexes(&lender->state);
}

const struct ls_recipe ls_recipe_mutex_lent = {
    .name = "mutex-lent",
    .summary = "the same mutex on a handle that the process opens and lends to its session",
    .breaks = NULL,
    .state_size = sizeof(struct lender),
    .start = start_lender,
    .stop = stop_lender,
    .symmetric = false, /* the session's ls_ref to its own options differs between processes */
    .close = close_lent,
    .open = open_lock,
    .unread = unread,
    .wrong = wrong_lender,
    OF_THE_MUTEX,
};
