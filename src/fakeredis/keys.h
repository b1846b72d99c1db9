/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The keys of one Redis server with their values and leases, and its script cache, in one arena block.
 *
 * A value is a text, a number, a hash or a list. A text that bytes_integer() accepts is kept as a number, so
 * that all numbers have one size. A hash and a list are sequences of texts in their order; in a hash each
 * field's value stands behind the field.
 *
 * Pointers to keys, and bytes of values, are valid until the next change of the block. */
#ifndef FAKEREDIS_KEYS_H
#define FAKEREDIS_KEYS_H

#include "base/packed_records.h"
#include "fakeredis/reply.h"

#define KEY_NAME_MAX 512
#define KEY_VALUE_MAX 16384
#define KEY_NEVER INT64_MIN /* a key without a lease */
#define DATABASES 16

enum key_type { KEY_TEXT = 1, KEY_NUMBER, KEY_HASH, KEY_LIST };

/* Lists of a server's block. */
enum {
    SERVER_KEYS,    /* sorted by database and name */
    SERVER_SCRIPTS, /* sorted by digest */
    SERVER_LISTS,   /* first of the lists of command.h */
};

/* A key. The name stands behind the record, then the value, each with zeros up to a multiple of 8. */
struct key {
    struct rec rec; /* rec.tag = enum key_type; rec.word = bytes of the name */
    /* Last ms of the lease by the server's clock; without a clock, the command's number in ms; KEY_NEVER = no
     * lease. */
    int64_t ends_ms;
    uint8_t database;
    uint8_t writer; /* client that set the value or the lease last, plus 1 */
    uint8_t life; /* server.life when `writer` was set; 0 if the key has no lease and the server no backlog */
    uint8_t shortened; /* 1 = the server's clock has jumped since the lease began */
    uint32_t value_size;
};

/* The part of a server's block in front of the lists. */
struct server_facts {
    int64_t clock_ms;    /* sum of the jumps of the server's clock, in ms */
    uint8_t detached;    /* 1 = fakeredis_detach() */
    uint8_t is_former;   /* 1 = it is the former server of a split place */
    uint8_t reserved[6]; /* 0 */
};

void keys_open(struct pack *server, struct arena *arena, size_t bytes);

/* Returns the facts in the server's block. A caller that changes them marks the block first. */
struct server_facts *server_facts(const struct pack *server);

struct key *keys_find(const struct pack *server, int database, struct bytes name);
struct bytes key_name(const struct key *key);

struct bytes key_value(const struct key *key); /* of all types but KEY_NUMBER */
struct bytes key_bytes(const struct key *key); /* of any type, in the form that keys_set() takes */
int64_t key_number(const struct key *key);

/* Returns the text of a KEY_TEXT, or the digits of a KEY_NUMBER. The digits are written to `room`, which has
 * KEY_DIGITS_MAX bytes. */
#define KEY_DIGITS_MAX 24
struct bytes key_text(const struct key *key, char *room);

/* Set the value of a key, and create the key if it does not exist. A lease stays. If there is no room, or the
 * name or the value is too long, return NULL and change nothing. `name` and `value` must not lie in the
 * block. keys_set_text() makes a KEY_NUMBER of an integer. */
struct key *keys_set(const struct pack *server, int database, struct bytes name, enum key_type type,
                     struct bytes value);
struct key *keys_set_text(const struct pack *server, int database, struct bytes name, struct bytes text);
struct key *keys_set_number(const struct pack *server, int database, struct bytes name, int64_t number);

void keys_set_lease(const struct pack *server, struct key *key, int64_t ends_ms);
void keys_remove(const struct pack *server, struct key *key);

int keys_count(const struct pack *server, int database);

/* A sequence of texts: the value of a hash or a list, or the arguments of a command. */
struct sequence {
    char bytes[KEY_VALUE_MAX];
    size_t used;
    bool full; /* a text found no room, and is missing */
};

void sequence_add(struct sequence *sequence, struct bytes text);
/* Sets *text to the text at *at, and moves *at behind it. Returns false at the end. */
bool sequence_next(struct bytes sequence, size_t *at, struct bytes *text);
int sequence_count(struct bytes sequence);

/* Reads a 64-bit integer without plus sign, leading zeros or spaces. False = the text is no such integer. */
bool bytes_integer(struct bytes text, int64_t *number);
bool bytes_equal(struct bytes a, struct bytes b);
void bytes_lower(struct bytes text, char *lower, size_t size); /* cuts off what does not fit; ends with 0 */

#define DIGEST_BYTES 20
#define DIGEST_DIGITS 40

/* The script cache. It has the digests alone: script_text() has the texts. */
bool scripts_have(const struct pack *server, const unsigned char digest[DIGEST_BYTES]);
bool scripts_add(const struct pack *server, const unsigned char digest[DIGEST_BYTES]); /* false = no room */
void scripts_clear(const struct pack *server);

#endif
