/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The session: one handle after the other, and the state of the present one.
 *
 *   NEW --start--> CONNECTING ---> CONNECTED <--> SUSPENDED
 *                      ^               ^              ^
 *                      |               '-> READ_ONLY -'
 *                      |
 *                     LOST <--- any open state ---> FAILED          every state ---> CLOSED
 *
 *   any open   -> CONNECTED   on_connected: a handshake ended, with the same session id or the first one
 *   CONNECTED  -> SUSPENDED   on_suspended: the established link is gone (F2); from READ_ONLY likewise
 *   any open   -> READ_ONLY   on_read_only: a handshake ended with a server that is cut off from its quorum
 *   any open   -> LOST        lose: expired, or replaced by the server without an event
 *   LOST       -> CONNECTING  on_reopen_timer: the old handle is closed, then a new one is opened;
 *                             or lent_handle.c
 *   CONNECTING -> LOST        open_handle: no handle could be opened; the retry timer opens the next one, or
 *                             ls_session_start() fails and the session is NEW again
 *   open, LOST -> FAILED      fail: credentials refused, no memory, or no handle and the policy is exhausted
 *
 * A claim sends requests in CONNECTED alone (lock_session_ready). In other states the client would queue
 * them, and each would make it try to connect at once (F11, F12). After an answer that the session is over
 * (`dying`), a claim sends none either: the event of the end is about to come.
 *
 * In LOST no claim has a node or a watch. The handle, if there is one, is dead or about to be closed. The
 * session opens the next handle after it has closed the old one, so no completion can meet the wrong
 * session. */
#include "lock/claim.h"
#include "lock/telemetry.h"

#include <errno.h>
#include <string.h>

static const struct ls_session_options *options_of(const struct ls_session *session)
{
    static const struct ls_session_options none = {.retry = NULL};
    const struct ls_session_options *options = lock_queue_deref(session->options);
    return options ? options : &none;
}

bool lock_session_is_open(const struct ls_session *session)
{
    return session->state >= LS_STATE_CONNECTING && session->state <= LS_STATE_SUSPENDED;
}

enum lock_verdict lock_session_verdict(int zk_rc)
{
    switch (zk_rc) {
    case ZOK:
        return LOCK_OK;
    case ZOPERATIONTIMEOUT:
        LS_SOMETIMES("request-ends-with-minus-seven");
        return LOCK_UNKNOWN;
    case ZCONNECTIONLOSS:
    case ZCLOSING:
    case ZRUNTIMEINCONSISTENCY:
    case -15: /* ZSSLCONNECTIONERROR, which older headers lack: the attempt to connect failed (F106) */
        return LOCK_UNKNOWN;
    case ZSESSIONEXPIRED:
    case ZINVALIDSTATE:
        return LOCK_DYING;
    case ZMARSHALLINGERROR:
    case ZSYSTEMERROR:
    case ZSESSIONMOVED:
    case ZNOTREADONLY:
    case -127: /* ZTHROTTLEDOP, which older headers lack */
        return LOCK_AGAIN;
    case ZNONODE:
        return LOCK_ABSENT;
    default:
        return LOCK_REFUSED;
    }
}

bool lock_session_ready(const struct ls_session *session)
{
    return session->state == LS_STATE_CONNECTED && session->zh && !session->dying;
}

/* ---- belief ----
 *
 * The belief's age counts from a moment at which the session certainly lived: before the send of a write or
 * sync whose answer is a proof. A stamp after the send would be too young: the process may be stopped in
 * between. One request at a time is stamped. `measured` is the number of answers, among the `unanswered`
 * ones, up to that of the stamped request: answers come in the order of requests (F36, F40). */

static int64_t age_ms(const struct ls_session *session)
{
    return session->confirmed ? ls_env_elapsed_ms(session->env, &session->stamps[session->slot]) : INT64_MAX;
}

