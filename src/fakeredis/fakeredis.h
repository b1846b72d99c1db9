/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Redis servers and the asynchronous client of hiredis 0.14, in memory.
 *
 * A program that is linked with this fake calls the functions of <hiredis/async.h>, and gets those of
 * client.c instead of the library's. Requests are formatted, and replies parsed, by the real library.
 * Nothing happens by itself: a call queues a request, and the functions below are the steps of servers and
 * of the client library.
 *
 * Places. Each server and each client has one block of the arena. A redisAsyncContext lies in the memory of
 * its process.
 *
 * Order. A server does the requests of one connection in the order of their calls, and its replies arrive in
 * that order. Requests of two connections have no order. */
#ifndef FAKEREDIS_FAKEREDIS_H
#define FAKEREDIS_FAKEREDIS_H

#include "fakeredis/command.h"

#define FAKEREDIS_CONNECTIONS_MAX 8
#define FAKEREDIS_SERVERS_MAX 10 /* former servers included: fakeredis_servers() */
#define FAKEREDIS_PORT 6379      /* of server 0; server s has the port FAKEREDIS_PORT + s */

enum fakeredis_event_kind {
    FAKEREDIS_UP,      /* a client learns that its connection is up; comes before its callback */
    FAKEREDIS_DOWN,    /* a client learns that its connection has ended; comes before its callbacks */
    FAKEREDIS_REQUEST, /* a client sends a command */
    FAKEREDIS_KEY,     /* a key has changed, or is about to be deleted: `changed` of struct server */
    FAKEREDIS_LOST,    /* a client learns that a command has no reply; comes before its callback */
    FAKEREDIS_UNDONE,  /* a server has lost the change of one key by a write */
};

struct fakeredis_event {
    enum fakeredis_event_kind kind;
    int server;                    /* of KEY, LOST and UNDONE */
    int client;                    /* -1 in UNDONE; without meaning in KEY if no command made the change */
    int life;                      /* of KEY: fakeredis_lives() of the client when it sent the command */
    int connection;                /* of UP, DOWN, REQUEST and LOST */
    struct bytes args;             /* of REQUEST and LOST: the command, as a sequence */
    const struct key *key;         /* of KEY and UNDONE; in UNDONE NULL = the key does not exist now */
    enum key_change change;        /* of KEY; a command makes KEY_WRITTEN, KEY_LEASED and KEY_DELETED */
    const struct lost_write *lost; /* of UNDONE */
};

struct fakeredis_options {
    int clients, servers;
    int replicas;                       /* of each server */
    int lag;                            /* number of writes that a server may lose at once, at most */
    bool log_lags;                      /* a restart may lose writes that replicas have */
    bool splits;                        /* fakeredis_split() is allowed */
    bool timed;                         /* the world has a clock; false = the next three are unused */
    int latency_min_ms, latency_max_ms; /* of a message, one way */
    int drift;            /* thousandths by which the clocks of servers run faster than the world's */
    const char *password; /* NULL = none */
    int32_t (*now_ms)(void);
    void *(*alloc)(int client, size_t size);
    void (*free)(int client, void *memory);
    void (*before_callback)(void); /* runs before each callback of a client; may be NULL */
    bool (*stopping)(void);        /* returns whether the process whose code runs now is ending */
    void (*observe)(const struct fakeredis_event *event);
};

void fakeredis_open(struct arena *arena, const struct fakeredis_options *options);

/* Returns the text of the first trouble since fakeredis_open(); NULL = none. A trouble is a limit of the fake
 * that was reached, a function or a command that the fake lacks, or a call with a wrong argument. */
const char *fakeredis_trouble(void);

/* Calls of hiredis between fakeredis_enter() and fakeredis_leave() are calls of this client. */
void fakeredis_enter(int client);
void fakeredis_leave(void);
void fakeredis_pause(int client, bool on);
void fakeredis_crash(int client);
/* Lets the n-th next call of the client that needs memory fail; 0 = none fails. */
void fakeredis_fail_call(int client, int n);
int fakeredis_failing_call(int client);

/* Cuts the client off: nothing passes between it and any server. */
void fakeredis_set_cut_off(int client, bool on);
bool fakeredis_is_cut_off(int client);

/* Sets client and server apart, or joins them (`on` is false). While they are apart, nothing passes between
 * the two; replies that a cut has kept are still delivered. The end of the client's life joins them, too.
 * `server` is below `options.servers`; its former server is apart with it. */
void fakeredis_set_apart(int client, int server, bool on);
bool fakeredis_is_apart(int client, int server);
bool fakeredis_is_paused(int client);

/* Returns the number of lives of the client that are over. A crash ends a life. A stop ends one when it ends
 * the last open connection. */
int fakeredis_lives(int client);

/* ---- connections: `connection` is a place from 0 to FAKEREDIS_CONNECTIONS_MAX - 1 ---- */

bool fakeredis_has_open(int client);
bool fakeredis_is_open(int client, int connection);
bool fakeredis_is_up(int client, int connection);
/* Returns whether a command has had neither its reply nor the notice of its loss. */
bool fakeredis_awaits(int client, int connection);
/* Returns whether the connection has no request, reply, message or notice, and cannot come up now or by the
 * clock alone. */
bool fakeredis_is_idle(int client, int connection);
/* Returns whether the connection waits for a reply or for coming up, and the client is apart from its
 * server or cut off. */
bool fakeredis_is_stalled(int client, int connection);

/* Returns whether a step of the connection is possible now, or will be by the clock alone. */
bool fakeredis_goes_on(int client, int connection);

bool fakeredis_can_apply(int client, int connection);
bool fakeredis_can_deliver(int client, int connection);
bool fakeredis_can_connect(int client, int connection);
bool fakeredis_can_arrive(int client); /* a server has a late request of the client */

