/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Names of contender nodes, as Curator writes them: _c_<uuid>-lock-<sequence>. Readers and writers of a
 * read-write lock have __READ__ and __WRIT__ in place of lock-, leases of a semaphore lease-, candidates of a
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

/* The role of a contender. Readers and writers of one parent stand in one line. */
enum lock_role {
    LOCK_ROLE_MUTEX,
    LOCK_ROLE_READER, /* waits for writers alone */
    LOCK_ROLE_WRITER, /* waits for readers and writers */
    LOCK_ROLE_LEASE,  /* waits until fewer leases than the capacity stand before it */
    LOCK_ROLE_LATCH,  /* a candidate of an election, as of LeaderLatch */
};

/* The kind of a child of the lock's parent, as a contender sees it. Its key is the text after the last
 * marker ("lock-", "lease-", "latch-", or "__READ__" and "__WRIT__"), or the whole name. */
enum lock_key {
    LOCK_KEY_CONTENDER, /* the key is exactly ten digits */
    LOCK_KEY_NEGATIVE,  /* a minus sign and digits: a counter that has wrapped (F49) */
    LOCK_KEY_BEFORE,    /* foreign, and Curator would take it for a predecessor and wait for ever */
    LOCK_KEY_AFTER,     /* foreign, and sorted after all contenders */
    LOCK_KEY_KIND, /* foreign, with a sequence at the end of its name: a contender of another kind of lock */
};

/* Writes id as 8-4-4-4-12 lower-case hexadecimal digits, without a final 0. */
void lock_names_uuid(char out[LOCK_UUID_SIZE], const uint8_t id[16]);

/* Writes the name without the sequence, which the server appends, and with a final 0. Returns the number
 * of characters. */
size_t lock_names_prefix(enum lock_role role, char out[LOCK_PREFIX_SIZE_MAX + 1], const uint8_t id[16]);

/* Returns the number of characters of the longest name of a contender. */
size_t lock_names_size(enum lock_role role);

/* Writes a sequence as the server does (%010d), with a final 0. Returns the number of characters. */
size_t lock_names_sequence(char out[12], int32_t sequence);

/* Classifies a child and sets *key to its key. */
enum lock_key lock_names_key(enum lock_role role, const char *name, const char **key);

/* Returns whether contenders of this role stand in a line of readers and writers. */
static inline bool lock_names_is_read_write(enum lock_role role)
{
    return role == LOCK_ROLE_READER || role == LOCK_ROLE_WRITER;
}

/* Returns whether a contender of a read-write lock is a writer. Curator uses the same test. */
bool lock_names_is_writer(const char *name);

/* Reads the sequence from the end of a created path. Returns false if there is none that fits 32 bits. */
bool lock_names_parse(enum lock_role role, const char *path, int32_t *sequence);

/* A list of children as one contender sees it. */
struct lock_view {
    bool own;      /* the contender's node is in the list */
    bool negative; /* the list contains a wrapped sequence */
    bool last;     /* another contender has the largest sequence, 2147483647 */
    /* the list contains a child that Curator would wait for, or a contender of another kind of lock; for a
     * lease, any child that is no contender */
    bool foreign;
    int32_t sequence;  /* of the contender's node, if `own` */
    const char *ahead; /* the nearest contender that this one waits for, or NULL; points into the list */
    int before;        /* children that do not stand behind this contender; set for leases alone */
};

/* Returns the first name in a list that begins with a prefix, or NULL. */
const char *lock_names_find(const struct String_vector *list, const char *prefix);

/* Looks through a list for the node with this prefix. Contenders are ordered by key. A writer's own reader
 * has the writer's key and stands behind it. Other equal keys, which only an exhausted counter makes
 * (F49), are ordered by the whole name. The order of the list itself has no meaning (F57). */
void lock_names_view(enum lock_role role, const struct String_vector *list, const char *prefix,
                     struct lock_view *view);

/* Sets `unread` for the names of a list that no contender with an id like this one will look at. The last
 * 4 bytes of such an id may differ. A contender looks at its own name, at the nearest contender before it,
 * and at names that are out of the ordinary. */
void lock_names_unread(enum lock_role role, const struct String_vector *list, const uint8_t id[16],
                       bool *unread);

/* Sorts the contenders of a list to its front, in order of the queue; returns their number. */
int lock_names_sort(enum lock_role role, struct String_vector *list);

#endif
