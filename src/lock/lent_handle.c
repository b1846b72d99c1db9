/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A handle on loan: the application has opened it, will close it, and passes the events of its watcher on to
 * the session.
 *
 *   NEW  --ls_session_lend--> CONNECTING, CONNECTED or READ_ONLY, as the handle is
 *   LOST --ls_session_lend--> likewise with the next handle; the session opens none itself
 *
 * The context of such a handle is the application's, so a watcher cannot find the session by it. All watches
 * of a loan share one pair of function and context. The context is the loan. An event reaches all claims and
 * counts that have a watch on its path. The handle may outlive the session and still deliver an event. So the
 * loan's memory must stay valid as long as the handle.
 *
 * Requests in flight carry addresses of claims. If the session owns the handle, no answer comes after the
 * close of the handle. On a loan, the close of the session waits for the answers. They come, because the
 * client fails all requests when the link breaks (F10). A dead handle may give no answers (F17, F21), so the
 * application must close it first. */
#include "lock/claim.h"

#include <string.h>

static void tell_all(struct ls_session *session, int type, const char *path)
{
    struct lock_claim *next;
    for (struct lock_claim *claim = session->claims; claim; claim = next) {
        next = claim->next;
        lock_mutex_hear(claim, type, path);
    }
    if (type != ZOO_CHILD_EVENT)
        lock_count_hear(session, path);
}

/* Takes the environment's mutex. Returns the session that has this handle on loan, or NULL. */
static struct ls_session *enter(struct ls_loan *loan, const zhandle_t *zh)
{
    ls_env_callback_enter(loan->env);
    ls_env_lock(loan->env);
    return loan->session && loan->session->zh == zh ? loan->session : NULL;
}

static void leave(struct ls_env *env, struct ls_session *session)
{
    if (session)
        lock_queue_deliver(session);
    ls_env_unlock(env);
    ls_env_callback_leave(env);
}

void lock_loan_on_event(zhandle_t *zh, int type, int state, const char *path, void *context)
{
    struct ls_loan *loan = context;
    struct ls_env *env = loan->env; /* a callback may free the loan */
    (void)state;
    if (type == ZOO_SESSION_EVENT)
        return; /* each watch hears of these (F4); ls_loan_on_event() handles them once */
    struct ls_session *session = enter(loan, zh);
    if (session)
        tell_all(session, type, path);
    leave(env, session);
}

void ls_loan_on_event(struct ls_loan *loan, zhandle_t *zh, int type, int state)
{
    struct ls_env *env = loan->env; /* a callback may free the loan */
    if (type != ZOO_SESSION_EVENT)
        return;
    struct ls_session *session = enter(loan, zh);
    if (session)
        lock_session_event(session, zh, state);
    leave(env, session);
}

void ls_loan_init(struct ls_loan *loan, struct ls_env *env)
{
    loan->env = env;
    loan->session = NULL;
}

static int check(const struct ls_session *session, const struct ls_loan *loan, zhandle_t *zh)
{
    const struct ls_session_options *options = lock_queue_deref(session->options);
    bool next = session->state == LS_STATE_LOST && session->loan;
    if ((session->state != LS_STATE_NEW && !next) || session->ending || loan->env != session->env)
        return LS_EINVAL;
    if (options && (options->auth_count || options->tls))
        return LS_EINVAL;
    if (zoo_state(zh) == ZOO_AUTH_FAILED_STATE)
        return LS_EAUTHFAILED;
    return is_unrecoverable(zh) ? LS_ELOST : LS_OK;
}

/* Takes a handle on loan, and asks once for its state. Later events change the state. The state may be
 * CONNECTED though the application was told of a loss before (F1), and no event will report that loss again.
 * So a sync is sent: if its answer is lost before any event was passed on, the link was gone. */
static void take(struct ls_session *session, struct ls_loan *loan, zhandle_t *zh)
{
    if (session->loan)
        lock_loan_give_back(session);
    loan->session = session;
    session->loan = loan;
    session->zh = zh;
    session->state = LS_STATE_CONNECTING;
    int state = zoo_state(zh);
    if (state == ZOO_CONNECTED_STATE || state == ZOO_READONLY_STATE)
        lock_session_event(session, zh, state);
    session->assumed = session->state == LS_STATE_CONNECTED;
    if (session->assumed)
        lock_session_prove(session);
}

int ls_session_lend(struct ls_session *session, struct ls_loan *loan, zhandle_t *zh)
{
    if (!session || !loan || !zh)
        return LS_EINVAL;
    ls_env_lock(session->env);
    int err = check(session, loan, zh);
    if (!err)
        take(session, loan, zh);
    lock_queue_deliver(session);
    ls_env_unlock(session->env);
    return err;
}

static bool in_flight(const struct ls_session *session)
{
    for (const struct lock_claim *claim = session->claims; claim; claim = claim->next)
        if (claim->in_flight || claim->ancestors || claim->ear == LOCK_EAR_READING)
            return true;
    return session->proving || session->surveys || session->asks || session->writes ||
           lock_count_in_flight(session);
}

/* Returns whether a session that ends must wait: for answers of an open handle and, if connected, until no
 * claim and no count is left. The second wait is left out if the janitor has no timer (`unarmed`), because no
 * event might end it. */
static bool is_ending(const void *about)
{
    const struct ls_session *session = about;
    bool goes_on = session->state == LS_STATE_CONNECTED && session->zh && !session->unarmed;
    return lock_session_is_open(session) &&
           (in_flight(session) || (goes_on && (session->claims || session->counts)));
}

int lock_loan_end(struct ls_session *session)
{
    if (!lock_session_is_open(session))
        return LS_OK; /* the handle is dead: no answer will come */
    session->ending = 1;
    lock_session_each(session, lock_mutex_end);
    lock_count_end_all(session);
    lock_queue_deliver(session);
    lock_queue_wait(session, is_ending, session);
    if (!session->loan)
        return LS_OK; /* another thread has closed the session meanwhile */
    if (!lock_session_is_open(session) && in_flight(session))
        return LS_ELOST;
    return (session->claims || session->counts || session->stuck) && lock_session_is_open(session)
               ? LS_EUNSURE
               : LS_OK;
}

void lock_loan_give_back(struct ls_session *session)
{
    session->loan->session = NULL;
    session->loan = NULL;
    session->zh = NULL;
    lock_session_drained(session);
}
