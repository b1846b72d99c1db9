/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "scenario/narrate.h"

#include "base/assert.h"
#include "scenario/verbs.h"

#include <lockstep/error.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES (512u << 10)
#define NODES 1024 /* number of contenders kept; beyond it the oldest is forgotten */

struct node {
    int64_t czxid;
    uint8_t process;
};

struct narrator {
    const struct scenario *scenario;
    unsigned show;
    bool timed;
    int indent;
    int name_width; /* of the longest process name */
    struct node node[NODES];
    unsigned nodes; /* created so far */
    int64_t now_ms; /* of the last event */
    int printing;   /* 1 + the process whose line of output is not ended; 0 = none */
    size_t used;
    char text[TEXT_BYTES];
};

/* Ends the unfinished line of a process's output. */
static void end_output(struct narrator *narrator);

struct narrator *narrator_open(const struct scenario *scenario, unsigned show, bool timed, int indent)
{
    struct narrator *narrator = calloc(1, sizeof *narrator);
    if (!narrator) {
        return NULL;
    }
    narrator->scenario = scenario;
    narrator->show = show;
    narrator->timed = timed;
    narrator->indent = indent;
    narrator->name_width = 1;
    for (int i = 0; i < scenario->options.processes; i++) {
        int width = (int)strlen(scenario->options.name[i]);
        narrator->name_width = width > narrator->name_width ? width : narrator->name_width;
    }
    return narrator;
}

void narrator_close(struct narrator *narrator)
{
    free(narrator);
}

const char *narrator_text(struct narrator *narrator)
{
    end_output(narrator);
    return narrator->text;
}

void narrator_clear(struct narrator *narrator)
{
    narrator->printing = 0;
    narrator->used = 0;
    narrator->text[0] = 0;
}

void narrator_reset(struct narrator *narrator)
{
    narrator_clear(narrator);
    narrator->nodes = 0;
    narrator->now_ms = 0;
}

const char *narrator_rc_name(int rc)
{
    static const struct {
        int rc;
        const char *name;
    } NAMES[] = {
        {0, "ok"},
        {LS_ENOMEM, "no-memory"},
        {LS_EINVAL, "invalid"},
        {LS_EBUSY, "busy"},
        {LS_ETIMEDOUT, "timeout"},
        {LS_ECANCELED, "canceled"},
        {LS_ENOENT, "nothing-pending"},
        {LS_ENOTOWNER, "not-owner"},
        {LS_ELOST, "lost"},
        {LS_ESEQUENCE, "sequence"},
        {LS_ENOAUTH, "no-permission"},
        {LS_EAUTHFAILED, "auth-failed"},
        {LS_EZK, "zookeeper"},
        {LS_EREFUSED, "refused"},
        {LS_ECLOSED, "closed"},
        {LS_EDEADLK, "deadlock"},
        {LS_EALREADY, "already"},
        {LS_EUNSURE, "unsure"},
        {LS_EGAVEUP, "gave-up"},
        {LS_EOVERFLOW, "overflow"},
    };
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        if (NAMES[i].rc == rc) {
            return NAMES[i].name;
        }
    }
    return "unknown";
}

const char *narrator_request_name(int code)
{
    static const char *const NAMES[] = {
        [EVENT_REQUEST_CREATE] = "create",   [EVENT_REQUEST_DELETE] = "delete",
        [EVENT_REQUEST_EXISTS] = "exists",   [EVENT_REQUEST_GET] = "get",
        [EVENT_REQUEST_SET] = "set",         [EVENT_REQUEST_CHILDREN] = "list",
        [EVENT_REQUEST_SYNC] = "sync",       [EVENT_REQUEST_MULTI] = "multi",
        [EVENT_REQUEST_UNWATCH] = "unwatch", [EVENT_REQUEST_OTHER] = "other",
    };
    return code >= 0 && code <= EVENT_REQUEST_OTHER ? NAMES[code] : "other";
}

