/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "sim/waiters.h"

#include "base/assert.h"
#include "sim/world.h"

#include <stdio.h>
#include <string.h>

/* Adds each pair of a lock and an owner that acquires of the process name. Returns their number, or -1 if
 * they do not fit. */
static int add_pairs(const struct world_program *program, int p, struct waiter *list, int room)
{
    int count = 0;
    for (int i = 0; i < program->count; i++) {
        const struct action *op = &program->ops[i];
        for (int n = op->kind == ACTION_ACQUIRE ? action_more_locks(op) : -1; n >= 0; n--) {
            struct waiter pair = {
                .process = (uint8_t)p, .lock = (uint8_t)action_lock_at(op, n), .owner = op->owner};
            int known = 0;
            while (known < count && memcmp(&list[known], &pair, sizeof pair) != 0) {
                known++;
            }
            if (known == room) {
                return -1;
            }
            list[known] = pair;
            count += known == count;
        }
    }
    return count;
}

static int one_for_each_process(int processes, struct waiter list[WAITERS_MAX])
{
    for (int p = 0; p < processes; p++) {
        list[p] = (struct waiter){.process = (uint8_t)p, .all = true};
    }
    return processes;
}

_Static_assert(WORLD_PROCESSES_MAX <= WAITERS_MAX, "each process has a waiter");

int waiters_list(const struct world_options *options, struct waiter list[WAITERS_MAX])
{
    int count = 0;
    for (int p = 0; p < options->processes; p++) {
        int pairs = add_pairs(&options->program[p], p, list + count, WAITERS_MAX - count);
        if (pairs < 0 || (pairs < 2 && count == WAITERS_MAX)) {
            return one_for_each_process(options->processes, list);
        }
        if (pairs < 2) {
            list[count] = (struct waiter){.process = (uint8_t)p, .all = true};
            pairs = 1;
        }
        count += pairs;
    }
    LS_ASSERT(count >= options->processes && count <= WAITERS_MAX);
    return count;
}

bool waiter_waits(const struct waiter *waiter)
{
    struct pack pack = process_pack(waiter->process);
    for (struct rec *rec = pack_first(&pack, LIST_SLOT); rec != NULL; rec = pack_next(&pack, rec)) {
        bool its = waiter->all || (rec->tag == waiter->lock && rec->word == waiter->owner);
        if (its && ((struct slot *)rec)->pending) {
            return true;
        }
    }
    return false;
}

uint32_t waiters_waiting(const struct waiter *list, int count)
{
    uint32_t waiting = 0;
    LS_ASSERT(count > 0 && count <= WAITERS_MAX);
    for (int i = 0; i < count; i++) {
        waiting |= (uint32_t)waiter_waits(&list[i]) << i;
    }
    return waiting;
}

void waiter_name(const struct world_options *options, const struct waiter *waiter, char text[WORLD_LABEL_MAX])
{
    int size = snprintf(text, WORLD_LABEL_MAX, "%s", options->name[waiter->process]);
    if (!waiter->all && options->locks > 1) {
        size += snprintf(text + size, WORLD_LABEL_MAX - (size_t)size, " %s", label_lock_name(waiter->lock));
    }
    if (!waiter->all && waiter->owner > 0) {
        snprintf(text + size, WORLD_LABEL_MAX - (size_t)size, " owner=%d", waiter->owner);
    }
}
