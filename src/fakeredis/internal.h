/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Types and functions that the files of the fake share. */
#ifndef FAKEREDIS_INTERNAL_H
#define FAKEREDIS_INTERNAL_H

#include "base/code_ref.h"
#include "fakeredis/fakeredis.h"
#include "fakeredis/script.h"

#include <hiredis/async.h>

#define FAKEREDIS_CLIENTS_MAX 32

enum connection_state {
    CONNECTION_FREE,
    CONNECTION_OPENING, /* the server does not know the connection yet */
    CONNECTION_UP,      /* the server reads from it */
    CONNECTION_BROKEN,  /* the server does not know it any more, or never did; the client may not know that */
};

/* Fields named `reserved` are 0, because states are compared by their bytes. */
struct connection {
    uint8_t state; /* enum connection_state */
    uint8_t server;
    uint8_t connected; /* 1 = the client library has found that the connection is up */
    uint8_t reserved;
    int32_t opens_ms; /* earliest time of the world at which it may be up; 0 in worlds without a clock */
    code_ref on_connect, on_disconnect;
    redisAsyncContext *context; /* in the memory of the process; its flags belong to the connection's state */
};

struct client {
    struct arena_block head;
    uint8_t cut_off, paused, lives;
    uint8_t failing_call; /* as fakeredis_fail_call() has set it, counted down; 0 = none */
    uint8_t apart;        /* bit s = fakeredis_set_apart() of server s */
    uint8_t reserved[3];
    struct connection connection[FAKEREDIS_CONNECTIONS_MAX];
    struct pack_table table;
};

enum {
    CLIENT_CALLS,    /* call_records: sorted by connection, then in the order of their delivery */
    CLIENT_CHANNELS, /* channel_records: sorted by connection, then as finish() calls their callbacks */
};

/* A record is a request, a message, or a notice about the connection. Its payload stands behind it. */
enum call_state {
    CALL_UP = 1,   /* notice that the connection is up */
    CALL_REFUSED,  /* notice that the connection cannot be made */
    CALL_SENT,     /* request that the server has not done; payload: its arguments as a sequence */
    CALL_ANSWERED, /* request whose reply is on the way; payload: its arguments, then the reply's items */
    CALL_LOST,     /* request that gets no reply; payload: its arguments */
    CALL_MESSAGE,  /* message of a channel; payload: its items, in the form of a reply */
    CALL_DOWN,     /* notice that the connection has ended; the last record of a connection */
};

enum {
    CALL_CHANNELS = 1, /* SUBSCRIBE or UNSUBSCRIBE: its replies go to the channels' callbacks */
    CALL_INVALID = 2,  /* sent while listening: instead of an array, NULL comes when the connection ends */
};

struct call_record {
    struct rec rec; /* rec.tag = enum call_state; rec.word = bytes of the payload */
    uint8_t connection, flags;
    uint16_t reserved;
    code_ref fn;
    void *privdata;
    uint32_t args;  /* bytes of the arguments without padding; the reply begins at the next multiple of 8 */
    int32_t due_ms; /* earliest arrival, in ms of the world; 0 = at once */
};

struct channel_record {
    struct rec rec; /* rec.word = bytes of the channel's name, which stands behind the record */
    uint8_t connection;
    uint8_t mute; /* 1 = a command and no channel: its callback runs only when the connection ends */
    uint8_t reserved[2];
    code_ref fn;
    void *privdata;
};

extern struct fakeredis_options the_options;
extern struct arena *the_arena;
extern struct server the_servers[FAKEREDIS_SERVERS_MAX];
extern int the_entered; /* client between fakeredis_enter() and fakeredis_leave(); -1 = none */

struct client *client_read(int client);
struct client *client_mark(int client);
struct pack client_pack(int client);
bool client_is_apart(const struct client *client, int server);
void fake_trouble(const char *format, ...) __attribute__((format(printf, 1, 2)));

int64_t server_now_ms(int server); /* time of the server's own clock; 0 in worlds without a clock */
/* Returns the earliest arrival of the last of `messages` messages; 0 in worlds without a clock. The first
 * of them is sent now, and each other one when the one before arrives. */
int32_t clock_arrival_ms(int messages);
bool clock_has_come(int32_t ms); /* the world's clock has reached `ms`; true in worlds without a clock */

/* ---- link.c: requests, replies and notices on their way ---- */

/* Return whether this step is possible now, or will be by the clock alone. */
bool link_will_connect(int client, int connection);
bool link_will_apply(int client, int connection);
bool link_will_deliver(int client, int connection);

struct call_record *link_first(int client, int connection);
/* Adds a notice behind the connection's other records, but before a CALL_DOWN. */
void link_note(int client, int connection, enum call_state state, int32_t due_ms);
struct call_record *link_first_sent(int client, int connection); /* NULL = the server has done all requests */
/* Returns the arguments of the late request that fakeredis_arrive() would do; NULL bytes = none. */
struct bytes link_first_late(int client);
struct bytes link_args(const struct call_record *record);
struct bytes link_reply(const struct call_record *record); /* the reply's items; no bytes = no reply yet */
void link_remove(int client, struct call_record *record);
/* Sends a command. False = it is too long, or the client's block is full: both are a trouble. */
bool link_send(int client, int connection, const struct sequence *args, code_ref fn, void *privdata,
               unsigned flags);
/* Breaks a connection that its client ends, or loses by a crash. Requests that the server has not done become
 * CALL_LOST, and, if the connection was up, late requests too. */
void link_abandon(int client, int connection);

#define SERVER_BYTES 65528

/* Makes a CALL_ANSWERED of a CALL_SENT, with a reply. A full block changes nothing, and is a trouble. */
void link_replace(int client, struct call_record *record, enum call_state state, struct bytes items);

void link_open_servers(struct arena *arena);

/* Notes that the client library has found the connection up. Leaves the flags of the context to a delivery,
 * because other steps must not write to the memory of the process. */
void client_note_up(int client, int connection);

/* Parses a reply from `used` bytes of items. The result is valid until the next call, or replies_poison();
 * NULL = the reader of hiredis refuses it, or it does not fit into the memory for replies. */
redisReply *replies_parse(const unsigned char *items, size_t used);
/* Overwrites the last parsed reply, so that a later read of it finds other bytes. */
void replies_poison(void);

#endif
