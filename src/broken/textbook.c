/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The session of the textbook mutex and its entry points; attempt.c has the state machine.
 *
 * The textbook knows its connection by delivered session events only (F3), and issues no request between
 * CONNECTING and CONNECTED. So each request that is lost with the link has failed before the next CONNECTED
 * (F10), and attempts go on then. */
#include "broken/textbook.h"
#include "broken/broken.h"
#include <lockstep/error.h>
#include <string.h>

#define REOPEN_MS 1
#define REOPEN_RETRY_MS 100

const struct textbook_defects *textbook_defects_of(const struct textbook *book)
{
    return &textbook_variants[book->variant];
}

const char *textbook_folder(const struct textbook *book, int lock)
{
    const char *path = book->config->lock_paths[lock];
    return strcmp(path, "/") == 0 ? "" : path;
}

void textbook_begin(struct textbook *book, struct outbox *out)
{
    out->count = 0;
    book->out = out;
}

/* Frees done attempts without callbacks to come. Reports IDLE if that ends the last clean-up. */
static void reap(struct textbook *book)
{
    bool cleaned = false, cleaning = false;
    struct attempt **link = &book->first;
    while (*link) {
        struct attempt *attempt = *link;
        if (attempt->state != ATTEMPT_DONE || attempt->busy || attempt->stale) {
            cleaning |= attempt->abandoned;
            link = &attempt->next;
            continue;
        }
        cleaned |= attempt->abandoned;
        *link = attempt->next;
        ls_env_free(book->env, attempt);
    }
    if (cleaned && !cleaning)
        textbook_report(book, &(struct ls_report){.kind = LS_REPORT_IDLE});
}

static void tell(struct ls_env *env, const struct outbox *out)
{
    for (int i = 0; i < out->count; i++)
        ls_report(env, &out->report[i]);
}

void textbook_enter(struct textbook *book, struct outbox *out)
{
    ls_env_lock(book->env);
    textbook_begin(book, out);
}

void textbook_leave(struct textbook *book)
{
    struct ls_env *env = book->env;
    reap(book);
    const struct outbox *out = book->out;
    book->out = NULL;
    ls_env_unlock(env);
    tell(env, out);
}

void textbook_report(struct textbook *book, const struct ls_report *report)
{
    if (!book->stopping && book->out && book->out->count < OUTBOX_MAX)
        book->out->report[book->out->count++] = *report;
}

static void on_event(zhandle_t *zh, int type, int state, const char *path, void *ctx);

static int open_session(struct textbook *book)
{
    struct ls_env *env = book->env;
    ls_env_unlock(env); /* callbacks may run before this returns (F19) */
    zhandle_t *zh =
        zookeeper_init(book->config->hosts, on_event, book->config->session_timeout_ms, NULL, book, 0);
    ls_env_lock(env);
    if (!book->zh)
        book->zh = zh;
    return zh ? 0 : LS_ENOMEM;
}

/* Returns whether attempts wait for answers of a lost session before they go on in a new one (a defect). */
static bool waits_for_stale(const struct textbook *book)
{
    const struct textbook_defects *defects = textbook_defects_of(book);
    return defects->waits_for_answers || defects->trusts_calls;
}

static void close_session(struct textbook *book)
{
    zhandle_t *zh = book->zh;
    book->zh = NULL;
    book->connected = false;
    if (!zh)
        return;
    ls_env_unlock(book->env); /* completions run inside, or on a thread that is joined (F20, F23) */
    zookeeper_close(zh);
    ls_env_lock(book->env);
    for (struct attempt *attempt = book->first; attempt; attempt = attempt->next)
        if (book->stopping || !waits_for_stale(book))
            /* after the close no answer comes (F21) */
            attempt->busy = attempt->stale = 0;
    book->asked_place = 0;
}

static void on_reopen(void *ctx)
{
    struct textbook *book = ctx;
    struct outbox out;
    close_session(book);
    if (!book->stopping && open_session(book) != 0)
        ls_env_timer_start(book->env, &book->reopen, "reopen-timer", REOPEN_RETRY_MS, on_reopen, book);
    textbook_begin(book, &out);
    textbook_leave(book);
    ls_env_lock(book->env); /* timers begin and end with the mutex held */
}

static void report_session(struct textbook *book, enum ls_report_kind kind)
{
    textbook_report(book, &(struct ls_report){.kind = kind, .session = book->session});
}

