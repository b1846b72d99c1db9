/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The form of an input of fuzz_redis_calls.
 *
 * REDIS_HEADER bytes say which world it is. Then come operations. A byte below REDIS_CALL is a step of the
 * world: of those that can be done, the one with this number modulo their count. Any other byte is an
 * operation of a client: REDIS_CALL | kind << 3 | client, and the bytes that the kind reads. Behind the end
 * of the input each byte that is read is 0. */
#ifndef FUZZ_REDIS_CALLS_H
#define FUZZ_REDIS_CALLS_H

#include <stdint.h>

#define REDIS_HEADER 4
#define REDIS_CALL 0x80
#define REDIS_CODE 0x80 /* in a script's text: from here on a byte stands for a piece of Lua */

enum redis_operation {
    REDIS_COMMAND,   /* connection, what its callback does, its name, number of arguments, arguments */
    REDIS_SCRIPT,    /* connection, what its callback does, two bytes of length, text, arguments as above */
    REDIS_CONNECT,   /* server */
    REDIS_END,       /* connection, how */
    REDIS_FORMAT,    /* connection, what its callback does, format, word */
    REDIS_BYTES,     /* connection, what its callback does, length, bytes of the protocol */
    REDIS_CUT,       /* connection, how much still passes */
    REDIS_HOLD,      /* cuts the client off, or pauses it */
    REDIS_CRASH,     /* nothing more */
    REDIS_EXPIRE,    /* server, key */
    REDIS_TIME,      /* 10 ms each */
    REDIS_FAIL_CALL, /* which */
    REDIS_RUN,       /* all steps that can be done, up to so many */
    REDIS_BIG,       /* as REDIS_COMMAND, with one more argument of 128 bytes each */
    REDIS_QUEUE,     /* connection, a command that belongs to the connection itself */
    REDIS_AGAIN,     /* connection, how often: the command INCR */
    REDIS_OPERATIONS
};

static inline uint8_t redis_operation(enum redis_operation kind, int client)
{
    return (uint8_t)(REDIS_CALL | (unsigned)kind << 3 | (unsigned)client);
}

#endif
