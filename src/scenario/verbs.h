/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The commands of the language as a table, for the parser and `lockstep list verbs`. */
#ifndef SCENARIO_VERBS_H
#define SCENARIO_VERBS_H

#include "scenario/scenario.h"

enum verb_argument {
    ARGUMENT_NONE,
    ARGUMENT_LOCK, /* the name of a lock, behind a client verb; optional if there is only one lock */
    ARGUMENT_PROCESS,
    ARGUMENT_SERVER, /* s1 … s5 */
    ARGUMENT_SWEPT,  /* the name of a lock, whose directory is meant */
    ARGUMENT_PATH,   /* the path of a node */
    ARGUMENT_DURATION,
    ARGUMENT_LABEL, /* the label of an action: the rest of the line */
};

/* Flags without a comment take the option of their name, for example VERB_OWNER takes owner=N. VERB_FAULT is
 * no option. */
#define VERB_OWNER 0x01u
#define VERB_TIMEOUT 0x02u
#define VERB_CUT 0x04u   /* takes keep= apply= rc= late link= */
#define VERB_COUNT 0x08u /* takes n=N */
#define VERB_PERMS 0x40u
#define VERB_GUARDED 0x80u
#define VERB_PLACE 0x100u
#define VERB_ANYWAY 0x200u
#define VERB_NOWAIT 0x400u
#define VERB_REACTS 0x800u /* may stand behind "on granted:" and "on failed:" */
#define VERB_LOCK 0x1000u  /* takes the name of a lock, which is optional if there is only one */
#define VERB_LINK 0x2000u
#define VERB_BOTH 0x4000u      /* takes the name of a read-write lock; is two actions */
#define VERB_FOREVER 0x8000u   /* an acquire without a deadline */
#define VERB_CAPACITY 0x10000u /* needs capacity=N */
#define VERB_SERVER 0x20000u   /* the name of a server comes behind the process */
#define VERB_CLIENT 0x10u      /* the name of the process comes first */
#define VERB_FAULT 0x20u

struct verb {
    const char *name; /* NULL = the name of its action */
    uint32_t flags;
    uint8_t argument;  /* enum verb_argument */
    uint8_t step;      /* enum scenario_step */
    uint8_t action;    /* enum action_kind for STEP_ACTION */
    const char *usage; /* "a acquire [LOCK] [owner=N] [timeout=2s]" */
    const char *help;  /* a clause */
};

/* Returns the verbs that all coordinators have, and sets their number. */
const struct verb *verb_all(int *count);

/* Returns the verb of the index-th fault, or end of a fault, that one linked coordinator has of its own; NULL
 * behind the last. */
const struct verb *verb_own(int index);

/* Returns the verb of that name, of any coordinator: with VERB_CLIENT if `client`, else without. NULL if
 * there is none. */
const struct verb *verb_find(const struct input_word *word, bool client);

const char *verb_name(const struct verb *verb);

/* Returns the verb of an action in a command: its word in labels, but "try" for an acquire with timeout 0. */
const char *verb_of_step(const struct action *op);

/* Returns whether a word cannot name a process or a lock: a verb, the first word of a header line, or one of
 * a few other words. */
bool verb_is_reserved(const struct input_word *word);

struct header_word {
    const char *name;
    const char *usage;
    const char *help;
};
/* Writes the index-th header word, kinds of lock included. Returns false behind the last. */
bool header_at(int index, struct header_word *out);

#endif
