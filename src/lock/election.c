/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Leader election: a mutex with one owner, the candidate, which acquires the mutex again after a loss.
 *
 *   (no candidate) --> STANDING --> LEADING --> (no candidate)
 *                       |    ^         |
 *                       |    '---------'
 *                       '--> (no candidate)
 *
 *   STANDING -> LEADING         on_done: the mutex was granted
 *   LEADING  -> STANDING        on_lost: the session or the node of the term is gone; stand_again()
 *   LEADING  -> (no candidate)  ls_election_resign(), or leave_term() after ls_election_lead(), gives the
 *                               mutex back; a close; a refusal in stand_again()
 *   STANDING -> (no candidate)  ls_election_resign() cancels; on_done: the acquire failed, not with LS_ELOST
 *
 * STANDING and LEADING are a pending and a held claim of the candidate, which the core of the mutex drives. A
 * pending claim outlives its session. The bit `candidate` says whether a new claim follows a lost hold. While
 * ls_election_lead() leads (`leading`), no new claim follows before leave_term(). The mutex is revocable, so
 * a watch tells a leader that its node was deleted: it is deposed. */
#include "lock/claim.h"

#include <lockstep/election.h>
#include <stddef.h>
#include <string.h>

enum { CANDIDATE = 1 }; /* number of the only owner of the mutex */

_Static_assert(offsetof(struct ls_election, mutex) == 0, "callbacks of the mutex find the election");

struct lock_term_wait {
    struct lock_term_wait *next;
    struct ls_election *election;
    struct ls_waiter waiter;
    struct ls_timer timer;
    int rc;
    bool done;
};

static const struct ls_election_ops no_ops;

static const struct ls_election_ops *ops_of(const struct ls_election *election)
{
    const struct ls_election_options *options = lock_queue_deref(election->options);
    return options && options->ops ? options->ops : &no_ops;
}

static struct ls_election *election_of(struct ls_mutex *mutex)
{
    return (struct ls_election *)(void *)mutex;
}

/* Takes the environment's mutex in a callback, where the election is not closed. */
static struct ls_env *enter(struct ls_election *election)
{
    struct ls_env *env = election->mutex.session->env;
    ls_env_lock(env);
    return env;
}

static void end_wait(struct lock_term_wait *wait, int rc)
{
    struct lock_term_wait **link = &wait->election->waits;
    while (*link != wait)
        link = &(*link)->next;
    *link = wait->next;
    wait->rc = rc;
    wait->done = true;
    ls_env_wake(wait->election->mutex.session->env, &wait->waiter);
}

static void end_waits(struct ls_election *election, int rc)
{
    while (election->waits)
        end_wait(election->waits, rc);
}

static void end_candidacy(struct ls_election *election, int rc)
{
    election->candidate = false;
    end_waits(election, rc);
}

/* Drops the tomb of a lost term, if there is one: no release will follow. */
static void drop_loss(struct ls_election *election)
{
    struct lock_claim *tomb = lock_index_tomb(&election->mutex, CANDIDATE);
    if (tomb)
        lock_mutex_drop_tomb(tomb);
}

/* If a candidate has no claim, or only a tomb, and is not in a term of ls_election_lead(), acquires the mutex
 * again. Returns LS_OK, or the code with which the candidacy has failed. */
static int stand_again(struct ls_election *election)
{
    if (!election->candidate || election->leading)
        return LS_OK;
    const struct lock_claim *claim = lock_index_find(&election->mutex, CANDIDATE);
    if (claim && claim->state != LOCK_TOMB)
        return LS_OK; /* on_deposed has resigned and started again */
    drop_loss(election);
    int rc = lock_mutex_acquire(&election->mutex, CANDIDATE, -1, NULL);
    if (rc)
        end_candidacy(election, rc);
    else
        LS_SOMETIMES("candidate-stands-again");
    return rc;
}

