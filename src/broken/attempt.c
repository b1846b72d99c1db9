/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* One attempt of the textbook mutex.
 *
 *   CREATING -> LISTING -> WATCHING -> WAITING -> SYNCING -> LISTING -> HELD -> DELETING -> DONE
 *
 *   CREATING      -> LISTING        on_created: the attempt's node and its czxid are known
 *                 -> MAKING_PARENT  on_created: the directory is missing; back to CREATING when it is made
 *                 -> SYNCING        on_created: the answer was lost
 *   SYNCING       -> SEARCHING      on_synced: the attempt's node is not known
 *                 -> LISTING        on_synced: the node is known
 *   SEARCHING     -> CREATING       on_searched: after a sync, no node carries the attempt's id
 *                 -> CHECKING       on_searched: one node does
 *   CHECKING      -> LISTING        on_checked: the node is of this session; if not, CREATING with a new id
 *   LISTING       -> HELD           on_listed: no contender is before the attempt's node
 *                 -> WATCHING       on_listed: the nearest predecessor is known
 *                 -> CREATING       on_listed: the node or its directory was deleted by another client
 *   WATCHING      -> WAITING        on_watched: the watch stands
 *                 -> LISTING        on_watched: the predecessor is gone, and the get left no watch (F66)
 *   WAITING       -> SYNCING        attempt_woken: a wake-up is a hint, not a grant
 *   HELD          -> DELETING       the last release
 *   any, ended    -> UNWATCHING, SYNCING, SEARCHING, CHECKING, DELETING as needed (clean_up), then DONE
 *   any           -> CREATING       attempt_session_lost, if a caller waits; else DONE
 *
 * After a lost answer, SEARCHING, LISTING and WATCHING go to SYNCING. Defects add further steps. Without a
 * defect, a request is under way in every state but WAITING, HELD and DONE, unless `stalled`: then the next
 * CONNECTED, or the timer `retry`, sends it. */
#include "broken/textbook.h"
#include <lockstep/error.h>
#include <stdio.h>
#include <string.h>

#define RETRY_MS 100
#define KEY_DIGITS 10
#define SEQUENCE_LAST 2147483647

static const char *lock_path(const struct attempt *attempt)
{
    return attempt->book->config->lock_paths[attempt->lock];
}

static const char *folder(const struct attempt *attempt)
{
    return textbook_folder(attempt->book, attempt->lock);
}

/* Writes "_c_<id>-", the id as a UUID. */
static void id_prefix(const struct attempt *attempt, char prefix[48])
{
    static const char hex[] = "0123456789abcdef";
    char *to = prefix;
    memcpy(to, "_c_", 3);
    to += 3;
    for (int i = 0; i < 16; i++) {
        *to++ = hex[attempt->id[i] >> 4];
        *to++ = hex[attempt->id[i] & 15];
        if (i == 3 || i == 5 || i == 7 || i == 9 || i == 15)
            *to++ = '-';
    }
    *to = 0;
}

static void own_name(const struct attempt *attempt, char name[64])
{
    char prefix[48];
    id_prefix(attempt, prefix);
    snprintf(name, 64, "%slock-%010d", prefix, (int)attempt->sequence);
}

static void own_path(const struct attempt *attempt, char path[TEXTBOOK_PATH_MAX])
{
    char name[64];
    own_name(attempt, name);
    snprintf(path, TEXTBOOK_PATH_MAX, "%s/%s", folder(attempt), name);
}

static void ahead_path(const struct attempt *attempt, char path[TEXTBOOK_PATH_MAX])
{
    snprintf(path, TEXTBOOK_PATH_MAX, "%s/%s", folder(attempt), attempt->ahead);
}

int attempt_guard(const struct attempt *attempt, zoo_op_t *op, char *path, size_t size)
{
    char own[TEXTBOOK_PATH_MAX];
    own_path(attempt, own);
    const char *guard = textbook_defects_of(attempt->book)->guards_directory ? lock_path(attempt) : own;
    if ((size_t)snprintf(path, size, "%s", guard) >= size)
        return LS_EOVERFLOW;
    zoo_check_op_init(op, path, -1);
    return LS_OK;
}

/* Returns the text after the last "lock-", or the whole name. */
static const char *key_of(const char *name)
{
    const char *key = name;
    for (const char *at = strstr(name, "lock-"); at; at = strstr(at + 1, "lock-"))
        key = at + 5;
    return key;
}

/* Takes the sequence number from the name, or the path, of the attempt's node. If the counter is used up, the
 * number may be negative, and is still needed to delete the node. */
