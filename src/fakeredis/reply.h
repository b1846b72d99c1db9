/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Replies of a Redis server as typed items.
 *
 * A world keeps replies in this form until they are delivered, not as text of the protocol. All integers have
 * one size here, so a longer number moves no other bytes of a state. */
#ifndef FAKEREDIS_REPLY_H
#define FAKEREDIS_REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REPLY_BYTES_MAX 8192
#define REPLY_DEPTH_MAX 7 /* depth of nested arrays that the reader of hiredis takes */

/* Borrowed bytes, which need not end with a zero. */
struct bytes {
    const char *at;
    size_t size;
};

enum reply_type {
    REPLY_NIL = 1,
    REPLY_NIL_ARRAY,
    REPLY_STATUS,
    REPLY_ERROR,
    REPLY_INTEGER,
    REPLY_BULK,
    REPLY_ARRAY,
};

/* A status, an error, a bulk or an integer has `size` bytes, which stand behind the item with zeros up to a
 * multiple of 8. An array has `size` elements, which are the next items with all that they contain. */
struct reply_item {
    uint8_t type; /* enum reply_type */
    uint8_t zero[3];
    uint32_t size;
};

struct reply {
    unsigned char bytes[REPLY_BYTES_MAX];
    size_t used; /* a multiple of 8 */
    bool full;   /* an item found no room, and is missing */
};

void reply_clear(struct reply *reply);
struct bytes reply_all(const struct reply *reply);
void reply_nil(struct reply *reply);
void reply_nil_array(struct reply *reply);
void reply_status(struct reply *reply, const char *text);
void reply_bytes(struct reply *reply, enum reply_type type, struct bytes bytes);
void reply_integer(struct reply *reply, int64_t value);
void reply_array(struct reply *reply, uint32_t elements);

/* The text begins with the error's code, such as "ERR". Line breaks become spaces. */
void reply_error(struct reply *reply, const char *format, ...) __attribute__((format(printf, 2, 3)));

const struct reply_item *reply_item(const unsigned char *items, size_t at);
size_t reply_next(const unsigned char *items, size_t at); /* position of the item after that at `at` */

/* Returns the position behind the reply that begins at `at`, elements of its arrays included. */
size_t reply_end(const unsigned char *items, size_t at);
struct bytes reply_text(const struct reply_item *item);
int64_t reply_number(const struct reply_item *item);

/* Writes `used` bytes of items as text of RESP2. Returns its length; 0 = `size` is too small, or no items. */
size_t reply_format(const unsigned char *items, size_t used, char *text, size_t size);

#endif
