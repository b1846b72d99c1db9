/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Local events of a property (`is_local`), on random lists of events. A local event commutes with its
 * neighbour of another process or of the servers. If the two change places, the judges keep the same state
 * and give the same verdicts. */
#include "base/rng.h"
#include "check/check.h"
#include "check/state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define EVENTS 40
#define LISTS 20000
#define PROCESSES 3

/* Events of the servers. Their `process` is the one whose node or session it is. */
#define OF_SERVERS                                                                                           \
    (EVENT_BIT(EVENT_NODE_CREATED) | EVENT_BIT(EVENT_NODE_DELETED) | EVENT_BIT(EVENT_SESSION_OPENED) |       \
     EVENT_BIT(EVENT_SESSION_CLOSING) | EVENT_BIT(EVENT_SESSION_CLOSED))

static struct check_set set;
static bool queues; /* the world has nodes that queue */

static bool is_of_node(const struct event *event)
{
    return event->kind == EVENT_NODE_CREATED || event->kind == EVENT_NODE_DELETED;
}

static struct event draw_event(struct rng *rng)
{
    struct event event = {.kind = (uint8_t)rng_below(rng, EVENT_KINDS),
                          .process = (uint8_t)rng_below(rng, PROCESSES),
                          .owner = (uint8_t)rng_below(rng, 2),
                          .zxid = 1 + rng_below(rng, 4),
                          .cause = rng_below(rng, 4),
                          .session = 1 + rng_below(rng, 3),
                          .code = (int32_t)rng_below(rng, 3)};
    if (event.kind == EVENT_REQUEST) {
        event.code = (int32_t)rng_below(rng, EVENT_REQUEST_OTHER);
    }
    if (event.kind == EVENT_NODE_DELETED && rng_below(rng, 4) == 0) {
        event.owner = EVENT_BY_OPERATOR;
    }
    if (queues && is_of_node(&event) && rng_below(rng, 2) == 0) {
        event.code = CODE_QUEUED;
    }
    if (queues && event.kind == EVENT_FAULT && rng_below(rng, 2) == 0) {
        event.process = EVENT_PROCESS_NONE;
    }
    return event;
}

/* Draws an event at which a judge looks; others would test nothing. */
static struct event any_event(struct rng *rng)
{
    struct event event;
    do {
        event = draw_event(rng);
    } while (event.kind == EVENT_REST || !check_set_wants(&set, &event));
    return event;
}

/* Judges a list, rest included, into `block`. Returns false after a violation, or if there is no room. */
static bool judge(const struct event *events, int count, void *block)
{
    struct check_stats stats = {0};
    struct event rest = {.kind = EVENT_REST, .process = EVENT_PROCESS_NONE, .lock = EVENT_LOCK_NONE};
    memset(block, 0, check_set_state_size(&set));
    for (int i = 0; i < count; i++) {
        check_set_observe(&set, block, &stats, &events[i]);
    }
    if ((stats.violated & set.mask) == 0 && !stats.limit) {
        void *known = malloc(check_set_state_size(&set));
        assert_non_null(known);
        memcpy(known, block, check_set_state_size(&set));
        check_set_observe(&set, known, &stats, &rest);
        free(known);
    }
    return (stats.violated & set.mask) == 0 && !stats.limit;
}

/* Returns whether event a would be another event, or impossible, after event b. */
static bool depends(const struct event *a, const struct event *b)
{
    bool deleted = b->kind == EVENT_NODE_DELETED;
    bool closed = b->kind == EVENT_SESSION_CLOSED;
    bool own = a->process == b->process;
    return (a->kind == EVENT_WATCH_SET && closed) || /* the session becomes 0 */
           (a->kind == EVENT_SETTLED && deleted &&
            b->owner == 1 + a->process) || /* the process's request is under way */
           (a->kind == EVENT_LISTED && deleted && b->owner == EVENT_BY_OPERATOR) || /* the list is too old */
           /* A delivery that brings a node event or leads to a request goes first only if no fault of the
            * servers is left or in force (WORLD_ALONE in sim/independence.c). */
           ((a->kind == EVENT_REQUEST || a->kind == EVENT_WOKEN) && b->kind == EVENT_FAULT &&
            b->process == EVENT_PROCESS_NONE) ||
           /* It says that it is idle while its session is closed. A search has the other order, too. */
           (a->kind == EVENT_SETTLED && closed && own) ||
           /* An idle recipe's create is under way at a cut. The server reads it in the run without a cut,
            * too. */
           (a->kind == EVENT_LINK_DOWN && b->kind == EVENT_NODE_CREATED && own && b->cause == 1);
}

static bool may_change_places(const struct event *a, const struct event *b)
{
    bool apart = a->process != b->process || (OF_SERVERS & EVENT_BIT(b->kind)) != 0;
    return apart && !depends(a, b) && check_set_is_local(&set, a);
}

/* Exchanges neighbours that may change places, and compares. Returns how many pairs there were. */
static int change_places(const struct event *events, void *before, void *behind)
{
    struct event changed[EVENTS];
    int count = 0;
    for (int i = 0; i + 1 < EVENTS; i++) {
        if (!may_change_places(&events[i], &events[i + 1]) &&
            !may_change_places(&events[i + 1], &events[i])) {
            continue;
        }
        memcpy(changed, events, sizeof changed);
        changed[i] = events[i + 1];
        changed[i + 1] = events[i];
        /* A violation ends a list; later events do not count. */
        bool holds = judge(events, i + 2, before);
        assert_int_equal(holds, judge(changed, i + 2, behind));
        if (!holds) {
            return count;
        }
        if (memcmp(before, behind, check_set_state_size(&set)) != 0) {
            fail_msg("events %d of process %d and %d of process %d make a difference", events[i].kind,
                     events[i].process, events[i + 1].kind, events[i + 1].process);
        }
        count++;
    }
    return count;
}