static void take_name(struct attempt *attempt, const char *name)
{
    attempt->named = true;
    attempt->sequence = SEQUENCE_LAST;
    sscanf(key_of(name), "%d", &attempt->sequence);
}

static bool is_used_up(const struct attempt *attempt)
{
    return attempt->sequence < 0 || attempt->sequence == SEQUENCE_LAST;
}

int64_t attempt_sequence_of(const char *name)
{
    const char *key = key_of(name);
    bool negative = *key == '-';
    int64_t value = 0;
    const char *digits = negative ? key + 1 : key;
    if (strlen(digits) != KEY_DIGITS || strspn(digits, "0123456789") != KEY_DIGITS)
        return -1;
    for (const char *at = digits; *at; at++)
        value = value * 10 + (*at - '0');
    return negative || value >= SEQUENCE_LAST ? -2 : value;
}

void attempt_finish(struct attempt *attempt)
{
    struct ls_env *env = attempt->book->env;
    ls_env_timer_stop(env, &attempt->deadline);
    ls_env_timer_stop(env, &attempt->retry);
    attempt->state = ATTEMPT_DONE;
    attempt->stalled = false;
}

/* Ends an attempt. If a release is under way, reports FREED with `rc`, unless frees_silently prevents it. */
static void finish_release(struct attempt *attempt, int rc)
{
    bool silent = textbook_defects_of(attempt->book)->frees_silently && !attempt->book->session;
    if (attempt->releasing && !silent)
        textbook_report(attempt->book, &(struct ls_report){.kind = LS_REPORT_FREED,
                                                           .lock = attempt->lock,
                                                           .owner = attempt->owner,
                                                           .rc = rc});
    attempt_finish(attempt);
}

/* Takes the next step to remove the watch, and then the node, of an ended attempt; ends the attempt if
 * nothing is left. No request of the attempt may be under way. */
static void clean_up(struct attempt *attempt)
{
    const struct textbook_defects *defects = textbook_defects_of(attempt->book);
    if (attempt->watching && !defects->leaves_watch)
        attempt_go(attempt, ATTEMPT_UNWATCHING);
    else if (defects->cancel_leaves_node || (!attempt->named && !attempt->maybe))
        attempt_finish(attempt);
    else if (attempt->named)
        attempt_go(attempt, ATTEMPT_DELETING);
    else if (attempt->state == ATTEMPT_SEARCHING)
        attempt_go(attempt, ATTEMPT_SEARCHING);
    else
        attempt_go(attempt, ATTEMPT_SYNCING);
}

void attempt_abandon(struct attempt *attempt)
{
    ls_env_timer_stop(attempt->book->env, &attempt->deadline);
    attempt->abandoned = true;
    if (attempt->busy)
        return; /* the answer that is to come goes on with clean_up() */
    ls_env_timer_stop(attempt->book->env, &attempt->retry);
    clean_up(attempt);
}

void attempt_fail(struct attempt *attempt, int rc)
{
    textbook_report(attempt->book,
                    &(struct ls_report){
                        .kind = LS_REPORT_FAILED, .lock = attempt->lock, .owner = attempt->owner, .rc = rc});
    attempt_abandon(attempt);
}

/* Begins a callback. Sets *counts to whether its answer is of the present session, the attempt is not done,
 * and the recipe is not being stopped. */
static struct attempt *enter(const void *data, struct outbox *out, bool *counts)
{
    struct attempt *attempt = (struct attempt *)(uintptr_t)data;
    ls_env_callback_enter(attempt->book->env);
    textbook_enter(attempt->book, out);
    if (attempt->stale > 0) {
        attempt->stale--;
        *counts = false;
    } else {
        attempt->busy = 0;
        *counts = attempt->state != ATTEMPT_DONE && !attempt->book->stopping;
    }
    return attempt;
}

static void leave(struct textbook *book)
{
    struct ls_env *env = book->env;
    textbook_leave(book);
    ls_env_callback_leave(env);
}

/* Returns whether the answer was lost: the request may or may not have been executed (F9, F79, F106). */
static bool is_loss(int rc)
{
    return rc == ZCONNECTIONLOSS || rc == ZOPERATIONTIMEOUT || rc == ZSESSIONMOVED || rc == ZCLOSING ||
           rc == ZRUNTIMEINCONSISTENCY || rc == ZSSLCONNECTIONERROR;
}

/* Returns whether the session is gone, so that EXPIRED or AUTH_FAILED will come. The request was not
 * executed; only with ZAUTHFAILED it may have been. */
static bool is_dead(int rc)
{
    return rc == ZSESSIONEXPIRED || rc == ZINVALIDSTATE || rc == ZAUTHFAILED;
}

