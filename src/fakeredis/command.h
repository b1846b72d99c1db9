/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Commands of one Redis server: one call runs one command to its end, and writes its reply.
 *
 * Texts of replies and the order of checks are those of Redis 7.0. tests/fakeredis/slow_conformance.sh
 * compares them with a real server. A command that Redis has and this table lacks is answered like an unknown
 * command. */
#ifndef FAKEREDIS_COMMAND_H
#define FAKEREDIS_COMMAND_H

#include "fakeredis/keys.h"

#define COMMAND_ARGS_MAX 64
#define COMMAND_NAME_MAX 32

/* Kinds of changes of a key. */
enum key_change {
    KEY_WRITTEN, /* a command gave it a new value, and perhaps another lease */
    KEY_LEASED,  /* a command gave it another lease, or took its lease away */
    KEY_DELETED, /* a command deleted it */
    KEY_EXPIRED, /* its lease has ended, so the server deletes it */
    KEY_LOST,    /* the server loses it, by no command */
};

/* One key of a write that the server has lost: the key is again as it was before the write. */
struct lost_write {
    int database;
    struct bytes name;
    const struct key *key; /* the key now; NULL = it does not exist */
    bool created;          /* the lost write had created the key */
    bool over;             /* the key expired, or was lost, after the write: it does not come back */
};

/* One server, as commands see it. */
struct server {
    struct pack pack; /* its block; the lists behind SERVER_SCRIPTS are in the enum SERVER_PEERS... below */
    int lag;          /* number of writes that its backlog keeps, at most; 0 = no backlog */
    int replicas;     /* number of its replicas, which WAIT counts */
    bool timed;       /* leases end by the clock; otherwise `ends_ms` of a key is the length of its lease */
    /* The server is a replica: it refuses commands that write, and deletes no key whose lease has ended. */
    bool read_only;
    uint8_t life;         /* lives that are over of the client whose command runs */
    const char *password; /* NULL = none is required */
    void *ctx;            /* for the functions below; each may be NULL */
    /* Reports a change: KEY_WRITTEN and KEY_LEASED right after it, the other kinds right before it. `client`
     * means nothing for KEY_EXPIRED and KEY_LOST. */
    void (*changed)(struct server *server, int client, const struct key *key, enum key_change change);
    /* Sends a message to the connections that listen to a channel. Returns how many there are. */
    int (*publish)(struct server *server, struct bytes channel, struct bytes message);
    void (*lost)(struct server *server, const struct lost_write *write);
};

/* State of a connection at its server. Records are sorted by client, then by connection. A connection without
 * a record is as a new one. */
struct peer {
    struct rec rec; /* rec.word = bytes of the connection's name, which stands behind the record */
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
    SERVER_WATCHED,  /* keys of WATCH: part.database; text: the key's name */
    SERVER_QUEUED,   /* commands queued after MULTI; text: a sequence of arguments */
    SERVER_CHANNELS, /* channels of SUBSCRIBE; text: the channel's name */
    SERVER_LATE,     /* requests whose connection has ended; text: a sequence of arguments */
    SERVER_BACKLOG,  /* images of keys before the last writes: backlog.c */
};

#define CONNECTION_NONE 255 /* connection of a request whose own connection has ended */

struct peer_part {
    struct rec rec; /* rec.word = bytes of the text, which stands behind the record */
    uint8_t client, connection, database;
    uint8_t expired; /* of a watched key: its lease had ended before the WATCH */
    uint32_t life;   /* of a late request: lives of its client that were over when it was sent; otherwise 0 */
};

/* One run of a command. */
struct call {
    struct server *server;
    uint8_t client, connection;
    bool in_script; /* a script calls the command */
    bool no_room;   /* a write found no room in the block, or a script none for a text */
    int64_t now_ms; /* time of the server's clock; equal for all commands of a script */
    int database;   /* number of the selected database */
    int argc;       /* number of arguments, the command's name included */
    const struct bytes *argv;
    struct reply *reply;
};

/* Runs a command of a connection, or queues it. argv[0] is its name. The reply is one reply, or one for each
 * channel of SUBSCRIBE and UNSUBSCRIBE. Returns false if the block or the reply had no room: the world must
 * end then. */
bool command_run(struct server *server, int client, int connection, int64_t now_ms, int argc,
                 const struct bytes *argv, struct reply *reply);

