/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The stack of a depth-first search as actions: its present path, and the states that wait beside it.
 *
 * A state is found again by doing the path to it, so nothing here depends on addresses. The first entry is
 * the first state of all runs. Each other one is a successor of the last entry before it on the path. */
#ifndef EXPLORE_STACK_H
#define EXPLORE_STACK_H

#include <lockstep/sim.h>

enum stack_mark {
    STACK_PATH = 'p',   /* a state on the path: it is expanded, and its successors follow it */
    STACK_WAITS = 'w',  /* a known state that is not expanded */
    STACK_UNSEEN = 'u', /* a state that was not looked up: a limit ended the search before it was */
};

/* Zero-initialise. */
struct stack {
    unsigned char *bytes; /* owned */
    size_t size, max;
};

/* Adds an entry. Returns false if memory is short. */
bool stack_add(struct stack *stack, const struct action *action, enum stack_mark mark);

size_t stack_entries(const struct stack *stack);

/* Reads an entry. The bytes may come from a file: returns false if they are no entry. */
bool stack_entry(const struct stack *stack, size_t index, struct action *action, enum stack_mark *mark);

void stack_clear(struct stack *stack);
void stack_free(struct stack *stack);

#endif
