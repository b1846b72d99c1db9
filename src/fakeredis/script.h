/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Scripts of a Redis server: Lua 5.1 with the conversions of Redis.
 *
 * A program has one interpreter, which has no state between two scripts. Before each script its memory gets
 * the bytes that it had after the libraries were opened. The memory is at a fixed address, so results that
 * depend on an address are equal in all runs.
 *
 * A script can use the libraries redis, table, string and math, and the library base without dofile(),
 * loadfile(), newproxy() and print(). The libraries cjson, cmsgpack, bit and struct are missing.
 * math.random() begins with the same numbers in each script. */
#ifndef FAKEREDIS_SCRIPT_H
#define FAKEREDIS_SCRIPT_H

#include "fakeredis/keys.h"

#define SCRIPT_BYTES_MAX 16384

/* Remembers a script's text in the program, not in a server's cache, and writes its digest. Returns false if
 * memory is short, or the text longer than SCRIPT_BYTES_MAX. */
bool script_learn(struct bytes text, unsigned char digest[DIGEST_BYTES]);

/* Returns a text that script_learn() has remembered; NULL bytes = none. */
struct bytes script_text(const unsigned char digest[DIGEST_BYTES]);

/* Returns whether a script has run too long, or wanted too much memory, since the last call. */
bool script_was_stopped(void);

#endif
