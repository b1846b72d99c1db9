/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "fuzz/situations.h"

#include "base/hash.h"

#include <string.h>

#define PLACES 3 /* in line: first, second, any other */
#define HASHED (SITUATION_SLOTS - SITUATION_MARKS)

void situations_begin(struct situations *situations)
{
    memset(situations->session, 0, sizeof situations->session);
    situations->fault = 0;
    situations->nodes = 0;
}

static void add_node(struct situations *s, const struct event *event)
{
    if (s->nodes < SITUATION_NODES_MAX && event->process < WORLD_PROCESSES_MAX) {
        s->node[s->nodes].czxid = event->czxid;
        s->node[s->nodes].process = event->process;
        s->node[s->nodes++].lock = event->lock;
    }
}

static void drop_node(struct situations *s, int64_t czxid)
{
    for (int i = 0; i < s->nodes; i++) {
        if (s->node[i].czxid == czxid) {
            s->nodes--;
            memmove(&s->node[i], &s->node[i + 1], (size_t)(s->nodes - i) * sizeof s->node[0]);
            return;
        }
    }
}

void situations_event(struct situations *s, const struct event *event)
{
    switch (event->kind) {
    case EVENT_NODE_CREATED:
        if (event->node_role == 1) {
            add_node(s, event);
        }
        break;
    case EVENT_NODE_DELETED:
        if (event->node_role == 1) {
            drop_node(s, event->czxid);
        }
        break;
    case EVENT_FAULT:
        s->fault = (uint8_t)event->action;
        break;
    case EVENT_LINK_UP:
    case EVENT_LINK_DOWN:
    case EVENT_EXPIRED:
    case EVENT_SESSION_CLOSING:
    case EVENT_SESSION_CLOSED:
    case EVENT_CRASHED:
    case EVENT_STOPPED:
        if (event->process < WORLD_PROCESSES_MAX) {
            s->session[event->process] = event->kind;
        }
        break;
    default:
        break;
    }
}

/* Returns the best place in line of the process's nodes, 1 to PLACES; 0 = it has none. */
static unsigned place_of(const struct situations *s, int process)
{
    unsigned ahead[WORLD_LOCKS_MAX] = {0}, best = 0;
    for (int i = 0; i < s->nodes; i++) {
        unsigned lock = s->node[i].lock % WORLD_LOCKS_MAX;
        unsigned place = ahead[lock] < PLACES ? ahead[lock] + 1 : PLACES;
        if (s->node[i].process == process && (best == 0 || place < best)) {
            best = place;
        }
        ahead[lock]++;
    }
    return best;
}

static void count(struct situations *s, size_t place)
{
    uint8_t *slot = &s->slot[place];
    *slot = (uint8_t)(*slot < 255 ? *slot + 1 : 255);
}

void situations_count(struct situations *s, struct world *world, int process)
{
    if (s->slot == NULL || process >= WORLD_PROCESSES_MAX) {
        return;
    }
    uint64_t states = world_recipe_states(world, process);
    uint64_t what = states ^ (uint64_t)s->fault << 32;
    uint64_t hash = hash_mix(hash_mix(what) ^ (uint64_t)s->session[process] << 8 ^ place_of(s, process));
    count(s, hash % HASHED);
}

void situations_mark(struct situations *s, int index)
{
    if (s->slot != NULL && (unsigned)index < SITUATION_MARKS) {
        count(s, HASHED + (unsigned)index);
    }
}