bool lock_session_stamp(struct ls_session *session)
{
    if (session->measured)
        return false;
    /* An age of 0 cannot be improved. In a world without a clock a proven belief always has the age 0, so
     * stamps add no states. */
    if (!session->unproven && !age_ms(session))
        return false;
    ls_env_stamp(session->env, &session->stamps[!session->slot]);
    return true;
}

/* Forgets the stamped request, and zeroes its stamp: states that behave alike have equal bytes. */
static void measure_nothing(struct ls_session *session)
{
    session->measured = 0;
    session->stamps[!session->slot] = (struct ls_stamp){0};
}

void lock_session_sent(struct ls_session *session, bool stamped, int zk_rc)
{
    if (zk_rc != ZOK) {
        if (stamped)
            measure_nothing(session);
        return;
    }
    session->unanswered++;
    if (stamped)
        session->measured = session->unanswered;
}

static void forget_belief(struct ls_session *session)
{
    session->slot = 0;
    session->confirmed = 0;
    session->unproven = 0;
    session->measured = 0;
    memset(session->stamps, 0, sizeof session->stamps);
}

void lock_session_unclaimed(struct ls_session *session)
{
    bool knows = session->confirmed || session->unproven || session->measured || session->slot;
    if (knows && !lock_index_any_alive(session))
        forget_belief(session);
}

/* Returns whether a code counts as proof that the session lived. A server gives these three only for a living
 * session. */
static bool is_proof(int zk_rc)
{
    return zk_rc == ZOK || zk_rc == ZNONODE || zk_rc == ZNODEEXISTS;
}

void lock_session_answered(struct ls_session *session, int zk_rc)
{
    enum lock_verdict verdict = lock_session_verdict(zk_rc);
    if (session->unanswered)
        session->unanswered--;
    if (lock_session_is_open(session) && session->id && verdict == LOCK_DYING) {
        LS_SOMETIMES("server-says-that-the-session-is-over");
        session->dying = 1;
    }
    if (!lock_session_is_open(session) || !session->measured)
        return;
    if (lock_is_unsure(verdict)) {
        measure_nothing(session);
        return;
    }
    if (--session->measured)
        return;
    if (is_proof(zk_rc)) {
        if (age_ms(session))
            session->slot = !session->slot;
        session->confirmed = 1;
        session->unproven = 0;
    }
    measure_nothing(session);
}

static int timeout_ms(const struct ls_session *session)
{
    return session->negotiated_ms ? session->negotiated_ms : session->requested_ms;
}

static int64_t margin_ms(const struct ls_session *session)
{
    uint32_t percent = options_of(session)->margin_percent;
    return (int64_t)timeout_ms(session) * (percent ? percent : 50) / 100;
}

int lock_session_belief_left_ms(const struct ls_session *session)
{
    int64_t left_ms = margin_ms(session) - age_ms(session);
    bool doubted = session->state != LS_STATE_CONNECTED || session->unproven || session->dying;
    return doubted || left_ms < 0 ? 0 : (int)left_ms;
}

bool lock_session_stale(const struct ls_session *session)
{
    return session->unproven || age_ms(session) >= margin_ms(session) / 2;
}

static void on_proof(int rc, const char *value, const void *data)
{
    (void)value;
    struct ls_session *session = (struct ls_session *)(uintptr_t)data;
    ls_env_callback_enter(session->env);
    ls_env_lock(session->env);
    session->proving = 0;
    lock_session_answered(session, rc);
    if (session->assumed && lock_session_verdict(rc) == LOCK_UNKNOWN)
        lock_session_event(session, session->zh, ZOO_CONNECTING_STATE);
    lock_mutex_leave(session);
}

void lock_session_prove(struct ls_session *session)
{
    if (session->proving || !lock_session_ready(session))
        return;
    bool stamped = lock_session_stamp(session);
    int rc = zoo_async(session->zh, "/", on_proof, session);
    lock_session_sent(session, stamped, rc);
    session->proving = rc == ZOK;
}

static bool any_holder(const struct ls_session *session)
{
    for (const struct lock_claim *claim = session->claims; claim; claim = claim->next)
        if (claim->state == LOCK_HELD)
            return true;
    return false;
}