static int error_of(int rc)
{
    if (rc == ZNOAUTH)
        return LS_ENOAUTH;
    return rc == ZBADARGUMENTS ? LS_EINVAL : LS_EZK;
}

static void refused(struct attempt *attempt, int rc);

static void wait_for_session(struct attempt *attempt, enum attempt_state state)
{
    attempt->state = (uint8_t)state;
    attempt->stalled = true;
}

/* Handles a lost answer and a dead session: the attempt goes to the state `again`, or a try fails after a
 * lost answer. Returns false for any other code, which is the caller's to handle. */
static bool handled(struct attempt *attempt, int rc, enum attempt_state again)
{
    if (is_dead(rc)) {
        wait_for_session(attempt, again);
        return true;
    }
    if (attempt->trying && !attempt->abandoned && is_loss(rc)) {
        attempt_fail(attempt, LS_EBUSY);
        return true;
    }
    if (is_loss(rc)) {
        attempt_go(attempt, again);
        return true;
    }
    return false;
}

static void begin_again(struct attempt *attempt)
{
    attempt->named = false;
    attempt->sequence = 0;
    attempt->czxid = 0;
    attempt->maybe = false;
    ls_env_unique_id(attempt->book->env, attempt->id);
    attempt_go(attempt, ATTEMPT_CREATING);
}

static void create_lost(struct attempt *attempt, int rc)
{
    const struct textbook_defects *defects = textbook_defects_of(attempt->book);
    bool forget = defects->forgets_lost_create || (defects->minus_seven_is_no && rc == ZOPERATIONTIMEOUT);
    attempt->maybe = !forget;
    if (attempt->trying && !attempt->abandoned)
        attempt_fail(attempt, LS_EBUSY);
    else if (attempt->abandoned)
        clean_up(attempt);
    else
        attempt_go(attempt, forget ? ATTEMPT_CREATING : ATTEMPT_SYNCING);
}

static void created(struct attempt *attempt, const char *path, const struct Stat *stat)
{
    take_name(attempt, path);
    attempt->maybe = false;
    attempt->czxid = stat->czxid;
    if (attempt->abandoned)
        clean_up(attempt);
    else if (is_used_up(attempt))
        attempt_fail(attempt, LS_ESEQUENCE);
    else
        attempt_go(attempt, ATTEMPT_LISTING);
}

static void create_answered(struct attempt *attempt, int rc, const char *path, const struct Stat *stat)
{
    if (rc == ZOK)
        created(attempt, path, stat);
    else if (is_dead(rc))
        wait_for_session(attempt, ATTEMPT_CREATING);
    else if (is_loss(rc))
        create_lost(attempt, rc);
    else if (attempt->abandoned)
        clean_up(attempt);
    else if (rc == ZNONODE && attempt->trying && textbook_defects_of(attempt->book)->busy_if_new)
        attempt_fail(attempt, LS_EBUSY);
    else if (rc == ZNONODE) {
        attempt->parent_end = 0;
        attempt_go(attempt, ATTEMPT_MAKING_PARENT);
    } else
        attempt_fail(attempt, error_of(rc));
}

static void on_created(int rc, const char *path, const struct Stat *stat, const void *data)
{
    struct outbox out;
    bool counts;
    struct attempt *attempt = enter(data, &out, &counts);
    struct textbook *book = attempt->book;
    if (counts)
        create_answered(attempt, rc, path, stat);
    leave(book);
}

static int issue_create(struct attempt *attempt)
{
    const struct ls_recipe_config *config = attempt->book->config;
    char prefix[48], path[TEXTBOOK_PATH_MAX];
    id_prefix(attempt, prefix);
    snprintf(path, sizeof path, "%s/%slock-", folder(attempt), prefix);
    ls_env_stamp(attempt->book->env, &attempt->fresh);
    return zoo_acreate2(attempt->book->zh, path, config->contents,
                        config->contents ? config->contents_size : -1, &ZOO_OPEN_ACL_UNSAFE,
                        ZOO_EPHEMERAL_SEQUENTIAL, on_created, attempt);
}

/* Returns the length of the shortest path that begins the lock's path, or is it, and is longer than
 * parent_end. The parent_end 0 (nothing yet) and 1 ("/" of a chroot) are shorter than any of them. */
static size_t next_end(const struct attempt *attempt)
{
    const char *path = lock_path(attempt);
    size_t from = attempt->parent_end > 1 ? attempt->parent_end + 1u : 1u;
    const char *slash = strchr(path + from, '/');
    return slash ? (size_t)(slash - path) : strlen(path);
}

