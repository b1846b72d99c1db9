/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The form of an input of fuzz_redis_calls.
 *
 * REDIS_HEADER bytes say which world it is. Then come operations. A byte below REDIS_CALL is a step of the
 * world: of those that can be done, the one with this number modulo their count. Any other byte is an
 * operation of a client: REDIS_CALL | kind << 3 | client, and the bytes that the kind reads. With
 * REDIS_SERVER in the place of the client it is a fault of a server. Behind the end of the input each byte
 * that is read is 0.
 *
 * Bytes of the header:
 * - 0: number of servers.
 * - 1: bit 0 = a world with a clock. Bit 1 = AUTH is needed.
 * - 2: number of operations before those that are done twice.
 * - 3: bits 0 to 2 = writes that a server may lose at once. Bits 3 and 4 = replicas of each server. Bit 5 = a
 *   server may serve on beside its successor. */
#ifndef FUZZ_REDIS_CALLS_H
#define FUZZ_REDIS_CALLS_H

#include <stdint.h>

#define REDIS_HEADER 4
#define REDIS_CALL 0x80
#define REDIS_SERVER 7
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

/* Each reads a byte: the server, modulo how many there are, and above 2 bits more. */
enum redis_fault {
    REDIS_RESTART, /* above: enum fakeredis_kept */
    REDIS_DETACH,  /* above: 1 = replicas hear nothing any more, 0 = they hear again */
    REDIS_FLUSH,
    REDIS_JUMP,   /* and a byte more: seconds */
    REDIS_EVICT,  /* above: index of the key */
    REDIS_REJECT, /* no server, but client and connection whose first request is answered with an error */
    REDIS_PART,   /* above: client, modulo how many there are, and whether nothing passes between the two */
    REDIS_SPLIT,  /* above: 0 = the server splits, 1 = the former one rejoins */
    REDIS_FAULTS
};

static inline uint8_t redis_fault(enum redis_fault fault)
{
    return (uint8_t)(REDIS_CALL | (unsigned)fault << 3 | REDIS_SERVER);
}

static inline uint8_t redis_operation(enum redis_operation kind, int client)
{
    return (uint8_t)(REDIS_CALL | (unsigned)kind << 3 | (unsigned)client);
}

#endif