static void session_lost(struct textbook *book)
{
    if (book->session && !textbook_defects_of(book)->hides_loss)
        report_session(book, LS_REPORT_LOST);
    book->session = 0;
    book->connected = false;
    book->suspended = false;
    for (struct attempt *attempt = book->first; attempt; attempt = attempt->next)
        attempt_session_lost(attempt);
}

static void resume_attempts(struct textbook *book)
{
    for (struct attempt *attempt = book->first; attempt; attempt = attempt->next) {
        if (attempt->overdue && !attempt->abandoned)
            attempt_fail(attempt, LS_ETIMEDOUT);
        else if (!attempt->stalled || attempt->stale == 0 || !waits_for_stale(book))
            attempt_reconnected(attempt);
    }
}

static void on_connected(struct textbook *book)
{
    int64_t session = zoo_client_id(book->zh)->client_id;
    if (book->session && book->session != session) {
        /* A server has given this handle a new session without an event (Z44). Requests that wait in the
         * handle would be done in the new session, so the handle is replaced. */
        session_lost(book);
        ls_env_timer_start(book->env, &book->reopen, "reopen-timer", REOPEN_MS, on_reopen, book);
        return;
    }
    if (!book->session) {
        book->session = session;
        bool hide = textbook_defects_of(book)->hides_loss && book->was_connected;
        report_session(book, hide ? LS_REPORT_RECONNECTED : LS_REPORT_CONNECTED);
    } else if (book->suspended || textbook_defects_of(book)->hides_suspension) {
        report_session(book, LS_REPORT_RECONNECTED);
    }
    book->timeout_ms = zoo_recv_timeout(book->zh);
    book->was_connected = textbook_defects_of(book)->hides_loss;
    book->suspended = false;
    book->connected = true;
    resume_attempts(book);
}

static void on_disconnected(struct textbook *book)
{
    book->connected = false;
    if (!book->session || textbook_defects_of(book)->hides_suspension)
        return;
    book->suspended = true;
    report_session(book, LS_REPORT_SUSPENDED);
    for (struct attempt *attempt = book->first; attempt; attempt = attempt->next)
        attempt_suspended(attempt);
}

/* The default watcher. It watches no node, so each session event reaches it once (F4). */
static void on_event(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    struct textbook *book = ctx;
    struct outbox out;
    (void)path;
    ls_env_callback_enter(book->env);
    textbook_enter(book, &out);
    if (!book->zh && !textbook_defects_of(book)->misses_early_events)
        book->zh = zh; /* zookeeper_init() has not returned yet */
    if (type == ZOO_SESSION_EVENT && zh == book->zh && !book->stopping) {
        if (state == ZOO_CONNECTED_STATE)
            on_connected(book);
        else if (state == ZOO_CONNECTING_STATE)
            on_disconnected(book);
        else if (state == ZOO_EXPIRED_SESSION_STATE || state == ZOO_AUTH_FAILED_STATE) {
            session_lost(book);
            ls_env_timer_start(book->env, &book->reopen, "reopen-timer", REOPEN_MS, on_reopen, book);
        }
    }
    textbook_leave(book);
    ls_env_callback_leave(book->env);
}

int textbook_start(struct textbook *book, struct ls_env *env, const struct ls_recipe_config *config,
                   int variant)
{
    book->env = env;
    book->config = config;
    book->variant = (uint16_t)variant;
    ls_env_lock(env);
    int rc = open_session(book);
    ls_env_unlock(env);
    return rc;
}

void textbook_stop(void *state)
{
    struct textbook *book = state;
    struct ls_env *env = book->env;
    ls_env_lock(env);
    book->stopping = true;
    ls_env_timer_stop(env, &book->reopen);
    for (struct attempt *attempt = book->first; attempt; attempt = attempt->next)
        attempt_finish(attempt);
    close_session(book);
    while (book->first) {
        struct attempt *attempt = book->first;
        book->first = attempt->next;
        ls_env_free(env, attempt);
    }
    memset(book, 0, sizeof *book);
    ls_env_unlock(env);
}

/* Returns the attempt of an owner, NULL if there is none: with `held` the held one, else the pending one. */
static struct attempt *find(const struct textbook *book, int lock, int owner, bool held)
{
    for (struct attempt *attempt = book->first; attempt; attempt = attempt->next)
        if (attempt->lock == lock && attempt->owner == owner && !attempt->abandoned && !attempt->releasing &&
            attempt->state != ATTEMPT_DONE && (attempt->state == ATTEMPT_HELD) == held)
            return attempt;
    return NULL;
}

