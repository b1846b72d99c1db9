/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Scripts of a Redis server: Lua 5.1 with the conversions of Redis.
 *
 * There is one interpreter in a program. It has no state between two scripts: before each script its
 * memory gets the bytes that it had after the libraries were opened. Its memory is at a fixed address, so
 * that what depends on an address does not depend on the run.
 *
 * A script can use the libraries base, table, string and math, and redis.call() and its relatives. cjson,
 * cmsgpack, bit and struct are missing. math.random() gives the same numbers in each script; a real
 * server's differ. */
#ifndef FAKEREDIS_SCRIPT_H
#define FAKEREDIS_SCRIPT_H

#include "fakeredis/keys.h"

#define SCRIPT_BYTES_MAX 16384

/* Remembers a script's text in the program, not in the server's cache. Returns false if memory is short,
 * or the text too long. */
bool script_learn(struct bytes text, unsigned char digest[DIGEST_BYTES]);

/* The text of a script that the program knows; NULL bytes if it knows none. */
struct bytes script_text(const unsigned char digest[DIGEST_BYTES]);

/* Returns, and forgets, whether a script was stopped because it ran for too long or took too much memory. */
bool script_was_stopped(void);

#endif