static void tell_failed(struct ls_election *election, int rc)
{
    if (rc && ops_of(election)->on_failed)
        ops_of(election)->on_failed(election, rc);
}

/* If there is a term, notes whether the link is broken. Returns the token of the term if that is a change,
 * else 0. */
static int64_t note_link(struct ls_election *election, bool broken)
{
    const struct lock_claim *term = lock_mutex_holder(&election->mutex, CANDIDATE);
    bool news = term && election->suspended != broken;
    if (news)
        election->suspended = broken;
    return news ? term->czxid : 0;
}

static void tell_link(struct ls_election *election, bool broken)
{
    struct ls_env *env = enter(election);
    int64_t token = note_link(election, broken);
    ls_env_unlock(env);
    const struct ls_election_ops *ops = ops_of(election);
    if (token && broken && ops->on_suspended)
        ops->on_suspended(election, token);
    else if (token && !broken && ops->on_restored)
        ops->on_restored(election, token);
}

/* Begins a term, and returns true: on_elected is to be called. If the candidate has resigned before its grant
 * was delivered, gives the mutex back and returns false. */
static bool begin_term(struct ls_election *election)
{
    if (election->candidate) {
        election->suspended = false;
        election->gone = false;
        end_waits(election, LS_OK);
        return true;
    }
    LS_SOMETIMES("resigned-before-it-was-told");
    lock_mutex_release(&election->mutex, CANDIDATE, NULL);
    lock_queue_deliver(election->mutex.session);
    return false;
}

static void elected(struct ls_election *election, int64_t token)
{
    struct ls_env *env = enter(election);
    bool tells = begin_term(election);
    /* the event of the loss may have come before the term began: on_event() told nothing then */
    bool broken = election->mutex.session->state != LS_STATE_CONNECTED;
    ls_env_unlock(env);
    if (tells && ops_of(election)->on_elected)
        ops_of(election)->on_elected(election, token);
    if (tells && broken)
        tell_link(election, true);
}

static void not_elected(struct ls_election *election, int rc)
{
    struct ls_env *env = enter(election);
    if (!election->candidate)
        rc = LS_ECANCELED;
    else if (rc == LS_ELOST)
        rc = stand_again(election); /* the session ended before the grant was delivered */
    else if (rc != LS_ECANCELED)
        end_candidacy(election, rc);
    ls_env_unlock(env);
    if (rc != LS_ECANCELED)
        tell_failed(election, rc);
    else if (ops_of(election)->on_resigned)
        ops_of(election)->on_resigned(election, rc);
}

static void on_done(struct ls_mutex *mutex, uint64_t owner, const struct ls_outcome *outcome)
{
    (void)owner;
    if (outcome->rc)
        not_elected(election_of(mutex), outcome->rc);
    else
        elected(election_of(mutex), outcome->token);
}

static void on_freed(struct ls_mutex *mutex, uint64_t owner, int rc)
{
    (void)owner;
    struct ls_election *election = election_of(mutex);
    if (ops_of(election)->on_resigned)
        ops_of(election)->on_resigned(election, rc);
}

static void on_warning(struct ls_mutex *mutex, uint64_t owner, enum ls_warning warning)
{
    (void)owner;
    struct ls_election *election = election_of(mutex);
    struct ls_env *env = enter(election);
    if (warning == LS_WARN_NODE_GONE)
        election->gone = true; /* on_deposed will tell the reason */
    ls_env_unlock(env);
    if (warning != LS_WARN_NODE_GONE && ops_of(election)->on_warning)
        ops_of(election)->on_warning(election, warning);
}

static int reason_of_loss(const struct ls_election *election)
{
    const struct ls_session *session = election->mutex.session;
    if (election->mutex.closing || session->ending || session->state == LS_STATE_CLOSED)
        return LS_ECLOSED;
    return election->gone ? LS_ENOENT : LS_ELOST;
}