static void parent_made(struct attempt *attempt)
{
    attempt->parent_end = (uint8_t)(attempt->parent_end == 0 ? next_end(attempt) : attempt->parent_end);
    if (attempt->parent_end == strlen(lock_path(attempt))) {
        attempt_go(attempt, ATTEMPT_CREATING);
        return;
    }
    attempt->parent_end = (uint8_t)next_end(attempt);
    attempt_go(attempt, ATTEMPT_MAKING_PARENT);
}

/* Handles a missing ancestor of the ancestor being created. Tries "/" after the topmost one, because the
 * chroot may be missing; after a longer one, begins again at the top. Fails the acquire if "/" cannot be
 * made. */
static void parent_missing(struct attempt *attempt)
{
    if (attempt->parent_end == 1) {
        attempt_fail(attempt, LS_EZK);
        return;
    }
    attempt->parent_end = attempt->parent_end == 0 ? 1 : 0;
    attempt_go(attempt, ATTEMPT_MAKING_PARENT);
}

static void parent_answered(struct attempt *attempt, int rc)
{
    struct textbook *book = attempt->book;
    if (attempt->abandoned) {
        clean_up(attempt);
        return;
    }
    if (handled(attempt, rc, ATTEMPT_MAKING_PARENT))
        return;
    if (rc == ZOK || rc == ZNODEEXISTS)
        parent_made(attempt);
    else if (rc == ZNONODE)
        parent_missing(attempt);
    else if (rc == ZUNIMPLEMENTED) {
        book->no_containers = true;
        attempt_go(attempt, ATTEMPT_MAKING_PARENT);
    } else
        attempt_fail(attempt, error_of(rc));
}

static void on_parent(int rc, const char *path, const void *data)
{
    struct outbox out;
    bool counts;
    struct attempt *attempt = enter(data, &out, &counts);
    struct textbook *book = attempt->book;
    (void)path;
    if (counts)
        parent_answered(attempt, rc);
    leave(book);
}

static int issue_parent(struct attempt *attempt)
{
    char path[TEXTBOOK_PATH_MAX];
    size_t end = attempt->parent_end ? attempt->parent_end : next_end(attempt);
    snprintf(path, sizeof path, "%.*s", (int)end, lock_path(attempt));
    return zoo_acreate(attempt->book->zh, path, NULL, -1, &ZOO_OPEN_ACL_UNSAFE,
                       attempt->book->no_containers ? ZOO_PERSISTENT : ZOO_CONTAINER, on_parent, attempt);
}

static void on_synced(int rc, const char *path, const void *data)
{
    struct outbox out;
    bool counts;
    struct attempt *attempt = enter(data, &out, &counts);
    struct textbook *book = attempt->book;
    (void)path;
    if (counts && !handled(attempt, rc, ATTEMPT_SYNCING)) {
        if (rc != ZOK)
            refused(attempt, rc);
        else if (attempt->abandoned && attempt->named)
            clean_up(attempt);
        else
            attempt_go(attempt, attempt->named ? ATTEMPT_LISTING : ATTEMPT_SEARCHING);
    }
    leave(book);
}

static int issue_sync(struct attempt *attempt)
{
    ls_env_stamp(attempt->book->env, &attempt->fresh);
    return zoo_async(attempt->book->zh, lock_path(attempt), on_synced, attempt);
}

static void searched(struct attempt *attempt, const struct String_vector *children)
{
    char prefix[48];
    id_prefix(attempt, prefix);
    for (int32_t i = 0; i < children->count; i++) {
        if (strncmp(children->data[i], prefix, strlen(prefix)) != 0)
            continue;
        take_name(attempt, children->data[i]);
        attempt_go(attempt, ATTEMPT_CHECKING);
        return;
    }
    if (textbook_defects_of(attempt->book)->expects_create && !attempt->abandoned) {
        attempt_go(attempt, ATTEMPT_SYNCING);
        return;
    }
    attempt->maybe = false; /* a sync and the list after it are answered: the node was never created */
    if (attempt->abandoned)
        clean_up(attempt);
    else
        attempt_go(attempt, ATTEMPT_CREATING);
}

static void on_searched(int rc, const struct String_vector *children, const void *data)
{
    static const struct String_vector none = {0, NULL};
    struct outbox out;
    bool counts;
    struct attempt *attempt = enter(data, &out, &counts);
    struct textbook *book = attempt->book;
    if (counts && !handled(attempt, rc, ATTEMPT_SYNCING)) {
        if (rc == ZOK || rc == ZNONODE)
            searched(attempt, rc == ZOK ? children : &none);
        else if (attempt->abandoned)
            attempt_finish(attempt); /* no permission to list: nothing can be undone */
        else
            attempt_fail(attempt, error_of(rc));
    }
    leave(book);
}