static void on_fresh_timer(void *context)
{
    struct ls_session *session = context;
    if (!lock_session_is_open(session) || !any_holder(session))
        return;
    lock_session_prove(session);
    lock_session_granted(session);
}

void lock_session_granted(struct ls_session *session)
{
    if (options_of(session)->no_refresh || session->fresh_timer.armed)
        return;
    uint32_t period_ms = timeout_ms(session) >= 6 ? (uint32_t)timeout_ms(session) / 6 : 1;
    /* Without memory for the timer the belief ends early, which is safe. */
    (void)ls_env_timer_start(session->env, &session->fresh_timer, "fresh-timer", period_ms, on_fresh_timer,
                             session);
}

void lock_session_each(struct ls_session *session, void (*step)(struct lock_claim *claim))
{
    struct lock_claim *next;
    for (struct lock_claim *claim = session->claims; claim; claim = next) {
        next = claim->next;
        step(claim);
    }
}

static void fail_if_pending(struct lock_claim *claim)
{
    if (lock_mutex_pending(claim))
        lock_mutex_fail(claim, claim->place->session->failure, 0);
}

static void forget_requests(struct lock_claim *claim)
{
    claim->in_flight = 0;
    claim->ancestors = 0;
    claim->containers = 0;
    claim->searching = 0;
    claim->first_rc = 0;
    lock_revoke_forget(claim);
    lock_mutex_go(claim);
}

void lock_session_drained(struct ls_session *session)
{
    session->unanswered = 0; /* `measured` is 0: the belief was forgotten with the session */
    session->proving = 0;
    lock_session_each(session, forget_requests);
    lock_participants_drained(session);
    lock_revoke_drained(session);
    lock_blocking_drained(session);
    lock_count_drained(session);
}

static void forget_session(struct ls_session *session)
{
    session->id = 0;
    session->negotiated_ms = 0;
    session->stuck = 0;
    session->dying = 0;
    forget_belief(session);
    ls_env_timer_stop(session->env, &session->retry_timer);
    ls_env_timer_stop(session->env, &session->fresh_timer);
    ls_env_timer_stop(session->env, &session->create_timer);
    lock_janitor_calm(session);
}

static void fail(struct ls_session *session, int err, enum ls_session_event event)
{
    session->state = LS_STATE_FAILED;
    session->failure = (int8_t)err;
    forget_session(session);
    lock_queue_event(session, event);
    lock_session_each(session, fail_if_pending);
    lock_session_each(session, lock_mutex_session_lost);
    lock_count_session_lost(session);
}

static void on_reopen_timer(void *context);

static void lose(struct ls_session *session)
{
    session->state = LS_STATE_LOST;
    if (session->id)
        lock_queue_event(session, LS_SESSION_LOST);
    forget_session(session);
    lock_session_each(session, lock_mutex_session_lost);
    lock_count_session_lost(session);
    if (session->loan)
        return; /* the next handle is lent, or none comes */
    if (ls_env_timer_start(session->env, &session->reopen_timer, "reopen-timer", 0, on_reopen_timer, session))
        fail(session, LS_ENOMEM, LS_SESSION_GAVE_UP);
}

static void fail_if_trying(struct lock_claim *claim)
{
    if (claim->try_only && lock_mutex_pending(claim))
        lock_mutex_fail(claim, LS_EBUSY, 0);
}

static void go_anew(struct lock_claim *claim)
{
    claim->retry = 0;
    lock_revoke_again(claim);
    lock_mutex_go(claim);
}

/* Adds the credentials, and returns whether that succeeded. If the handle is dead (ZINVALIDSTATE), another
 * event follows (F16). After any other code the session has failed here with LS_ENOMEM. */
static bool authenticate(struct ls_session *session, zhandle_t *zh)
{
    int rc = lock_access_add_auths(session, zh);
    if (rc != ZOK && rc != ZINVALIDSTATE)
        fail(session, LS_ENOMEM, LS_SESSION_GAVE_UP);
    return rc == ZOK;
}