/* Runs a command whose connection has ended meanwhile, in this database. */
bool command_run_late(struct server *server, int client, int database, int64_t now_ms, int argc,
                      const struct bytes *argv, struct reply *reply);

/* Deletes a key because its lease has ended, as the caller decides. */
void command_expire(struct server *server, struct key *key);
/* Deletes a key because the server loses it, by no command. */
void command_lose(struct server *server, struct key *key);

/* Convert arguments to one sequence, and back. A sequence holds a script's digest in place of its text.
 * command_unpack() returns the number of arguments; these are valid as long as `sequence` is. */
void command_pack(int argc, const struct bytes *argv, struct sequence *sequence);
int command_unpack(struct bytes sequence, struct bytes argv[COMMAND_ARGS_MAX]);

/* Forgets a connection that has ended. */
void command_hang_up(struct server *server, int client, int connection);

/* ---- for the files of commands ---- */

enum {
    COMMAND_WRITES = 1,       /* a replica refuses it */
    COMMAND_NO_SCRIPT = 2,    /* a script may not call it */
    COMMAND_UNAUTHORIZED = 4, /* allowed before AUTH */
    COMMAND_AT_ONCE = 8,      /* runs at once also after MULTI, where other commands are queued */
    COMMAND_LISTENING = 16,   /* allowed while the connection listens to channels */
};

struct command {
    const char *name; /* in lower case; "client|setname" is a subcommand; NULL = end of a table */
    int arity;        /* number of arguments with the name; negative: at least that many */
    unsigned flags;
    void (*run)(struct call *call); /* NULL = the command has subcommands */
};

extern const struct command commands_keys[], commands_text[], commands_hash[], commands_list[],
    commands_peer[], commands_script[];

/* Finds the command, or subcommand, that the arguments name, in upper or lower case. Writes the error, as a
 * script or a connection gets it, and returns NULL if there is none or the number of arguments is wrong. */
const struct command *command_find(struct call *call);

/* Returns the key of this name; NULL = it does not exist, or its lease has ended. In the latter case the key
 * is deleted, unless the server is a replica. */
struct key *call_key(struct call *call, struct bytes name);
/* Sets *key as call_key() does. `types` has the bits 1 << enum key_type of the types that fit. Writes the
 * error and returns false if the key has another type. */
bool call_typed_key(struct call *call, struct bytes name, unsigned types, struct key **key);
#define TYPES_TEXT (1u << KEY_TEXT | 1u << KEY_NUMBER)
#define TYPES_HASH (1u << KEY_HASH)
#define TYPES_LIST (1u << KEY_LIST)

/* Change a key, and report the change. A sequence without texts removes the key. */
void call_set_text(struct call *call, struct bytes name, struct bytes text);
void call_set_number(struct call *call, struct bytes name, int64_t number);
void call_set_sequence(struct call *call, struct bytes name, enum key_type type,
                       const struct sequence *value);
void call_set_lease(struct call *call, struct key *key, int64_t ends_ms);
void call_remove(struct call *call, struct key *key, enum key_change change);

/* Reads an argument as an integer. Writes the error and returns false if it is none. */
bool call_integer(struct call *call, struct bytes text, int64_t *number);
bool call_is(struct bytes text, const char *word); /* compares without regard to case */

/* Write "ERR syntax error", or the error of a wrong number of arguments. */
void call_syntax_error(struct call *call);
void call_arity_error(struct call *call);

/* Reads a lease in units of `unit_ms`: a length, or the moment of its end if `absolute`. Sets *ends_ms as
 * struct key keeps it. Writes the error and returns false if Redis refuses this lease. */
bool call_lease(struct call *call, struct bytes text, int64_t unit_ms, bool absolute, int64_t *ends_ms);

struct peer *peer_of(struct call *call); /* NULL = the connection is as a new one */
struct peer *peer_make(struct call *call);
bool peer_is_known(struct call *call);  /* the connection may run commands: AUTH, or no password */
bool peer_listens(struct call *call);   /* the connection listens to at least one channel */
void peer_queue(struct call *call);     /* keeps the command until EXEC */
void peer_end_multi(struct call *call); /* forgets queued commands and watched keys */

/* Marks the connections that watch a key as PEER_CHANGED. */
void peer_touch(struct server *server, int database, struct bytes name);

#endif