static int issue_search(struct attempt *attempt)
{
    return zoo_awget_children(attempt->book->zh, lock_path(attempt), NULL, NULL, on_searched, attempt);
}

static void checked(struct attempt *attempt, int rc, const struct Stat *stat)
{
    const struct textbook_defects *defects = textbook_defects_of(attempt->book);
    bool ours = rc == ZOK && (stat->ephemeralOwner == attempt->book->session || defects->trusts_name);
    attempt->maybe = false;
    if (!ours)
        attempt->named = false;
    else
        attempt->czxid = stat->czxid;
    if (attempt->abandoned)
        clean_up(attempt);
    else if (!ours)
        begin_again(attempt);
    else if (is_used_up(attempt))
        attempt_fail(attempt, LS_ESEQUENCE);
    else
        attempt_go(attempt, ATTEMPT_LISTING);
}

static void on_checked(int rc, const struct Stat *stat, const void *data)
{
    struct outbox out;
    bool counts;
    struct attempt *attempt = enter(data, &out, &counts);
    struct textbook *book = attempt->book;
    if (counts && !handled(attempt, rc, ATTEMPT_CHECKING))
        checked(attempt, rc, stat);
    leave(book);
}

static int issue_check(struct attempt *attempt)
{
    char path[TEXTBOOK_PATH_MAX];
    own_path(attempt, path);
    /* Unlike a get, an exists needs no permission to read the node. */
    return zoo_awexists(attempt->book->zh, path, NULL, NULL, on_checked, attempt);
}

/* Returns whether contender a stands before contender b, in the order of this variant. */
static bool is_before(const struct textbook_defects *defects, const char *a, const char *b)
{
    if (defects->orders_by_full_name)
        return strcmp(a, b) < 0;
    return attempt_sequence_of(a) < attempt_sequence_of(b);
}

struct line {
    bool present;        /* the attempt's own node is in the list */
    bool others;         /* other contenders are in the list */
    bool used_up;        /* the counter is used up (F49) */
    const char *first;   /* the head of the line */
    const char *nearest; /* the last contender before the own node, or NULL */
};

static void look_at(struct line *line, const struct textbook_defects *defects, const char *name,
                    const char *own)
{
    int64_t sequence = attempt_sequence_of(name);
    line->used_up |= sequence == -2;
    if (sequence < 0)
        return;
    if (strcmp(name, own) == 0)
        line->present = true;
    else
        line->others = true;
    if (!line->first || (!defects->trusts_first_child && is_before(defects, name, line->first)))
        line->first = name;
    if (is_before(defects, name, own) && (!line->nearest || is_before(defects, line->nearest, name)) &&
        !(defects->mixes_orders && strcmp(name, own) > 0))
        line->nearest = name;
}

static void wait_behind(struct attempt *attempt, const struct line *line)
{
    const struct textbook_defects *defects = textbook_defects_of(attempt->book);
    const char *ahead = defects->watches_first || defects->trusts_first_child ? line->first : line->nearest;
    if (attempt->trying)
        attempt_fail(attempt, LS_EBUSY);
    else if (ahead && strlen(ahead) >= sizeof attempt->ahead)
        attempt_fail(attempt, LS_EOVERFLOW);
    else if (defects->polls)
        attempt_go(attempt, ATTEMPT_LISTING);
    else if (defects->tries_again)
        attempt_go(attempt, ATTEMPT_DELETING);
    else if (defects->watches_parent || !ahead)
        attempt->state = ATTEMPT_WAITING;
    else {
        memset(attempt->ahead, 0, sizeof attempt->ahead);
        memcpy(attempt->ahead, ahead, strlen(ahead));
        attempt_go(attempt, ATTEMPT_WATCHING);
    }
}

static void listed(struct attempt *attempt, const struct String_vector *children)
{
    const struct textbook_defects *defects = textbook_defects_of(attempt->book);
    struct line line = {0};
    char own[64];
    own_name(attempt, own);
    for (int32_t i = 0; i < children->count; i++)
        look_at(&line, defects, children->data[i], own);
    if (line.used_up)
        attempt_fail(attempt, LS_ESEQUENCE);
    else if (!line.present)
        begin_again(attempt);
    else if (defects->steps_aside && line.others)
        attempt_go(attempt, ATTEMPT_DELETING);
    else if (strcmp(line.first, own) == 0)
        textbook_grant(attempt);
    else
        wait_behind(attempt, &line);
}

