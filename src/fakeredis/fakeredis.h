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
    int client;                    /* client of the event; of KEY see `change`; of UNDONE -1 */
    int life;                      /* of KEY: lives of the client that were over when it sent the command */
    int connection;                /* of UP, DOWN, REQUEST and LOST */
    struct bytes args;             /* of LOST: the command, as a sequence */
    const struct key *key;         /* of KEY and UNDONE; of UNDONE NULL = the key does not exist now */
    enum key_change change;        /* of KEY; a command made it if it is WRITTEN, LEASED or DELETED */
    const struct lost_write *lost; /* of UNDONE */
};

struct fakeredis_options {
    int clients, servers;
    int replicas;                       /* number of replicas of each server */
    int lag;                            /* number of writes that a server may lose at once, at most */
    bool splits;                        /* a server may serve on beside its successor: fakeredis_split() */
    bool timed;                         /* the world has a clock; otherwise the next three are unused */
    int latency_min_ms, latency_max_ms; /* of a message, one way */
    int drift;            /* thousandths by which the clocks of servers run faster than the world's */
    const char *password; /* NULL = none */
    int32_t (*now_ms)(void);
    void *(*alloc)(int client, size_t size);
    void (*free)(int client, void *memory);
    void (*before_callback)(void); /* runs before each callback of a client; NULL = no function */
    bool (*stopping)(void);        /* returns whether the process that runs now is ending */
    void (*observe)(const struct fakeredis_event *event);
};

void fakeredis_open(struct arena *arena, const struct fakeredis_options *options);

/* Returns the text of the first trouble after fakeredis_open(), or NULL if there was none. Trouble is a limit
 * of the fake that was reached, or a call of a function that the fake does not have. */
const char *fakeredis_trouble(void);

/* ---- clients ---- */

/* Calls of hiredis between these two are calls of this client. */
void fakeredis_enter(int client);
void fakeredis_leave(void);
void fakeredis_pause(int client, bool on);
void fakeredis_crash(int client);
/* Lets the n-th next call of the client that needs memory find none; 0 = all calls find memory. */
void fakeredis_fail_call(int client, int n);
int fakeredis_failing_call(int client);

/* Cuts the client off: nothing passes between it and any server. */
void fakeredis_set_cut_off(int client, bool on);
bool fakeredis_is_cut_off(int client);

/* Sets client and server apart: nothing passes between the two. The end of the client's life ends this. */
void fakeredis_set_apart(int client, int server, bool on);
bool fakeredis_is_apart(int client, int server);
bool fakeredis_is_paused(int client);

/* Returns how many lives of the client are over. A stop or a crash ends a life. */
int fakeredis_lives(int client);

/* ---- connections: `connection` is a place from 0 to FAKEREDIS_CONNECTIONS_MAX - 1 ---- */

bool fakeredis_has_open(int client); /* at least one connection */
bool fakeredis_is_open(int client, int connection);
bool fakeredis_is_up(int client, int connection);
/* Returns whether a reply, or the notice of its loss, has still to be delivered. */
bool fakeredis_awaits(int client, int connection);
/* Returns whether the connection has no request, no reply and no notice, and is not about to connect. */
bool fakeredis_is_idle(int client, int connection);
/* Returns whether the client waits for a reply, or for the connection to come up, and is apart from its
 * server, or cut off. */
bool fakeredis_is_stalled(int client, int connection);

/* Returns whether a step of the connection is possible now, or will be at a later time of the clock. */
bool fakeredis_goes_on(int client, int connection);

bool fakeredis_can_apply(int client, int connection);
bool fakeredis_can_deliver(int client, int connection);
bool fakeredis_can_connect(int client, int connection);
bool fakeredis_can_arrive(int client); /* a request of a connection that has ended may still be done */

/* Lets the server do the first request of the connection. Returns whether a value has changed, or a message
 * was sent. */
bool fakeredis_apply(int client, int connection);
void fakeredis_connect(int client, int connection);
bool fakeredis_arrive(int client);

