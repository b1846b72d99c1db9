/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A small program that uses the lock: of all its copies, on all machines, one leads, and only that one does the work. It is
 * written to <lockstep/...> alone, so that the same objects are linked with the real client (main.c) and with the fake
 * (test_leader.c). */
#ifndef LEADER_H
#define LEADER_H

#include <lockstep/mutex.h>
#include <lockstep/session.h>
#include <stdatomic.h>

struct leader {
    struct ls_session session;
    struct ls_session_listener listener;
    struct ls_mutex mutex;
    atomic_int terms; /* how often this copy came to lead */
    atomic_int err;   /* what it cannot recover from; 0 = nothing */
    int work;         /* pieces of work done */
};

/* Opens a session and asks for the lead, and for it again whenever it is lost. 0 or a negative enum ls_err. */
int leader_open(struct leader *leader, struct ls_env *env, const char *hosts, const char *path);

/* Gives the lead back and ends the session. */
void leader_close(struct leader *leader);

/* Does a piece of work if this copy is sure to lead. Returns whether it did. */
bool leader_tick(struct leader *leader);

#endif
