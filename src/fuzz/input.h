/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What the bytes of a fuzzer's input mean: a world, its client programs, and a list of decisions. Any bytes are a valid run.
 *
 * The first FUZZ_HEADER bytes say which world it is. They become the text of an exploring scenario, which is then read like any
 * other: what a finding shows is a scenario file that anybody can read. Each byte stands for itself, so that a small mutation is
 * a small change of the world, and bytes that are missing are 0.
 *
 *   0       clients, 2 to 8               6       budget of each kind of fault that there is: 1 to 3
 *   1       servers, 1 to 3               7       faults in all, 0 to 9, counted from 3 on: 3, 4 ... 9, 0, 1, 2
 *   2       FUZZ_USED and other bits      8       seed of the run constants
 *   3       next sequence number          9..16   the programs of the clients
 *   4, 5    which kinds of fault do not exist in this run (swarm testing): a bit for each
 *
 * Behind it stand decisions of one or two bytes. The high four bits of the first one say what happens, the low four bits to
 * whom, both in terms that mean the same wherever the decision stands; what is not possible there is passed over. So an
 * inserted or deleted decision leaves the others what they are. When the decisions end, the default schedule goes on until the
 * programs have ended, all faults end, and rest is judged: no run ends in the middle. */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FUZZ_HEADER 17
#define FUZZ_CLIENTS_MAX 8
#define FUZZ_TEXT_MAX 2048
#define FUZZ_DECISIONS_MAX 4096 /* bytes; what is behind them is not looked at */

/* Bits of byte 2. */
#define FUZZ_USED 0x01u
#define FUZZ_NO_CONTAINERS 0x02u
#define FUZZ_CALLBACKS_IN_INIT 0x04u
#define FUZZ_KEEP_FRESH 0x08u
#define FUZZ_MINUS_SEVEN 0x10u
#define FUZZ_TWO_LOCKS 0x20u
#define FUZZ_WRAP 0x40u
#define FUZZ_STRANGER 0x80u /* something lies in the directory of x that is no contender */

/* What a decision is about: the high four bits of its first byte. */
enum fuzz_what {
    FUZZ_DEFAULT,  /* the default schedule, for one to 16 steps (the low bits) */
    FUZZ_DELIVER,  /* the client's next callback */
    FUZZ_APPLY,    /* the server reads the client's next request */
    FUZZ_CONNECT,  /* the client reaches a server, its session is buried, a link is hung up */
    FUZZ_FIRE,     /* a timer of the client */
    FUZZ_PROGRAM,  /* the next step of the client's program */
    FUZZ_CATCH_UP, /* a follower hears of one more transaction; a write commits late */
    FUZZ_HEAL,     /* what ends a fault of the client or of a server */
    /* From here on two bytes: the second one chooses between what is possible. */
    FUZZ_LOSS,
    FUZZ_EXPIRE,
    FUZZ_PAUSE,
    FUZZ_CRASH,
    FUZZ_REFUSE,
    FUZZ_SERVER, /* lag, late, restart, sweep: what befalls servers and directories */
    FUZZ_CANCEL,
    FUZZ_ALLOC,
    FUZZ_WHATS
};

static inline enum fuzz_what fuzz_what(uint8_t byte)
{
    return (enum fuzz_what)(byte >> 4);
}

/* Bytes of the decision that begins with this one. */
static inline size_t fuzz_decision_size(uint8_t byte)
{
    return fuzz_what(byte) >= FUZZ_LOSS ? 2 : 1;
}

/* Writes the scenario that a header stands for, and returns the length of the text. `size` may be less than FUZZ_HEADER. The
 * world is one of the coordinator with that name; NULL = ZooKeeper. For another coordinator the header's options of
 * servers and directories mean nothing. */
size_t fuzz_scenario_text(const char *coordinator, const uint8_t *bytes, size_t size,
                          char text[FUZZ_TEXT_MAX]);

/* Byte 3 for the next sequence number that comes nearest. */
uint8_t fuzz_sequence_byte(int32_t preset);

/* How many programs there are for bytes 9 to 16 to choose from. */
int fuzz_programs(void);

#endif
