/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Small worlds, all of them: what clients do in a few turns, crossed with budgets over the kinds of fault.
 *
 * Worlds are grouped into classes. A world is the text of an exploring scenario with `total<=depth`, which stands for all
 * budgets that it contains. Worlds that differ only in the names of clients, locks or owners come once. Classes come in
 * the order of their expected cost, by a fixed formula, so that the order is the same on every machine. */
#ifndef SCENARIO_WORLDS_H
#define SCENARIO_WORLDS_H

#include <lockstep/sim.h>

#define WORLDS_CLIENTS_MAX 3
#define WORLDS_TURNS_MAX 4 /* a program has room for so many of the longest */
#define WORLDS_NAME_MAX 192
#define WORLDS_TEXT_MAX 32768

/* Kinds of fault that a world of a class has budgets for. */
enum world_kinds {
    WORLD_KINDS_PAIR,  /* two kinds, without crashes */
    WORLD_KINDS_CRASH, /* a crash and another kind: such worlds are some thirty times as large */
    WORLD_KINDS_ALL,   /* all kinds that the place has */
    WORLD_KINDS
};

/* Where the clients meet. */
enum world_place {
    WORLD_PLACE_USED,     /* one lock, whose directory was used before; one server */
    WORLD_PLACE_FRESH,    /* the same, and nobody has made the directory yet */
    WORLD_PLACE_LOCKS,    /* two locks: turns of a client at one within, or after, turns at the other */
    WORLD_PLACE_OWNERS,   /* two owners in a client, likewise */
    WORLD_PLACE_VERBS,    /* a write, a stop, an inner deadline or a release anyway in some turn */
    WORLD_PLACE_FOLLOWER, /* two servers, and kinds of fault that need them */
    WORLD_PLACE_CLOCK,    /* one lock and a clock: directed runs (clock_worlds.h), of which none is smaller */
    WORLD_PLACE_RANDOM,   /* drawn at random (random_worlds.h), of which none is smaller */
    WORLD_PLACES
};

struct world_class {
    uint8_t clients; /* from 1 to WORLDS_CLIENTS_MAX */
    uint8_t turns;   /* of all clients together, at least one of each */
    uint8_t kinds;   /* enum world_kinds */
    uint8_t depth;   /* faults in one run at most */
    uint8_t place;   /* enum world_place */
    uint8_t cast;    /* with a clock: enum clock_cast; at random: enum random_worlds */
    uint16_t first;  /* at random: the number of the first world */
    uint16_t worlds; /* at random: how many there are */
    uint32_t cost;   /* expected, 16 * log2 of the states of all worlds */
    uint32_t rank;   /* the cost, and more for other places than WORLD_PLACE_USED */
};

/* One world: which turns each client takes one after the other. */
struct world_spec {
    uint8_t place; /* enum world_place */
    uint8_t depth;
    uint8_t cast;                      /* with a clock or at random: that of the class */
    uint16_t number;                   /* likewise: the index in the cast; the fields below are 0 */
    uint32_t kinds;                    /* a bit for each enum world_fault */
    bool within;                       /* second turns lie within first ones */
    uint8_t clients;                   /* in the order of their turns */
    uint8_t turns[WORLDS_CLIENTS_MAX]; /* of each client */
    uint8_t turn[WORLDS_CLIENTS_MAX][WORLDS_TURNS_MAX]; /* their kinds, from 0 */
};

/* The number of classes, and the index-th in the order of expected cost. */
int worlds_classes(void);
const struct world_class *worlds_class(int index);

/* `one-client-two-turns/all-2`, `two-clients-three-turns-fresh/pairs-3`. */
const char *worlds_class_name(const struct world_class *class, char name[WORLDS_NAME_MAX]);

/* How many states a world of this class may have, 64 times what is expected: a recipe whose worlds have more must not keep an
 * enumeration from all others. */
uint64_t worlds_states_max(const struct world_class *class);

/* How many worlds a class has, and the index-th. */
int worlds_count(const struct world_class *class);
void worlds_spec(const struct world_class *class, int index, struct world_spec *spec);

/* `worlds/one-client-one-turn/loss+expire-5/acquire`: the same for the same world in every version of this file. */
const char *worlds_name(const struct world_spec *spec, char name[WORLDS_NAME_MAX]);

/* The scenario: an exploring one, with a clock (also at random) a directed one. */
const char *worlds_text(const struct world_spec *spec, char text[WORLDS_TEXT_MAX]);

/* How many random schedules a world is tried with in place of a search; 0: it is searched, or is one directed run. */
int worlds_schedules(const struct world_spec *spec);

/* Gives the index-th world that is one step smaller: without a client, a turn or a kind of fault, with one fault less, or with
 * a plainer turn or place. Returns false behind the last, and always with a clock or at random. */
bool worlds_smaller(const struct world_spec *spec, int index, struct world_spec *smaller);

#endif
