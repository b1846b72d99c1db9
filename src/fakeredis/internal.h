/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What the files of the fake share. */
#ifndef FAKEREDIS_INTERNAL_H
#define FAKEREDIS_INTERNAL_H

#include "base/code.h"
#include "fakeredis/fakeredis.h"
#include "fakeredis/script.h"

#include <hiredis/async.h>

/* ---- a client's block ---- */

#define FAKEREDIS_CLIENTS_MAX 32

enum connection_state {
    CONNECTION_FREE,
    CONNECTION_OPENING, /* nothing has been heard of the server yet */
    CONNECTION_UP,      /* the server reads from it */
    CONNECTION_BROKEN,  /* the server does not know it any more; the client may not have noticed */
};

struct connection {
    uint8_t state; /* enum connection_state */
    uint8_t server;
    uint8_t connected; /* the client library has found that it is up */
    uint8_t reserved;  /* 0 */
    int32_t opens_ms;  /* when it may be up; 0 in worlds without a clock */
    code_ref on_connect, on_disconnect;
    redisAsyncContext *context; /* in the memory of the process; its flags are the connection's too */
};

struct client {
    struct arena_block head;
    uint8_t cut_off, paused, lives;
    uint8_t failing_call; /* the n-th next call that needs memory finds none; 0 = none */
    uint8_t apart;        /* servers with which nothing passes, a bit each */
    uint8_t reserved[3];  /* 0 */
    struct connection connection[FAKEREDIS_CONNECTIONS_MAX];
    struct pack_table table;
};

enum {
    CLIENT_CALLS,    /* by connection, in their order */
    CLIENT_CHANNELS, /* by connection, in their order */
};

enum call_state {
    CALL_UP = 1,   /* word that the connection is up */
    CALL_REFUSED,  /* word that it cannot be made */
    CALL_SENT,     /* the server has not done it: the sequence of its arguments stands behind */
    CALL_ANSWERED, /* its reply is on the way, and stands behind the arguments */
    CALL_LOST,     /* no reply comes; its arguments still stand behind */
    CALL_MESSAGE,  /* of a channel; it stands behind as a reply */
    CALL_DOWN,     /* word that the connection has ended: the last one */
};

enum {
    CALL_CHANNELS = 1, /* its replies go to the channels' callbacks */
    CALL_INVALID = 2,  /* sent while listening: its callback gets nothing but an error */
};

struct call_record {
    struct rec rec; /* rec.tag = enum call_state; rec.word = bytes behind the record */
    uint8_t connection, flags;
    uint16_t reserved; /* 0 */
    code_ref fn;
    void *privdata;
    uint32_t args;  /* bytes of arguments, which stand first behind the record, padded to a multiple of 8 */
    int32_t due_ms; /* earliest arrival of a message, in ms of the world; 0 = at once */
};

struct channel_record {
    struct rec rec; /* rec.word = bytes of the name, which stands behind */
    uint8_t connection;
    uint8_t mute;        /* no channel: a command whose callback runs at the end of the connection alone */
    uint8_t reserved[2]; /* 0 */
    code_ref fn;
    void *privdata;
};

extern struct fakeredis_options the_options;
extern struct arena *the_arena;
extern struct server the_servers[FAKEREDIS_SERVERS_MAX];
extern int the_entered; /* client whose calls these are, -1 = nobody's */

struct client *client_read(int client);
struct client *client_mark(int client);
struct pack client_pack(int client);
bool client_is_apart(const struct client *client, int server);
void fake_trouble(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- clock.c ---- */

int64_t server_now_ms(int server); /* by its own clock */
/* When the last of so many messages may arrive, of which each is sent when the one before it has come. */
int32_t clock_arrival_ms(int messages);
bool clock_has_come(int32_t ms); /* the world's clock has reached it */

/* ---- link.c: what is on its way ---- */

/* These happen some time, if nothing else does. */
bool link_will_connect(int client, int connection);
bool link_will_apply(int client, int connection);
bool link_will_deliver(int client, int connection);

struct call_record *link_first(int client, int connection);
/* Adds word of the connection behind all that is on its way, but before the word of its end. */
void link_note(int client, int connection, enum call_state state, int32_t due_ms);
struct call_record *link_first_sent(int client, int connection); /* NULL = the server has done all */
/* The arguments of the request that arrives next; NULL bytes = none. */
struct bytes link_first_late(int client);
struct bytes link_args(const struct call_record *record);
struct bytes
link_reply(const struct call_record *record); /* items; of a request that has none yet, no bytes */
void link_remove(int client, struct call_record *record);
/* Sends a command that stands as a sequence. */
bool link_send(int client, int connection, const struct sequence *args, code_ref fn, void *privdata,
               unsigned flags);
/* The client gives a connection up: what the server has not read may be done late. */
void link_abandon(int client, int connection);

#define SERVER_BYTES 65528

/* Gives a request a reply, or a state. It keeps its place, its arguments and its callback. */
void link_replace(int client, struct call_record *record, enum call_state state, struct bytes items);

/* Adds the blocks of all servers. */
void link_open_servers(struct arena *arena);

/* ---- client.c ---- */

/* The client library finds that a connection is up. The context says so from the next delivery on: it lies
 * in the memory of the process, which no other step writes to. */
void client_note_up(int client, int connection);

/* ---- replies.c: replies as users of hiredis see them ---- */

/* Parses a reply from its items, up to `used`. It is good until the next call; NULL = it is too large. */
redisReply *replies_parse(const unsigned char *items, size_t used);
/* Overwrites the last one. */
void replies_poison(void);

#endif
