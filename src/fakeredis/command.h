/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Commands of one Redis server: one call runs or queues one command, and writes its reply.
 *
 * Texts of replies and the order of checks are those of Redis 7.0. tests/fakeredis/slow_conformance.sh
 * compares them with a real server. A command that the fake lacks is answered like an unknown one. */
#ifndef FAKEREDIS_COMMAND_H
#define FAKEREDIS_COMMAND_H

#include "fakeredis/keys.h"

#define COMMAND_ARGS_MAX 64
#define COMMAND_NAME_MAX 32

enum key_change {
    KEY_WRITTEN, /* a command has set the key's value, and perhaps taken its lease away */
    KEY_LEASED,  /* a command has changed the key's lease, or taken it away */
    KEY_DELETED, /* a command deletes the key */
    KEY_EXPIRED, /* the server deletes the key, because its lease has ended */
    KEY_LOST,    /* the server loses the key, and no command has deleted it */
};

/* One key of a write that the server has lost. The key is again as it was before the write. If that key has
 * expired since, or was lost, there is no key instead. */
struct lost_write {
    int database;
    struct bytes name;
    const struct key *key; /* the key now; NULL = it does not exist */
    bool created;          /* the key did not exist before the lost write */
    bool over;             /* the losing changed nothing: the key was gone already, and is not put back */
};

/* One server, as commands see it. */
struct server {
    struct pack pack;     /* its block */
    int lag;              /* number of writes that its backlog keeps, at most; 0 = no backlog */
    bool log_lags;        /* a restart may lose writes that replicas have */
    int replicas;         /* number of replicas that WAIT counts */
    bool timed;           /* leases end by the clock; false = see `ends_ms` of struct key */
    bool read_only;       /* it is a replica: refuses commands that write, and deletes no key by its lease */
    uint8_t life;         /* fakeredis_lives() of the client whose command runs, at the sending */
    const char *password; /* NULL = none is required */
    void *ctx;            /* for the functions below; each may be NULL */
    /* Reports a change: KEY_WRITTEN and KEY_LEASED right after it, the other kinds right before it. `client`
     * is the sender of the command, and without meaning for KEY_EXPIRED and KEY_LOST. */
    void (*changed)(struct server *server, int client, const struct key *key, enum key_change change);
    /* Sends a message to the connections that listen to a channel. Returns their number. */
    int (*publish)(struct server *server, struct bytes channel, struct bytes message);
    void (*lost)(struct server *server, const struct lost_write *write);
};

/* State of a connection at its server. Records are sorted by client, then by connection. A connection has no
 * record while its state is that of a new connection and it watches no key. */
struct peer {
    struct rec rec; /* rec.word = bytes of the connection's name, which stands behind the record */
    uint8_t client, connection, database, flags;
    uint32_t reserved; /* 0 */
};

enum {
    PEER_KNOWN = 1,   /* AUTH has succeeded */
    PEER_MULTI = 2,   /* commands are queued until EXEC */
    PEER_BROKEN = 4,  /* a command after MULTI was refused, so EXEC fails */
    PEER_CHANGED = 8, /* a watched key has changed, so EXEC does nothing */
};

/* More lists of the server's block. Records up to SERVER_LATE begin as struct peer_part. */
enum {
    SERVER_PEERS = SERVER_LISTS,
    SERVER_WATCHED,  /* keys of WATCH: part.database; text: the key's name */
    SERVER_QUEUED,   /* commands queued after MULTI; text: a sequence of arguments */
    SERVER_CHANNELS, /* channels of SUBSCRIBE; text: the channel's name */
    SERVER_LATE,     /* late requests: their connections have ended; text: a sequence of arguments */
    SERVER_BACKLOG,  /* images of keys before the last writes: backlog.c */
};

#define CONNECTION_NONE 255 /* connection of a late request */

struct peer_part {
    struct rec rec; /* rec.word = bytes of the text, which stands behind the record */
    uint8_t client, connection, database;
    uint8_t expired; /* of a watched key: 1 = its lease had ended before the WATCH */
    uint32_t life;   /* of a late request: fakeredis_lives() of its client at the sending; otherwise 0 */
};

struct call {
    struct server *server;
    uint8_t client, connection;
    bool in_script;
    bool no_room;   /* something found no room: the world must end */
    int64_t now_ms; /* time of the server's clock; equal for all commands of a script */
    int database;   /* the selected one */
    int argc;       /* number of arguments, the command's name included */
    const struct bytes *argv;
    struct reply *reply;
};