enum { FAKEREDIS_ANSWER = 1, FAKEREDIS_LINK = 2, FAKEREDIS_MESSAGE = 4 };
/* Delivers the first reply, message or notice of the connection. Returns which of them it was, as one of the
 * bits above. Precondition: fakeredis_can_deliver(). */
unsigned fakeredis_deliver(int client, int connection);

/* Return how many replies and messages are on their way to the client, or how many requests to the
 * server. */
int fakeredis_replies(int client, int connection);
int fakeredis_requests(int client, int connection);

/* Returns whether a request of the client to this server names this key, and its reply, or the notice of its
 * loss, has still to be delivered. */
bool fakeredis_asks_about(int client, int server, struct bytes key);
/* Returns whether an argument of the command is this key. */
bool fakeredis_names(struct bytes args, struct bytes key);

/* Breaks the connection. The first `keep` replies still arrive, and the server still does the first `apply`
 * requests. With `late` it does the last of these some time later. */
void fakeredis_cut(int client, int connection, int keep, int apply, bool late);

/* ---- the clock ---- */

/* Returns the next moment after now at which a message may arrive, or a lease ends; INT32_MAX = none. Sets
 * *limit to the moment that time may not pass: by then a message has arrived, or a lease is over. */
int32_t fakeredis_next_ms(int32_t *limit);

/* ---- keys ---- */

/* Returns the index-th key of a server, counted from 0; NULL = the server has fewer keys. */
struct key *fakeredis_key(int server, int index);
/* Ends the lease of the index-th key, which deletes the key. The caller decides that the lease is over. */
void fakeredis_expire(int server, int index);
bool fakeredis_is_over(int server, const struct key *key); /* by the server's clock its lease has ended */
void fakeredis_evict(int server, int index);               /* the server drops the key */
int fakeredis_server_block(int server);
int fakeredis_client_block(int client);
struct redisAsyncContext *fakeredis_context(int client, int connection); /* NULL = the place is free */

/* ---- faults of servers ---- */

/* Which keys a server still has after a restart. */
enum fakeredis_kept {
    FAKEREDIS_KEEPS_ALL,
    FAKEREDIS_KEEPS_SAFE, /* all but the writes that its replica, or its log, may lack */
    FAKEREDIS_KEEPS_NONE,
};
/* Ends the life of a server, and begins the next one at once. Connections to the server break. Its script
 * cache and the requests that it has not read are lost. */
void fakeredis_restart(int server, enum fakeredis_kept kept);

bool fakeredis_has_scripts(int server);
void fakeredis_flush(int server); /* clears the script cache */

/* Detaches the replicas of a server: they hear nothing from it, and WAIT counts none of them. */
void fakeredis_detach(int server, bool on);
bool fakeredis_is_detached(int server);

/* Moves the clock of a server forward. In a world without a clock all leases of the server end instead. */
void fakeredis_jump(int server, int32_t ms);

/* Puts a replica into the place of a server, without the writes that it may lack. The former server serves on
 * for the connections that it has. From then on its number is `options.servers + server`, and no replica
 * hears it. */
void fakeredis_split(int server);
bool fakeredis_is_split(int server);
/* Makes the former server a replica of its successor. Connections to the former server break, and it loses
 * all its keys and scripts. */
void fakeredis_rejoin(int server);

/* Returns how many numbers of servers there are, those of former servers included. */
int fakeredis_servers(void);
/* Returns whether a connection of the client to the server is up. */
bool fakeredis_is_linked(int client, int server);

/* Lets the server answer the first request of the connection with an error, in place of doing it. */
void fakeredis_reject(int client, int connection, const char *error);

/* ---- texts ---- */

/* Write the word of the step that apply, deliver or arrive would do: the command's name for apply and arrive;
 * "up", "refused", "reply", "message" or "down" for deliver. No step gives an empty text. */
void fakeredis_describe_apply(int client, int connection, char *text, size_t size);
void fakeredis_describe_deliver(int client, int connection, char *text, size_t size);
void fakeredis_describe_arrive(int client, char *text, size_t size);
void fakeredis_dump(char *text, size_t size);

#endif
