/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Commands of one Redis server: one call runs one command to its end, and writes one reply.
 *
 * Words and order of checks are those of Redis 7.0. tests/fakeredis/slow_conformance.sh compares them with
 * a real server's. A command that Redis has and this table lacks answers as Redis does to an unknown
 * command. */
#ifndef FAKEREDIS_COMMAND_H
#define FAKEREDIS_COMMAND_H

#include "fakeredis/keys.h"

#define COMMAND_ARGS_MAX 64
#define COMMAND_NAME_MAX 32

/* What happened to a key. */
enum key_change {
    KEY_WRITTEN, /* it has a new value, and perhaps another lease */
    KEY_LEASED,  /* it has another lease, or none any more */
    KEY_DELETED,
    KEY_EXPIRED, /* it went because its lease had ended */
    KEY_LOST,    /* the server has lost it */
};

/* A key that is again as it was before a write that the server has lost. */
struct lost_write {
    int database;
    struct bytes name;
    const struct key *key; /* as it is now; NULL = it does not exist */
    bool created;          /* the lost write had made it */
    bool over;             /* its lease has ended since: nothing came back */
};

/* One server, as commands see it. */
struct server {
    struct pack pack; /* its block; see enum below for the lists behind SERVER_SCRIPTS */
    int lag;          /* writes that its backlog keeps */
    int replicas;
    bool timed; /* leases end by the clock; otherwise `ends_ms` of a key is the length of its lease */
    /* A replica: commands that write are refused, and no lease that has ended deletes its key. */
    bool read_only;
    uint8_t life;         /* lives that are over of the client whose command runs */
    const char *password; /* NULL = none is required */
    void *ctx;            /* for the functions below; each may be NULL */
    /* Tells of a change right after it; before it for KEY_DELETED, KEY_EXPIRED and KEY_LOST. */
    void (*changed)(struct server *server, int client, const struct key *key, enum key_change change);
    /* Sends a message to the connections that listen to a channel. Returns how many there are. */
    int (*publish)(struct server *server, struct bytes channel, struct bytes message);
    void (*lost)(struct server *server, const struct lost_write *write);
};

/* What a server keeps of a connection. Records stand by client and connection. A connection without one is
 * new. */
struct peer {
    struct rec rec; /* rec.word = bytes of the name, which stands behind */
    uint8_t client, connection, database, flags;
    uint32_t reserved; /* 0 */
};

enum {
    PEER_KNOWN = 1,   /* AUTH has succeeded, or no password is required */
    PEER_MULTI = 2,   /* commands are queued until EXEC */
    PEER_BROKEN = 4,  /* a command was refused before it was queued */
    PEER_CHANGED = 8, /* a watched key has changed */
};

/* Lists of the server's block about connections. Records begin as struct peer_part. */
enum {
    SERVER_PEERS = SERVER_LISTS,
    SERVER_WATCHED,  /* keys of WATCH: part.database, and a name */
    SERVER_QUEUED,   /* commands behind MULTI: a sequence of arguments */
    SERVER_CHANNELS, /* channels of SUBSCRIBE: a name */
    SERVER_LATE,     /* requests of connections that have ended: a sequence of arguments */
    SERVER_BACKLOG,  /* keys as they were before the last writes */
};

#define CONNECTION_NONE 255 /* of a request whose connection has ended */

struct peer_part {
    struct rec rec; /* rec.word = bytes of the text behind */
    uint8_t client, connection, database;
    uint8_t expired; /* of a watched key: its lease had ended by then */
    uint32_t life;   /* of a late request: lives of its client that were over when it was sent; otherwise 0 */
};

/* One run of a command. */
struct call {
    struct server *server;
    uint8_t client, connection;
    bool in_script; /* called by a script */
    bool no_room;   /* a write found no room in the block */
    int64_t now_ms; /* the server's clock; a script takes no time */
    int database;   /* the one that is selected */
    int argc;       /* arguments, the command's name included */
    const struct bytes *argv;
    struct reply *reply;
};

/* Runs a command of a connection, or queues it. argv[0] is its name. The reply holds one item, or one for
 * each channel of SUBSCRIBE and UNSUBSCRIBE. Returns false if the block has no room: the run is of no use
 * any more. */