static void report_granted(struct attempt *attempt)
{
    const struct textbook_defects *defects = textbook_defects_of(attempt->book);
    int64_t token = attempt->czxid;
    if (defects->token_is_session)
        token = attempt->book->session;
    if (defects->token_is_sequence)
        token = attempt->sequence + 1;
    if (defects->token_is_narrow)
        token = (int64_t)(uint32_t)token;
    textbook_report(attempt->book, &(struct ls_report){.kind = LS_REPORT_GRANTED,
                                                       .lock = attempt->lock,
                                                       .owner = attempt->owner,
                                                       .depth = attempt->depth,
                                                       .token = token,
                                                       .session = attempt->book->session});
}

void textbook_grant(struct attempt *attempt)
{
    ls_env_timer_stop(attempt->book->env, &attempt->deadline);
    attempt->state = ATTEMPT_HELD;
    attempt->depth = 1;
    report_granted(attempt);
}

static void on_deadline(void *ctx)
{
    struct attempt *attempt = ctx;
    struct textbook *book = attempt->book;
    struct outbox out;
    textbook_begin(book, &out);
    if (textbook_defects_of(book)->waits_out_outage && !book->connected)
        attempt->overdue = true;
    else
        attempt_fail(attempt, LS_ETIMEDOUT);
    textbook_leave(book);
    ls_env_lock(book->env);
}

static struct attempt *new_attempt(struct textbook *book, int lock, int owner)
{
    struct attempt **link = &book->first;
    int count = 0;
    for (; *link; link = &(*link)->next)
        count++;
    struct attempt *attempt = count < TEXTBOOK_ATTEMPTS_MAX ? ls_env_alloc(book->env, sizeof *attempt) : NULL;
    if (!attempt)
        return NULL;
    attempt->book = book;
    attempt->lock = (uint8_t)lock;
    attempt->owner = (uint8_t)owner;
    ls_env_unique_id(book->env, attempt->id);
    *link = attempt;
    return attempt;
}

/* Returns this owner's attempt that is released and still HELD (keeps_for_itself); NULL if there is none. */
static struct attempt *find_kept(const struct textbook *book, int lock, int owner)
{
    for (struct attempt *attempt = book->first; attempt; attempt = attempt->next)
        if (attempt->lock == lock && attempt->owner == owner && attempt->releasing &&
            attempt->state == ATTEMPT_HELD)
            return attempt;
    return NULL;
}

static int acquire(struct textbook *book, int lock, int owner, int timeout_ms)
{
    struct attempt *kept = find_kept(book, lock, owner);
    if (kept) {
        ls_env_timer_stop(book->env, &kept->retry);
        kept->releasing = false;
        textbook_grant(kept);
        return 0;
    }
    struct attempt *held = find(book, lock, owner, true);
    if (held) {
        held->depth++;
        report_granted(held);
        return 0;
    }
    if (find(book, lock, owner, false))
        return LS_EALREADY;
    struct attempt *attempt = new_attempt(book, lock, owner);
    if (!attempt)
        return LS_ENOMEM;
    attempt->trying = timeout_ms == 0;
    attempt->state = ATTEMPT_CREATING;
    if (textbook_defects_of(book)->fails_at_once) {
        attempt_fail(attempt, LS_ECLOSED);
        return 0;
    }
    if (attempt->trying && !book->connected) {
        attempt_fail(attempt, LS_EBUSY); /* no server can be asked now */
        return 0;
    }
    if (timeout_ms > 0 && ls_env_timer_start(book->env, &attempt->deadline, "deadline-timer",
                                             (uint32_t)timeout_ms, on_deadline, attempt) != 0) {
        attempt_finish(attempt);
        return LS_ENOMEM;
    }
    attempt_go(attempt, ATTEMPT_CREATING);
    return 0;
}

int textbook_acquire(void *state, int lock, int owner, int timeout_ms)
{
    struct textbook *book = state;
    struct outbox out;
    if (lock < 0 || lock >= book->config->lock_count || owner < 0 || owner > 255)
        return LS_EINVAL;
    textbook_enter(book, &out);
    int rc = acquire(book, lock, owner, timeout_ms);
    textbook_leave(book);
    return rc;
}

int textbook_cancel(void *state, int lock, int owner)
{
    struct textbook *book = state;
    struct outbox out;
    textbook_enter(book, &out);
    struct attempt *attempt = find(book, lock, owner, false);
    if (attempt)
        attempt_fail(attempt, LS_ECANCELED);
    textbook_leave(book);
    return attempt ? 0 : LS_ENOENT;
}

