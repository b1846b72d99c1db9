/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Redis servers and the asynchronous client of hiredis 0.14, in memory.
 *
 * A program that is linked with this fake calls the functions of <hiredis/async.h>, and gets those of
 * client.c instead of the library's. Requests are formatted, and replies parsed, by the real library.
 * Nothing happens by itself: a call queues a request, and the functions below are the steps in which
 * servers and client library go on.
 *
 * Places. Each server and each client is one block of the arena. A redisAsyncContext lies in the memory of
 * its process.
 *
 * Order. Requests of one connection are done in their order, and so are its replies. Two connections have
 * no order. */
#ifndef FAKEREDIS_FAKEREDIS_H
#define FAKEREDIS_FAKEREDIS_H

#include "fakeredis/command.h"

#define FAKEREDIS_CONNECTIONS_MAX 8
#define FAKEREDIS_SERVERS_MAX 10 /* with those for former ones */
#define FAKEREDIS_PORT 6379      /* of the first server; the next ones have the next ports */

enum fakeredis_event_kind {
    FAKEREDIS_UP,      /* right before a client is told that a connection is up */
    FAKEREDIS_DOWN,    /* right before it is told that one has ended */
    FAKEREDIS_REQUEST, /* a client sends a command */
    FAKEREDIS_KEY,     /* a key has changed, or is about to go */
    FAKEREDIS_LOST,    /* right before a client is told that a command has no reply */
    FAKEREDIS_UNDONE,  /* a server has lost a write */
};

struct fakeredis_event {
    enum fakeredis_event_kind kind;
    int server;                    /* of KEY, LOST and UNDONE */
    int client;                    /* of a key: whose command changed it, -1 = nobody's */
    int life;                      /* lives of that client that were over when it sent the command */
    int connection;                /* of UP, DOWN, REQUEST and LOST */
    struct bytes args;             /* of LOST: the command, as a sequence */
    const struct key *key;         /* of a key */
    enum key_change change;        /* of a key */
    const struct lost_write *lost; /* of UNDONE */
};

struct fakeredis_options {
    int clients, servers;
    int replicas;                       /* of each server */
    int lag;                            /* writes at most that a server may lose at once */
    bool splits;                        /* a server may serve on beside its successor: fakeredis_split() */
    bool timed;                         /* without a clock the next three mean nothing */
    int latency_min_ms, latency_max_ms; /* of a message, one way */
    int drift;            /* thousandths by which the clocks of servers run faster than the world's */
    const char *password; /* NULL = none */
    int32_t (*now_ms)(void);
    void *(*alloc)(int client, size_t size);
    void (*free)(int client, void *memory);
    void (*before_callback)(void); /* NULL = nothing */
    bool (*stopping)(void);        /* returns whether the process that calls is ending */
    void (*observe)(const struct fakeredis_event *event);
};

void fakeredis_open(struct arena *arena, const struct fakeredis_options *options);

/* The first limit or call of a function that the fake does not have, or NULL. */
const char *fakeredis_trouble(void);

/* ---- clients ---- */

void fakeredis_enter(int client);
void fakeredis_leave(void);
void fakeredis_pause(int client, bool on);
void fakeredis_crash(int client);
void fakeredis_fail_call(int client, int n);
int fakeredis_failing_call(int client);

/* Nothing passes between client and servers. */
void fakeredis_set_cut_off(int client, bool on);
bool fakeredis_is_cut_off(int client);

/* Nothing passes between the client and one server. The end of the client's life ends that. */
void fakeredis_set_apart(int client, int server, bool on);
bool fakeredis_is_apart(int client, int server);
bool fakeredis_is_paused(int client);

/* How many lives of the client are over: it was stopped, or it crashed. */
int fakeredis_lives(int client);

/* ---- connections: `connection` is a place from 0 to FAKEREDIS_CONNECTIONS_MAX - 1 ---- */

bool fakeredis_has_open(int client); /* a connection */
bool fakeredis_is_open(int client, int connection);
bool fakeredis_is_up(int client, int connection);
bool fakeredis_awaits(int client, int connection);  /* a reply, or word of its loss, has not been delivered */
bool fakeredis_is_idle(int client, int connection); /* nothing at all has to be done or delivered */
/* Its client waits for a reply, or for it to come up, and is apart from its server, or cut off. */
bool fakeredis_is_stalled(int client, int connection);

