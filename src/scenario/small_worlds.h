/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Enumerations of worlds. Most are small: the turns of clients, crossed with budgets over the kinds of fault.
 * Such a world is the text of an exploring scenario with `total<=depth`, so its search contains all smaller
 * budgets. Of worlds that differ only in the names of clients, locks or owners one is enumerated. The worlds
 * with a clock (outage_worlds.h) and the random ones (random_worlds.h) are made by other files.
 *
 * Worlds are grouped into classes. Classes come in the order of their rank, which follows from the expected
 * cost by a fixed formula and is the same on every machine. */
#ifndef SCENARIO_SMALL_WORLDS_H
#define SCENARIO_SMALL_WORLDS_H

#include <lockstep/sim.h>

#define WORLDS_CLIENTS_MAX 3
#define WORLDS_TURNS_MAX 4 /* a program has room for so many of the longest turns */
#define WORLDS_NAME_MAX 192
#define WORLDS_TEXT_MAX 32768

/* Kinds of fault that a world of a class has budgets for. */
enum world_kinds {
    WORLD_KINDS_PAIR,  /* two kinds, without crashes */
    WORLD_KINDS_CRASH, /* a crash and another kind */
    WORLD_KINDS_ALL,   /* all kinds that the place has */
    WORLD_KINDS
};

/* The locks, owners and servers that the clients share. */
enum world_place {
    WORLD_PLACE_USED,     /* one lock, whose directory was used before; one server */
    WORLD_PLACE_FRESH,    /* as WORLD_PLACE_USED, but the directory does not exist yet */
    WORLD_PLACE_LOCKS,    /* two locks: a client's turn at one lies within, or after, its turn at the other */
    WORLD_PLACE_OWNERS,   /* two owners in a client: turns of one lie within, or after, turns of the other */
    WORLD_PLACE_VERBS,    /* some turn is of the further kinds (write, anyway, stop, close, ...) */
    WORLD_PLACE_FOLLOWER, /* two servers, and kinds of fault that need them */
    WORLD_PLACE_CLOCK,    /* one lock and a clock: directed runs (outage_worlds.h) */
    WORLD_PLACE_RANDOM,   /* drawn at random (random_worlds.h) */
    WORLD_PLACES
};

struct world_class {
    uint8_t clients; /* from 1 to WORLDS_CLIENTS_MAX */
    uint8_t turns;   /* of all clients together, at least one each */
    uint8_t kinds;   /* enum world_kinds */
    uint8_t depth;   /* maximum of faults in one run */
    uint8_t place;   /* enum world_place */
    uint8_t cast;    /* with a clock: enum clock_cast; at random: enum random_worlds */
    uint16_t first;  /* at random: the number of the first world */
    uint16_t worlds; /* at random: the number of worlds */
    uint32_t cost;   /* expected: 16 * log2 of the states of all worlds */
    uint32_t rank;   /* the cost, plus 48 at the places from WORLD_PLACE_FRESH to WORLD_PLACE_FOLLOWER */
};

struct world_spec {
    uint8_t place; /* enum world_place */
    uint8_t depth;
    uint8_t cast;    /* with a clock or at random: `cast` of the class */
    uint16_t number; /* with a clock: index in the cast; at random: its number; the fields below are 0 */
    uint32_t kinds;  /* a bit for each enum world_fault */
    bool within;     /* second turns lie within first turns */
    uint8_t clients; /* their number; clients are sorted by their turns */
    uint8_t turns[WORLDS_CLIENTS_MAX];
    uint8_t turn[WORLDS_CLIENTS_MAX][WORLDS_TURNS_MAX]; /* their kinds, from 0 */
};

/* Return the number of classes, and a class by its index in the order of ranks. */
int worlds_classes(void);
const struct world_class *worlds_class(int index);

/* Writes and returns a name such as `two-clients-three-turns-fresh/pairs-3`. */
const char *worlds_class_name(const struct world_class *class, char name[WORLDS_NAME_MAX]);

/* Returns the maximum of states for a world of this class: 64 times the expected number, which is rounded
 * down to a power of two, but at least 500,000. A search that reaches it ends, so that one large world does
 * not use up an enumeration's budget. */
uint64_t worlds_states_max(const struct world_class *class);

/* Return the number of worlds of a class, and write the index-th world. */
int worlds_count(const struct world_class *class);
void worlds_spec(const struct world_class *class, int index, struct world_spec *spec);

/* Writes and returns a name such as `worlds/one-client-one-turn/loss+expire-5/acquire`. The name of a world
 * must not change. */
const char *worlds_name(const struct world_spec *spec, char name[WORLDS_NAME_MAX]);

/* Writes and returns the scenario: directed with a clock or for RANDOM_TIMES, otherwise exploring. */
const char *worlds_text(const struct world_spec *spec, char text[WORLDS_TEXT_MAX]);

/* Returns the number of random schedules; 0 = the world is searched, or is one directed run. */
int worlds_schedules(const struct world_spec *spec);

/* Writes the index-th world that is one step smaller. It lacks a client, a turn, a kind of fault or one of
 * the depth, or it has a plainer turn or place, or no turn `within` another. Returns false behind the last,
 * and for worlds with a clock or at random. */
bool worlds_smaller(const struct world_spec *spec, int index, struct world_spec *smaller);

#endif