static void on_connected(struct ls_session *session, zhandle_t *zh)
{
    int64_t id = zoo_client_id(zh)->client_id;
    if (session->id && session->id != id) {
        LS_SOMETIMES("session-changes-without-a-word");
        lose(session);
        return;
    }
    if (session->state == LS_STATE_CONNECTED || !authenticate(session, zh))
        return;
    bool first = !session->id;
    session->state = LS_STATE_CONNECTED;
    session->id = id;
    session->negotiated_ms = zoo_recv_timeout(zh);
    session->retries = 0;
    lock_janitor_calm(session);
    lock_queue_event(session, first ? LS_SESSION_CONNECTED : LS_SESSION_RECONNECTED);
    if (session->unproven && any_holder(session)) {
        LS_SOMETIMES("holder-proves-itself-after-a-loss");
        lock_session_prove(session);
    }
    lock_session_each(session, go_anew);
    lock_count_again(session);
}

static void on_suspended(struct ls_session *session)
{
    if (session->state != LS_STATE_CONNECTED && session->state != LS_STATE_READ_ONLY)
        return;
    session->state = LS_STATE_SUSPENDED;
    session->unproven = 1;
    measure_nothing(session);
    if (session->id)
        lock_queue_event(session, LS_SESSION_SUSPENDED);
    lock_session_each(session, fail_if_trying);
}

static void on_read_only(struct ls_session *session)
{
    session->state = LS_STATE_READ_ONLY;
    session->unproven = 1;
    lock_queue_event(session, LS_SESSION_READ_ONLY);
}

void lock_session_event(struct ls_session *session, zhandle_t *zh, int state)
{
    if (!lock_session_is_open(session)) {
        LS_SOMETIMES("late-event-of-a-dead-handle");
        return;
    }
    session->zh = zh; /* the event may come before zookeeper_init() has returned the handle (F19) */
    session->assumed = 0;
    if (state == ZOO_CONNECTED_STATE)
        on_connected(session, zh);
    else if (state == ZOO_CONNECTING_STATE)
        on_suspended(session);
    else if (state == ZOO_EXPIRED_SESSION_STATE)
        lose(session);
    else if (state == ZOO_AUTH_FAILED_STATE)
        fail(session, LS_EAUTHFAILED, LS_SESSION_AUTH_FAILED);
    else if (state == ZOO_READONLY_STATE)
        on_read_only(session);
}

struct ls_session *lock_session_of(zhandle_t *zh)
{
    return (struct ls_session *)(uintptr_t)zoo_get_context(zh);
}

static void on_default_watch(zhandle_t *zh, int type, int state, const char *path, void *context)
{
    (void)path;
    (void)context;
    struct ls_session *session = lock_session_of(zh);
    ls_env_callback_enter(session->env);
    ls_env_lock(session->env);
    if (type == ZOO_SESSION_EVENT)
        lock_session_event(session, zh, state);
    lock_mutex_leave(session);
}

/* ---- handles ----
 *
 * Opening and closing a handle drop the mutex: zookeeper_init() may call the watcher, and zookeeper_close()
 * waits for the completion thread.
 *
 * By default the client looks up the names of its servers on each turn of its loop, and sends no ping until
 * that is answered. With the resolution delay -1 it does not look them up while it is connected. */

/* Returns the error for errno after zookeeper_init(). EINVAL also means that no name server was reached
 * (EAI_AGAIN), so it is LS_EINVAL only for a malformed connect string. */
static int open_error(const struct ls_session *session, int error)
{
    if (error == EINVAL && !lock_access_hosts_are_valid(session->hosts))
        return LS_EINVAL;
    return error == ENOMEM ? LS_ENOMEM : LS_EZK;
}