static void on_lost(struct ls_mutex *mutex, uint64_t owner, int64_t token)
{
    (void)owner;
    struct ls_election *election = election_of(mutex);
    struct ls_env *env = enter(election);
    int reason = reason_of_loss(election);
    election->suspended = false;
    election->gone = false;
    if (reason == LS_ECLOSED)
        end_candidacy(election, LS_ECLOSED);
    ls_env_unlock(env);
    if (ops_of(election)->on_deposed)
        ops_of(election)->on_deposed(election, token, reason);
    ls_env_lock(env);
    int rc = stand_again(election);
    ls_env_unlock(env);
    tell_failed(election, rc);
}

static void on_participants(struct ls_mutex *mutex, void *user, int rc, const struct ls_participant *list,
                            int count)
{
    struct ls_election *election = election_of(mutex);
    if (ops_of(election)->on_candidates)
        ops_of(election)->on_candidates(election, user, rc, list, count);
}

/* Ignores requests to give the mutex back. A revocable mutex needs this function. */
static void on_revoke(struct ls_mutex *mutex, uint64_t owner, int64_t token)
{
    (void)mutex;
    (void)owner;
    (void)token;
}

static const struct ls_mutex_ops mutex_ops = {.on_done = on_done,
                                              .on_freed = on_freed,
                                              .on_warning = on_warning,
                                              .on_participants = on_participants,
                                              .on_revoke = on_revoke,
                                              .on_lost = on_lost};
static const struct ls_mutex_options mutex_options = {.ops = &mutex_ops};

static void on_event(struct ls_session *session, struct ls_session_listener *listener,
                     enum ls_session_event event, int64_t session_id)
{
    (void)session;
    (void)session_id;
    struct ls_election *election =
        (struct ls_election *)(void *)((char *)listener - offsetof(struct ls_election, listener));
    bool broken = event == LS_SESSION_SUSPENDED || event == LS_SESSION_READ_ONLY;
    if (broken || event == LS_SESSION_RECONNECTED)
        tell_link(election, broken);
}

static const struct ls_session_ops session_ops = {.on_event = on_event};

static const struct ls_mutex_options *options_of_mutex(struct ls_election *election,
                                                       const struct ls_election_options *options)
{
    if (!options || (!options->acl && !options->counters))
        return &mutex_options;
    election->inner =
        (struct ls_mutex_options){.ops = &mutex_ops, .acl = options->acl, .counters = options->counters};
    return &election->inner;
}

int ls_election_init(struct ls_election *election, struct ls_session *session, const char *path,
                     const struct ls_election_options *options)
{
    enum ls_election_style style = options ? options->style : LS_ELECTION_LATCH;
    if (!election || (style != LS_ELECTION_LATCH && style != LS_ELECTION_SELECTOR))
        return LS_EINVAL;
    memset(election, 0, sizeof *election);
    enum lock_role role = style == LS_ELECTION_LATCH ? LOCK_ROLE_LATCH : LOCK_ROLE_MUTEX;
    int rc = lock_mutex_init(&election->mutex, session, path, role, options_of_mutex(election, options));
    if (rc)
        return rc;
    election->mutex.revocable = true;
    election->options = lock_queue_ref(options);
    ls_session_listener_init(&election->listener, &session_ops);
    ls_session_listener_add(session, &election->listener);
    return LS_OK;
}

int ls_election_set_id(struct ls_election *election, const char *id, int size)
{
    return ls_mutex_set_contents(&election->mutex, id, size);
}

int ls_election_close(struct ls_election *election)
{
    struct ls_session *session = lock_mutex_lock(&election->mutex);
    if (!session)
        return LS_OK;
    struct ls_env *env = session->env;
    bool in_callback = ls_env_in_callback(env);
    if (!in_callback)
        lock_session_forget_listener(session, &election->listener);
    ls_env_unlock(env);
    return in_callback ? LS_EDEADLK : ls_mutex_close(&election->mutex);
}

