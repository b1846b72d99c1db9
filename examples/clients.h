/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Clients of the examples. Each is a thread with an environment and a session of its own, as if it were a
 * process on another machine. */
#ifndef CLIENTS_H
#define CLIENTS_H

#include <lockstep/env_pthread.h>
#include <lockstep/session.h>
#include <pthread.h>
#include <stdbool.h>

struct client {
    const char *kind;                  /* the word for it in messages */
    int number;                        /* 1 and above */
    const char *hosts;                 /* HOST:PORT */
    int (*run)(struct client *client); /* called with the session started; returns 0 or an error code */

    struct ls_env *env;
    struct ls_session session;
    pthread_t thread;
    int err;
};

/* Starts the client's thread; the first four fields are set. Returns false if there is no thread. */
bool client_start(struct client *client);

/* Waits for the end of the client. Returns 0 or an error code, which standard error has been told. */
int client_join(struct client *client);

#endif
