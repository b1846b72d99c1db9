/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The election as a recipe. The candidate is owner 0 of the driver. acquire() stands for election, release()
 * ends a term, cancel() gives the candidacy up before a term. */
#include "lock/claim.h"
#include "recipes/recipe_invariants.h"
#include "recipes/recipe_mutex.h"
#include "recipes/recipe_refusals.h"
#include "recipes/recipe_session.h"

#include <lockstep/election.h>
#include <lockstep/recipe.h>
#include <stddef.h>

struct state {
    struct ls_session session; /* first: callbacks find the state by it */
    struct ls_session_listener listener;
    const struct ls_recipe_config *config;
    struct ls_election *elections; /* config->lock_count of them */
    const char *taken;             /* result of lock_arguments_taken() at start; NULL = as it should be */
    int32_t opened;                /* number of elections that are initialised */
    uint8_t style;                 /* enum ls_election_style */
    bool stopped;
};

static struct state *state_of(const struct ls_election *election)
{
    return (struct state *)(void *)election->mutex.session;
}

static void report(struct state *state, const struct ls_report *what)
{
    if (!state->stopped)
        ls_report(state->session.env, what);
}

static void report_of(const struct ls_election *election, struct ls_report what)
{
    struct state *state = state_of(election);
    what.lock = (int)(election - state->elections);
    report(state, &what);
}

static void on_elected(struct ls_election *election, int64_t token)
{
    report_of(election, (struct ls_report){.kind = LS_REPORT_GRANTED,
                                           .depth = 1,
                                           .token = token,
                                           .session = ls_session_id(election->mutex.session)});
}

/* Reports the loss of a term whose node was deleted. Other terms end with the session, which on_event()
 * reports, or by the driver's own close. */
static void on_deposed(struct ls_election *election, int64_t token, int rc)
{
    if (rc == LS_ENOENT)
        report_of(election, (struct ls_report){.kind = LS_REPORT_HOLD_LOST, .token = token});
}

static void on_resigned(struct ls_election *election, int rc)
{
    bool elected = rc != LS_ECANCELED;
    report_of(election, (struct ls_report){.kind = elected ? LS_REPORT_FREED : LS_REPORT_FAILED, .rc = rc});
}

static void on_failed(struct ls_election *election, int rc)
{
    report_of(election, (struct ls_report){.kind = LS_REPORT_FAILED, .rc = rc});
}

static void on_warning(struct ls_election *election, enum ls_warning warning)
{
    report_of(election, (struct ls_report){.kind = LS_REPORT_WARNING, .rc = (int)warning});
}

static void on_event(struct ls_session *session, struct ls_session_listener *listener,
                     enum ls_session_event event, int64_t session_id)
{
    (void)listener;
    struct ls_report what;
    if (recipe_event(event, session_id, &what))
        report((struct state *)(void *)session, &what);
}

static const struct ls_election_ops election_ops = {.on_elected = on_elected,
                                                    .on_deposed = on_deposed,
                                                    .on_resigned = on_resigned,
                                                    .on_failed = on_failed,
                                                    .on_warning = on_warning};
static const struct ls_election_options election_options[] = {
    [LS_ELECTION_LATCH] = {.ops = &election_ops, .style = LS_ELECTION_LATCH},
    [LS_ELECTION_SELECTOR] = {.ops = &election_ops, .style = LS_ELECTION_SELECTOR}};
static const struct ls_session_ops session_ops = {.on_event = on_event};

static int open_election(struct state *state, int lock)
{
    const struct ls_recipe_config *config = state->config;
    int err = ls_election_init(&state->elections[lock], &state->session, config->lock_paths[lock],
                               &election_options[state->style]);
    int size = config->contents ? config->contents_size : 0;
    return err ? err : ls_election_set_id(&state->elections[lock], config->contents, size);
}

static int open_elections(struct state *state)
{
    const struct ls_recipe_config *config = state->config;
    state->elections = recipe_alloc_locks(state->session.env, config->lock_count, sizeof *state->elections);
    if (!state->elections)
        return LS_ENOMEM;
    int err = LS_OK;
    for (; state->opened < config->lock_count && !err; state->opened += !err)
        err = open_election(state, state->opened);
    return err;
}

static void close_elections(struct state *state)
{
    while (state->opened)
        ls_election_close(&state->elections[--state->opened]);
    recipe_free_locks(state->session.env, state->elections);
}

static int start_with(struct state *state, struct ls_env *env, const struct ls_recipe_config *config,
                      enum ls_election_style style)
{
    state->style = (uint8_t)style;
    int err = recipe_init_session(&state->session, &state->listener, &session_ops, env, config,
                                  recipe_session_options(config));
    if (err)
        return err;
    state->config = config;
    err = open_elections(state);
    if (!err)
        err = ls_session_start(&state->session);
    if (err)
        close_elections(state);
    else
        state->taken = lock_arguments_taken(&state->session, &state->elections[0].mutex);
    return err;
}

static int start(void *memory, struct ls_env *env, const struct ls_recipe_config *config)
{
    return start_with(memory, env, config, LS_ELECTION_LATCH);
}

static int start_selector(void *memory, struct ls_env *env, const struct ls_recipe_config *config)
{
    return start_with(memory, env, config, LS_ELECTION_SELECTOR);
}