static const char *watch_name(int code)
{
    static const char *const NAMES[] = {
        [EVENT_WATCH_OWN] = "own",       [EVENT_WATCH_PREDECESSOR] = "predecessor",
        [EVENT_WATCH_PARENT] = "parent", [EVENT_WATCH_OTHER] = "other",
        [EVENT_WATCH_COUNT] = "count",
    };
    return code >= 0 && code <= EVENT_WATCH_COUNT ? NAMES[code] : "other";
}

static void remember_node(struct narrator *narrator, const struct event *event)
{
    LS_ASSERT(event->kind == EVENT_NODE_CREATED);
    narrator->node[narrator->nodes++ % NODES] = (struct node){event->czxid, event->process};
    LS_ASSERT(narrator->node[(narrator->nodes - 1) % NODES].czxid == event->czxid);
}

static const char *process_name(const struct narrator *narrator, int process)
{
    LS_ASSERT(process >= 0);
    return process < narrator->scenario->options.processes ? narrator->scenario->options.name[process] : "-";
}

static const char *creator_name(const struct narrator *narrator, int64_t czxid)
{
    unsigned kept = narrator->nodes < NODES ? narrator->nodes : NODES;
    for (unsigned i = 1; i <= kept; i++) {
        const struct node *node = &narrator->node[(narrator->nodes - i) % NODES];
        if (node->czxid == czxid) {
            return process_name(narrator, node->process);
        }
    }
    return "-";
}

static void append(struct narrator *narrator, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void append(struct narrator *narrator, const char *format, ...)
{
    LS_ASSERT(narrator->used < TEXT_BYTES);
    va_list arguments;
    size_t left = TEXT_BYTES - narrator->used;
    va_start(arguments, format);
    int size = vsnprintf(narrator->text + narrator->used, left, format, arguments);
    va_end(arguments);
    if (size > 0) {
        narrator->used += (size_t)size < left ? (size_t)size : left - 1;
    }
}

static void begin_line(struct narrator *narrator, int64_t now_ms, const char *process, const char *verb)
{
    end_output(narrator);
    append(narrator, "%*s", narrator->indent, "");
    if (narrator->timed) {
        append(narrator, "[%5lldms] ", (long long)now_ms);
    }
    append(narrator, "%-*s %-8s", narrator->name_width, process, verb);
}

static void end_line(struct narrator *narrator)
{
    while (narrator->used > 0 && narrator->text[narrator->used - 1] == ' ') {
        narrator->used--;
    }
    append(narrator, "\n");
}

static void end_output(struct narrator *narrator)
{
    if (narrator->printing != 0) {
        narrator->printing = 0;
        end_line(narrator);
    }
}

void narrator_output(struct narrator *narrator, int process, const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (narrator->printing != process + 1) {
            begin_line(narrator, narrator->now_ms, process_name(narrator, process), "prints");
            append(narrator, " ");
            narrator->printing = process + 1;
        }
        if (text[i] == '\n') {
            end_output(narrator);
        } else {
            append(narrator, "%c", (unsigned char)text[i] < ' ' ? ' ' : text[i]);
        }
    }
}

static void begin_event(struct narrator *narrator, const struct event *event, const char *verb)
{
    begin_line(narrator, event->now_ms, process_name(narrator, event->process), verb);
    if (narrator->scenario->options.locks > 1 && event->lock < narrator->scenario->options.locks) {
        append(narrator, " lock=%s", narrator->scenario->lock_name[event->lock]);
    }
    if (event->owner > 0) {
        append(narrator, " owner=%d", event->owner);
    }
}

static void line_plain(struct narrator *narrator, const struct event *event)
{
    begin_event(narrator, event, event_name((enum event_kind)event->kind));
}

static void line_asked(struct narrator *narrator, const struct event *event)
{
    begin_event(narrator, event, event->timeout_ms == 0 ? "tries" : "asks");
    if (event->timeout_ms > 0) {
        append(narrator, " timeout=%dms", event->timeout_ms);
    }
}

static void line_granted(struct narrator *narrator, const struct event *event)
{
    begin_event(narrator, event, "held");
    append(narrator, " fence=%lld", (long long)event->token);
    if (event->depth > 1) {
        append(narrator, " depth=%d", event->depth);
    }
}