static int start(struct ls_election *election)
{
    if (election->candidate || election->leading)
        return LS_EALREADY;
    if (!election->mutex.closing)
        drop_loss(election);
    int rc = lock_mutex_acquire(&election->mutex, CANDIDATE, -1, NULL);
    if (rc)
        return rc;
    election->candidate = true;
    return LS_OK;
}

int ls_election_start(struct ls_election *election)
{
    struct ls_session *session = lock_mutex_lock(&election->mutex);
    if (!session)
        return LS_ECLOSED;
    struct ls_env *env = session->env;
    int rc = start(election);
    lock_queue_deliver(session);
    ls_env_unlock(env);
    return rc;
}

/* Ends the candidate's claim. A grant that is not delivered yet is given back at its delivery (begin_term).
 * Returns LS_ELOST if the term was lost before, else LS_OK. */
static int leave_line(struct ls_election *election, struct lock_claim *claim)
{
    if (!claim || claim->state == LOCK_TOMB) {
        drop_loss(election);
        return LS_ELOST;
    }
    if (lock_mutex_pending(claim))
        lock_mutex_fail(claim, LS_ECANCELED, 0);
    else if (claim->told)
        lock_mutex_release(&election->mutex, CANDIDATE, NULL);
    return LS_OK;
}

static int resign(struct ls_election *election)
{
    if (election->mutex.closing)
        return LS_ECLOSED;
    if (!election->candidate)
        return LS_ENOENT;
    end_candidacy(election, LS_ECANCELED);
    election->suspended = false;
    if (election->leading)
        return 1;
    return leave_line(election, lock_index_find(&election->mutex, CANDIDATE));
}

int ls_election_resign(struct ls_election *election)
{
    struct ls_session *session = lock_mutex_lock(&election->mutex);
    if (!session)
        return LS_ECLOSED;
    struct ls_env *env = session->env;
    int rc = resign(election);
    lock_queue_deliver(session);
    ls_env_unlock(env);
    return rc;
}

bool ls_election_is_candidate(const struct ls_election *election)
{
    struct ls_session *session = lock_mutex_lock(&election->mutex);
    bool candidate = session && election->candidate;
    if (session)
        ls_env_unlock(session->env);
    return candidate;
}

enum ls_belief ls_election_query(const struct ls_election *election)
{
    return ls_mutex_query(&election->mutex, CANDIDATE);
}

int ls_election_belief_left_ms(const struct ls_election *election)
{
    return ls_mutex_belief_left_ms(&election->mutex, CANDIDATE);
}

int64_t ls_election_token(const struct ls_election *election)
{
    return ls_mutex_token(&election->mutex, CANDIDATE);
}

int ls_election_counters(const struct ls_election *election, struct ls_mutex_counters *out)
{
    return ls_mutex_counters(&election->mutex, out);
}

int ls_election_guard(const struct ls_election *election, zoo_op_t *op, char *path, size_t size)
{
    return ls_mutex_guard(&election->mutex, CANDIDATE, op, path, size);
}

int ls_election_candidates_start(struct ls_election *election, void *user)
{
    return ls_mutex_participants_start(&election->mutex, user);
}

static void on_deadline(void *context)
{
    struct lock_term_wait *wait = context;
    if (!wait->done) /* done: the thread was woken and has not run since */
        end_wait(wait, LS_ETIMEDOUT);
}

/* Sleeps until a term begins, the candidacy ends, or the deadline. Does not use the election afterwards,
 * whose memory may be freed in the meantime. */
static int wait_for_term(struct ls_election *election, int timeout_ms)
{
    struct ls_env *env = election->mutex.session->env;
    struct lock_term_wait wait = {.next = election->waits, .election = election};
    if (timeout_ms == 0)
        return LS_ETIMEDOUT;
    if (timeout_ms > 0 &&
        ls_env_timer_start(env, &wait.timer, "deadline-timer", (uint32_t)timeout_ms, on_deadline, &wait))
        return LS_ENOMEM;
    ls_env_waiter_init(env, &wait.waiter);
    election->waits = &wait;
    while (!wait.done)
        ls_env_wait(env, &wait.waiter);
    ls_env_waiter_close(env, &wait.waiter);
    ls_env_timer_stop(env, &wait.timer);
    return wait.rc;
}

