/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "fakeredis/keys.h"

#include "base/assert.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct server_block {
    struct arena_block head;
    struct server_facts facts;
    struct pack_table table;
};

_Static_assert(SERVER_LISTS <= PACK_LISTS_MAX, "each list needs an end in the table");
_Static_assert(sizeof(struct server_block) % 8 == 0, "records are aligned to 8");

static size_t padded(size_t size)
{
    return (size + 7) / 8 * 8;
}

void keys_open(struct pack *server, struct arena *arena, size_t bytes)
{
    int block = arena_add(arena, bytes, sizeof(struct server_block));
    unsigned char *at = arena_at(arena, block);
    *server = (struct pack){.arena = arena, .block = block, .records = at + sizeof(struct server_block)};
    LS_ASSERT(server->records == at + sizeof(struct server_block));
}

struct server_facts *server_facts(const struct pack *server)
{
    struct server_block *block = arena_at(server->arena, server->block);
    arena_read(server->arena, server->block);
    return &block->facts;
}

bool bytes_equal(struct bytes a, struct bytes b)
{
    return a.size == b.size && (a.size == 0 || memcmp(a.at, b.at, a.size) == 0);
}

void bytes_lower(struct bytes text, char *lower, size_t size)
{
    LS_ASSERT(size > 0);
    size_t length = text.size < size - 1 ? text.size : size - 1;
    for (size_t i = 0; i < length; i++) {
        char letter = text.at[i];
        lower[i] = letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
    }
    lower[length] = 0;
}