static void line_rc(struct narrator *narrator, const struct event *event)
{
    line_plain(narrator, event);
    if (event->rc != 0) {
        append(narrator, " rc=%s", narrator_rc_name(event->rc));
    }
}

static void line_closed(struct narrator *narrator, const struct event *event)
{
    begin_event(narrator, event, "closed");
    if (event->rc != 0) {
        append(narrator, " rc=%s", narrator_rc_name(event->rc));
    }
}

static void line_capacity(struct narrator *narrator, const struct event *event)
{
    line_plain(narrator, event);
    append(narrator, " %d", event->capacity);
}

static void line_released(struct narrator *narrator, const struct event *event)
{
    begin_event(narrator, event, "released");
    if (event->depth > 0) {
        append(narrator, " depth=%d", event->depth);
    }
}

static void line_warned(struct narrator *narrator, const struct event *event)
{
    line_plain(narrator, event);
    append(narrator, " %s",
           event->warning == LS_WARN_FOREIGN_CHILD ? "foreign-child"
           : event->warning == LS_WARN_LEFT_BEHIND ? "left-behind"
           : event->warning == LS_WARN_NODE_GONE   ? "node-gone"
           : event->warning == LS_WARN_CAPACITY    ? "capacity"
                                                   : "-");
}

static void line_session(struct narrator *narrator, const struct event *event)
{
    line_plain(narrator, event);
    if (event->session != 0) {
        append(narrator, " session=%lld", (long long)event->session);
    }
}

static void line_doubts(struct narrator *narrator, const struct event *event)
{
    line_plain(narrator, event);
    append(narrator, " %s", event->belief == LS_UNKNOWN ? "unknown" : "not-held");
}

/* Of the path of a contender (role 1) shows only the part behind the last `lock-`, if there is one: a
 * sequence number. */
static void line_node(struct narrator *narrator, const struct event *event)
{
    LS_ASSERT(event->kind == EVENT_NODE_CREATED || event->kind == EVENT_NODE_DELETED);
    struct event plain = *event;
    plain.owner = 0; /* for node events the owner is no thread */
    begin_event(narrator, &plain, event->kind == EVENT_NODE_CREATED ? "created" : "deleted");
    const char *path = event->path ? event->path : "-", *number = path;
    for (const char *at = path; event->node_role == 1 && (at = strstr(at, "lock-")) != NULL;) {
        at += strlen("lock-");
        number = at;
    }
    append(narrator, number != path ? " number=%s" : " path=%s", number);
    append(narrator, " zxid=%lld", (long long)event->czxid);
    if (event->kind == EVENT_NODE_DELETED) {
        append(narrator, " by=%lld", (long long)event->change_zxid);
    }
    if (event->session != 0) {
        append(narrator, " session=%lld", (long long)event->session);
    }
}

static void line_request(struct narrator *narrator, const struct event *event)
{
    begin_event(narrator, event, "requests");
    append(narrator, " %s", narrator_request_name(event->request));
}

static void line_watch(struct narrator *narrator, const struct event *event)
{
    LS_ASSERT(event->kind == EVENT_WATCH_SET || event->kind == EVENT_WATCH_GONE);
    begin_event(narrator, event, event->kind == EVENT_WATCH_SET ? "watches" : "unwatches");
    append(narrator, " %s", watch_name(event->watch));
    if (event->czxid != 0) {
        append(narrator, " zxid=%lld of=%s", (long long)event->czxid, creator_name(narrator, event->czxid));
    }
}

static void line_waiting(struct narrator *narrator, const struct event *event)
{
    begin_event(narrator, event, "waiting");
    append(narrator, " behind=%s", creator_name(narrator, event->czxid));
}

