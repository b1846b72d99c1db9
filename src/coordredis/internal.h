/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Declarations that the files of the adapter share. */
#ifndef COORDREDIS_INTERNAL_H
#define COORDREDIS_INTERNAL_H

#include "coord/coordinator.h"
#include "fakeredis/fakeredis.h"

/* Numbers of kinds and faults never change. */
enum {
    ACTION_ARRIVE = ACTION_OWN, /* a request of a connection that has ended is done late */
    ACTION_FAILOVER,            /* a replica takes the place of its server */
    ACTION_FLUSH,               /* a server forgets its scripts */
    ACTION_JUMP,                /* the clock of a server jumps forward */
    ACTION_REJECT,              /* a server answers a request with an error, and does not do it */
    ACTION_DETACH,              /* the replicas of a server hear nothing from it any more */
    ACTION_ATTACH,              /* the end of that */
    ACTION_APART,               /* nothing passes between a client and one server; ACTION_HEAL ends it */
    ACTION_SPLIT,               /* a failover whose former server serves on for the connections that it has */
    ACTION_REJOIN,              /* the end of that: the former server becomes a replica of its successor */
};

enum {
    FAULT_FAILOVER = WORLD_FAULT_OWN,
    FAULT_FLUSH,
    FAULT_JUMP,
    FAULT_REJECT,
    FAULT_APART,
    FAULT_SPLIT,
};

/* Places in world_options.own. */
enum {
    OPTION_REPLICAS,
    OPTION_LAG,
    OPTION_LOG,
    OPTION_EVICTS,
    OPTION_JUMP_MS,
    OPTION_REJECTION,
    OPTION_DRIFT,
    OPTION_SPLITS
};

/* Values of the option `log`: what a server that restarts has kept of its keys. */
enum { LOG_NONE, LOG_EACH_SECOND, LOG_ALWAYS };

extern const struct coord_host *redis_host;

/* ---- key_holders.c: who has a key ---- */

void claims_open(void);
int claims_block(void);
void claims_observe(const struct fakeredis_event *from);

/* The client that has a key of a server, or wrote it last. */
int claims_client(int server, const struct key *key);
/* The life of its writer, or of its claim, is over. */
bool claims_is_of_former_life(int server, const struct key *key);
/* How many requests in a row about the key had no reply, for a key with a claim; 0 for others. */
int claims_misses(int server, const struct key *key);
/* Its client has renewed its lease at the other server of the place, the former one or its successor, and not
 * here since. */
bool claims_is_misled(int server, const struct key *key);
/* Returns whether the client has this lock's key on some server; that server and the key's index there. */
bool claims_find(int client, int lock, int *server, int *index);

/* The server has lost all keys, the counters of locks included. */
void claims_begin_anew(void);

/* Splits a server, or lets the former one rejoin. */
void claims_split(int server);
void claims_rejoin(int server);

int32_t session_of(int client, int life);
int32_t life_of(int client); /* the session of its present life */

/* ---- lease_ends.c: when a key may end by itself ---- */

bool lease_is_due(int server, const struct key *key);
/* A key with a lease by the number that stands in actions; NULL = none has it. */
const struct key *leased_key(int32_t place);
int leased_server(int32_t place);
/* Returns the former server of a place for its present one, and the present one for the former. */
int server_beside(int server);
int leased_index(int32_t place);
bool lease_may_end(int32_t place);
/* Appends the ends of a client's leases: those that are due, or those that take a fault, or both. */
void add_expiries(struct action_list *list, int client, bool due, bool not_due);

/* ---- faults.c ---- */

extern const struct coord_kind REDIS_KINDS[];
extern const struct coord_fault REDIS_FAULTS[];
extern const struct coord_option REDIS_OPTIONS[];

void add_client_faults(struct action_list *list, int client);
void add_refusals(struct action_list *list, int client);
void add_ends(struct action_list *list, int client);
/* A server and its client do not hear each other. */
bool is_apart(int client, int server);
/* The client hears too few servers to have a claim. */
bool is_cut_off(int client);
void add_service_faults(struct action_list *list);
bool fault_is_enabled(const struct action *action);
void do_fault(const struct action *action);
/* A fault of a server is in force. */
bool faults_last(void);
/* A client is apart from a server. */
bool some_are_apart(void);
const char *fault_lacks(const struct world_options *options, enum world_fault fault);

#endif
