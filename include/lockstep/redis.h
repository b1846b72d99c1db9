/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* struct ls_redis is the client by which locks use a Redis server, through hiredis.
 *
 * Connections: a client has one connection for commands. It has another one for messages from the first
 * wait for a lock on. A client connects again after the end of a connection, with growing delays, until the
 * client fails or is closed. The servers of the connect string are tried in turn. A server that answers
 * READONLY, LOADING, MASTERDOWN or CLUSTERDOWN counts as one that is not there.
 *
 * Memory: the caller allocates the struct, keeps it at its address, and treats its fields as private.
 *
 * Threads: any thread may call any function of this header and of redis_mutex.h, unless its comment says
 * otherwise. One thread at a time uses hiredis. With `attach` it is the thread of the application's loop
 * (ls_redis_fd()). Otherwise it is one of these:
 * - The client's own thread, which connects, renews leases and calls back.
 * - A thread in ls_redis_mutex_acquire(), _try() or _release(), where such calls come close together. It
 *   sends, waits for replies and renews leases until its own call is answered. SIGPIPE is blocked meanwhile.
 *   Such a thread needs 32 KiB of stack. A signal handler that takes long on such a thread delays renewals.
 *
 * Callbacks run with no lock of this library held, and one at a time for each client. They run on the
 * client's own thread or that of the loop, on a timer's thread, or on a thread inside a call of this library.
 * In a callback, a function that may wait returns LS_EDEADLK, unless its mutex is closed. A callback may call
 * all other functions.
 *
 * Fork and signals: as session.h says.
 *
 * hiredis 0.14 has no TLS, so these connections have none. The page docs/operating-redis.md tells the cost
 * of each deployment of Redis for a lock. */
#ifndef LOCKSTEP_REDIS_H
#define LOCKSTEP_REDIS_H

#include <lockstep/env.h>
#include <lockstep/error.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The library exports the functions of its public headers, and nothing else. */
#pragma GCC visibility push(default)

struct ls_redis;
struct redisAsyncContext;
struct redis_lock;  /* private: what a client has of one mutex */
struct redis_claim; /* private: one owner's attempt to hold one mutex */
struct redis_wait;  /* private: one thread that waits for a change of the client */
struct redis_loop;  /* private: the threads that use hiredis */

/* Length of a lease in ms, where the options name none. */
#define LS_REDIS_LEASE_MS 30000

/* Shortest lease in ms. */
#define LS_REDIS_LEASE_MS_MIN 50

/* Longest lease in ms: a day. */
#define LS_REDIS_LEASE_MS_MAX 86400000

/* The options of a client: all zero is valid. The struct, and all that it points to, must outlive the
 * client. */
struct ls_redis_options {
    /* Length of the leases in ms; 0 = LS_REDIS_LEASE_MS. A lease is renewed when a third of it has passed.
     * The belief of a holder ends after nine tenths of it (redis_mutex.h). */
    uint32_t lease_ms;

    int database;         /* number of the database, for SELECT */
    const char *user;     /* user for AUTH; NULL = the default user */
    const char *password; /* password for AUTH; NULL = no AUTH */

    /* `replicas`: number of replicas that must have a grant before it is told, 0 = none; `replicas_ms`:
     * longest wait for their answers in ms, 0 = a third of the lease. A grant that too few replicas have is
     * given back, and tried again unless the acquire is a try. */
    uint32_t replicas;
    uint32_t replicas_ms;

    /* Attaches a new connection to the loop of the application: redisLibeventAttach() or a like function of
     * hiredis. NULL = the client has a thread of its own. `loop` is passed to it. The result 0 says that it
     * was attached. */
    int (*attach)(struct redisAsyncContext *context, void *loop);
    void *loop;
};

enum ls_redis_state {
    LS_REDIS_NEW = 0,    /* the client is initialised and not started */
    LS_REDIS_CONNECTING, /* the connection for commands is being made, or waits for its next attempt */
    LS_REDIS_CONNECTED,  /* the connection for commands is up */
    LS_REDIS_FAILED,     /* terminal: a server has refused the credentials or the database */
    LS_REDIS_CLOSED,     /* the client is closed */
};

