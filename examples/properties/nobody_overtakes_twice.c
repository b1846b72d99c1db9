/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* While a contender stands in line, nobody else is granted the same lock twice.
 *
 * Who came before it may be served before it, once; then he has to queue up again, behind it. A recipe that breaks this
 * lets somebody jump the queue, or do so again and again, and the one that he passes may starve.
 *
 * What the state knows of each lock and process:
 *
 *   nobody ---- its contender node is created ----> in line, nobody has passed it
 *   in line ---- another is granted the lock -----> in line, that one has passed it; the second time is a violation
 *   in line ---- its node is gone, or it got the lock, or was told that it does not get it ----> nobody
 *
 * It follows the oldest node of a process on a lock and the first owner (thread) of the others. It does not see: overtaking
 * before the node stands, while its creator does not know yet that it does; nor anything between threads of one process. */
#include <lockstep/property.h>

/* Who stands in line. */
struct place {
    int64_t czxid;   /* of its contender node; 0 = it stands nowhere */
    uint32_t passed; /* a bit for each process that was granted the lock since */
    uint32_t unused; /* what the compiler would leave between records is part of the state: it is zero */
};

struct line {
    struct place place[LS_PROPERTY_LOCKS_MAX][LS_PROPERTY_PROCESSES_MAX];
};

static void leave(struct place *place)
{
    *place = (struct place){0}; /* the question is answered: what was kept for it is forgotten */
}

static void on_grant(struct line *line, const struct event *event, struct ls_judge *judge)
{
    uint32_t bit = 1u << event->process;
    if (event->code > 1 || event->owner > 0) {
        return; /* one level deeper is no new turn */
    }
    for (int p = 0; p < judge->processes; p++) {
        struct place *place = &line->place[event->lock][p];
        if (place->czxid == 0 || p == event->process) {
            continue;
        }
        judge->premise(judge);
        if ((place->passed & bit) != 0) {
            judge->violate(judge, "%s was granted %s twice while %s stood in line (czxid %lld)",
                           judge->process_name(judge, event->process), judge->lock_name(judge, event->lock),
                           judge->process_name(judge, p), (long long)place->czxid);
        }
        place->passed |= bit;
    }
    leave(&line->place[event->lock][event->process]);
}

static void leave_everywhere(struct line *line, const struct event *event)
{
    for (int lock = 0; lock < LS_PROPERTY_LOCKS_MAX; lock++) {
        leave(&line->place[lock][event->process]);
    }
}

static void observe(void *state, const struct event *event, struct ls_judge *judge)
{
    struct line *line = state;
    if (event->process == EVENT_PROCESS_NONE) {
        return; /* a node of the operator's */
    }
    if (event->kind == EVENT_CRASHED || event->kind == EVENT_LOST) {
        leave_everywhere(line, event);
        return;
    }
    if (event->lock == EVENT_LOCK_NONE) {
        return;
    }
    struct place *place = &line->place[event->lock][event->process];
    if (event->kind == EVENT_GRANTED) {
        on_grant(line, event, judge);
    } else if (event->kind == EVENT_NODE_CREATED && event->code == 1 && place->czxid == 0) {
        place->czxid = event->zxid;
    } else if (event->kind == EVENT_FAILED ||
               (event->kind == EVENT_NODE_DELETED && place->czxid == event->zxid)) {
        leave(place);
    }
}

/* All numbers that grow, always in the same order: zero, where nobody stands, is none. */
static void canon(const void *state, struct ls_property_rename *rename)
{
    const struct line *line = state;
    for (int lock = 0; lock < LS_PROPERTY_LOCKS_MAX; lock++) {
        for (int p = 0; p < LS_PROPERTY_PROCESSES_MAX; p++) {
            rename->zxid(rename, &line->place[lock][p].czxid);
        }
    }
}

static const struct ls_property nobody_overtakes_twice = {
    .name = "nobody_overtakes_twice",
    .sentence = "while a contender stands in line, nobody else is granted the same lock twice",
    .premise = "grants to others while somebody stands in line",
    .blind_to = "what happens before the contender's node stands; threads of one process among themselves",
    .modes = LS_PROPERTY_ALWAYS,
    .wants = EVENT_BIT(EVENT_NODE_CREATED) | EVENT_BIT(EVENT_NODE_DELETED) | EVENT_BIT(EVENT_GRANTED) |
             EVENT_BIT(EVENT_FAILED) | EVENT_BIT(EVENT_LOST) | EVENT_BIT(EVENT_CRASHED),
    .state_size = sizeof(struct line),
    .observe = observe,
    .canon = canon,
};

LS_PROPERTY_MODULE(nobody_overtakes_twice);
