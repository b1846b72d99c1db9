/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The commands of the language, as a table: the parser, `lockstep list verbs` and the tests of the reference
 * page read it. */
#ifndef SCENARIO_VERBS_H
#define SCENARIO_VERBS_H

#include "scenario/scenario.h"

/* What follows the verb. */
enum verb_argument {
    ARGUMENT_NONE,
    ARGUMENT_LOCK,     /* behind a client verb: may be left out if there is one lock */
    ARGUMENT_PROCESS,  /* fault on a process */
    ARGUMENT_SERVER,   /* s1 … s5 */
    ARGUMENT_SWEPT,    /* a lock whose directory is meant */
    ARGUMENT_PATH,     /* a node */
    ARGUMENT_DURATION, /* */
    ARGUMENT_LABEL,    /* the rest of the line is the label of an action */
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
#define VERB_LOCK 0x1000u      /* the name of a lock behind the process; may be left out if there is one */
#define VERB_LINK 0x2000u      /* takes link=N */
#define VERB_BOTH 0x4000u      /* takes the name of a read-write lock, and stands for two actions */
#define VERB_FOREVER 0x8000u   /* of an acquire: it waits without a bound */
#define VERB_CAPACITY 0x10000u /* takes capacity=N, and needs it */
#define VERB_SERVER 0x20000u   /* the name of a server behind the process */
#define VERB_CLIENT 0x10u      /* the process stands before it */
#define VERB_FAULT 0x20u       /* listed as a fault */

struct verb {
    const char *name;  /* NULL = that of its action */
    uint32_t flags;    /* VERB_… */
    uint8_t argument;  /* enum verb_argument */
    uint8_t step;      /* enum scenario_step */
    uint8_t action;    /* enum action_kind for STEP_ACTION */
    const char *usage; /* "a acquire [LOCK] [owner=N] [timeout=2s]" */
    const char *help;  /* half a sentence */
};

/* Those that all coordinators have. */
const struct verb *verb_all(int *count);

/* The index-th fault that one of the linked coordinators has alone, NULL behind the last. */
const struct verb *verb_own(int index);

/* The verb of that name, with or without VERB_CLIENT in its flags, of any coordinator; NULL if there is none. */
const struct verb *verb_find(const struct input_word *word, bool client);

/* Its word. */
const char *verb_name(const struct verb *verb);

/* The verb of a step of a program, where an acquire may be a try. */
const char *verb_of_step(const struct action *op);

/* True if the word begins a line of its own kind (a verb or a header) and therefore cannot name a process or
 * a lock. */
bool verb_is_reserved(const struct input_word *word);

/* The lines before the commands. */
struct header_word {
    const char *name;
    const char *usage;
    const char *help;
};
/* Writes the index-th, kinds of lock included. Returns false behind the last. */
bool header_at(int index, struct header_word *out);

#endif