static int open_handle(struct ls_session *session)
{
    int flags = ZOO_NO_LOG_CLIENTENV | (options_of(session)->read_only ? ZOO_READONLY : 0);
    session->state = LS_STATE_CONNECTING;
    session->auths = 0;
    session->opening = 1;
    session->busy++;
    ls_env_unlock(session->env);
    errno = 0;
    zhandle_t *zh = lock_access_open(session, on_default_watch, flags);
    int error = errno;
    if (zh)
        (void)zoo_set_servers_resolution_delay(zh, -1);
    ls_env_lock(session->env);
    session->busy--;
    session->opening = 0;
    lock_queue_wake(session);
    if (!zh) {
        session->state = session->state == LS_STATE_CLOSED ? LS_STATE_CLOSED : LS_STATE_LOST;
        return open_error(session, error);
    }
    if (!session->zh)
        session->zh = zh; /* for the close: no request is sent on it before its first event */
    return LS_OK;
}

static void close_handle(struct ls_session *session)
{
    zhandle_t *zh = session->zh;
    if (session->loan) {
        lock_loan_give_back(session);
        return;
    }
    session->zh = NULL;
    if (zh) {
        session->opening = 1;
        session->busy++;
        ls_env_unlock(session->env);
        zookeeper_close(zh);
        ls_env_lock(session->env);
        session->busy--;
        session->opening = 0;
        lock_queue_wake(session);
    }
    lock_session_drained(session);
}

static void open_again(struct ls_session *session)
{
    int err = open_handle(session);
    if (session->state == LS_STATE_CLOSED)
        return;
    if (err)
        lock_telemetry_log(session, LS_LOG_WARNING, "no handle could be opened: %s", ls_strerror(err));
    if (err && !lock_session_retry(session, &err))
        fail(session, err, LS_SESSION_GAVE_UP);
    /* An event may have ended the session while open_handle() had dropped the mutex. */
    if (!err && session->state == LS_STATE_LOST && !session->reopen_timer.armed &&
        ls_env_timer_start(session->env, &session->reopen_timer, "reopen-timer", 0, on_reopen_timer, session))
        fail(session, LS_ENOMEM, LS_SESSION_GAVE_UP);
}

static void on_reopen_timer(void *context)
{
    struct ls_session *session = context;
    if (session->state != LS_STATE_LOST || session->opening)
        return; /* while a thread opens a handle, that thread handles its loss (open_again) */
    LS_SOMETIMES("next-handle-after-the-end");
    close_handle(session);
    if (session->state == LS_STATE_LOST)
        open_again(session);
    lock_queue_deliver(session);
}

static void go_again(struct lock_claim *claim)
{
    if (claim->retry && lock_mutex_pending(claim))
        go_anew(claim);
    else
        lock_revoke_again(claim);
}

static void go_all_again(struct ls_session *session)
{
    lock_session_each(session, go_again);
    lock_count_again(session);
}

static void on_retry_timer(void *context)
{
    struct ls_session *session = context;
    if (session->state == LS_STATE_LOST && !session->opening && !session->loan)
        open_again(session);
    else if (lock_session_is_open(session))
        go_all_again(session);
    lock_queue_deliver(session);
}

void lock_session_progress(struct ls_session *session)
{
    session->retries = 0;
}

/* Returns the largest number that failures in a row are counted to. From `usual` on the delay does not grow
 * by default, so only a policy that counts needs a larger number. */
static uint16_t failures_max(const struct ls_retry_policy *policy, uint16_t usual)
{
    return policy && policy->kind == LS_RETRY_TIMES ? UINT16_MAX : usual;
}

static void count_retry(struct ls_session *session, const struct ls_retry_policy *policy)
{
    if (!session->retries)
        ls_env_stamp(session->env, &session->failing);
    if (session->retries < failures_max(policy, 16))
        session->retries++;
}

static uint32_t jitter(struct ls_session *session)
{
    const struct ls_retry_policy *policy = options_of(session)->retry;
    uint32_t random = 0;
    if (policy && policy->jitter_percent)
        ls_env_random(session->env, &random, sizeof random);
    return random;
}