static void line_woken(struct narrator *narrator, const struct event *event)
{
    static const char *const TYPES[] = {"unknown", "created", "deleted", "changed", "children"};
    struct event plain = *event;
    plain.owner = 0; /* for this event the owner is no thread */
    begin_event(narrator, &plain, "woken");
    append(narrator, " %s zxid=%lld",
           event->zk_type >= 1 && event->zk_type <= 4 ? TYPES[event->zk_type] : TYPES[0],
           (long long)event->czxid);
    if (event->change_zxid != 0) {
        append(narrator, " by=%lld", (long long)event->change_zxid);
    }
}

static void line_effect(struct narrator *narrator, const struct event *event)
{
    begin_event(narrator, event, event->taken ? "wrote" : "fenced");
    append(narrator, " fence=%lld%s", (long long)event->token, event->guard_czxid != 0 ? " guarded" : "");
}

static void line_fence(struct narrator *narrator, const struct event *event)
{
    line_plain(narrator, event);
    append(narrator, " fence=%lld", (long long)event->token);
}

/* LS_ENOENT means here that the contender is gone. */
static void line_revoke_sent(struct narrator *narrator, const struct event *event)
{
    line_plain(narrator, event);
    if (event->rc != 0) {
        append(narrator, " rc=%s", event->rc == LS_ENOENT ? "gone" : narrator_rc_name(event->rc));
    }
}

static void line_fault(struct narrator *narrator, const struct event *event)
{
    begin_event(narrator, event, "fault");
    append(narrator, " %s", world_action_verb(event->action));
}

static void line_outage(struct narrator *narrator, const struct event *event)
{
    begin_event(narrator, event, "outage");
    append(narrator, event->outage != 0 ? " begins" : " ends");
}

static void line_misbehaved(struct narrator *narrator, const struct event *event)
{
    static const char *const WHAT[] = {"crash",  "loop",     "global", "free",   "lock",     "keep",
                                       "return", "block",    "clean",  "state",  "bounds",   "freed",
                                       "stale",  "lent",     "unset",  "leak",   "unlocked", "wrong",
                                       "open",   "contents", "guard",  "handle", "refusal"};
    _Static_assert(sizeof WHAT / sizeof *WHAT == EVENT_OFFENCES, "one word for each");
    LS_ASSERT(event->offence < EVENT_OFFENCES);
    begin_event(narrator, event, "misbehaved");
    append(narrator, " %s%s%s", WHAT[event->offence], event->path ? " " : "", event->path ? event->path : "");
}

