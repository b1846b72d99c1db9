/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "scenario/long_runs.h"

#include "base/assert.h"

#include <stdio.h>

/* More than 256, so that a number of 8 bits wraps. */
#define TURNS 300

/* A new session takes some time: fewer turns keep such a run as short as the others. */
#define TURNS_OF_SESSIONS 40

static const struct {
    const char *name;
    const char *before, *turn, *after;
    int turns;
} RUN[] = {
    {"turns", "", "a acquire\nsettle\na release\nsettle\n", "", TURNS},
    {"turns-of-two", "", "a acquire\nb acquire\nsettle\na release\nsettle\nb release\nsettle\n", "", TURNS},
    {"tries", "", "a try\nsettle\na release\nsettle\n", "", TURNS},
    {"busy-tries", "b acquire\nsettle\n", "a try\nsettle\n", "b release\na acquire\n", TURNS},
    {"deadlines", "b acquire\nsettle\n", "a acquire timeout=100ms\nadvance 200ms\n", "b release\na acquire\n",
     TURNS},
    {"cancels", "b acquire\nsettle\n", "a acquire\nsettle\na cancel\nsettle\n", "b release\na acquire\n",
     TURNS},
    {"early-cancels", "", "a acquire\na cancel\nsettle\n", "a acquire\n", TURNS},
    {"levels", "a acquire\nsettle\nb acquire\n", "a acquire\n", "", TURNS},
    {"writes", "a acquire\nsettle\n", "a write\nsettle\n", "", TURNS},
    {"losses-of-a-holder", "a acquire\nsettle\nb acquire\nsettle\n", "cut a\nsettle\n", "", TURNS},
    {"losses-of-a-waiter", "b acquire\nsettle\na acquire\nsettle\n", "cut a\nsettle\n", "b release\n", TURNS},
    {"losses-of-nobody", "", "cut a\nsettle\n", "a acquire\n", TURNS},
    {"losses-within-turns", "",
     "a acquire\ncut a\nadvance 6s\nsettle\na release\ncut a\nadvance 6s\nsettle\n", "", TURNS_OF_SESSIONS},
    {"expiries-of-a-holder", "", "a acquire\nsettle\nexpire a\nadvance 6s\nsettle\n", "", TURNS_OF_SESSIONS},
    {"expiries-of-a-waiter", "b acquire\nsettle\na acquire\nsettle\n", "expire a\nadvance 6s\nsettle\n",
     "b release\n", TURNS_OF_SESSIONS},
    {"stops", "", "a acquire\nsettle\na stop\na start\nsettle\n", "", TURNS_OF_SESSIONS},
    {"closes", "", "a acquire\nsettle\na close\nsettle\na open\n", "", TURNS},
    {"evictions-of-a-waiter", "b acquire\nsettle\na acquire\nsettle\n", "evict a\ncut a\nsettle\n",
     "b release\n", TURNS_OF_SESSIONS},
    {"directories-removed", "", "a acquire\nsettle\na release\nsettle\nrmdir x\n", "", TURNS},
};

int long_runs_count(void)
{
    return (int)(sizeof RUN / sizeof RUN[0]);
}

const char *long_runs_name(int index)
{
    return RUN[index].name;
}

struct text {
    char *at;
    size_t size, used;
};

static void put(struct text *text, const char *lines)
{
    int size = snprintf(text->at + text->used, text->size - text->used, "%s", lines);
    LS_ASSERT(size >= 0 && text->used + (size_t)size < text->size);
    text->used += (size_t)size;
}

/* At the end both clients give back what they hold, and each takes the lock once more. */
void long_runs_text(int index, char *out, size_t size)
{
    struct text text = {out, size, 0};
    put(&text, "world servers=1 used timed\nmutex /locks/x\nprocess a b\nshow nothing\n\nsettle\n");
    put(&text, RUN[index].before);
    for (int i = 0; i < RUN[index].turns; i++) {
        put(&text, RUN[index].turn);
    }
    put(&text, RUN[index].after);
    put(&text, "advance 10s\nsettle\n");
    for (int i = 0; i < 2; i++) {
        put(&text, "a release\nsettle\nb release\nsettle\n");
    }
    put(&text, "a acquire\nsettle\na release\nsettle\nb acquire\nsettle\nb release\nsettle\nrest\n----\n");
}