/* Runs a command, argv[0], of a connection, or queues it. Writes one reply; SUBSCRIBE and UNSUBSCRIBE write
 * one for each channel, UNSUBSCRIBE at least one. Returns false if something found no room: the world must
 * end then. */
bool command_run(struct server *server, int client, int connection, int64_t now_ms, int argc,
                 const struct bytes *argv, struct reply *reply);

/* Runs a late request in this database: the one that its connection had selected. */
bool command_run_late(struct server *server, int client, int database, int64_t now_ms, int argc,
                      const struct bytes *argv, struct reply *reply);

/* Delete a key, and report KEY_EXPIRED or KEY_LOST. */
void command_expire(struct server *server, struct key *key);
void command_lose(struct server *server, struct key *key);

/* command_pack() converts arguments to one sequence. The script of EVAL or SCRIPT LOAD becomes a digest.
 * command_unpack() puts the script back, and returns the number of arguments. They are valid as long as
 * `sequence` is. */
void command_pack(int argc, const struct bytes *argv, struct sequence *sequence);
int command_unpack(struct bytes sequence, struct bytes argv[COMMAND_ARGS_MAX]);

/* Forgets a connection that has ended. */
void command_hang_up(struct server *server, int client, int connection);

/* ---- for the files of commands ---- */

enum {
    COMMAND_WRITES = 1,       /* a replica refuses it */
    COMMAND_NO_SCRIPT = 2,    /* a script may not call it */
    COMMAND_UNAUTHORIZED = 4, /* allowed before AUTH */
    COMMAND_AT_ONCE = 8,      /* never queued after MULTI */
    COMMAND_LISTENING = 16,   /* allowed while the connection listens to channels */
};

struct command {
    const char *name; /* in lower case; "client|setname" is a subcommand; NULL = end of a table */
    int arity;        /* number of arguments, the name included; -n = at least n */
    unsigned flags;
    void (*run)(struct call *call); /* NULL = the command has subcommands */
};

extern const struct command commands_keys[], commands_text[], commands_hash[], commands_list[],
    commands_peer[], commands_script[];

/* Finds the command, or subcommand, that the arguments name, in upper or lower case. If there is none, or the
 * number of arguments is wrong, writes the error as a script or a connection gets it, and returns NULL. */
const struct command *command_find(struct call *call);

/* Returns the key of this name; NULL = it does not exist, or its lease has ended by the clock. Deletes a key
 * whose lease has ended, unless the server is a replica. */
struct key *call_key(struct call *call, struct bytes name);
/* Sets *key to the result of call_key(). `types` has a bit 1 << enum key_type for each type that fits. If the
 * key has another type, writes the error and returns false. */
bool call_typed_key(struct call *call, struct bytes name, unsigned types, struct key **key);
#define TYPES_TEXT (1u << KEY_TEXT | 1u << KEY_NUMBER)
#define TYPES_HASH (1u << KEY_HASH)
#define TYPES_LIST (1u << KEY_LIST)

/* Change a key, and report the change. An empty sequence removes the key. */
void call_set_text(struct call *call, struct bytes name, struct bytes text);
void call_set_number(struct call *call, struct bytes name, int64_t number);
void call_set_sequence(struct call *call, struct bytes name, enum key_type type,
                       const struct sequence *value);
void call_set_lease(struct call *call, struct key *key, int64_t ends_ms);
void call_remove(struct call *call, struct key *key, enum key_change change);

/* Reads an integer. If the text is no integer, writes the error and returns false. */
bool call_integer(struct call *call, struct bytes text, int64_t *number);
bool call_is(struct bytes text, const char *word); /* compares without regard to case */

void call_syntax_error(struct call *call);
void call_arity_error(struct call *call);

/* Reads a lease in units of `unit_ms`: a length, or the moment of its end if `absolute`. Sets *ends_ms as in
 * struct key. If Redis refuses this lease, writes the error and returns false. */
bool call_lease(struct call *call, struct bytes text, int64_t unit_ms, bool absolute, int64_t *ends_ms);

struct peer *peer_of(struct call *call);   /* NULL = there is no record: see struct peer */
struct peer *peer_make(struct call *call); /* NULL = no room */
bool peer_is_known(struct call *call);     /* it has authenticated, or need not */
bool peer_listens(struct call *call);      /* it listens to at least one channel */
void peer_queue(struct call *call);        /* keeps the command until EXEC */
void peer_end_multi(struct call *call);    /* forgets queued commands and watched keys */

/* Marks the connections that watch a key as PEER_CHANGED. */
void peer_touch(struct server *server, int database, struct bytes name);

#endif