/* Lets the server do the first request of the connection. Returns whether that has set a value, removed a
 * key, or sent a message to a channel. */
bool fakeredis_apply(int client, int connection);
void fakeredis_connect(int client, int connection);
/* Lets a server do the client's first late request, whose connection has ended. Returns as fakeredis_apply()
 * does. */
bool fakeredis_arrive(int client);

enum { FAKEREDIS_ANSWER = 1, FAKEREDIS_LINK = 2, FAKEREDIS_MESSAGE = 4 };
/* Precondition: fakeredis_can_deliver(). Returns FAKEREDIS_MESSAGE for a message of a channel. Returns
 * FAKEREDIS_LINK if the client learns that the connection is up, could not be made, or has ended. Otherwise
 * returns FAKEREDIS_ANSWER, for a reply. */
unsigned fakeredis_deliver(int client, int connection);

int fakeredis_replies(int client, int connection);  /* number of replies and messages under way */
int fakeredis_requests(int client, int connection); /* number of requests that the server has not done */

/* Returns whether a request of the client to this server has this key among its arguments, and no callback
 * has told its end yet. */
bool fakeredis_asks_about(int client, int server, struct bytes key);
bool fakeredis_names(struct bytes args, struct bytes key); /* an argument in this sequence is the key */

/* Breaks a connection that is up. The first `keep` replies and messages under way still arrive. The server
 * still does the first `apply` requests, whose replies are lost; with `late`, the last of these requests
 * becomes a late one, which fakeredis_arrive() does. */
void fakeredis_cut(int client, int connection, int keep, int apply, bool late);

/* Returns the next moment after now at which a message may or must arrive, or a lease ends; INT32_MAX = none.
 * Sets *limit to the moment that time must not pass before a message arrives or a key expires. */
int32_t fakeredis_next_ms(int32_t *limit);

/* Returns the index-th key of a server, from 0 on; NULL = the server has fewer keys. */
struct key *fakeredis_key(int server, int index);
/* Deletes the index-th key because its lease is over, as the caller decides. */
void fakeredis_expire(int server, int index);
bool fakeredis_is_over(int server, const struct key *key); /* by the server's clock its lease has ended */
void fakeredis_evict(int server, int index);
int fakeredis_server_block(int server);
int fakeredis_client_block(int client);
struct redisAsyncContext *fakeredis_context(int client, int connection); /* NULL = the place is free */

/* ---- faults of servers ---- */

/* The keys that a server still has after a restart. */
enum fakeredis_kept {
    FAKEREDIS_KEEPS_ALL,
    FAKEREDIS_KEEPS_REPLICATED, /* those that a replica has for sure: a failover */
    FAKEREDIS_KEEPS_LOGGED,     /* those before the writes of its backlog (backlog.h) */
    FAKEREDIS_KEEPS_NONE,
};
/* Restarts a server. Its connections that are up break at once, and its scripts and late requests are
 * lost. */
void fakeredis_restart(int server, enum fakeredis_kept kept);

bool fakeredis_has_scripts(int server);
void fakeredis_flush(int server); /* clears the script cache */

/* Detaches or attaches the replicas of a server. WAIT counts no detached replica. */
void fakeredis_detach(int server, bool on);
bool fakeredis_is_detached(int server);

/* Moves the clock of a server `ms` forward. In a world without a clock, the server loses all keys that have a
 * lease. */
void fakeredis_jump(int server, int32_t ms);

/* Puts a replica into the place of a server: its successor, which lacks the writes of the backlog. The former
 * server keeps its keys, its connections that are up, its scripts and its late requests. Its number is
 * `options.servers + server` from then on. It counts as detached from its replicas. */
void fakeredis_split(int server);
bool fakeredis_is_split(int server);
/* Ends the split: connections to the former server break, and its keys, scripts and late requests are
 * lost. */
void fakeredis_rejoin(int server);

/* Returns the number of servers, former ones included: with `options.splits` twice `options.servers`. */
int fakeredis_servers(void);
bool fakeredis_is_linked(int client, int server); /* by at least one connection that is up */

/* Lets the server answer the first request of the connection with an error, in place of doing it. */
void fakeredis_reject(int client, int connection, const char *error);

/* Write a word for the step that the function of this name would do: the command's name for apply and arrive;
 * "up", "refused", "reply", "message" or "down" for deliver. An empty text = no step. */
void fakeredis_describe_apply(int client, int connection, char *text, size_t size);
void fakeredis_describe_deliver(int client, int connection, char *text, size_t size);
void fakeredis_describe_arrive(int client, char *text, size_t size);
void fakeredis_dump(char *text, size_t size);

/* ---- texts for people (texts.c) ---- */

/* Writes a command: its words, with the number of bytes in place of a long or binary word. */
void fakeredis_tell_request(struct bytes args, char *text, size_t size);
/* Write the command that the function of this name would do; an empty text = none. */
void fakeredis_tell_apply(int client, int connection, char *text, size_t size);
void fakeredis_tell_arrive(int client, char *text, size_t size);

enum fakeredis_carried {
    FAKEREDIS_CARRIES_LINK,
    FAKEREDIS_CARRIES_REPLY,
    FAKEREDIS_CARRIES_LOSS, /* notice that a command has no reply */
    FAKEREDIS_CARRIES_MESSAGE,
};
/* Writes what the next delivery brings, and returns its kind. */
enum fakeredis_carried fakeredis_tell_deliver(int client, int connection, char *text, size_t size);

int fakeredis_messages(int client);                  /* number of messages of channels that are under way */
int fakeredis_server_of(int client, int connection); /* number of the server of an open connection */

#endif
