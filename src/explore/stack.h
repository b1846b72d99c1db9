/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The stack of a depth-first search as a list of entries, each an action and a mark: its path, and the states
 * beside it. A state is found again by doing the path to it. The first entry is the first state of all runs,
 * without an action. Each other entry is a successor of the last entry before it with STACK_PATH. */
#ifndef EXPLORE_STACK_H
#define EXPLORE_STACK_H

#include <lockstep/sim.h>

enum stack_mark {
    STACK_PATH = 'p',   /* a state on the path: it is expanded, and its successors follow it */
    STACK_WAITS = 'w',  /* a known state that is not expanded */
    STACK_UNSEEN = 'u', /* a state that was not looked up, because a limit ended the search before */
};

/* Zero-initialise. */
struct stack {
    unsigned char *bytes; /* owned */
    size_t size, max;
};

bool stack_add(struct stack *stack, const struct action *action, enum stack_mark mark);

size_t stack_entries(const struct stack *stack);

/* Reads an entry. Returns false if there is none with this index, or if its mark, which may come from a file,
 * is not one of the enum. */
bool stack_entry(const struct stack *stack, size_t index, struct action *action, enum stack_mark *mark);

void stack_clear(struct stack *stack);
void stack_free(struct stack *stack);

#endif