static void list_answered(struct attempt *attempt, int rc, const struct String_vector *children)
{
    if (attempt->abandoned && !is_dead(rc)) {
        clean_up(attempt);
        return;
    }
    if (handled(attempt, rc, ATTEMPT_SYNCING))
        return;
    if (rc == ZOK)
        listed(attempt, children);
    else if (rc == ZNONODE)
        begin_again(attempt); /* the directory is gone, and the attempt's node with it */
    else
        attempt_fail(attempt, error_of(rc));
}

static void on_listed(int rc, const struct String_vector *children, const void *data)
{
    struct outbox out;
    bool counts;
    struct attempt *attempt = enter(data, &out, &counts);
    struct textbook *book = attempt->book;
    if (counts)
        list_answered(attempt, rc, children);
    leave(book);
}

/* The watcher of all watches on nodes. The context is the state. The path of an event tells which attempts it
 * concerns; a session event concerns all. */
static void on_watch(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    struct textbook *book = ctx;
    struct outbox out;
    bool session = type == ZOO_SESSION_EVENT;
    char ahead[TEXTBOOK_PATH_MAX];
    (void)state;
    ls_env_callback_enter(book->env);
    textbook_enter(book, &out);
    for (struct attempt *attempt = book->first; attempt && zh == book->zh; attempt = attempt->next) {
        bool parent = textbook_defects_of(book)->watches_parent;
        ahead_path(attempt, ahead);
        if (!session && strcmp(path, parent ? lock_path(attempt) : ahead) != 0)
            continue;
        if (!session)
            attempt->watching = false; /* the watch has fired, even if its attempt has ended */
        if (attempt->state == ATTEMPT_WAITING)
            attempt_woken(attempt, session);
    }
    leave(book);
}

void attempt_woken(struct attempt *attempt, bool by_session)
{
    const struct textbook_defects *defects = textbook_defects_of(attempt->book);
    if (by_session && !defects->any_event_is_grant)
        return;
    if (defects->any_event_is_grant || defects->wakeup_is_grant)
        textbook_grant(attempt);
    else if (defects->requeues_when_woken)
        attempt_go(attempt, ATTEMPT_DELETING);
    else
        attempt_go(attempt, ATTEMPT_SYNCING);
}

static int issue_list(struct attempt *attempt)
{
    bool watch = textbook_defects_of(attempt->book)->watches_parent;
    return zoo_awget_children(attempt->book->zh, lock_path(attempt), watch ? on_watch : NULL,
                              watch ? attempt->book : NULL, on_listed, attempt);
}

static void predecessor_gone(struct attempt *attempt)
{
    const struct textbook_defects *defects = textbook_defects_of(attempt->book);
    if (defects->locks_twice)
        ls_env_lock(attempt->book->env);
    if (defects->waits_for_absent)
        attempt->state = ATTEMPT_WAITING;
    else if (defects->requeues_if_gone || defects->requeues_when_woken || defects->resets)
        attempt_go(attempt, ATTEMPT_DELETING);
    else
        attempt_go(attempt, ATTEMPT_LISTING);
}

static void watched(struct attempt *attempt, int rc)
{
    const struct textbook_defects *defects = textbook_defects_of(attempt->book);
    if (rc == ZOK || (rc == ZNONODE && defects->waits_for_absent))
        attempt->watching = true;
    if (attempt->abandoned)
        clean_up(attempt);
    else if (rc == ZOK)
        attempt->state = ATTEMPT_WAITING;
    else if (rc == ZNONODE)
        predecessor_gone(attempt);
    else
        attempt_fail(attempt, error_of(rc));
}

static void on_watched(int rc, const struct Stat *stat, const void *data)
{
    struct outbox out;
    bool counts;
    struct attempt *attempt = enter(data, &out, &counts);
    struct textbook *book = attempt->book;
    (void)stat;
    if (counts && attempt->abandoned && is_loss(rc))
        clean_up(attempt); /* a watch whose answer is lost is not registered (F38) */
    else if (counts && !handled(attempt, rc, ATTEMPT_SYNCING))
        watched(attempt, rc);
    leave(book);
}

static void on_read(int rc, const char *value, int size, const struct Stat *stat, const void *data)
{
    (void)value;
    (void)size;
    on_watched(rc, stat, data);
}

static int issue_watch(struct attempt *attempt)
{
    const struct textbook_defects *defects = textbook_defects_of(attempt->book);
    struct textbook *book = attempt->book;
    char path[TEXTBOOK_PATH_MAX];
    ahead_path(attempt, path);
    if (defects->exists_watch || defects->waits_for_absent)
        return zoo_awexists(book->zh, path, on_watch, book, on_watched, attempt);
    return zoo_awget(book->zh, path, on_watch, book, on_read, attempt);
}

