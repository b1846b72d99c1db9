/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Declarations that the files of the adapter share. */
#ifndef COORDREDIS_INTERNAL_H
#define COORDREDIS_INTERNAL_H

#include "coord/coordinator.h"
#include "fakeredis/fakeredis.h"

/* Numbers of kinds and faults never change. REDIS_KINDS has the meaning of each kind. */
enum {
    ACTION_ARRIVE = ACTION_OWN, /* fakeredis_arrive() */
    ACTION_FAILOVER,
    ACTION_FLUSH,
    ACTION_JUMP,
    ACTION_REJECT,
    ACTION_DETACH,
    ACTION_ATTACH, /* ends ACTION_DETACH */
    ACTION_APART,  /* ACTION_HEAL ends it */
    ACTION_SPLIT,
    ACTION_REJOIN, /* ends ACTION_SPLIT */
};

enum {
    FAULT_FAILOVER = WORLD_FAULT_OWN,
    FAULT_FLUSH,
    FAULT_JUMP,
    FAULT_REJECT,
    FAULT_APART,
    FAULT_SPLIT,
};

/* Indexes of world_options.own. */
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

/* Values of the option `log`. A server that restarts has kept no key, all but its last writes, or all. */
enum { LOG_NONE, LOG_EACH_SECOND, LOG_ALWAYS };

extern const struct coord_host *redis_host;

/* ---- key_holders.c: claims and shares ---- */

void claims_open(void);
int claims_block(void);
void claims_observe(const struct fakeredis_event *from);

/* Returns the client with the share of the key's lock on this server. If there is none, or the key is no
 * lock's, returns the key's last writer. */
int claims_client(int server, const struct key *key);
/* Returns whether the life is over in which claims_client() got the share or, without a share, wrote the
 * key. */
bool claims_is_of_former_life(int server, const struct key *key);
/* Returns `misses` of the key's share (key_holders.c); 0 = the key has no share. */
int claims_misses(int server, const struct key *key);
/* Returns whether the client of the key's share has last written or renewed the key at the other server of
 * the split place. False if the key has no share. */
bool claims_is_misled(int server, const struct key *key);
/* Sets *server to the first server, but no former one, with the client's share of this lock. Sets *index to
 * the index of the lock's key there. Returns false if there is no such server. */
bool claims_find(int client, int lock, int *server, int *index);

/* Call it when a server has lost all keys. If it is the only server, claims are numbered from 1 again,
 * because the counters of tokens are lost too. */
void claims_begin_anew(void);

/* Do fakeredis_split() and fakeredis_rejoin(), and give the former server its shares, or take them away. */
void claims_split(int server);
void claims_rejoin(int server);

int32_t session_of(int client, int life); /* `life`: number of lives of the client that were over before */
int32_t life_of(int client);              /* session of the client's present life */

bool lease_is_due(int server, const struct key *key); /* the lease may end without a fault */
/* `place` = session of an ACTION_EXPIRE: a number for a server and a key's index there. NULL = no key with a
 * lease is there. */
const struct key *leased_key(int32_t place);
int leased_server(int32_t place);
/* Returns the number of the former server for a present one, and that of the present server for a former
 * one. */
int server_beside(int server);
int leased_index(int32_t place);
bool lease_may_end(int32_t place); /* due, or early by a fault */
/* Appends the ends of a client's leases. `due`: those that may end without a fault. `not_due`: those that a
 * fault can end early. */
void add_expiries(struct action_list *list, int client, bool due, bool not_due);

extern const struct coord_kind REDIS_KINDS[];
extern const struct coord_fault REDIS_FAULTS[];
extern const struct coord_option REDIS_OPTIONS[];

void add_client_faults(struct action_list *list, int client);
void add_refusals(struct action_list *list, int client);
void add_ends(struct action_list *list, int client);
bool is_apart(int client, int server); /* nothing passes between the two */
bool is_cut_off(int client);           /* it is apart from too many servers to get a claim */
void add_service_faults(struct action_list *list);
bool fault_is_enabled(const struct action *action);
void do_fault(const struct action *action);
bool faults_last(void);    /* some server is detached or split */
bool some_are_apart(void); /* ACTION_APART has set some client apart */
const char *fault_lacks(const struct world_options *options, enum world_fault fault);

#endif