/* Private: one connection of a client. */
struct redis_connection {
    struct redisAsyncContext *context; /* NULL = there is none */
    uint8_t greetings;                 /* number of commands for AUTH and SELECT without a reply */
    bool up;                           /* it is connected, and its greetings are answered */
    bool drops;                        /* it is to be ended */
    uint8_t reserved[5];
};

struct ls_redis {
    struct ls_env *env;
    const char *hosts; /* connect string, caller-owned */
    intptr_t options;  /* distance of the options from a constant of the library; 0 = none */
    struct redis_loop *loop;
    struct redis_connection commands;
    struct redis_connection messages;
    struct redis_lock *locks;  /* list of all mutexes, and of closed ones whose key is given back */
    struct redis_claim *notes; /* queue of claims with an answer to deliver */
    struct redis_claim *last_note;
    struct redis_wait *waits; /* list of threads that wait for a change of the client */
    struct ls_timer reconnect_timer;
    struct ls_timer patience_timer; /* it runs while a reply of the connection for commands is to come */
    uint32_t unanswered;            /* number of commands without a reply */
    uint16_t failures;              /* number of failed attempts to connect in a row, saturated */
    uint8_t host;                   /* server of the connect string that is used next */
    uint8_t state;                  /* an enum ls_redis_state */
    int8_t failure;                 /* error behind LS_REDIS_FAILED */
    uint8_t scripts; /* scripts that were sent over the connection for commands, a bit for each */
    bool hears;      /* a connection for messages is wanted */
    bool delivering; /* a thread is calling callbacks */
    bool running;    /* a thread is in lockredis_client_run() */
    bool closing;    /* a thread is in ls_redis_close() */
};

/* Initialises a client. `hosts` is a list of servers, "HOST:PORT,HOST:PORT". A server without a port has
 * 6379. `options` may be NULL. `hosts`, `options` and `env` must outlive the client.
 *
 * LS_EINVAL: an argument is missing, or the options have a number that is out of range. */
int ls_redis_init(struct ls_redis *redis, struct ls_env *env, const char *hosts,
                  const struct ls_redis_options *options);

/* Starts a client: it begins to connect. Without `attach`, this starts the client's thread.
 *
 * LS_EINVAL: the client was started or closed before. LS_ENOMEM: there is no memory, no thread or no
 * descriptor. */
int ls_redis_start(struct ls_redis *redis);

/* Closes a client. Mutexes of the client that are open are closed first (ls_redis_mutex_close()). Keys that
 * are held are given back, if the connection takes the request at once; otherwise their leases end. With
 * `attach` this is legal on the thread of the loop alone.
 *
 * If two threads close a client at once, both return when it is closed. Inside a callback the function
 * returns LS_EDEADLK and closes nothing. */
int ls_redis_close(struct ls_redis *redis);

/* Returns the state of the client at this moment. */
enum ls_redis_state ls_redis_state(const struct ls_redis *redis);

/* Waits until the client is connected. A negative `timeout_ms` waits for ever. The result is one of these:
 * - 0: the client was connected when the function looked.
 * - LS_ETIMEDOUT: the time is over.
 * - LS_ECLOSED: the client is new or closed.
 * - LS_EAUTHFAILED, LS_EREFUSED: the client has failed: a server has refused the credentials or the database.
 * - LS_ENOMEM: there is no memory for a timer.
 * - LS_EDEADLK: the function was called inside a callback. */
int ls_redis_wait_connected(struct ls_redis *redis, int timeout_ms);

/* ---- a loop of the application's ----
 *
 * The options name `attach`. The loop watches the descriptor ls_redis_fd() for input, and calls
 * ls_redis_process() when there is some. Then all calls of hiredis are made by the thread of the loop. That
 * thread must make no call of this library that waits, apart from ls_redis_close(). */

/* Returns the descriptor, or -1 if the client is not started or has a thread of its own. */
int ls_redis_fd(const struct ls_redis *redis);

/* Does what other threads and timers have left to do. Reads the descriptor, so that it is not readable any
 * more. The thread of the loop calls it. */
void ls_redis_process(struct ls_redis *redis);

#pragma GCC visibility pop

#ifdef __cplusplus
}
#endif

#endif