static int await(struct ls_election *election, int timeout_ms)
{
    if (election->mutex.closing)
        return LS_ECLOSED;
    if (!election->candidate)
        return LS_ENOENT;
    if (lock_mutex_holder(&election->mutex, CANDIDATE))
        return LS_OK;
    return wait_for_term(election, timeout_ms);
}

int ls_election_await(struct ls_election *election, int timeout_ms)
{
    int rc;
    struct ls_session *session = lock_blocking_begin(&election->mutex, &rc);
    if (!session)
        return rc;
    struct ls_env *env = session->env;
    rc = await(election, timeout_ms);
    ls_env_unlock(env);
    return rc;
}

/* Stands and waits for a term. After a result of 0 no other term begins until leave_term() (`leading`). */
static int enter_term(struct ls_election *election, int64_t *token)
{
    int rc;
    struct ls_session *session = lock_blocking_begin(&election->mutex, &rc);
    if (!session)
        return rc;
    struct ls_env *env = session->env;
    rc = start(election);
    lock_queue_hand_over(session);
    const struct lock_claim *term = NULL;
    while (!rc && !term) {
        rc = await(election, -1);
        /* not a candidate: it was granted a term and has resigned meanwhile */
        rc = rc == LS_ENOENT ? LS_ECANCELED : rc;
        term = rc ? NULL : lock_mutex_holder(&election->mutex, CANDIDATE);
    }
    if (term) {
        election->leading = true;
        *token = term->czxid;
    }
    ls_env_unlock(env);
    return rc;
}

/* Ends the candidacy, releases the mutex if the term was not lost, and waits for the answer. Returns false if
 * the candidacy was over before, or the election is closed. */
static bool leave_term(struct ls_election *election)
{
    struct lock_call call = {.rc = 0, .done = false};
    int rc;
    struct ls_session *session = lock_blocking_begin(&election->mutex, &rc);
    if (!session)
        return false;
    struct ls_env *env = session->env;
    bool stayed = election->candidate;
    election->leading = false;
    election->suspended = false;
    end_candidacy(election, LS_ENOENT);
    drop_loss(election);
    ls_env_waiter_init(env, &call.waiter);
    lock_blocking_finish(session, &call, lock_mutex_release(&election->mutex, CANDIDATE, &call));
    ls_env_unlock(env);
    return stayed;
}

int ls_election_lead(struct ls_election *election, ls_lead_fn lead, void *user, unsigned flags)
{
    for (;;) {
        int64_t token = 0;
        int rc = enter_term(election, &token);
        if (rc)
            return rc;
        int result = lead(election, token, user);
        bool stayed = leave_term(election);
        if (result || !(flags & LS_ELECTION_REQUEUE))
            return result;
        if (!stayed)
            return LS_ECANCELED;
    }
}

int ls_election_candidates(struct ls_election *election, struct ls_participants *out)
{
    return ls_mutex_participants(&election->mutex, out);
}

static int copy_id(const struct ls_participants *candidates, char *id, size_t size)
{
    if (!candidates->count)
        return LS_ENOENT;
    const struct ls_participant *leader = &candidates->list[0];
    if (size <= (size_t)leader->size)
        return LS_EOVERFLOW;
    memcpy(id, leader->contents, (size_t)leader->size + 1);
    return leader->size;
}

int ls_election_leader(struct ls_election *election, char *id, size_t size)
{
    struct ls_participants candidates;
    int rc = ls_election_candidates(election, &candidates);
    if (rc)
        return rc;
    rc = copy_id(&candidates, id, size);
    ls_participants_free(&candidates);
    return rc;
}