/* Something will be done or delivered, now or by the clock. */
bool fakeredis_goes_on(int client, int connection);

bool fakeredis_can_apply(int client, int connection);
bool fakeredis_can_deliver(int client, int connection);
bool fakeredis_can_connect(int client, int connection);
bool fakeredis_can_arrive(int client); /* a request of a connection that has ended may still be done */

/* The server does the first request of the connection. Returns whether a value has changed, or a message
 * was sent. */
bool fakeredis_apply(int client, int connection);
void fakeredis_connect(int client, int connection);
bool fakeredis_arrive(int client);

enum { FAKEREDIS_ANSWER = 1, FAKEREDIS_LINK = 2, FAKEREDIS_MESSAGE = 4 };
/* Delivers what is first. Returns what it was, as bits; 0 = a loss. */
unsigned fakeredis_deliver(int client, int connection);

/* How many replies are on their way to the client, and how many requests to the server. */
int fakeredis_replies(int client, int connection);
int fakeredis_requests(int client, int connection);

/* Whether a request of the client to this server that names this key has not been answered, or the answer
 * has not been delivered. */
bool fakeredis_asks_about(int client, int server, struct bytes key);
/* Whether a command names this key. */
bool fakeredis_names(struct bytes args, struct bytes key);

/* The connection breaks. The first `keep` replies still arrive, and the first `apply` requests are still
 * done; with `late` the last of these is done some time later. */
void fakeredis_cut(int client, int connection, int keep, int apply, bool late);

/* ---- the clock ---- */

/* Returns the next moment after now at which a message may arrive, or a lease ends; INT32_MAX = none. Time
 * may not pass *limit: then a message has arrived, or a lease is over. */
int32_t fakeredis_next_ms(int32_t *limit);

/* ---- keys ---- */

/* The index-th key of a server; NULL behind the last. */
struct key *fakeredis_key(int server, int index);
void fakeredis_expire(int server, int index);
bool fakeredis_is_over(int server, const struct key *key); /* by the server's clock its lease has ended */
void fakeredis_evict(int server, int index);               /* the server drops the key */
int fakeredis_server_block(int server);
int fakeredis_client_block(int client);
struct redisAsyncContext *fakeredis_context(int client, int connection); /* NULL = there is none */

/* ---- faults of servers ---- */

/* A server ends, and another life of it begins at once. Connections to it break, its scripts are forgotten,
 * and what it has not read is lost. */
enum fakeredis_kept {
    FAKEREDIS_KEEPS_ALL,
    FAKEREDIS_KEEPS_SAFE, /* all but the writes that its replica, or its log, may lack */
    FAKEREDIS_KEEPS_NONE,
};
void fakeredis_restart(int server, enum fakeredis_kept kept);

bool fakeredis_has_scripts(int server);
void fakeredis_flush(int server); /* it forgets its scripts */

/* The replicas of a server hear nothing from it: WAIT counts none of them. */
void fakeredis_detach(int server, bool on);
bool fakeredis_is_detached(int server);

/* The clock of a server jumps forward. In a world without a clock all leases end. */
void fakeredis_jump(int server, int32_t ms);

/* A replica takes the place of a server, without the writes that it may lack. The former server serves on for
 * the connections that it has. From then on it has the number `options.servers + server`, and no replica
 * hears it. */
void fakeredis_split(int server);
bool fakeredis_is_split(int server);
/* The former server becomes a replica of its successor. Connections to it break, and it loses all that it
 * has. */
void fakeredis_rejoin(int server);

/* The number of servers, with those for former ones. */
int fakeredis_servers(void);
/* The client has a connection to the server that is up. */
bool fakeredis_is_linked(int client, int server);

/* The server answers the first request of the connection with an error, and does not do it. */
void fakeredis_reject(int client, int connection, const char *error);

/* ---- texts ---- */

/* What apply, deliver or arrive would do: "set", "eval-reply", "up", "message". */
void fakeredis_describe_apply(int client, int connection, char *text, size_t size);
void fakeredis_describe_deliver(int client, int connection, char *text, size_t size);
void fakeredis_describe_arrive(int client, char *text, size_t size);
void fakeredis_dump(char *text, size_t size);

#endif