static void on_unwatched(int rc, const void *data)
{
    struct outbox out;
    bool counts;
    struct attempt *attempt = enter(data, &out, &counts);
    struct textbook *book = attempt->book;
    if (counts && !handled(attempt, rc, ATTEMPT_UNWATCHING)) {
        attempt->watching = false; /* the watch is removed, or has fired meanwhile (-121) */
        clean_up(attempt);
    }
    leave(book);
}

/* Returns whether another attempt of this process needs a watch on this node. The client library has one
 * watch for both, because function and context are the same, so it must stay then. */
static bool is_shared(const struct attempt *attempt)
{
    for (const struct attempt *other = attempt->book->first; other; other = other->next)
        if (other != attempt && (other->state == ATTEMPT_WATCHING || other->state == ATTEMPT_WAITING) &&
            other->lock == attempt->lock && strcmp(other->ahead, attempt->ahead) == 0)
            return true;
    return false;
}

/* zookeeper.h declares the completion of a removal as a pointer to a function pointer. But the client takes
 * this pointer itself for the function. */
static int issue_unwatch(struct attempt *attempt)
{
    union {
        void_completion_t function;
        void_completion_t *declared;
    } completion = {.function = on_unwatched};
    char path[TEXTBOOK_PATH_MAX];
    if (is_shared(attempt))
        return ZNOWATCHER;
    ahead_path(attempt, path);
    return zoo_aremove_watches(attempt->book->zh, path, ZWATCHTYPE_DATA, on_watch, attempt->book, 0,
                               completion.declared, attempt);
}

/* Returns the code of a release whose delete ended with this answer. */
static int freed_code(int rc)
{
    if (rc == ZOK || rc == ZNONODE)
        return 0;
    return is_loss(rc) ? LS_EUNSURE : rc == ZNOAUTH ? LS_ENOAUTH : LS_EZK;
}

/* Handles the answer to a delete. Without a defect, repeats the delete after a lost answer (F82, F83). */
static void deleted(struct attempt *attempt, int rc)
{
    const struct textbook_defects *defects = textbook_defects_of(attempt->book);
    bool give_up = attempt->releasing ? defects->gives_up_release : defects->gives_up_cleanup;
    if (is_loss(rc) && !give_up)
        attempt_go(attempt, ATTEMPT_DELETING);
    else if (attempt->releasing)
        finish_release(attempt, freed_code(rc));
    else if (attempt->abandoned)
        attempt_finish(attempt);
    else
        begin_again(attempt); /* of a pending attempt: a defect has deleted its node */
}

static void on_deleted(int rc, const void *data)
{
    struct outbox out;
    bool counts;
    struct attempt *attempt = enter(data, &out, &counts);
    struct textbook *book = attempt->book;
    if (counts && is_dead(rc))
        wait_for_session(attempt, ATTEMPT_DELETING);
    else if (counts)
        deleted(attempt, rc);
    leave(book);
}

static int issue_delete(struct attempt *attempt)
{
    char path[TEXTBOOK_PATH_MAX];
    own_path(attempt, path);
    return zoo_adelete(attempt->book->zh, path, -1, on_deleted, attempt);
}

static int issue(struct attempt *attempt)
{
    switch ((enum attempt_state)attempt->state) {
    case ATTEMPT_CREATING:
        return issue_create(attempt);
    case ATTEMPT_MAKING_PARENT:
        return issue_parent(attempt);
    case ATTEMPT_SYNCING:
        return issue_sync(attempt);
    case ATTEMPT_SEARCHING:
        return issue_search(attempt);
    case ATTEMPT_CHECKING:
        return issue_check(attempt);
    case ATTEMPT_LISTING:
        return issue_list(attempt);
    case ATTEMPT_WATCHING:
        return issue_watch(attempt);
    case ATTEMPT_UNWATCHING:
        return issue_unwatch(attempt);
    case ATTEMPT_DELETING:
        return issue_delete(attempt);
    case ATTEMPT_WAITING:
    case ATTEMPT_HELD:
    case ATTEMPT_DONE:
        break;
    }
    return ZOK;
}

static void on_retry(void *ctx)
{
    struct attempt *attempt = ctx;
    struct textbook *book = attempt->book;
    struct outbox out;
    textbook_begin(book, &out);
    if (attempt->stalled && book->connected)
        attempt_go(attempt, (enum attempt_state)attempt->state);
    textbook_leave(book);
    ls_env_lock(book->env);
}

