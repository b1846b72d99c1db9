/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "explore/stack.h"

#include "base/array.h"
#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

#define ENTRY_BYTES (sizeof(struct action) + 1)

_Static_assert(sizeof(struct action) == 12, "an action has no bytes between its members");

bool stack_add(struct stack *stack, const struct action *action, enum stack_mark mark)
{
    LS_ASSERT(mark == STACK_PATH || mark == STACK_WAITS || mark == STACK_UNSEEN);
    if (!array_room(&stack->bytes, stack->size + ENTRY_BYTES - 1, &stack->max, 1, 64 * ENTRY_BYTES)) {
        return false;
    }
    memcpy(stack->bytes + stack->size, action, sizeof *action);
    stack->bytes[stack->size + sizeof *action] = (unsigned char)mark;
    stack->size += ENTRY_BYTES;
    LS_ASSERT(stack->size % ENTRY_BYTES == 0 && stack->size <= stack->max);
    return true;
}

size_t stack_entries(const struct stack *stack)
{
    return stack->size / ENTRY_BYTES;
}

bool stack_entry(const struct stack *stack, size_t index, struct action *action, enum stack_mark *mark)
{
    if (index >= stack_entries(stack)) {
        return false;
    }
    const unsigned char *at = stack->bytes + index * ENTRY_BYTES;
    memcpy(action, at, sizeof *action);
    *mark = (enum stack_mark)at[sizeof *action];
    return *mark == STACK_PATH || *mark == STACK_WAITS || *mark == STACK_UNSEEN;
}

void stack_clear(struct stack *stack)
{
    stack->size = 0;
}

void stack_free(struct stack *stack)
{
    free(stack->bytes);
    *stack = (struct stack){0};
}
