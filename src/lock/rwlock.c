/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Read-write lock: two mutexes at one path, whose contenders stand in one line.
 *
 * The name of a contender tells its role (names.h). The core of the mutex drives both halves. A reader waits
 * for the nearest writer before it, a writer for the contender that was the nearest in its last list. So the
 * end of one node wakes one writer, or readers alone.
 *
 * Downgrade. If the owner of a write lock asks for the read lock, the reader's node gets the sequence of the
 * writer's node, as of Curator 5.5. A contender behind the writer is behind that reader too.
 *   Claim. If the downgrade is granted, no other writer is granted between the grant of the write lock and
 *   the end of the reader's node.
 *   Why. The reader is granted by a list that contains its writer's node (lock_rwlock_stands). So both nodes
 *   existed at one moment. The writer's node has existed since its grant, because an attempt id is used once.
 *   Checked by. scenarios/explore/rwlock_downgrade_2.scn and rwlock_downgrade_3.scn.
 * The last level of the write lock cannot be released while that reader is pending (lock_rwlock_is_needed).
 * If the writer's node is gone, the reader is refused: contenders behind that node may hold the lock. */
#include "lock/claim.h"

#include <lockstep/rwlock.h>
#include <stddef.h>

static const struct ls_mutex *other_half(const struct ls_mutex *mutex)
{
    const char *at = (const char *)mutex;
    if (mutex->place->role == LOCK_ROLE_READER)
        return &((const struct ls_rwlock *)(const void *)(at - offsetof(struct ls_rwlock, read)))->write;
    return &((const struct ls_rwlock *)(const void *)(at - offsetof(struct ls_rwlock, write)))->read;
}

static const struct lock_claim *claim_of_other_half(const struct ls_mutex *mutex, uint64_t owner)
{
    const struct ls_mutex *other = other_half(mutex);
    return other->session ? lock_index_find(other, owner) : NULL;
}

static bool is_told_and_held(const struct lock_claim *claim)
{
    return claim->state == LOCK_HELD && claim->told;
}

int lock_rwlock_refuses(const struct ls_mutex *mutex, uint64_t owner)
{
    if (!lock_names_is_read_write((enum lock_role)mutex->place->role))
        return LS_OK;
    const struct lock_claim *other = claim_of_other_half(mutex, owner);
    if (!other || other->state == LOCK_TOMB)
        return LS_OK;
    if (mutex->place->role == LOCK_ROLE_WRITER)
        return LS_EDEADLK;
    return is_told_and_held(other) ? LS_OK : LS_EALREADY;
}

bool lock_rwlock_is_needed(const struct lock_claim *claim)
{
    if (claim->place->role != LOCK_ROLE_WRITER)
        return false;
    const struct lock_claim *reader = claim_of_other_half(claim->mutex, claim->owner);
    return reader && lock_mutex_pending(reader);
}

const struct lock_claim *lock_rwlock_writer(const struct lock_claim *claim)
{
    if (claim->place->role != LOCK_ROLE_READER || !claim->mutex)
        return NULL;
    const struct lock_claim *writer = claim_of_other_half(claim->mutex, claim->owner);
    return writer && is_told_and_held(writer) ? writer : NULL;
}

bool lock_rwlock_stands(const struct lock_claim *writer, const struct String_vector *list)
{
    char prefix[LOCK_PREFIX_SIZE_MAX + 1];
    lock_names_prefix(LOCK_ROLE_WRITER, prefix, writer->attempt);
    return lock_names_find(list, prefix);
}

int ls_rwlock_init(struct ls_rwlock *lock, struct ls_session *session, const char *path,
                   const struct ls_mutex_options *options)
{
    if (!lock)
        return LS_EINVAL;
    int rc = lock_mutex_init(&lock->write, session, path, LOCK_ROLE_WRITER, options);
    if (rc)
        return rc;
    rc = lock_mutex_init(&lock->read, session, path, LOCK_ROLE_READER, options);
    if (rc)
        lock_mutex_undo_init(&lock->write);
    return rc;
}

int ls_rwlock_close(struct ls_rwlock *lock)
{
    int rc = ls_mutex_close(&lock->read);
    return rc ? rc : ls_mutex_close(&lock->write);
}