static void check_lists(check_mask mask)
{
    struct check_context context = {.processes = PROCESSES, .locks = 1, .queues = queues};
    struct rng rng;
    int changed = 0;
    check_set_init(&set, mask, &context);
    void *before = malloc(check_set_state_size(&set)), *behind = malloc(check_set_state_size(&set));
    assert_true(before != NULL && behind != NULL);
    rng_seed(&rng, 1);
    for (int i = 0; i < LISTS; i++) {
        struct event events[EVENTS];
        for (int k = 0; k < EVENTS; k++) {
            events[k] = any_event(&rng);
        }
        changed += change_places(events, before, behind);
    }
    free(before);
    free(behind);
    print_message("%d neighbours have changed places\n", changed);
}

static void check(check_mask mask)
{
    queues = false;
    check_lists(mask);
    queues = true;
    check_lists(mask);
    queues = false;
}

static void each_property(void **state)
{
    int count;
    const struct property *const *all = check_all(&count);
    (void)state;
    for (int i = 0; i < count; i++) {
        if (all[i]->is_local != NULL) {
            print_message("%s: ", all[i]->name);
            check(CHECK_BIT(i));
        }
    }
}

static void all_together(void **state)
{
    (void)state;
    check(check_default_mask(false));
}

/* Judges one list with one property alone and with all of them. */
static void compare_alone(const struct event *events, const struct check_set *alone,
                          const struct check_set *all, int position)
{
    int count;
    struct check_stats by_one = {0}, by_all = {0};
    void *of_one = calloc(1, check_set_state_size(alone)), *of_all = calloc(1, check_set_state_size(all));
    assert_true(of_one != NULL && of_all != NULL);
    for (int i = 0; i < EVENTS && !by_one.limit && !by_all.limit; i++) {
        check_set_observe(alone, of_one, &by_one, &events[i]);
        check_set_observe(all, of_all, &by_all, &events[i]);
        if ((by_one.violated ^ by_all.violated) & CHECK_BIT(position)) {
            fail_msg("%s differs at event %d (%s)", check_all(&count)[position]->name, i,
                     event_name((enum event_kind)events[i].kind));
        }
    }
    free(of_one);
    free(of_all);
}

/* Draws a kind of event at which the property looks, or the ledger on its behalf. */
static enum event_kind any_wanted(struct rng *rng, const struct property *property)
{
    uint64_t wants = property->wants | ledger_wants(CHECK_NEEDS_PROCESSES | property->needs);
    enum event_kind kind;
    do {
        kind = (enum event_kind)rng_below(rng, EVENT_KINDS);
    } while ((wants & EVENT_BIT(kind)) == 0 || kind == EVENT_REST);
    return kind;
}

/* A property's `needs` are complete: no verdict depends on what the ledger keeps for other properties. */
static void alone_as_together(void **state)
{
    int count;
    const struct property *const *properties = check_all(&count);
    struct check_context context = {.processes = PROCESSES, .locks = 1, .queues = true};
    struct rng rng;
    (void)state;
    queues = true;
    check_set_init(&set, check_default_mask(false), &context);
    rng_seed(&rng, 2);
    for (int i = 0; i < 4 * LISTS; i++) {
        struct check_set alone;
        int position = i % count;
        struct event events[EVENTS];
        /* There are few kinds, so that each is frequent. */
        uint64_t kinds = 0;
        for (int k = 0; k < 6; k++) {
            kinds |= EVENT_BIT(any_wanted(&rng, properties[position]));
        }
        for (int k = 0; k < EVENTS; k++) {
            do {
                events[k] = draw_event(&rng);
            } while ((kinds & EVENT_BIT(events[k].kind)) == 0);
            events[k].process = rng_below(&rng, 4) == 0 ? events[k].process : 0;
        }
        if ((set.mask & CHECK_BIT(position)) != 0 && !properties[position]->needs_search) {
            check_set_init(&alone, CHECK_BIT(position), &context);
            compare_alone(events, &alone, &set, position);
        }
    }
    queues = false;
}

/* A grant, an event of a watch or a node is never local, nor is one whose order another property needs. */
static void what_others_look_at_is_not_local(void **state)
{
    static const enum event_kind kinds[] = {EVENT_ASKED,     EVENT_GRANTED,      EVENT_FAILED,
                                            EVENT_RELEASED,  EVENT_NODE_CREATED, EVENT_NODE_DELETED,
                                            EVENT_WATCH_SET, EVENT_WATCH_GONE,   EVENT_CRASHED};
    struct check_context context = {.processes = PROCESSES, .locks = 1};
    (void)state;
    check_set_init(&set, check_default_mask(false), &context);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        assert_false(check_set_is_local(&set, &(struct event){.kind = (uint8_t)kinds[i]}));
    }
    assert_true(check_set_is_local(&set, &(struct event){.kind = EVENT_REQUEST, .code = EVENT_REQUEST_GET}));
    assert_false(
        check_set_is_local(&set, &(struct event){.kind = EVENT_REQUEST, .code = EVENT_REQUEST_DELETE}));
    assert_false(
        check_set_is_local(&set, &(struct event){.kind = EVENT_REQUEST, .process = EVENT_PROCESS_NONE}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_property),
        cmocka_unit_test(all_together),
        cmocka_unit_test(alone_as_together),
        cmocka_unit_test(what_others_look_at_is_not_local),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