bool lock_session_retry(struct ls_session *session, int *err)
{
    const struct ls_retry_policy *policy = options_of(session)->retry;
    if (session->retry_timer.armed)
        return true;
    int64_t elapsed_ms = session->retries ? ls_env_elapsed_ms(session->env, &session->failing) : 0;
    int64_t delay_ms = ls_retry_delay_ms(policy, session->retries, elapsed_ms, jitter(session));
    *err = LS_EGAVEUP;
    if (delay_ms < 0)
        return false;
    count_retry(session, policy);
    lock_telemetry_log(session, LS_LOG_INFO, "tried again in %lld ms, failed %u times in a row",
                       (long long)delay_ms, session->retries);
    *err = LS_ENOMEM;
    return !ls_env_timer_start(session->env, &session->retry_timer, "retry-timer", (uint32_t)delay_ms,
                               on_retry_timer, session);
}

/* ---- creates that may break the link ----
 *
 * A server that refuses to read a create closes the link, for example if the contents are beyond its limit
 * (F78 has another case). Then the other requests on that link are lost too. So from LOCK_LOST_SUSPECT losses
 * in a row on, a claim is a suspect: it is set aside, and its next create waits for the create timer. Each
 * time that the timer fires, it lets one suspect go, the one with the fewest losses. So a create that was
 * lost beside a bad one goes before the bad one. The delay is that of the retry policy, and grows with the
 * losses of the suspect up to the policy's bound. */

static struct lock_claim *next_suspect(const struct ls_session *session)
{
    struct lock_claim *least = NULL;
    for (struct lock_claim *claim = session->claims; claim; claim = claim->next)
        if (claim->aside && (!least || claim->lost < least->lost))
            least = claim;
    return least;
}

static void on_create_timer(void *context);

static int64_t suspect_delay_ms(struct ls_session *session, const struct lock_claim *claim)
{
    const struct ls_retry_policy *policy = options_of(session)->retry;
    struct ls_retry_policy own = {.kind = LS_RETRY_FOREVER};
    if (policy)
        own = *policy;
    if (own.kind == LS_RETRY_ELAPSED)
        own.kind = LS_RETRY_FOREVER; /* the time since the first loss is not known */
    return ls_retry_delay_ms(&own, claim->lost - LOCK_LOST_SUSPECT, 0, jitter(session));
}

static bool arm_create_timer(struct ls_session *session, int64_t delay_ms)
{
    return !ls_env_timer_start(session->env, &session->create_timer, "create-timer", (uint32_t)delay_ms,
                               on_create_timer, session);
}

/* Lets a claim that is set aside go on without its delay, because there is no memory for the timer. */
static void go_unguarded(struct lock_claim *claim)
{
    claim->aside = 0;
    lock_mutex_go(claim);
}

static void await_next_suspect(struct ls_session *session)
{
    const struct lock_claim *next = next_suspect(session);
    int64_t delay_ms = next ? suspect_delay_ms(session, next) : 0;
    if (next && !arm_create_timer(session, delay_ms))
        lock_session_each(session, go_unguarded);
}

static void on_create_timer(void *context)
{
    struct ls_session *session = context;
    struct lock_claim *claim = next_suspect(session);
    if (claim) {
        LS_SOMETIMES("create-goes-alone");
        claim->aside = 0;
        lock_mutex_go(claim);
        await_next_suspect(session);
    }
    lock_queue_deliver(session);
}

void lock_session_count_lost(struct lock_claim *claim)
{
    if (claim->lost < failures_max(options_of(claim->place->session)->retry, LOCK_LOST_MAX))
        claim->lost++;
}

bool lock_session_set_aside(struct lock_claim *claim, int *err)
{
    struct ls_session *session = claim->place->session;
    int64_t delay_ms = suspect_delay_ms(session, claim);
    *err = LS_EGAVEUP;
    if (delay_ms < 0)
        return false;
    lock_telemetry_log(session, LS_LOG_WARNING,
                       "%s: the link broke at %u creates in a row, next one in %lld ms", claim->place->path,
                       claim->lost, (long long)delay_ms);
    claim->aside = 1;
    *err = LS_ENOMEM;
    return next_suspect(session) != claim || arm_create_timer(session, delay_ms);
}

