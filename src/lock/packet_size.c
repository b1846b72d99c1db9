/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The longest request that servers accept. A longer one breaks the link, and so does its repetition.
 *
 * Two requests of the lock can become that long:
 * - A create carries contents and an ACL of the caller, which are refused at once if they are too long.
 * - After each reconnect the client sets all watches of its handle again in one SetWatches (F78). So a claim
 *   reserves room for the longest watch that it may need, and an acquire that finds no room is refused:
 *
 *   pending            the longer of its own node's path and the predecessor's
 *   held               its own node's path if the lock is revocable, or a watch stands, else nothing
 *   a tomb             nothing: its watches went with the session, or fired when the node was deleted
 *   ended otherwise    the bytes that it had, until it is freed
 *
 * A shared count reserves its path until it is freed (count.c). */
#include "lock/claim.h"

#include <string.h>

/* The default of jute.maxbuffer in bytes: the longest request, without its own length field. */
enum { MAXBUFFER = 0xfffff };

/* Upper bounds in bytes: of SetWatches without paths; of a create without path, contents and ACL; of a
 * string's length field; of an ACL entry without strings. */
enum { SET_WATCHES = 64, CREATE = 64, STRING = 4, ACL = 4 };

static uint64_t maxbuffer(const struct ls_session *session)
{
    const struct ls_session_options *options = lock_queue_deref(session->options);
    return options && options->maxbuffer ? options->maxbuffer : MAXBUFFER;
}

static size_t chroot_size(const struct ls_session *session)
{
    const char *chroot = strchr(session->hosts, '/');
    return chroot && chroot[1] ? strlen(chroot) : 0;
}

uint32_t lock_packets_watch_size(const struct ls_session *session, size_t path_size)
{
    return (uint32_t)(STRING + chroot_size(session) + path_size);
}

static uint64_t path_size(const struct lock_place *place, size_t name_size)
{
    return lock_packets_watch_size(place->session, place->size + 1 + name_size);
}

static uint64_t own_size(const struct lock_place *place)
{
    return path_size(place, lock_names_size((enum lock_role)place->role));
}

static uint64_t needs(const struct lock_claim *claim)
{
    uint64_t own = own_size(claim->place);
    if (claim->state == LOCK_TOMB)
        return 0;
    if (claim->state == LOCK_HELD)
        return claim->watching || (claim->mutex && claim->mutex->revocable) ? own : 0;
    if (!lock_mutex_pending(claim))
        return claim->reserved;
    uint64_t ahead = claim->ahead ? path_size(claim->place, strlen(claim->ahead)) : 0;
    return ahead > own ? ahead : own;
}

bool lock_packets_fits(const struct ls_session *session, uint64_t more)
{
    return session->reserved + more + SET_WATCHES <= maxbuffer(session);
}

bool lock_packets_watch_fits(const struct lock_place *place)
{
    return lock_packets_fits(place->session, own_size(place));
}

static void reserve(struct lock_claim *claim, uint64_t size)
{
    struct ls_session *session = claim->place->session;
    session->reserved += size - claim->reserved;
    claim->reserved = (uint32_t)size;
}

void lock_packets_reserve(struct lock_claim *claim)
{
    reserve(claim, needs(claim));
}

void lock_packets_free(struct lock_claim *claim)
{
    reserve(claim, 0);
}

bool lock_packets_ahead_fits(const struct lock_claim *claim)
{
    uint64_t size = needs(claim);
    return size <= claim->reserved || lock_packets_fits(claim->place->session, size - claim->reserved);
}

bool lock_packets_ears_fit(const struct ls_mutex *mutex)
{
    uint64_t more = 0;
    for (const struct lock_claim *claim = mutex->session->claims; claim; claim = claim->next)
        if (claim->mutex == mutex && claim->state == LOCK_HELD && !claim->reserved)
            more += own_size(mutex->place);
    return lock_packets_fits(mutex->session, more);
}

bool lock_packets_create_fits(const struct ls_mutex *mutex, size_t contents_size)
{
    const struct ACL_vector *acl = lock_request_acl(mutex->session, mutex);
    uint64_t size = CREATE + own_size(mutex->place) + contents_size;
    for (int32_t i = 0; i < acl->count; i++) {
        const struct Id *id = &acl->data[i].id;
        size += ACL + STRING + strlen(id->scheme) + STRING + strlen(id->id);
    }
    return size <= maxbuffer(mutex->session);
}
