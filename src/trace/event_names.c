/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "trace/event_names.h"

static const char *const NAMES[] = {
    [EVENT_ASKED] = "asked",
    [EVENT_GRANTED] = "granted",
    [EVENT_FAILED] = "failed",
    [EVENT_CANCELED] = "canceled",
    [EVENT_RELEASED] = "released",
    [EVENT_REFUSED] = "refused",
    [EVENT_FREED] = "freed",
    [EVENT_WARNED] = "warned",
    [EVENT_IDLE] = "idle",
    [EVENT_CONNECTED] = "connected",
    [EVENT_SUSPENDED] = "suspended",
    [EVENT_RECONNECTED] = "reconnected",
    [EVENT_LOST] = "lost",
    [EVENT_READ_ONLY] = "read-only",
    [EVENT_LINK_UP] = "link-up",
    [EVENT_LINK_DOWN] = "link-down",
    [EVENT_EXPIRED] = "expired",
    [EVENT_AUTH_FAILED] = "auth-failed",
    [EVENT_BELIEVES] = "believes",
    [EVENT_DOUBTS] = "doubts",
    [EVENT_NODE_CREATED] = "node-created",
    [EVENT_NODE_DELETED] = "node-deleted",
    [EVENT_SESSION_OPENED] = "session-opened",
    [EVENT_SESSION_CLOSING] = "session-closing",
    [EVENT_SESSION_CLOSED] = "session-closed",
    [EVENT_REQUEST] = "request",
    [EVENT_WATCH_SET] = "watch-set",
    [EVENT_WATCH_GONE] = "watch-gone",
    [EVENT_WOKEN] = "woken",
    [EVENT_EFFECT] = "effect",
    [EVENT_WRITTEN] = "written",
    [EVENT_REVOKE_ASKED] = "revoke-asked",
    [EVENT_REVOKE_SENT] = "revoke-sent",
    [EVENT_CRASHED] = "crashed",
    [EVENT_RESTARTED] = "restarted",
    [EVENT_STOPPED] = "stopped",
    [EVENT_PAUSED] = "paused",
    [EVENT_RESUMED] = "resumed",
    [EVENT_FAULT] = "fault",
    [EVENT_MISBEHAVED] = "misbehaved",
    [EVENT_REST] = "rest",
    [EVENT_SETTLED] = "settled",
    [EVENT_LOCK_CLOSED] = "lock-closed",
    [EVENT_NODE_SET] = "node-set",
    [EVENT_LISTENS] = "listens",
    [EVENT_REVOKES] = "revokes",
    [EVENT_CLOSES] = "closes",
    [EVENT_LISTED] = "listed",
    [EVENT_HOLD_LOST] = "hold-lost",
    [EVENT_CAPACITY] = "capacity",
    [EVENT_COUNT_SET] = "count",
    [EVENT_OUTAGE] = "outage",
};
_Static_assert(sizeof NAMES / sizeof NAMES[0] == EVENT_KINDS, "every event kind has a name");

const char *event_name(enum event_kind kind)
{
    return (unsigned)kind < EVENT_KINDS ? NAMES[kind] : "unknown";
}
