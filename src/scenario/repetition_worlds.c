/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "scenario/repetition_worlds.h"

#include "base/assert.h"
#include "scenario/fixed_text.h"

/* More than 256, so that a number of 8 bits wraps. */
#define TURNS 300

/* For turns that take many steps. */
#define TURNS_OF_SESSIONS 40

static const struct {
    const char *name;
    const char *before, *turn; /* commands; NULL = none */
    int turns;
    const char *after; /* commands; NULL = none */
} RUN[] = {
    {.name = "turns", .turn = "a acquire\nsettle\na release\nsettle\n", .turns = TURNS},
    {.name = "turns-of-two",
     .turn = "a acquire\nb acquire\nsettle\na release\nsettle\nb release\nsettle\n",
     .turns = TURNS},
    {.name = "tries", .turn = "a try\nsettle\na release\nsettle\n", .turns = TURNS},
    {.name = "busy-tries",
     .before = "b acquire\nsettle\n",
     .turn = "a try\nsettle\n",
     .turns = TURNS,
     .after = "b release\na acquire\n"},
    {.name = "deadlines",
     .before = "b acquire\nsettle\n",
     .turn = "a acquire timeout=100ms\nadvance 200ms\n",
     .turns = TURNS,
     .after = "b release\na acquire\n"},
    {.name = "cancels",
     .before = "b acquire\nsettle\n",
     .turn = "a acquire\nsettle\na cancel\nsettle\n",
     .turns = TURNS,
     .after = "b release\na acquire\n"},
    {.name = "early-cancels",
     .turn = "a acquire\na cancel\nsettle\n",
     .turns = TURNS,
     .after = "a acquire\n"},
    {.name = "levels", .before = "a acquire\nsettle\nb acquire\n", .turn = "a acquire\n", .turns = TURNS},
    {.name = "writes", .before = "a acquire\nsettle\n", .turn = "a write\nsettle\n", .turns = TURNS},
    {.name = "losses-of-a-holder",
     .before = "a acquire\nsettle\nb acquire\nsettle\n",
     .turn = "cut a\nsettle\n",
     .turns = TURNS},
    {.name = "losses-of-a-waiter",
     .before = "b acquire\nsettle\na acquire\nsettle\n",
     .turn = "cut a\nsettle\n",
     .turns = TURNS,
     .after = "b release\n"},
    {.name = "losses-of-nobody", .turn = "cut a\nsettle\n", .turns = TURNS, .after = "a acquire\n"},
    {.name = "losses-within-turns",
     .turn = "a acquire\ncut a\nadvance 6s\nsettle\na release\ncut a\nadvance 6s\nsettle\n",
     .turns = TURNS_OF_SESSIONS},
    {.name = "expiries-of-a-holder",
     .turn = "a acquire\nsettle\nexpire a\nadvance 6s\nsettle\n",
     .turns = TURNS_OF_SESSIONS},
    {.name = "expiries-of-a-waiter",
     .before = "b acquire\nsettle\na acquire\nsettle\n",
     .turn = "expire a\nadvance 6s\nsettle\n",
     .turns = TURNS_OF_SESSIONS,
     .after = "b release\n"},
    {.name = "stops", .turn = "a acquire\nsettle\na stop\na start\nsettle\n", .turns = TURNS_OF_SESSIONS},
    {.name = "closes", .turn = "a acquire\nsettle\na close\nsettle\na open\n", .turns = TURNS},
    {.name = "evictions-of-a-waiter",
     .before = "b acquire\nsettle\na acquire\nsettle\n",
     .turn = "evict a\ncut a\nsettle\n",
     .turns = TURNS_OF_SESSIONS,
     .after = "b release\n"},
    {.name = "directories-removed",
     .turn = "a acquire\nsettle\na release\nsettle\nrmdir x\n",
     .turns = TURNS},
};

int long_runs_count(void)
{
    return (int)(sizeof RUN / sizeof RUN[0]);
}

const char *long_runs_name(int index)
{
    LS_ASSERT(index >= 0 && index < long_runs_count());
    return RUN[index].name;
}

/* At the end both clients release twice. Then each of them acquires and releases the lock once more. */
void long_runs_text(int index, char *out, size_t size)
{
    LS_ASSERT(index >= 0 && index < long_runs_count() && RUN[index].turns > 0);
    struct lines text = {out, size, 0};
    lines_put(&text, "world servers=1 used timed\nmutex /locks/x\nprocess a b\nshow nothing\n\nsettle\n");
    lines_put(&text, "%s", RUN[index].before != NULL ? RUN[index].before : "");
    for (int i = 0; i < RUN[index].turns; i++) {
        lines_put(&text, "%s", RUN[index].turn);
    }
    lines_put(&text, "%s", RUN[index].after != NULL ? RUN[index].after : "");
    lines_put(&text, "advance 10s\nsettle\n");
    for (int i = 0; i < 2; i++) {
        lines_put(&text, "a release\nsettle\nb release\nsettle\n");
    }
    lines_put(&text,
              "a acquire\nsettle\na release\nsettle\nb acquire\nsettle\nb release\nsettle\nrest\n----\n");
}
