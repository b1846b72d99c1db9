/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A fuzzer's input: bytes for a world, its client programs, and a list of decisions. All bytes are valid.
 *
 * The first FUZZ_HEADER bytes describe the world. They become the text of an exploring scenario, so a finding
 * is a readable scenario file. Missing bytes are 0.
 *
 *   0       clients, 2 to 8               6       budget of each existing kind of fault: 1 to 3
 *   1       servers, 1 to 3               7       faults in all, counted from 3: 3, 4 ... 9, 0, 1, 2
 *   2       FUZZ_USED and other bits      8       seed of the run constants
 *   3       next sequence number          9..16   the programs of the clients
 *   4, 5    set of kinds of fault that this run does not have (swarm testing): bits 0 to 7, 8 to 15
 *
 * Decisions of one or two bytes follow. The high four bits of the first byte choose the kind of action. The
 * low four bits choose the client; for FUZZ_DEFAULT, the number of steps. Neither depends on the decisions
 * before; an impossible decision is skipped. So a decision can be inserted or deleted, and the others keep
 * their kind and client. Behind the decisions, the default schedule and the programs go on to their end. Then
 * all faults end, the same goes on again, and rest is judged. */
#ifndef FUZZ_INPUT_FORMAT_H
#define FUZZ_INPUT_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FUZZ_HEADER 17
#define FUZZ_CLIENTS_MAX 8
#define FUZZ_TEXT_MAX 2048
#define FUZZ_DECISIONS_MAX 4096 /* bytes; further bytes are ignored */

/* Bits of byte 2. */
#define FUZZ_USED 0x01u
#define FUZZ_NO_CONTAINERS 0x02u
#define FUZZ_CALLBACKS_IN_INIT 0x04u
#define FUZZ_KEEP_FRESH 0x08u
#define FUZZ_MINUS_SEVEN 0x10u
#define FUZZ_TWO_LOCKS 0x20u
#define FUZZ_WRAP 0x40u
#define FUZZ_STRANGER 0x80u /* the directory of x contains a node that is no contender */

/* The kind of a decision: the high four bits of its first byte. */
enum fuzz_what {
    FUZZ_DEFAULT,  /* the default schedule, for one to 16 steps (the low bits) */
    FUZZ_DELIVER,  /* the client's next callback */
    FUZZ_APPLY,    /* the server reads the client's next request */
    FUZZ_CONNECT,  /* the client reaches a server, its dead session is removed, or its link ends */
    FUZZ_FIRE,     /* a timer of the client */
    FUZZ_PROGRAM,  /* the next step of the client's program */
    FUZZ_CATCH_UP, /* a follower receives one more transaction; a write commits late */
    FUZZ_HEAL,     /* the end of a fault of the client or of a server */
    /* Decisions of two bytes from here on: the second byte chooses among the possible actions. */
    FUZZ_LOSS,
    FUZZ_EXPIRE,
    FUZZ_PAUSE,
    FUZZ_CRASH,
    FUZZ_REFUSE,
    FUZZ_SERVER, /* lag, late, server, sweep, and own faults of a coordinator */
    FUZZ_CANCEL,
    FUZZ_ALLOC,
    FUZZ_WHATS
};

static inline enum fuzz_what fuzz_what(uint8_t byte)
{
    return (enum fuzz_what)(byte >> 4);
}

static inline size_t fuzz_decision_size(uint8_t byte)
{
    return fuzz_what(byte) >= FUZZ_LOSS ? 2 : 1;
}

/* Writes the scenario of a header, and returns the length of the text. `size` may be less than FUZZ_HEADER.
 * `coordinator` is a name; NULL = ZooKeeper. For other coordinators, bytes 1 and 3 set their own options, and
 * of byte 2 only FUZZ_TWO_LOCKS counts. */
size_t fuzz_scenario_text(const char *coordinator, const uint8_t *bytes, size_t size,
                          char text[FUZZ_TEXT_MAX]);

/* Returns byte 3 for the nearest possible next sequence number. */
uint8_t fuzz_sequence_byte(int32_t preset);

/* Returns the number of programs that bytes 9 to 16 choose from. */
int fuzz_programs(void);

#endif