void lock_session_acquit(struct lock_claim *claim)
{
    struct ls_session *session = claim->place->session;
    bool suspect = claim->lost >= LOCK_LOST_SUSPECT;
    claim->lost = 0;
    const struct lock_claim *next = suspect ? next_suspect(session) : NULL;
    /* The create of this suspect did not break the link. A next suspect with LOCK_LOST_SUSPECT losses
     * probably does not either, so it goes without a delay. */
    if (next && next->lost == LOCK_LOST_SUSPECT && !arm_create_timer(session, 0))
        await_next_suspect(session);
}

uint32_t lock_session_sweep_delay_ms(struct ls_session *session)
{
    const struct ls_retry_policy *policy = options_of(session)->retry;
    struct ls_retry_policy endless = {.kind = LS_RETRY_FOREVER};
    if (policy)
        endless = *policy;
    endless.kind = LS_RETRY_FOREVER;
    return (uint32_t)ls_retry_delay_ms(&endless, session->sweeps, 0, jitter(session));
}

int ls_session_init(struct ls_session *session, struct ls_env *env, const char *hosts, int timeout_ms,
                    const struct ls_session_options *options)
{
    if (!session || !env || !hosts || timeout_ms <= 0 || timeout_ms > LS_SESSION_TIMEOUT_MS_MAX)
        return LS_EINVAL;
    if (options && options->margin_percent > 100)
        return LS_EINVAL;
    int err = options ? lock_access_check(options) : LS_OK;
    if (err)
        return err;
    memset(session, 0, sizeof *session);
    session->env = env;
    session->hosts = hosts;
    session->requested_ms = timeout_ms;
    session->options = lock_queue_ref(options);
    return LS_OK;
}

/* Fails the acquires that other threads began while the handle was being opened. The session is NEW again. */
static void start_failed(struct ls_session *session, int err)
{
    session->failure = (int8_t)err;
    lock_session_each(session, fail_if_pending);
    session->failure = 0;
    session->state = LS_STATE_NEW;
}

static int start_new(struct ls_session *session)
{
    int err = open_handle(session);
    if (err && session->state == LS_STATE_LOST)
        start_failed(session, err);
    if (!err && session->state == LS_STATE_LOST) {
        err = ls_env_timer_start(session->env, &session->reopen_timer, "reopen-timer", 0, on_reopen_timer,
                                 session);
        if (err)
            fail(session, err, LS_SESSION_GAVE_UP);
    }
    return err;
}

int ls_session_start(struct ls_session *session)
{
    if (ls_env_in_callback(session->env))
        return LS_EDEADLK;
    ls_env_lock(session->env);
    int err = session->state == LS_STATE_NEW ? start_new(session) : LS_EINVAL;
    lock_queue_deliver(session);
    ls_env_unlock(session->env);
    return err;
}

static bool is_closing(const void *about)
{
    const struct ls_session *session = about;
    return session->closing;
}

static void end_session(struct ls_session *session)
{
    session->state = LS_STATE_CLOSED;
    session->failure = LS_ECLOSED;
    ls_env_timer_stop(session->env, &session->reopen_timer);
    forget_session(session);
    lock_session_each(session, fail_if_pending);
    lock_session_each(session, lock_mutex_session_lost);
    lock_count_session_lost(session);
    lock_queue_deliver(session);
    lock_queue_wait_quiet(session);
    close_handle(session);
    session->events = 0;
    lock_queue_deliver(session);
    session->listeners = NULL;
    lock_queue_wait_quiet(session);
}

/* Closes a session that no other thread is closing. With the result LS_ELOST the session is not closed. When
 * the function returns, no other thread sleeps on the session, so that its memory may be freed. */
static int close_session(struct ls_session *session)
{
    session->closing = 1;
    int rc = session->loan ? lock_loan_end(session) : LS_OK;
    if (rc != LS_ELOST)
        end_session(session);
    session->closing = 0;
    lock_queue_wake(session);
    lock_queue_wait_alone(session);
    return rc;
}

