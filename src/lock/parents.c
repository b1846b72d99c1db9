/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Creates the ancestors of a contender node, all in one flight, the topmost first.
 *
 * Ancestors are containers, as Curator makes them: the server deletes them when they are empty (F53). A
 * server without containers gets persistent nodes. An ancestor that exists is as good as one that was
 * created. The first other refusal is kept in claim->zk_rc. It matters only if the contender's next create
 * finds its parent missing again: a missing permission does no harm at an ancestor that exists (F51). */
#include "lock/claim.h"

#include <string.h>

/* Returns whether the connect string has a slash, behind which is the chroot. Then "/" is a node that may be
 * missing too (F58). */
static bool has_chroot(const struct lock_claim *claim)
{
    return strchr(claim->place->session->hosts, '/');
}

_Static_assert(LS_MUTEX_PATH_NODES_MAX + 1 <= UINT8_MAX, "claim->ancestors counts them, and the chroot's");

static int count_ancestors(const struct lock_claim *claim)
{
    int count = has_chroot(claim);
    for (const char *at = claim->place->path; *at && claim->place->size > 1; at++)
        count += *at == '/';
    return count;
}

/* Returns whether the servers refuse the containers that this claim asked for. */
static bool lacks_containers(const struct lock_claim *claim, int rc)
{
    return (rc == ZUNIMPLEMENTED || rc == ZBADARGUMENTS) && claim->containers;
}

/* Keeps in first_rc the last code after which the ancestors are created again. That is an unsure one, one of
 * a request that may succeed later, or one of servers that lack containers. Keeps the first other refusal but
 * ZNODEEXISTS in zk_rc. ZNONODE is a refusal for the topmost ancestor only. */
static void note(struct lock_claim *claim, int rc, bool topmost)
{
    switch (lock_session_verdict(rc)) {
    case LOCK_OK:
        lock_session_progress(claim->place->session);
        break;
    case LOCK_UNKNOWN:
    case LOCK_DYING:
    case LOCK_AGAIN:
        claim->first_rc = rc;
        break;
    case LOCK_ABSENT: /* an ancestor above is missing; above the topmost one this claim creates none */
        LS_SOMETIMES("ancestor-is-gone-again");
        if (topmost)
            claim->zk_rc = rc;
        break;
    case LOCK_REFUSED:
        if (lacks_containers(claim, rc))
            claim->first_rc = rc;
        else if (rc != ZNODEEXISTS && !claim->zk_rc)
            claim->zk_rc = rc;
        break;
    }
}

static void prepared(struct lock_claim *claim)
{
    struct ls_session *session = claim->place->session;
    int rc = claim->first_rc;
    claim->first_rc = 0;
    bool lacking = lacks_containers(claim, rc);
    claim->containers = 0;
    if (claim->state != LOCK_PREPARING || !session->id) {
        lock_mutex_go(claim);
        return;
    }
    claim->state = LOCK_CLAIMING;
    if (rc)
        claim->zk_rc = 0; /* not every create was answered: a missing parent proves no refusal */
    if (lacking) {
        LS_SOMETIMES("servers-lack-containers");
        session->no_containers = 1;
    }
    if (lock_session_verdict(rc) == LOCK_AGAIN)
        lock_mutex_retry(claim, rc);
    else
        lock_mutex_go(claim);
}

static void on_ancestor(int rc, const char *value, const void *data)
{
    (void)value;
    struct lock_claim *claim = lock_mutex_enter(data);
    struct ls_session *session = claim->place->session;
    bool topmost =
        claim->ancestors == count_ancestors(claim); /* answers come in the order of requests (F36) */
    lock_session_answered(session, rc);
    claim->ancestors--;
    note(claim, rc, topmost);
    if (!claim->ancestors)
        prepared(claim);
    lock_mutex_leave(session);
}

static int send_all(struct lock_claim *claim)
{
    const struct lock_place *place = claim->place;
    int rc = has_chroot(claim) ? lock_request_ancestor(claim, 1, on_ancestor) : ZOK;
    for (size_t size = 1; size <= place->size && place->size > 1 && rc == ZOK; size++)
        if (size == place->size || place->path[size] == '/')
            rc = lock_request_ancestor(claim, size, on_ancestor);
    return rc;
}

void lock_parents_go(struct lock_claim *claim)
{
    claim->zk_rc = 0;
    claim->first_rc = 0;
    int rc = send_all(claim);
    claim->containers = claim->ancestors && !claim->place->session->no_containers;
    if (claim->ancestors)
        return; /* if the client refused some creates, the next flight finds those ancestors missing */
    if (lock_session_verdict(rc) == LOCK_REFUSED)
        lock_mutex_fail(claim, LS_EINVAL, rc);
    else if (lock_session_verdict(rc) != LOCK_DYING)
        lock_mutex_retry(claim, rc);
}