/* Handles a call that the client refused, so no callback comes (F16), or a sync that the server refused. The
 * timer `retry` repeats it, but not after bad arguments while a caller waits, or if the watch to remove is
 * gone. */
static void refused(struct attempt *attempt, int rc)
{
    attempt->busy = 0;
    if (rc == ZBADARGUMENTS && !attempt->abandoned && !attempt->releasing) {
        attempt_fail(attempt, LS_EINVAL);
        return;
    }
    if (rc == ZNOWATCHER && attempt->state == ATTEMPT_UNWATCHING) {
        attempt->watching = false;
        clean_up(attempt);
        return;
    }
    attempt->stalled = true;
    ls_env_timer_start(attempt->book->env, &attempt->retry, "retry-timer", RETRY_MS, on_retry, attempt);
}

void attempt_go(struct attempt *attempt, enum attempt_state state)
{
    const struct textbook_defects *defects = textbook_defects_of(attempt->book);
    if (state == ATTEMPT_SYNCING && !attempt->named && (defects->skips_sync || defects->trusts_name))
        state = ATTEMPT_SEARCHING;
    attempt->state = (uint8_t)state;
    attempt->stalled = !attempt->book->connected;
    if (attempt->stalled)
        return;
    attempt->busy = 1;
    int rc = issue(attempt);
    if (rc != ZOK && !(rc == ZINVALIDSTATE && defects->trusts_calls))
        refused(attempt, rc);
}

static void on_dropped(int rc, const void *data)
{
    struct textbook *book = (struct textbook *)(uintptr_t)data;
    (void)rc;
    ls_env_callback_enter(book->env);
    ls_env_callback_leave(book->env);
}

static void drop_node(struct attempt *attempt)
{
    char path[TEXTBOOK_PATH_MAX];
    own_path(attempt, path);
    attempt->dropped = zoo_adelete(attempt->book->zh, path, -1, on_dropped, attempt->book) == ZOK;
}

void attempt_suspended(struct attempt *attempt)
{
    bool waits = !attempt->abandoned && !attempt->releasing && attempt->state != ATTEMPT_HELD &&
                 attempt->state != ATTEMPT_DONE;
    if (textbook_defects_of(attempt->book)->times_out_early && waits)
        attempt_fail(attempt, LS_ETIMEDOUT);
}

void attempt_reconnected(struct attempt *attempt)
{
    bool asks = attempt->state == ATTEMPT_LISTING || attempt->state == ATTEMPT_WATCHING ||
                attempt->state == ATTEMPT_SYNCING;
    bool idle = attempt->state == ATTEMPT_WAITING || (attempt->stalled && asks);
    if (textbook_defects_of(attempt->book)->drops_node && attempt->state == ATTEMPT_HELD &&
        !attempt->dropped && !attempt->releasing)
        drop_node(attempt);
    if (textbook_defects_of(attempt->book)->resets && idle && attempt->named && !attempt->abandoned)
        attempt_go(attempt, ATTEMPT_DELETING);
    else if (attempt->stalled)
        attempt_go(attempt, (enum attempt_state)attempt->state);
}

static void on_late_release(void *ctx)
{
    struct attempt *attempt = ctx;
    struct textbook *book = attempt->book;
    struct outbox out;
    textbook_begin(book, &out);
    attempt_go(attempt, ATTEMPT_DELETING);
    textbook_leave(book);
    ls_env_lock(book->env);
}

void attempt_release_late(struct attempt *attempt)
{
    ls_env_timer_start(attempt->book->env, &attempt->retry, "release-timer", RETRY_MS, on_late_release,
                       attempt);
}

void attempt_session_lost(struct attempt *attempt)
{
    const struct textbook_defects *defects = textbook_defects_of(attempt->book);
    attempt->stale = (uint8_t)(attempt->stale + attempt->busy);
    attempt->busy = 0;
    attempt->watching = false;
    ls_env_timer_stop(attempt->book->env, &attempt->retry);
    if (attempt->state == ATTEMPT_DONE || (attempt->state == ATTEMPT_HELD && defects->keeps_belief))
        return;
    if (attempt->releasing || attempt->abandoned || attempt->state == ATTEMPT_HELD) {
        finish_release(attempt, 0);
        return;
    }
    bool keep = defects->trusts_name && (attempt->maybe || attempt->named);
    attempt->named = false;
    attempt->sequence = 0;
    attempt->czxid = 0;
    attempt->maybe = keep;
    if (!keep)
        ls_env_unique_id(attempt->book->env, attempt->id);
    attempt_go(attempt, keep ? ATTEMPT_SYNCING : ATTEMPT_CREATING);
}
