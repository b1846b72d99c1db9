/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What fuzz_redis_calls reads of its input, and the commands and scripts that it makes of it. */
#ifndef FUZZ_REDIS_WORDS_H
#define FUZZ_REDIS_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WORDS_MAX 16

/* The arguments of a command. Their bytes are good until words_clear(). */
struct words {
    const char *at[WORDS_MAX];
    size_t size[WORDS_MAX];
    int count;
};

/* Where the input is read from next, up to `end`. */
struct words_input {
    const uint8_t *at, *end;
};
extern struct words_input words_input;

/* The next byte of the input; behind its end 0. */
uint8_t words_take(void);

void words_clear(void);

void words_add(struct words *words, const char *at, size_t size);

/* Adds an argument of so many bytes of the input, or of so many equal bytes. */
void words_add_bytes(struct words *words, size_t size);
void words_add_big(struct words *words, size_t size);

/* A word that commands take as an argument. */
const char *words_one(void);

/* Any command; one that belongs to the connection itself; a script. Their bytes are in redis_calls.h. */
void words_command(struct words *words);
void words_of_connection(struct words *words);
void words_script(struct words *words);

#endif
