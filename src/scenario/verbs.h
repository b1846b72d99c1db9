/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The commands of the language as a table, for the parser, `lockstep list verbs` and the tests of the
 * reference page. */
#ifndef SCENARIO_VERBS_H
#define SCENARIO_VERBS_H

#include "scenario/scenario.h"

/* The argument of a verb. */
enum verb_argument {
    ARGUMENT_NONE,
    ARGUMENT_LOCK,    /* behind a client verb; may be omitted if there is one lock */
    ARGUMENT_PROCESS, /* fault on a process */
    ARGUMENT_SERVER,  /* s1 … s5 */
    ARGUMENT_SWEPT,   /* a lock, whose directory is meant */
    ARGUMENT_PATH,    /* a node */
    ARGUMENT_DURATION,
    ARGUMENT_LABEL, /* the label of an action: the rest of the line */
};

#define VERB_OWNER 0x01u       /* takes owner=N */
#define VERB_TIMEOUT 0x02u     /* takes timeout=DURATION */
#define VERB_CUT 0x04u         /* takes keep= apply= rc= late link= */
#define VERB_COUNT 0x08u       /* takes n=N */
#define VERB_PERMS 0x40u       /* takes perms=N */
#define VERB_GUARDED 0x80u     /* takes guarded */
#define VERB_PLACE 0x100u      /* takes place=N */
#define VERB_ANYWAY 0x200u     /* takes anyway */
#define VERB_NOWAIT 0x400u     /* takes nowait */
#define VERB_REACTS 0x800u     /* may stand behind "on granted:" and "on failed:" */
#define VERB_LOCK 0x1000u      /* takes the name of a lock, which is optional if there is only one */
#define VERB_LINK 0x2000u      /* takes link=N */
#define VERB_BOTH 0x4000u      /* takes the name of a read-write lock; is two actions */
#define VERB_FOREVER 0x8000u   /* an acquire without a deadline */
#define VERB_CAPACITY 0x10000u /* needs capacity=N */
#define VERB_SERVER 0x20000u   /* the name of a server comes behind the process */
#define VERB_CLIENT 0x10u      /* the name of the process comes first */
#define VERB_FAULT 0x20u       /* listed as a fault */

struct verb {
    const char *name;  /* NULL = the name of its action */
    uint32_t flags;    /* VERB_… */
    uint8_t argument;  /* enum verb_argument */
    uint8_t step;      /* enum scenario_step */
    uint8_t action;    /* enum action_kind for STEP_ACTION */
    const char *usage; /* "a acquire [LOCK] [owner=N] [timeout=2s]" */
    const char *help;  /* a clause */
};

/* Returns the verbs that all coordinators have. */
const struct verb *verb_all(int *count);

/* Returns the index-th fault that only one of the linked coordinators has, NULL behind the last. */
const struct verb *verb_own(int index);

/* Returns the verb of that name, with VERB_CLIENT in its flags or without it, of any coordinator; NULL if
 * there is none. */
const struct verb *verb_find(const struct input_word *word, bool client);

/* Returns the word of a verb. */
const char *verb_name(const struct verb *verb);

/* Returns the verb of a program's step, where an acquire may be a try. */
const char *verb_of_step(const struct action *op);

/* Returns whether a word begins a line of its own kind (a verb or a header), and so cannot name a process or
 * a lock. */
bool verb_is_reserved(const struct input_word *word);

/* The header lines. */
struct header_word {
    const char *name;
    const char *usage;
    const char *help;
};
/* Writes the index-th header word, kinds of lock included. Returns false behind the last. */
bool header_at(int index, struct header_word *out);

#endif