static const struct {
    unsigned group;
    void (*line)(struct narrator *narrator, const struct event *event);
} KINDS[] = {
    [EVENT_ASKED] = {SHOW_ASKS, line_asked},
    [EVENT_GRANTED] = {SHOW_DEFAULT, line_granted},
    [EVENT_FAILED] = {SHOW_DEFAULT, line_rc},
    [EVENT_CANCELED] = {SHOW_ASKS, line_plain},
    [EVENT_RELEASED] = {SHOW_ASKS, line_released},
    [EVENT_REFUSED] = {SHOW_DEFAULT, line_rc},
    [EVENT_FREED] = {SHOW_DEFAULT, line_rc},
    [EVENT_WARNED] = {SHOW_DEFAULT, line_warned},
    [EVENT_IDLE] = {SHOW_REST, line_plain},
    [EVENT_CONNECTED] = {SHOW_SESSIONS, line_session},
    [EVENT_SUSPENDED] = {SHOW_DEFAULT, line_plain},
    [EVENT_RECONNECTED] = {SHOW_DEFAULT, line_plain},
    [EVENT_LOST] = {SHOW_DEFAULT, line_plain},
    [EVENT_READ_ONLY] = {SHOW_DEFAULT, line_plain},
    [EVENT_LINK_UP] = {SHOW_SESSIONS, line_session},
    [EVENT_LINK_DOWN] = {SHOW_SESSIONS, line_session},
    [EVENT_EXPIRED] = {SHOW_SESSIONS, line_session},
    [EVENT_AUTH_FAILED] = {SHOW_SESSIONS, line_session},
    [EVENT_BELIEVES] = {SHOW_BELIEF, line_plain},
    [EVENT_DOUBTS] = {SHOW_BELIEF, line_doubts},
    [EVENT_NODE_CREATED] = {SHOW_NODES, line_node},
    [EVENT_NODE_DELETED] = {SHOW_NODES, line_node},
    [EVENT_SESSION_OPENED] = {SHOW_SESSIONS, line_session},
    [EVENT_SESSION_CLOSING] = {SHOW_SESSIONS, line_session},
    [EVENT_SESSION_CLOSED] = {SHOW_SESSIONS, line_session},
    [EVENT_REQUEST] = {SHOW_REQUESTS, line_request},
    [EVENT_WATCH_SET] = {SHOW_WATCHES, line_watch},
    [EVENT_WATCH_GONE] = {SHOW_WATCHES, line_watch},
    [EVENT_WOKEN] = {SHOW_WATCHES, line_woken},
    [EVENT_EFFECT] = {SHOW_DEFAULT, line_effect},
    [EVENT_WRITTEN] = {SHOW_DEFAULT, line_rc},
    [EVENT_REVOKE_ASKED] = {SHOW_DEFAULT, line_fence},
    [EVENT_REVOKE_SENT] = {SHOW_DEFAULT, line_revoke_sent},
    [EVENT_CRASHED] = {SHOW_FAULTS, line_plain},
    [EVENT_RESTARTED] = {SHOW_FAULTS, line_plain},
    [EVENT_STOPPED] = {SHOW_FAULTS, line_plain},
    [EVENT_PAUSED] = {SHOW_FAULTS, line_plain},
    [EVENT_RESUMED] = {SHOW_FAULTS, line_plain},
    [EVENT_FAULT] = {SHOW_FAULTS, line_fault},
    [EVENT_MISBEHAVED] = {SHOW_DEFAULT, line_misbehaved},
    [EVENT_REST] = {SHOW_REST, line_plain},
    [EVENT_SETTLED] = {SHOW_NEVER, line_plain},
    [EVENT_LOCK_CLOSED] = {SHOW_DEFAULT, line_closed},
    [EVENT_NODE_SET] = {SHOW_NEVER, line_plain},
    [EVENT_LISTENS] = {SHOW_NEVER, line_plain},
    [EVENT_REVOKES] = {SHOW_NEVER, line_plain},
    [EVENT_CLOSES] = {SHOW_NEVER, line_plain},
    [EVENT_LISTED] = {SHOW_NEVER, line_plain},
    [EVENT_HOLD_LOST] = {SHOW_DEFAULT, line_fence},
    [EVENT_CAPACITY] = {SHOW_DEFAULT, line_capacity},
    [EVENT_COUNT_SET] = {SHOW_DEFAULT, line_capacity},
    [EVENT_OUTAGE] = {SHOW_FAULTS, line_outage},
};
_Static_assert(sizeof KINDS / sizeof KINDS[0] == EVENT_KINDS, "every event kind has a line");

void narrator_event(struct narrator *narrator, const struct event *event)
{
    if (event->kind >= EVENT_KINDS) {
        return;
    }
    LS_ASSERT(KINDS[event->kind].line != NULL);
    narrator->now_ms = event->now_ms;
    if (event->kind == EVENT_NODE_CREATED && event->node_role != 0) {
        remember_node(narrator, event);
    }
    /* Unless `show` is 0, two lines need no group: the release of an inner level, and `waiting`. */
    if (narrator->show == 0) {
        return;
    }
    bool inner = event->kind == EVENT_RELEASED && event->depth > 0;
    bool waiting = event->kind == EVENT_WATCH_SET && event->watch == EVENT_WATCH_PREDECESSOR;
    if ((narrator->show & KINDS[event->kind].group) || inner) {
        KINDS[event->kind].line(narrator, event);
        end_line(narrator);
    }
    if (waiting) {
        line_waiting(narrator, event);
        end_line(narrator);
    }
}

void narrator_note(struct narrator *narrator, int64_t now_ms, const char *verb, const char *words)
{
    begin_line(narrator, now_ms, "-", verb);
    append(narrator, " %s", words);
    end_line(narrator);
}
