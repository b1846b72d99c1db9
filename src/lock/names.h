/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Names of contender nodes, as Curator writes them: _c_<attempt id>-lock-<sequence>. In place of lock-, the
 * readers of a read-write lock have __READ__, its writers __WRIT__, leases lease-, and the candidates of a
 * latch latch-. */
#ifndef LOCK_NAMES_H
#define LOCK_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zookeeper/zookeeper.h>

enum {
    LOCK_UUID_SIZE = 36,
    LOCK_PREFIX_SIZE_MAX = 3 + LOCK_UUID_SIZE + 9, /* up to and with "-__READ__" */
    LOCK_KEY_SIZE = 10,
    LOCK_NAME_SIZE_MAX = LOCK_PREFIX_SIZE_MAX + 12, /* with a sign and the final 0 */
};

enum lock_role {
    LOCK_ROLE_MUTEX,
    LOCK_ROLE_READER, /* waits for writers alone */
    LOCK_ROLE_WRITER, /* waits for readers and writers */
    LOCK_ROLE_LEASE,  /* waits until fewer leases than the capacity stand before it */
    LOCK_ROLE_LATCH,  /* a candidate of an election, as of LeaderLatch */
};

/* The kind of a child of the lock's path, by its key. The key is the text after the last marker of the lock
 * ("lock-", "lease-", "latch-", or "__READ__" and "__WRIT__"). If the name has no marker, the key is the
 * whole name. */
enum lock_key {
    LOCK_KEY_CONTENDER, /* the key is exactly ten digits */
    LOCK_KEY_NEGATIVE,  /* a minus sign and 9 or 10 digits: a counter that has wrapped (F49) */
    LOCK_KEY_BEFORE,    /* foreign, and Curator may sort it before a contender and wait for ever */
    LOCK_KEY_AFTER,     /* foreign, and sorted after all contenders */
    LOCK_KEY_KIND,      /* foreign, sorted after; ends with ten digits, like contenders of other locks */
};

/* Writes id as 8-4-4-4-12 lower-case hexadecimal digits, without a final 0. */
void lock_names_uuid(char out[LOCK_UUID_SIZE], const uint8_t id[16]);

/* Writes a contender's name without its sequence, with a final 0. Returns the number of characters. */
size_t lock_names_prefix(enum lock_role role, char out[LOCK_PREFIX_SIZE_MAX + 1], const uint8_t id[16]);

size_t lock_names_size(enum lock_role role);

/* Writes a sequence as the server does (%010d), with a final 0. Returns the number of characters. */
size_t lock_names_sequence(char out[12], int32_t sequence);

/* Classifies a child as a contender of this role sees it, and sets *key to its key. */
enum lock_key lock_names_key(enum lock_role role, const char *name, const char **key);

static inline bool lock_names_is_read_write(enum lock_role role)
{
    return role == LOCK_ROLE_READER || role == LOCK_ROLE_WRITER;
}

/* Returns whether the name of a contender of a read-write lock is a writer's. */
bool lock_names_is_writer(const char *name);

/* Reads the sequence from the end of a contender's path. Returns false if there is none that fits 32 bits. */
bool lock_names_parse(enum lock_role role, const char *path, int32_t *sequence);

/* A list of children as one contender sees it. */
struct lock_view {
    bool own;      /* the contender's node is in the list */
    bool negative; /* the list contains a wrapped sequence */
    bool last;     /* another contender has the largest sequence, 2147483647 */
    /* the list has another child of LOCK_KEY_BEFORE or LOCK_KEY_KIND; for a lease, of LOCK_KEY_AFTER too */
    bool foreign;
    int32_t sequence;  /* of the contender's node, if `own` */
    const char *ahead; /* the nearest contender that this one waits for, or NULL; points into the list */
    int before; /* of a lease in the list: leases before it, and all children that are no leases; else 0 */
};

/* Returns the first name in a list that begins with a prefix, or NULL. */
const char *lock_names_find(const struct String_vector *list, const char *prefix);

/* Sets *view to a list as one contender sees it, the one whose name begins with `prefix`. The order of the
 * list has no meaning (F57). Contenders stand in line in the order of their keys:
 * - A reader with the key of a writer, which is a downgrade (rwlock.c), stands behind that writer.
 * - Other contenders with equal keys are ordered by the whole name. */
void lock_names_view(enum lock_role role, const struct String_vector *list, const char *prefix,
                     struct lock_view *view);

/* Sets unread[i] to whether no contender of this process will look at the i-th name of a list. The role is
 * not that of leases, which count all names. The attempt ids of this process are `id`, but for the last 4
 * bytes. A contender looks at its own name, at the nearest contender that it waits for, at keys that are not
 * ten digits, and at the largest sequence. */
void lock_names_unread(enum lock_role role, const struct String_vector *list, const uint8_t id[16],
                       bool *unread);

/* Sorts the contenders of a list to its front, in the order of the line. Returns their number. */
int lock_names_sort(enum lock_role role, struct String_vector *list);

#endif
