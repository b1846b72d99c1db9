/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The election as a recipe: what a driver sees of it. A candidate is owner 0 of the driver. acquire() stands
 * for election, release() ends a term, cancel() gives the candidacy up before a term. */
#include "lock/claim.h"
#include "recipes/recipe_invariants.h"
#include "recipes/recipe_mutex.h"
#include "recipes/recipe_refusals.h"

#include <lockstep/election.h>
#include <lockstep/recipe.h>
#include <stddef.h>

struct state {
    struct ls_session session; /* first: callbacks find the state by it */
    struct ls_session_listener listener;
    const struct ls_recipe_config *config;
    struct ls_election *elections; /* config->lock_count of them */
    const char *taken; /* a malformed argument that the library did not refuse at start, or NULL */
    int32_t opened;    /* that many are initialised */
    uint8_t style;     /* enum ls_election_style */
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

/* ---- callbacks ---- */

static void on_elected(struct ls_election *election, int64_t token)
{
    report_of(election, (struct ls_report){.kind = LS_REPORT_GRANTED,
                                           .depth = 1,
                                           .token = token,
                                           .session = ls_session_id(election->mutex.session)});
}

/* Of the other losses the driver is told by the end of the session, or by its own close. */
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

static const uint8_t report_kinds[] = {[LS_SESSION_CONNECTED] = LS_REPORT_CONNECTED,
                                       [LS_SESSION_SUSPENDED] = LS_REPORT_SUSPENDED,
                                       [LS_SESSION_RECONNECTED] = LS_REPORT_RECONNECTED,
                                       [LS_SESSION_LOST] = LS_REPORT_LOST,
                                       [LS_SESSION_READ_ONLY] = LS_REPORT_READ_ONLY,
                                       [LS_SESSION_AUTH_FAILED] = LS_REPORT_LOST,
                                       [LS_SESSION_GAVE_UP] = LS_REPORT_LOST,
                                       [LS_SESSION_IDLE] = LS_REPORT_IDLE};

static void on_event(struct ls_session *session, struct ls_session_listener *listener,
                     enum ls_session_event event, int64_t session_id)
{
    (void)listener;
    struct ls_report what = {.kind = (enum ls_report_kind)report_kinds[event], .session = session_id};
    if (what.kind == LS_REPORT_LOST && !session_id)
        return; /* the end of a session that has none: its loss was told before */
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
/* By keep_fresh and read_only of the configuration. */
static const struct ls_session_options session_options[2][2] = {
    {{.no_refresh = true}, {.no_refresh = true, .read_only = true}}, {{0}, {.read_only = true}}};

/* ---- life ---- */

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
    size_t size = (size_t)config->lock_count * sizeof *state->elections;
    ls_env_lock(state->session.env);
    state->elections = ls_env_alloc(state->session.env, size);
    ls_env_unlock(state->session.env);
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
    ls_env_lock(state->session.env);
    ls_env_free(state->session.env, state->elections);
    ls_env_unlock(state->session.env);
}

static int start_with(struct state *state, struct ls_env *env, const struct ls_recipe_config *config,
                      enum ls_election_style style)
{
    state->style = (uint8_t)style;
    int err = ls_session_init(&state->session, env, config->hosts, config->session_timeout_ms,
                              &session_options[config->keep_fresh][config->read_only]);
    if (err)
        return err;
    state->config = config;
    ls_session_listener_init(&state->listener, &session_ops);
    ls_session_listener_add(&state->session, &state->listener);
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

/* ---- client verbs ---- */

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

/* ---- questions ---- */

static enum ls_belief query(const void *memory, int lock, int owner)
{
    const struct ls_election *election = election_at((struct state *)(uintptr_t)memory, lock, owner);
    return election ? ls_election_query(election) : LS_NOT_HELD;
}

/* The functions from here to states_now() call those of the mutex, which look at the session alone. The state
 * of the mutex begins with its session, too. */
static bool idle(const void *memory)
{
    return ls_recipe_mutex.idle(memory);
}

static int guard(const void *memory, int lock, int owner, zoo_op_t *op, char *path, size_t size)
{
    const struct ls_election *election = election_at((struct state *)(uintptr_t)memory, lock, owner);
    return election ? ls_election_guard(election, op, path, size) : LS_EINVAL;
}

static zhandle_t *handle(const void *memory)
{
    return ls_recipe_mutex.handle(memory);
}

static int multi(void *memory, int count, const zoo_op_t *ops, zoo_op_result_t *results,
                 void_completion_t completion, const void *data)
{
    return ls_recipe_mutex.multi(memory, count, ops, results, completion, data);
}

static void canon(const void *memory, struct ls_rename *rename)
{
    ls_recipe_mutex.canon(memory, rename);
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

static uint32_t states_now(const void *memory)
{
    return ls_recipe_mutex.states_now(memory);
}

/* ---- invariants ---- */

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
    struct state *state = (struct state *)(uintptr_t)memory; /* what is refused changes nothing */
    const char *what = state->taken ? state->taken : lock_invariants_broken(&state->session);
    for (int i = 0; i < state->opened && !what; i++) {
        struct ls_election *election = &state->elections[i];
        what = election->mutex.session ? not_normal(election) : NULL;
        what = what ? what : lock_refusals_broken(&state->session, &election->mutex, 1);
    }
    return what;
}

/* In the order of enum lock_state, as those of the mutex. */
static const char *const state_names[] = {"none",      "claiming", "preparing", "searching", "identifying",
                                          "listing",   "arming",   "waiting",   "held",      "tomb",
                                          "releasing", "leftover", "done",      NULL};
_Static_assert(sizeof state_names / sizeof *state_names == LOCK_DONE + 2, "one name per state");

static const struct ls_timer_row timer_rows[] = {
    {"deadline-timer", LS_TIMER_DEADLINE}, {"fresh-timer", LS_TIMER_UPKEEP}, {NULL, LS_TIMER_WORK}};

/* What both recipes have. */
#define OF_AN_ELECTION                                                                                       \
    .kinds = LS_LOCK_BIT(LS_LOCK_ELECTION), .state_size = sizeof(struct state), .stop = stop,                \
    .acquire = acquire, .cancel = cancel, .release = release, .close = close_lock, .open = open_lock,        \
    .query = query, .idle = idle, .guard = guard, .handle = handle, .multi = multi, .canon = canon,          \
    .states = state_names, .states_now = states_now, .marks = "src/lock/", .ignores_children = true,         \
    .sets_no_data = true, .symmetric = true, .in_reports = true, .timers = timer_rows, .wrong = wrong

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