static struct attempt *find_any_held(const struct textbook *book, int lock)
{
    for (struct attempt *attempt = book->first; attempt; attempt = attempt->next)
        if (attempt->lock == lock && attempt->state == ATTEMPT_HELD)
            return attempt;
    return NULL;
}

static void report_freed(struct attempt *attempt)
{
    textbook_report(
        attempt->book,
        &(struct ls_report){.kind = LS_REPORT_FREED, .lock = attempt->lock, .owner = attempt->owner});
}

static int release(struct textbook *book, int lock, int owner)
{
    const struct textbook_defects *defects = textbook_defects_of(book);
    struct attempt *attempt = find(book, lock, owner, true);
    if (!attempt && defects->frees_for_anyone)
        attempt = find_any_held(book, lock);
    if (!attempt)
        return LS_ENOTOWNER;
    attempt->depth--;
    if (attempt->depth > 0 && !defects->frees_at_first)
        return 0;
    attempt->depth = 0;
    attempt->releasing = true;
    if (defects->never_deletes) {
        report_freed(attempt);
        attempt_finish(attempt);
        return 0;
    }
    if (defects->keeps_for_itself) {
        attempt_release_late(attempt);
        return 0;
    }
    attempt_go(attempt, ATTEMPT_DELETING);
    return 0;
}

int textbook_release(void *state, int lock, int owner)
{
    struct textbook *book = state;
    struct outbox out;
    textbook_enter(book, &out);
    int rc = release(book, lock, owner);
    textbook_leave(book);
    return rc;
}

/* Without a defect, a holder believes while it is connected, for half of the session timeout after its last
 * create or sync was sent. The server counts the timeout from the arrival of that request or of a later one,
 * so the session outlives the belief. */
enum ls_belief textbook_query(const void *state, int lock, int owner)
{
    const struct textbook *book = state;
    enum ls_belief belief = LS_NOT_HELD;
    if (!book->env)
        return belief;
    ls_env_lock(book->env);
    const struct attempt *attempt = find(book, lock, owner, true);
    if (attempt) {
        bool fresh = book->connected && ls_env_elapsed_ms(book->env, &attempt->fresh) * 2 < book->timeout_ms;
        fresh = textbook_defects_of(book)->knows_no_margin ? book->connected : fresh;
        fresh = fresh && !attempt->dropped;
        belief = fresh || textbook_defects_of(book)->keeps_belief ? LS_HELD : LS_UNKNOWN;
    }
    ls_env_unlock(book->env);
    return belief;
}

int textbook_guard(const void *state, int lock, int owner, zoo_op_t *op, char *path, size_t size)
{
    const struct textbook *book = state;
    ls_env_lock(book->env);
    const struct attempt *attempt = find(book, lock, owner, true);
    int rc = attempt ? attempt_guard(attempt, op, path, size) : LS_ENOTOWNER;
    ls_env_unlock(book->env);
    return rc;
}

zhandle_t *textbook_handle(const void *state)
{
    const struct textbook *book = state;
    ls_env_lock(book->env);
    zhandle_t *zh = book->zh;
    ls_env_unlock(book->env);
    return zh;
}

bool textbook_idle(const void *state)
{
    const struct textbook *book = state;
    bool idle = true;
    if (!book->env)
        return idle;
    ls_env_lock(book->env);
    for (const struct attempt *attempt = book->first; attempt; attempt = attempt->next)
        idle &= !attempt->abandoned;
    ls_env_unlock(book->env);
    return idle;
}

const char *const textbook_states[] = {"none",     "creating", "parents",  "syncing", "searching",
                                       "checking", "listing",  "watching", "waiting", "held",
                                       "unwatch",  "deleting", "done",     NULL};
_Static_assert(ATTEMPT_DONE == 12, "one name per state");

uint32_t textbook_states_now(const void *state)
{
    const struct textbook *book = state;
    uint32_t states = 0;
    for (const struct attempt *attempt = book->first; attempt; attempt = attempt->next) {
        states |= 1u << attempt->state;
    }
    return states ? states : 1;
}

void textbook_canon(const void *state, struct ls_rename *rename)
{
    const struct textbook *book = state;
    rename->session(rename, &book->session);
    for (const struct attempt *attempt = book->first; attempt; attempt = attempt->next) {
        rename->zxid(rename, &attempt->czxid);
        rename->attempt(rename, attempt->id);
        if (attempt->named)
            rename->sequence(rename, &attempt->sequence);
        rename->text(rename, attempt->ahead);
    }
}