bool command_run(struct server *server, int client, int connection, int64_t now_ms, int argc,
                 const struct bytes *argv, struct reply *reply);

/* Runs a command whose connection has ended meanwhile, in this database. */
bool command_run_late(struct server *server, int client, int database, int64_t now_ms, int argc,
                      const struct bytes *argv, struct reply *reply);

/* Deletes a key whose lease has ended, by the decision of a world without a clock. */
void command_expire(struct server *server, struct key *key);
/* The server loses a key, by no command. */
void command_lose(struct server *server, struct key *key);

/* Arguments as one sequence, and back. A script's text is kept as its digest. command_unpack() returns
 * their number; the arguments are good as long as `sequence` is. */
void command_pack(int argc, const struct bytes *argv, struct sequence *sequence);
int command_unpack(struct bytes sequence, struct bytes argv[COMMAND_ARGS_MAX]);

/* Forgets a connection that has ended. */
void command_hang_up(struct server *server, int client, int connection);

/* ---- for the files of commands ---- */

enum {
    COMMAND_WRITES = 1,       /* refused by a replica */
    COMMAND_NO_SCRIPT = 2,    /* refused in a script */
    COMMAND_UNAUTHORIZED = 4, /* legal before AUTH */
    COMMAND_AT_ONCE = 8,      /* not queued behind MULTI */
    COMMAND_LISTENING = 16,   /* legal for a connection that listens to channels */
};

struct command {
    const char *name; /* in lower case; "client|setname" for a part of a command; NULL = end of a table */
    int arity;        /* number of arguments with the name; negative: at least so many */
    unsigned flags;
    void (*run)(struct call *call);
};

extern const struct command commands_keys[], commands_text[], commands_hash[], commands_list[],
    commands_peer[], commands_script[];

/* Finds a command by name in any case, with its part behind '|' if it has parts. Writes the error and
 * returns NULL if there is none, or if the number of arguments is wrong. In a script the words are others. */
const struct command *command_find(struct call *call);

/* Returns a key that exists; NULL = none, or its lease has ended. Deletes the latter, unless the server is
 * a replica. */
struct key *call_key(struct call *call, struct bytes name);
/* The same for a key of these types, bits of 1 << enum key_type. False = the key has another type: the
 * error is written. */
bool call_typed_key(struct call *call, struct bytes name, unsigned types, struct key **key);
#define TYPES_TEXT (1u << KEY_TEXT | 1u << KEY_NUMBER)
#define TYPES_HASH (1u << KEY_HASH)
#define TYPES_LIST (1u << KEY_LIST)

/* Writes a value, and tells of it. A sequence without texts removes the key. */
void call_set_text(struct call *call, struct bytes name, struct bytes text);
void call_set_number(struct call *call, struct bytes name, int64_t number);
void call_set_sequence(struct call *call, struct bytes name, enum key_type type,
                       const struct sequence *value);
void call_set_lease(struct call *call, struct key *key, int64_t ends_ms);
void call_remove(struct call *call, struct key *key, enum key_change change);

/* Reads an argument as an integer. False = it is none: the error is written. */
bool call_integer(struct call *call, struct bytes text, int64_t *number);
bool call_is(struct bytes text, const char *word); /* compares letters in any case */

/* Writes "ERR syntax error", or that of a wrong number of arguments of this command. */
void call_syntax_error(struct call *call);
void call_arity_error(struct call *call);

/* Reads a lease of these units behind now, or at this time if `absolute`. False = Redis does not take it:
 * the error is written. `*ends_ms` is what struct key keeps. */
bool call_lease(struct call *call, struct bytes text, int64_t unit_ms, bool absolute, int64_t *ends_ms);

struct peer *peer_of(struct call *call); /* NULL = a new connection */
struct peer *peer_make(struct call *call);
bool peer_is_known(struct call *call);
bool peer_listens(struct call *call);   /* to a channel */
void peer_queue(struct call *call);     /* keeps the command until EXEC */
void peer_end_multi(struct call *call); /* forgets queued commands and watched keys */

/* Marks connections that watch a key. */
void peer_touch(struct server *server, int database, struct bytes name);

#endif
