/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The mutex with every operation as one step: N clients (at most 5) take the lock K times each (at most 7), the servers
 * give up E sessions, and a client learns of that later.
 * Contains: create, list, exists with its watch, release and expiry as one step each; what has been fired and not been
 * noticed; what is gone and not been noticed. Asserts that at most one client holds the lock by the servers' account.
 * Leaves out: messages, connections, replies that are lost, timers, cancelled attempts, sequence numbers (the queue is a
 * list), the lock library.
 *
 * One process with one d_step for each operation of each client, so that a step is one transition and nothing is stored
 * between. What is known of a client shares one byte. */
#ifndef N
#define N 3
#endif
#ifndef K
#define K 2
#endif
#ifndef E
#define E 2
#endif

/* The queue: who stands where, in the order of creation; 0 = nobody. An entry is (client + 1) * 8 + rounds left. */
byte q[N];
byte length;
byte eb = E;
/* Of each client: bits 0-2 where it is, bit 3 its watch has fired, bit 4 its session is gone and it does not know, bits
 * 5-7 rounds left. */
byte c[N] = (K << 5);
byte w[N]; /* the entry that it watches */

#define IDLE 0
#define LIST 1
#define WATCH 2
#define WAIT 3
#define HOLD 4
#define PC(x) (c[x] & 7)
#define HERE(x) (c[x] & 23) /* PC(x), and its session is not gone */
#define FIRED 8
#define GONE 16
#define ROUND 32
#define BECOME(x, y) c[x] = (c[x] & 248) | y

/* Scratch. Hidden variables are no part of a state, but a search on several cores cannot have them: it gets a 0 in each at
 * the end of a step. */
#ifdef CORES
byte p, j, v;
#define END ; p = 0; j = 0; v = 0
#else
hidden byte p, j, v;
#define END
#endif

/* Where client x stands in the queue. */
#define FIND(x) p = 0; do :: (q[p] >> 3) != x + 1 -> p++ :: else -> break od

/* Takes the p-th out and fires the watches on it. */
#define REMOVE \
    v = q[p]; \
    do :: p + 1 < length -> q[p] = q[p + 1]; p++ :: else -> break od; \
    length--; q[length] = 0; j = 0; \
    do \
    :: j < N -> if :: PC(j) == WAIT && w[j] == v -> c[j] = c[j] | FIRED :: else fi; j++ \
    :: else -> break \
    od

/* The holder that has just become one is alone. Only then can there be one more. */
#define ALONE(x) \
    j = 0; do :: j < N -> assert(j == x || HERE(j) != HOLD); j++ :: else -> break od

#define CLIENT(x) \
    :: d_step { PC(x) == IDLE && c[x] >= ROUND -> \
        q[length] = ((x + 1) << 3) | (c[x] >> 5); length++; c[x] = c[x] - ROUND + LIST END } \
    :: d_step { HERE(x) == LIST -> FIND(x); \
        if :: p == 0 -> BECOME(x, HOLD); ALONE(x) :: else -> BECOME(x, WATCH); w[x] = q[p - 1] fi END } \
    :: d_step { HERE(x) == WATCH -> p = 0; \
        do :: p < length && q[p] != w[x] -> p++ :: else -> break od; \
        if :: p < length -> BECOME(x, WAIT) :: else -> BECOME(x, LIST); w[x] = 0 fi END } \
    :: d_step { (c[x] & 31) == (WAIT | FIRED) -> c[x] = (c[x] & 224) | LIST; w[x] = 0 END } \
    :: d_step { HERE(x) == HOLD -> FIND(x); REMOVE; BECOME(x, IDLE) END } \
    :: d_step { eb > 0 && PC(x) != IDLE && !(c[x] & GONE) -> FIND(x); REMOVE; eb--; c[x] = c[x] | GONE END } \
    :: d_step { (c[x] & GONE) -> c[x] = c[x] & 224; w[x] = 0 END }

active proctype all() {
end:
    do
    CLIENT(0)
#if N > 1
    CLIENT(1)
#endif
#if N > 2
    CLIENT(2)
#endif
#if N > 3
    CLIENT(3)
#endif
#if N > 4
    CLIENT(4)
#endif
    od
}