static void stop(void *memory)
{
    struct state *state = memory;
    ls_session_close(&state->session);
    state->stopped = true;
    close_elections(state);
}

static struct ls_election *election_at(struct state *state, int lock, int owner)
{
    return lock >= 0 && lock < state->opened && owner == 0 ? &state->elections[lock] : NULL;
}

static int acquire(void *memory, int lock, int owner, int timeout_ms)
{
    struct ls_election *election = election_at(memory, lock, owner);
    if (!election)
        return LS_EINVAL;
    return timeout_ms < 0 ? ls_election_start(election) : LS_EUNSUPPORTED;
}

static int cancel(void *memory, int lock, int owner)
{
    struct ls_election *election = election_at(memory, lock, owner);
    if (!election)
        return LS_EINVAL;
    return ls_election_token(election) ? LS_ENOENT : ls_election_resign(election);
}

static int release(void *memory, int lock, int owner)
{
    struct ls_election *election = election_at(memory, lock, owner);
    if (!election)
        return LS_EINVAL;
    return ls_election_token(election) ? ls_election_resign(election) : LS_ENOTOWNER;
}

static int close_lock(void *memory, int lock)
{
    struct ls_election *election = election_at(memory, lock, 0);
    return election ? ls_election_close(election) : LS_EINVAL;
}

static int open_lock(void *memory, int lock)
{
    struct ls_election *election = election_at(memory, lock, 0);
    if (!election)
        return LS_EINVAL;
    return election->mutex.session ? LS_EALREADY : open_election(memory, lock);
}

static enum ls_belief query(const void *memory, int lock, int owner)
{
    const struct ls_election *election = election_at((struct state *)(uintptr_t)memory, lock, owner);
    return election ? ls_election_query(election) : LS_NOT_HELD;
}

static int guard(const void *memory, int lock, int owner, zoo_op_t *op, char *path, size_t size)
{
    const struct ls_election *election = election_at((struct state *)(uintptr_t)memory, lock, owner);
    return election ? ls_election_guard(election, op, path, size) : LS_EINVAL;
}

static void unread(void (*completion)(void), const struct String_vector *names, const uint8_t id[16],
                   bool *list)
{
    if (!lock_participants_read(completion))
        lock_names_unread(LOCK_ROLE_LATCH, names, id, list);
}

static void unread_of_selector(void (*completion)(void), const struct String_vector *names,
                               const uint8_t id[16], bool *list)
{
    if (!lock_participants_read(completion))
        lock_names_unread(LOCK_ROLE_MUTEX, names, id, list);
}

#define NORMAL(condition)                                                                                    \
    do {                                                                                                     \
        if (!(condition))                                                                                    \
            return #condition;                                                                               \
    } while (0)

static const char *not_normal(struct ls_election *election)
{
    const struct lock_claim *claim = lock_index_find(&election->mutex, 1);
    bool leads = ls_election_query(election) != LS_NOT_HELD;
    NORMAL(!election->waits && !election->leading && !election->gone);
    NORMAL(election->candidate == (claim && claim->state <= LOCK_HELD));
    NORMAL(!election->suspended || leads);
    NORMAL(ls_election_is_candidate(election) == election->candidate);
    NORMAL((ls_election_token(election) != 0) == leads);
    NORMAL((ls_election_belief_left_ms(election) > 0) == (ls_election_query(election) == LS_HELD));
    NORMAL(!election->candidate || ls_election_start(election) == LS_EALREADY);
    NORMAL(election->candidate || ls_election_resign(election) == LS_ENOENT);
    return NULL;
}

static const char *wrong(const void *memory)
{
    struct state *state = (struct state *)(uintptr_t)memory; /* a refused call changes nothing */
    const char *what = state->taken ? state->taken : lock_invariants_broken(&state->session);
    for (int i = 0; i < state->opened && !what; i++) {
        struct ls_election *election = &state->elections[i];
        what = election->mutex.session ? not_normal(election) : NULL;
        what = what ? what : lock_refusals_broken(&state->session, &election->mutex, 1);
    }
    return what;
}

#define OF_AN_ELECTION                                                                                       \
    .kinds = LS_LOCK_BIT(LS_LOCK_ELECTION), .state_size = sizeof(struct state), .stop = stop,                \
    .acquire = acquire, .cancel = cancel, .release = release, .close = close_lock, .open = open_lock,        \
    .query = query, .idle = recipe_idle, .guard = guard, .handle = recipe_handle, .multi = recipe_multi,     \
    .canon = recipe_canon, .states = recipe_states, .states_now = recipe_states_now, .marks = "src/lock/",   \
    .ignores_children = true, .sets_no_data = true, .symmetric = true, .in_reports = true,                   \
    .timers = recipe_timers, .wrong = wrong

const struct ls_recipe ls_recipe_election = {
    .name = "election",
    .summary = "leader latch with the core of the mutex, which stands again by itself after a loss",
    .breaks = NULL,
    .start = start,
    .unread = unread,
    OF_AN_ELECTION,
};

const struct ls_recipe ls_recipe_election_selector = {
    .name = "election-selector",
    .summary = "the same election with contenders as of a leader selector, which are those of a mutex",
    .breaks = NULL,
    .start = start_selector,
    .unread = unread_of_selector,
    OF_AN_ELECTION,
};
