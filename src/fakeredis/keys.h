/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What one Redis server keeps: its keys with their values and leases, and its script cache, in one arena
 * block.
 *
 * A value is a text, a number, a hash or a list. A text that is the usual form of a 64-bit integer is kept
 * as a number, as Redis does, so that it has the same size whatever its value. A hash and a list are
 * sequences of texts in their order; a hash has each field's value behind the field.
 *
 * Pointers to keys, and bytes of values, are good until the next change of the block. */
#ifndef FAKEREDIS_KEYS_H
#define FAKEREDIS_KEYS_H

#include "base/pack.h"
#include "fakeredis/reply.h"

#define KEY_NAME_MAX 512
#define KEY_VALUE_MAX 16384
#define KEY_NEVER INT64_MIN /* a key without a lease */
#define DATABASES 16

enum key_type { KEY_TEXT = 1, KEY_NUMBER, KEY_HASH, KEY_LIST };

/* Lists of a server's block. */
enum {
    SERVER_KEYS,    /* by database and name */
    SERVER_SCRIPTS, /* by digest */
    SERVER_LISTS,
};

/* rec.tag is the enum key_type. The name stands behind, then the value, each with zeros up to a multiple
 * of 8. */
struct key {
    struct rec rec;  /* rec.word = bytes of the name */
    int64_t ends_ms; /* the lease's last millisecond on the server's clock; KEY_NEVER = none */
    uint8_t database;
    uint8_t writer;    /* client that wrote the key last, plus 1; 0 = nobody */
    uint8_t life;      /* lives of the writer that were over; 0 without a lease and a backlog */
    uint8_t shortened; /* the server's clock has jumped since the lease began */
    uint32_t value_size;
};

/* The part of a server's block in front of the lists. */
struct server_facts {
    int64_t clock_ms;    /* how far the server's clock is ahead of the world's */
    uint8_t detached;    /* its replica hears nothing from it */
    uint8_t is_former;   /* another one has taken its place, and it serves on */
    uint8_t reserved[6]; /* 0 */
};

/* Adds a server's block to the arena. */
void keys_open(struct pack *server, struct arena *arena, size_t bytes);

/* A caller that changes them marks the block first. */
struct server_facts *server_facts(const struct pack *server);

/* ---- keys ---- */

struct key *keys_find(const struct pack *server, int database, struct bytes name);
struct bytes key_name(const struct key *key);

/* The bytes of a KEY_TEXT, a KEY_HASH or a KEY_LIST. */
struct bytes key_value(const struct key *key);
struct bytes key_bytes(const struct key *key); /* of any key, as keys_set() takes them */
int64_t key_number(const struct key *key);

/* The text of a KEY_TEXT or a KEY_NUMBER; `room` of KEY_DIGITS_MAX bytes takes the digits. */
#define KEY_DIGITS_MAX 24
struct bytes key_text(const struct key *key, char *room);

/* Makes the value of a key, which need not exist; its lease stays. Returns NULL if there is no room, or if
 * the name or the value is too long. Nothing has changed then. keys_set_text() keeps a number if the text
 * is one. `value` may not lie in the block. */
struct key *keys_set(const struct pack *server, int database, struct bytes name, enum key_type type,
                     struct bytes value);
struct key *keys_set_text(const struct pack *server, int database, struct bytes name, struct bytes text);
struct key *keys_set_number(const struct pack *server, int database, struct bytes name, int64_t number);

void keys_set_lease(const struct pack *server, struct key *key, int64_t ends_ms);
void keys_remove(const struct pack *server, struct key *key);

int keys_count(const struct pack *server, int database);

/* ---- sequences of texts: the values of hashes and lists, and arguments of commands ---- */

/* A sequence that is being made. */
struct sequence {
    char bytes[KEY_VALUE_MAX];
    size_t used;
    bool full; /* a text found no room, and is missing */
};

void sequence_add(struct sequence *sequence, struct bytes text);
/* Takes the text at *at, and moves *at behind it. Returns false at the end. */
bool sequence_next(struct bytes sequence, size_t *at, struct bytes *text);
int sequence_count(struct bytes sequence);

/* ---- numbers ---- */

/* Reads an integer in its usual form: no sign but a minus, no zeros in front, nothing behind. */
bool bytes_integer(struct bytes text, int64_t *number);
bool bytes_equal(struct bytes a, struct bytes b);
void bytes_lower(struct bytes text, char *lower, size_t size); /* as much as fits, and a zero */

/* ---- the script cache ---- */

#define DIGEST_BYTES 20
#define DIGEST_DIGITS 40

/* Whether a script is in the cache is the server's state; its text is not, since its digest says which it
 * is. */
bool scripts_have(const struct pack *server, const unsigned char digest[DIGEST_BYTES]);
bool scripts_add(const struct pack *server, const unsigned char digest[DIGEST_BYTES]); /* false = no room */
void scripts_clear(const struct pack *server);

#endif