static int bytes_order(struct bytes a, struct bytes b)
{
    size_t least = a.size < b.size ? a.size : b.size;
    int order = least > 0 ? memcmp(a.at, b.at, least) : 0;
    return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

bool bytes_integer(struct bytes text, int64_t *number)
{
    bool negative = text.size > 0 && text.at[0] == '-';
    size_t first = negative ? 1 : 0;
    uint64_t value = 0;
    if (text.size == first || text.size > 20 || (text.at[first] == '0' && text.size > 1)) {
        return false;
    }
    for (size_t i = first; i < text.size; i++) {
        unsigned digit = (unsigned char)text.at[i] - (unsigned)'0';
        if (digit > 9 || value > (UINT64_MAX - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    if (value > (uint64_t)INT64_MAX + (negative ? 1 : 0)) {
        return false;
    }
    *number = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

static unsigned char *name_of(const struct key *key)
{
    return (unsigned char *)(uintptr_t)key + sizeof *key;
}

static unsigned char *value_of(const struct key *key)
{
    return name_of(key) + padded(key->rec.word);
}

struct bytes key_name(const struct key *key)
{
    return (struct bytes){(const char *)name_of(key), key->rec.word};
}

struct bytes key_value(const struct key *key)
{
    LS_ASSERT(key->rec.tag != KEY_NUMBER);
    return (struct bytes){(const char *)value_of(key), key->value_size};
}

struct bytes key_bytes(const struct key *key)
{
    LS_ASSERT(key->rec.list == SERVER_KEYS);
    return (struct bytes){(const char *)value_of(key), key->value_size};
}

int64_t key_number(const struct key *key)
{
    int64_t number;
    LS_ASSERT(key->rec.tag == KEY_NUMBER);
    memcpy(&number, value_of(key), sizeof number);
    return number;
}

struct bytes key_text(const struct key *key, char *room)
{
    LS_ASSERT(key->rec.tag == KEY_TEXT || key->rec.tag == KEY_NUMBER);
    if (key->rec.tag != KEY_NUMBER) {
        return key_value(key);
    }
    int size = snprintf(room, KEY_DIGITS_MAX, "%" PRId64, key_number(key));
    return (struct bytes){room, (size_t)size};
}

static struct key *key_from(struct rec *rec)
{
    return (struct key *)(void *)rec;
}

/* Returns the key of this name, or else the first key that is sorted behind it; NULL = none. */
static struct key *first_from(const struct pack *server, int database, struct bytes name)
{
    struct rec *rec = pack_first(server, SERVER_KEYS);
    for (; rec != NULL; rec = pack_next(server, rec)) {
        struct key *key = key_from(rec);
        if (key->database > database ||
            (key->database == database && bytes_order(key_name(key), name) >= 0)) {
            return key;
        }
    }
    return NULL;
}

static bool is_key(const struct key *key, int database, struct bytes name)
{
    return key != NULL && key->database == database && bytes_equal(key_name(key), name);
}

struct key *keys_find(const struct pack *server, int database, struct bytes name)
{
    arena_read(server->arena, server->block);
    struct key *key = first_from(server, database, name);
    return is_key(key, database, name) ? key : NULL;
}

int keys_count(const struct pack *server, int database)
{
    int count = 0;
    arena_read(server->arena, server->block);
    for (struct rec *rec = pack_first(server, SERVER_KEYS); rec != NULL; rec = pack_next(server, rec)) {
        count += key_from(rec)->database == database;
    }
    return count;
}

struct key *keys_set(const struct pack *server, int database, struct bytes name, enum key_type type,
                     struct bytes value)
{
    LS_ASSERT(database >= 0 && database < DATABASES);
    LS_ASSERT(type != KEY_NUMBER || value.size == sizeof(int64_t));
    size_t size = sizeof(struct key) + padded(name.size) + padded(value.size);
    struct key *next = first_from(server, database, name);
    struct key before = {.ends_ms = KEY_NEVER};
    if (name.size > KEY_NAME_MAX || value.size > KEY_VALUE_MAX) {
        return NULL;
    }
    if (is_key(next, database, name)) {
        before = *next;
        if (next->rec.size != size) {
            /* the new record comes first, so that the old one stays if there is no room */
            struct rec *rec = pack_insert(server, SERVER_KEYS, &next->rec, size);
            if (rec == NULL) {
                return NULL;
            }
            next = key_from(rec);
            pack_remove(server, pack_next(server, rec));
        }
    } else {
        struct rec *rec = pack_insert(server, SERVER_KEYS, next != NULL ? &next->rec : NULL, size);
        if (rec == NULL) {
            return NULL;
        }
        next = key_from(rec);
    }
    arena_mark(server->arena, server->block);
    memset((unsigned char *)next + sizeof(struct rec), 0, size - sizeof(struct rec));
    next->rec.tag = (uint8_t)type;
    next->rec.word = (uint32_t)name.size;
    next->ends_ms = before.ends_ms;
    next->writer = before.writer;
    next->life = before.life;
    next->shortened = before.shortened;
    next->database = (uint8_t)database;
    next->value_size = (uint32_t)value.size;
    memcpy(name_of(next), name.at, name.size);
    if (value.size > 0) {
        memcpy(value_of(next), value.at, value.size);
    }
    LS_ASSERT(first_from(server, database, name) == next && is_key(next, database, name));
    return next;
}

struct key *keys_set_number(const struct pack *server, int database, struct bytes name, int64_t number)
{
    return keys_set(server, database, name, KEY_NUMBER, (struct bytes){(const char *)&number, sizeof number});
}

struct key *keys_set_text(const struct pack *server, int database, struct bytes name, struct bytes text)
{
    int64_t number;
    return bytes_integer(text, &number) ? keys_set_number(server, database, name, number)
                                        : keys_set(server, database, name, KEY_TEXT, text);
}

void keys_set_lease(const struct pack *server, struct key *key, int64_t ends_ms)
{
    LS_ASSERT(key->rec.list == SERVER_KEYS);
    LS_ASSERT(ends_ms > 0 || ends_ms == KEY_NEVER);
    arena_mark(server->arena, server->block);
    key->ends_ms = ends_ms;
    key->shortened = 0;
}

void keys_remove(const struct pack *server, struct key *key)
{
    LS_ASSERT(key->rec.list == SERVER_KEYS);
    pack_remove(server, &key->rec);
}

/* Returns the number of bytes of a text in a sequence: its size as uint32_t, and the text with zeros up to a
 * multiple of 4. */
static size_t text_room(size_t size)
{
    return sizeof(uint32_t) + (size + 3) / 4 * 4;
}

void sequence_add(struct sequence *sequence, struct bytes text)
{
    LS_ASSERT(sequence->used <= sizeof sequence->bytes);
    size_t room = text_room(text.size);
    uint32_t size = (uint32_t)text.size;
    if (text.size > KEY_VALUE_MAX || room > sizeof sequence->bytes - sequence->used) {
        sequence->full = true;
        return;
    }
    char *at = sequence->bytes + sequence->used;
    memset(at, 0, room);
    memcpy(at, &size, sizeof size);
    if (text.size > 0) {
        memcpy(at + sizeof size, text.at, text.size);
    }
    sequence->used += room;
}

bool sequence_next(struct bytes sequence, size_t *at, struct bytes *text)
{
    uint32_t size;
    if (*at >= sequence.size) {
        return false;
    }
    memcpy(&size, sequence.at + *at, sizeof size);
    LS_ASSERT(sequence.size - *at >= text_room(size));
    *text = (struct bytes){sequence.at + *at + sizeof size, size};
    *at += text_room(size);
    return true;
}

int sequence_count(struct bytes sequence)
{
    int count = 0;
    struct bytes text;
    for (size_t at = 0; sequence_next(sequence, &at, &text);) {
        count++;
    }
    return count;
}

struct script {
    struct rec rec;
    unsigned char digest[DIGEST_BYTES];
    uint32_t zero;
};

/* Returns the first script that has this digest, or is sorted behind it; NULL = none. */
static struct script *first_script_from(const struct pack *server, const unsigned char *digest)
{
    struct rec *rec = pack_first(server, SERVER_SCRIPTS);
    for (; rec != NULL; rec = pack_next(server, rec)) {
        struct script *script = (struct script *)(void *)rec;
        if (memcmp(script->digest, digest, DIGEST_BYTES) >= 0) {
            return script;
        }
    }
    return NULL;
}

bool scripts_have(const struct pack *server, const unsigned char digest[DIGEST_BYTES])
{
    arena_read(server->arena, server->block);
    const struct script *script = first_script_from(server, digest);
    return script != NULL && memcmp(script->digest, digest, DIGEST_BYTES) == 0;
}

bool scripts_add(const struct pack *server, const unsigned char digest[DIGEST_BYTES])
{
    if (scripts_have(server, digest)) {
        return true;
    }
    struct script *next = first_script_from(server, digest);
    struct rec *rec =
        pack_insert(server, SERVER_SCRIPTS, next != NULL ? &next->rec : NULL, sizeof(struct script));
    if (rec != NULL) {
        memcpy(((struct script *)(void *)rec)->digest, digest, DIGEST_BYTES);
    }
    LS_ASSERT(rec == NULL || scripts_have(server, digest));
    return rec != NULL;
}

void scripts_clear(const struct pack *server)
{
    pack_clear(server, SERVER_SCRIPTS);
}
