/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What a depth-first search still has to do, as actions: the path to its present state, and beside it the states that wait.
 *
 * A state is found again by doing the path to it, so that nothing here depends on memory. The first entry is the first
 * state of all; each other one is a successor of the last entry before it that is on the path. */
#ifndef EXPLORE_STACK_H
#define EXPLORE_STACK_H

#include <lockstep/sim.h>

enum stack_mark {
    STACK_PATH = 'p',   /* the search is below it: its successors have been found, and stand behind it */
    STACK_WAITS = 'w',  /* it is known, and its successors are still to be found */
    STACK_UNSEEN = 'u', /* not even looked up: the search ended while it found its successors */
};

/* Zero-initialise. */
struct stack {
    unsigned char *bytes; /* owned */
    size_t size, max;
};

/* Adds an entry; false if memory is short. */
bool stack_add(struct stack *stack, const struct action *action, enum stack_mark mark);

size_t stack_entries(const struct stack *stack);

/* Takes an entry out of bytes that may come from outside; false if that is none. */
bool stack_entry(const struct stack *stack, size_t index, struct action *action, enum stack_mark *mark);

void stack_clear(struct stack *stack);
void stack_free(struct stack *stack);

#endif