int ls_session_close(struct ls_session *session)
{
    struct ls_env *env = session->env;
    if (ls_env_in_callback(env))
        return LS_EDEADLK;
    ls_env_lock(env);
    lock_queue_wait(session, is_closing, session);
    int rc = session->state != LS_STATE_CLOSED ? close_session(session) : LS_OK;
    ls_env_unlock(env);
    return rc;
}

void ls_session_listener_init(struct ls_session_listener *listener, const struct ls_session_ops *ops)
{
    listener->next = NULL;
    listener->ops = lock_queue_ref(ops);
}

void ls_session_listener_add(struct ls_session *session, struct ls_session_listener *listener)
{
    ls_env_lock(session->env);
    struct ls_session_listener **link = &session->listeners;
    while (*link)
        link = &(*link)->next;
    *link = listener;
    listener->next = NULL;
    ls_env_unlock(session->env);
}

void lock_session_forget_listener(struct ls_session *session, struct ls_session_listener *listener)
{
    struct ls_session_listener **link = &session->listeners;
    while (*link && *link != listener)
        link = &(*link)->next;
    if (*link) {
        *link = listener->next;
        if (session->cursor == listener)
            session->cursor = listener->next;
    }
}

void ls_session_listener_remove(struct ls_session *session, struct ls_session_listener *listener)
{
    ls_env_lock(session->env);
    lock_session_forget_listener(session, listener);
    if (!ls_env_in_callback(session->env))
        lock_queue_wait_quiet(session);
    ls_env_unlock(session->env);
}

enum ls_session_state ls_session_state(const struct ls_session *session)
{
    ls_env_lock(session->env);
    enum ls_session_state state = (enum ls_session_state)session->state;
    ls_env_unlock(session->env);
    return state;
}

struct connect_wait {
    struct ls_session *session;
    struct ls_timer timer;
    bool over; /* the timeout has passed */
};

static int connection_rc(const struct ls_session *session)
{
    switch (session->state) {
    case LS_STATE_CONNECTED:
        return LS_OK;
    case LS_STATE_FAILED:
        return session->failure;
    case LS_STATE_NEW:
    case LS_STATE_CLOSED:
        return LS_ECLOSED;
    default: /* not yet; a session on loan that is ending gets no further handle */
        return session->ending ? LS_ECLOSED : LS_ETIMEDOUT;
    }
}

static bool waits_to_connect(const void *about)
{
    const struct connect_wait *wait = about;
    return !wait->over && connection_rc(wait->session) == LS_ETIMEDOUT;
}

static void on_connect_deadline(void *context)
{
    struct connect_wait *wait = context;
    wait->over = true;
    lock_queue_wake(wait->session);
}

static int wait_connected(struct ls_session *session, int timeout_ms)
{
    struct connect_wait wait = {.session = session, .over = timeout_ms == 0};
    if (waits_to_connect(&wait) && timeout_ms > 0 &&
        ls_env_timer_start(session->env, &wait.timer, "deadline-timer", (uint32_t)timeout_ms,
                           on_connect_deadline, &wait))
        return LS_ENOMEM;
    lock_queue_wait_watching(session, waits_to_connect, &wait);
    ls_env_timer_stop(session->env, &wait.timer);
    return connection_rc(session);
}

int ls_session_wait_connected(struct ls_session *session, int timeout_ms)
{
    if (ls_env_in_callback(session->env))
        return LS_EDEADLK;
    ls_env_lock(session->env);
    int rc = wait_connected(session, timeout_ms);
    ls_env_unlock(session->env);
    return rc;
}

int64_t ls_session_id(const struct ls_session *session)
{
    ls_env_lock(session->env);
    int64_t id = session->id;
    ls_env_unlock(session->env);
    return id;
}

int ls_session_timeout_ms(const struct ls_session *session)
{
    ls_env_lock(session->env);
    int result_ms = timeout_ms(session);
    ls_env_unlock(session->env);
    return result_ms;
}

bool ls_session_idle(const struct ls_session *session)
{
    ls_env_lock(session->env);
    bool idle = !session->leftovers;
    ls_env_unlock(session->env);
    return idle;
}
