/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Judges against references. A reference (tests/check/reference) is the formula at the head of a judge,
 * evaluated over a whole list of events, without memory: slow, but short. Both must find the first
 * violation at the same event, on random lists and on the events of random runs of correct and broken
 * recipes. */
#include "base/rng.h"
#include "broken/stage.h"
#include "check/reference/all_or_none.h"
#include "check/reference/answers_have_reasons.h"
#include "check/reference/at_most_one_believer.h"
#include "check/reference/at_most_one_holder.h"
#include "check/reference/at_most_one_wakeup_per_release.h"
#include "check/reference/belief_ends_in_time.h"
#include "check/reference/bounded_work.h"
#include "check/reference/contract_is_kept.h"
#include "check/reference/deadline_is_kept.h"
#include "check/reference/every_loss_is_told.h"
#include "check/reference/every_revocation_is_told.h"
#include "check/reference/granted_in_order.h"
#include "check/reference/held_lease_is_renewed.h"
#include "check/reference/hold_keeps_its_node.h"
#include "check/reference/no_lost_wakeup.h"
#include "check/reference/no_orphan_node.h"
#include "check/reference/no_stale_effect.h"
#include "check/reference/no_watch_left_behind.h"
#include "check/reference/release_matches_acquire.h"

#define LISTS 40000
#define EVENTS 60
#define EVENTS_OF_WORK 120 /* more than the requests that a process may send without a reason */
#define RUNS 400
#define RUNS_MAX 1600 /* runs of a broken recipe, at most */
#define STEPS 300
#define VIOLATED_EACH 3    /* number of random runs that violate a property, if a recipe breaks it */
#define VIOLATED_LEAST 100 /* number of random lists that violate each property */

/* ---- all references ---- */

static const struct reference {
    const char *property;
    bool (*violates)(const struct trace_list *list, int i);
} references[] = {{"hold_keeps_its_node", loses_its_node},
                  {"answers_have_reasons", answers_without_reason},
                  {"belief_ends_in_time", believes_too_long},
                  {"every_revocation_is_told", hides_a_revocation},
                  {"no_lost_wakeup", sleeps_beside_a_free_lock},
                  {"no_orphan_node", leaves_an_orphan},
                  {"no_watch_left_behind", leaves_a_watch},
                  {"at_most_one_believer", believes_beside_another},
                  {"no_stale_effect", acts_under_an_outlived_grant},
                  {"deadline_is_kept", misses_a_deadline},
                  {"contract_is_kept", breaks_its_contract},
                  {"every_loss_is_told", hides_a_loss},
                  {"release_matches_acquire", is_unbalanced},
                  {"at_most_one_holder", holds_beside_another},
                  {"granted_in_order", is_out_of_order},
                  {"bounded_work", works_without_bound},
                  {"at_most_one_wakeup_per_release", wakes_more_than_one},
                  {"held_lease_is_renewed", lets_a_lease_run_out},
                  {"all_or_none", tells_a_part}};
/* The last one is about calls for several locks, which have lists of their own. */
enum { CALLS = sizeof references / sizeof references[0] - 1, REFERENCES = CALLS };

static int violated[CALLS + 1], judged[CALLS + 1];

static const struct ls_lock_spec latch = {.kind = LS_LOCK_ELECTION, .loss = LS_LOSS_WAITS};

/* Returns the first event at which the judge finds a violation; *count = none. If a run needs more records
 * than there are, *count becomes the number of events that were judged. */
static int judge(const struct reference *reference, const struct trace_list *list, int *count)
{
    struct check_context context = {.processes = PROCESSES,
                                    .locks = list->locks ? list->locks : 1,
                                    .owners = 16,
                                    .timed = list->timed,
                                    .reentrant = list->reentrant,
                                    .leases = list->leases,
                                    .specs = list->waits_again ? &latch : NULL,
                                    .tolerance_ms = TOLERANCE_MS};
    struct check_set set;
    struct check_stats stats = {0};
    int i = 0;
    check_set_init(&set, CHECK_BIT(check_position(reference->property)), &context);
    void *block = calloc(1, check_set_state_size(&set));
    assert_non_null(block);
    while (i < *count && (stats.violated & set.mask) == 0 && !stats.limit)
        check_set_observe(&set, block, &stats, &list->event[i++]);
    free(block);
    *count = stats.limit ? i - 1 : *count;
    judged[reference - references] += stats.finding[check_position(reference->property)].premises > 0;
    return (stats.violated & set.mask) != 0 && !stats.limit ? i - 1 : *count;
}

/* Compares the judge with one reference, or each judge with its reference if `only` is -1. */
static void compare(const struct trace_list *list, int events, uint64_t seed, int only)
{
    for (int r = only < 0 ? 0 : only; r < (only < 0 ? REFERENCES : only + 1); r++) {
        int count = events, found = judge(&references[r], list, &count);
        for (int i = 0; i <= found && i < count; i++)
            if (references[r].violates(list, i) != (i == found))
                fail_msg("%s, seed %llu: event %d (%s) of %d: the judge says %d", references[r].property,
                         (unsigned long long)seed, i, event_name((enum event_kind)list->event[i].kind), count,
                         found);
        violated[r] += found < count;
    }
}

/* Prints for each property how many lists were judged and violated, and checks that enough were violated. */
static void tell(int least)
{
    for (int r = 0; r < REFERENCES; r++) {
        print_message("%s: %d judged, %d violated\n", references[r].property, judged[r], violated[r]);
        assert_true(judged[r] > 0 && violated[r] >= least);
        violated[r] = judged[r] = 0;
    }
}

/* ---- random lists ---- */

static int32_t code_of(struct rng *rng, int kind)
{
    static const int32_t failures[] = {CODE_BUSY,    CODE_TIMED_OUT, CODE_CANCELED, CODE_NO_MEMORY,
                                       CODE_GAVE_UP, CODE_CLOSED,    CODE_ALREADY,  -11,
                                       -102};
    static const int32_t written[] = {0, CODE_LOST, CODE_NOT_OWNER, -12};
    static const int32_t refusals[] = {0, CODE_NOTHING_PENDING, CODE_ALREADY, CODE_CLOSED, -12};
    switch (kind) {
    case EVENT_ASKED:
        return (int32_t)rng_below(rng, 3) * 20 - 20 + (rng_below(rng, 3) == 0 ? 20 : 0);
    case EVENT_FAILED:
        return failures[rng_below(rng, 9)];
    case EVENT_FREED:
        return rng_below(rng, 4) == 0 ? failures[rng_below(rng, 9)] : rng_below(rng, 16) == 0;
    case EVENT_WRITTEN:
        return written[rng_below(rng, 4)];
    case EVENT_REVOKE_SENT:
        return refusals[rng_below(rng, 5)];
    case EVENT_GRANTED:
        return 1 + (rng_below(rng, 4) == 0);
    case EVENT_NODE_CREATED:
    case EVENT_NODE_SET:
    case EVENT_NODE_DELETED:
        return rng_below(rng, 8) != 0;
    case EVENT_WOKEN:
        return 2 + (rng_below(rng, 4) == 0);
    case EVENT_WATCH_SET:
    case EVENT_WATCH_GONE:
        return (int32_t)rng_below(rng, EVENT_WATCH_OTHER + 1);
    case EVENT_EFFECT:
        return rng_below(rng, 3) != 0;
    case EVENT_REQUEST:
        return rng_below(rng, 2) == 0 ? EVENT_REQUEST_DELETE
                                      : (int32_t)rng_below(rng, EVENT_REQUEST_OTHER + 1);
    case EVENT_MISBEHAVED:
        return (int32_t)rng_below(rng, EVENT_OFFENCES);
    default:
        return rng_below(rng, 5) == 0;
    }
}

/* Events that most lists lack, because otherwise no other event would ever be the first violation. */
struct theme {
    bool unasked, revokes, watches, believes, misbehaves, works;
};

static int draw_kind(struct rng *rng, const struct theme *theme)
{
    static const uint8_t often[] = {EVENT_ASKED,    EVENT_GRANTED, EVENT_FAILED,       EVENT_NODE_CREATED,
                                    EVENT_RELEASED, EVENT_FREED,   EVENT_NODE_DELETED, EVENT_LINK_UP,
                                    EVENT_BELIEVES, EVENT_DOUBTS,  EVENT_WOKEN};
    static const uint8_t seldom[] = {
        EVENT_CANCELED,       EVENT_LOST,      EVENT_CONNECTED,   EVENT_LINK_DOWN, EVENT_EXPIRED,
        EVENT_AUTH_FAILED,    EVENT_REST,      EVENT_CRASHED,     EVENT_STOPPED,   EVENT_SESSION_CLOSING,
        EVENT_SESSION_CLOSED, EVENT_PAUSED,    EVENT_RESUMED,     EVENT_RESTARTED, EVENT_REFUSED,
        EVENT_SETTLED,        EVENT_FAULT,     EVENT_LISTED,      EVENT_WRITTEN,   EVENT_EFFECT,
        EVENT_HOLD_LOST,      EVENT_SUSPENDED, EVENT_RECONNECTED, EVENT_READ_ONLY, EVENT_LOCK_CLOSED,
        EVENT_REQUEST,        EVENT_OUTAGE};
    static const uint8_t revocation[] = {EVENT_REVOKES,  EVENT_REVOKE_SENT,  EVENT_LISTENS,
                                         EVENT_NODE_SET, EVENT_REVOKE_ASKED, EVENT_CLOSES};
    static const uint8_t belief[] = {EVENT_ASKED, EVENT_GRANTED, EVENT_BELIEVES, EVENT_SESSION_CLOSING};
    if (theme->works && rng_below(rng, 32) != 0)
        return EVENT_REQUEST;
    if (theme->misbehaves && rng_below(rng, EVENTS) == 0)
        return EVENT_MISBEHAVED;
    if (theme->watches && rng_below(rng, 3) == 0)
        return rng_below(rng, 3) != 0 ? EVENT_WATCH_GONE : EVENT_WATCH_SET;
    if (theme->believes && rng_below(rng, 2) == 0)
        return belief[rng_below(rng, sizeof belief)];
    if (theme->revokes && rng_below(rng, 2) == 0)
        return revocation[rng_below(rng, sizeof revocation)];
    return rng_below(rng, 3) != 0 ? often[rng_below(rng, sizeof often)]
                                  : seldom[rng_below(rng, sizeof seldom)];
}

/* Returns whether the event answers an owner that did not ask. */
static bool is_unasked(const struct event *events, int i)
{
    const struct trace_list list = {.event = events};
    const struct event *event = &events[i];
    int since;
    if (event->kind == EVENT_FREED)
        return owed(&list, i, event->lock, event->process, event->owner) == 0;
    if (event->kind == EVENT_REVOKE_SENT)
        return questions(&list, i, event->lock, event->process, &since) == 0;
    return is_answer(event) && pending(&list, i, event->lock, event->process, event->owner) < 0;
}

/* Returns whether an owner that holds asks or is granted the lock, which no election has. Judges that know
 * specs take the event for one of another lock of the group. */
static bool is_about_a_hold(const struct event *events, int i)
{
    const struct trace_list list = {.event = events};
    const struct event *event = &events[i];
    bool begins = event->kind == EVENT_ASKED || event->kind == EVENT_GRANTED;
    return begins && holding(&list, i, event->lock, event->process, event->owner) >= 0;
}

static bool is_of_node(int kind)
{
    return kind == EVENT_NODE_DELETED || kind == EVENT_NODE_SET || kind == EVENT_REVOKE_ASKED;
}

/* Begins a list: each process is connected, and asks. */
static int begin_list(struct event *events)
{
    int count = 0;
    for (uint8_t process = 0; process < PROCESSES; process++) {
        events[count++] = (struct event){.kind = EVENT_LINK_UP, .process = process, .session = 100 + process};
        events[count++] = (struct event){.kind = EVENT_ASKED, .process = process, .code = -1};
    }
    return count;
}

/* Draws a list of events. Returns their number. As in each log, a czxid is given once, and a node deleted
 * once. */
static int draw_list(struct rng *rng, struct event *events, bool timed, bool waits_again)
{
    const struct theme theme = {.unasked = rng_below(rng, 8) == 0,
                                .revokes = rng_below(rng, 4) == 0,
                                .watches = rng_below(rng, 4) == 0,
                                .believes = rng_below(rng, 4) == 0,
                                .misbehaves = rng_below(rng, 32) == 0,
                                .works = rng_below(rng, 64) == 0};
    struct event node[EVENTS_OF_WORK] = {{0}};
    int nodes = 0, count = theme.works ? EVENTS_OF_WORK : EVENTS;
    int64_t zxid = 0, now_ms = 0;
    for (int i = theme.watches ? begin_list(events) : 0; i < count; i++) {
        struct event *event = &events[i];
        int kind = draw_kind(rng, &theme);
        *event = (struct event){.kind = (uint8_t)(is_of_node(kind) && nodes == 0 ? EVENT_ASKED : kind),
                                .process = (uint8_t)rng_below(rng, theme.works ? 1 : PROCESSES),
                                .owner = (uint8_t)rng_below(rng, OWNERS)};
        if (!theme.unasked && is_unasked(events, i))
            event->kind = EVENT_ASKED;
        if (waits_again && is_about_a_hold(events, i))
            event->kind = EVENT_RELEASED;
        event->code = code_of(rng, event->kind);
        event->session = 100 + event->process + 10 * (rng_below(rng, 4) == 0);
        if (event->kind == EVENT_WATCH_SET && rng_below(rng, 8) == 0)
            event->session = 0;
        event->zxid = 1 + rng_below(rng, (uint32_t)zxid + 1);
        event->now_ms = timed ? now_ms += rng_below(rng, 12) : 0;
        if (event->kind == EVENT_FAILED || event->kind == EVENT_FREED || event->kind == EVENT_DOUBTS ||
            event->kind == EVENT_NODE_CREATED || event->kind == EVENT_HOLD_LOST)
            event->cause = rng_below(rng, event->kind == EVENT_DOUBTS ? 3 : 2);
        if (event->kind == EVENT_EFFECT && rng_below(rng, 4) == 0)
            event->cause = event->zxid;
        if (event->kind == EVENT_FAULT)
            event->owner = (uint8_t)rng_below(rng, 3);
        if (event->kind == EVENT_NODE_CREATED) {
            event->zxid = ++zxid;
            node[nodes++] = *event;
        } else if (event->kind == EVENT_NODE_SET || event->kind == EVENT_REVOKE_ASKED) {
            const struct event *of = &node[rng_below(rng, (uint32_t)nodes)];
            event->zxid = of->zxid;
            event->process = of->process;
            event->code = event->kind == EVENT_NODE_SET ? of->code : 0;
            bool by_operator = event->kind == EVENT_NODE_SET && rng_below(rng, 4) == 0;
            event->owner = by_operator ? EVENT_BY_OPERATOR : event->owner % 2;
        } else if (event->kind == EVENT_NODE_DELETED) {
            int which = (int)rng_below(rng, (uint32_t)nodes);
            *event = node[which];
            event->kind = EVENT_NODE_DELETED;
            event->now_ms = now_ms;
            event->owner = (uint8_t)rng_below(rng, PROCESSES + 1);
            event->owner = rng_below(rng, 4) == 0   ? EVENT_BY_OPERATOR
                           : rng_below(rng, 8) == 0 ? EVENT_BY_TIME
                           : rng_below(rng, 8) == 0 ? EVENT_BY_LOSS
                                                    : event->owner;
            node[which] = node[--nodes];
        }
    }
    return count;
}

static void on_random_lists(void **state)
{
    struct rng rng;
    (void)state;
    rng_seed(&rng, 1);
    for (int i = 0; i < LISTS; i++) {
        struct event events[EVENTS_OF_WORK];
        bool timed = i % 2 == 1;
        bool waits_again = i % 8 >= 4;
        int count = draw_list(&rng, events, timed, waits_again);
        compare(&(struct trace_list){events, timed, i % 4 < 2, waits_again, 0, i % 16 >= 8}, count,
                (uint64_t)i, -1);
    }
    tell(VIOLATED_LEAST);
}

/* ---- random calls for several locks ---- */

enum { CALLED = 3, EVENTS_OF_CALLS = 40 };

/* Returns the set of locks for which an owner asks in one call: constant for each owner. */
static unsigned call_of(int process, int owner)
{
    static const unsigned calls[PROCESSES][OWNERS] = {{3, 7}, {6, 5}, {2, 3}};
    return calls[process][owner];
}

static int put(struct event *events, int count, struct event event)
{
    if (count < EVENTS_OF_CALLS)
        events[count++] = event;
    return count;
}

/* Adds news of all locks of a call. Seldom one lock's news are missing, or of another kind. */
static int put_news(struct rng *rng, struct event *events, int count, struct event event)
{
    unsigned call = call_of(event.process, event.owner);
    bool whole = rng_below(rng, 12) != 0;
    for (int lock = 0; lock < CALLED; lock++) {
        event.lock = (uint8_t)lock;
        struct event told = event;
        if (!whole && rng_below(rng, 3) == 0)
            told.kind = EVENT_FAILED;
        if ((call >> lock & 1) && (whole || rng_below(rng, 3) != 0))
            count = put(events, count, told);
    }
    return count;
}

static int draw_calls(struct rng *rng, struct event *events)
{
    static const uint8_t kinds[] = {EVENT_GRANTED,  EVENT_GRANTED, EVENT_FAILED,
                                    EVENT_RELEASED, EVENT_REFUSED, EVENT_HOLD_LOST};
    static const uint8_t others[] = {EVENT_BELIEVES, EVENT_DOUBTS,  EVENT_SETTLED, EVENT_REST,
                                     EVENT_CRASHED,  EVENT_STOPPED, EVENT_LOST};
    int count = 0;
    while (count < EVENTS_OF_CALLS) {
        struct event event = {.process = (uint8_t)rng_below(rng, PROCESSES),
                              .owner = (uint8_t)rng_below(rng, OWNERS)};
        unsigned call = call_of(event.process, event.owner);
        switch (rng_below(rng, 3)) {
        case 0:
            event.kind = EVENT_ASKED;
            event.cause = call & (call - 1) ? call : 0; /* one lock alone is no call for several */
            for (event.lock = 0; event.lock < CALLED; event.lock++)
                count = call >> event.lock & 1 ? put(events, count, event) : count;
            break;
        case 1:
            event.kind = kinds[rng_below(rng, sizeof kinds)];
            event.code = event.kind == EVENT_REFUSED ? CODE_LOST : rng_below(rng, 4) == 0;
            count = put_news(rng, events, count, event);
            break;
        default:
            event.kind = others[rng_below(rng, sizeof others)];
            count = put(events, count, event);
            break;
        }
    }
    return count;
}

static void on_random_calls(void **state)
{
    struct rng rng;
    (void)state;
    rng_seed(&rng, 2);
    violated[CALLS] = judged[CALLS] = 0;
    for (int i = 0; i < LISTS; i++) {
        struct event events[EVENTS_OF_CALLS];
        int count = draw_calls(&rng, events);
        compare(&(struct trace_list){events, false, true, false, CALLED, false}, count, (uint64_t)i, CALLS);
    }
    print_message("%s: %d judged, %d violated\n", references[CALLS].property, judged[CALLS], violated[CALLS]);
    assert_in_range(violated[CALLS], 10 * VIOLATED_LEAST, LISTS);
}

/* ---- random runs ---- */

static struct event recorded[EVENTS_MAX];
static int recorded_count;

static void record(void *ctx, const struct event *event)
{
    (void)ctx;
    if (recorded_count < EVENTS_MAX) {
        recorded[recorded_count] = *event;
        recorded[recorded_count++].path = NULL;
    }
}

static void write_program(struct world_program *program, uint64_t turn)
{
    static const int timeouts[] = {-1, 300, 0, -1};
    if (turn % 4 == 3)
        program->ops[program->count++] = (struct action){.kind = ACTION_REVOKE, .c = 1 + (int)(turn % 3)};
    for (int i = 0; i < 3; i++) {
        program->ops[program->count++] =
            (struct action){.kind = ACTION_ACQUIRE, .c = timeouts[(turn + (uint64_t)i) % 4]};
        if (i < 2 || turn % 3 != 0)
            program->ops[program->count++] = (struct action){.kind = ACTION_RELEASE};
    }
}

static void prepare(struct world_options *options, const struct ls_recipe *recipe, bool timed, uint64_t seed)
{
    stage_options(options, recipe, PROCESSES, seed % 3 == 0 ? 2 : 1, timed, seed);
    options->loss_rc = seed % 2 ? -4 : -7;
    options->used_directory = seed % 5 == 0;
    for (int p = 0; p < PROCESSES; p++)
        write_program(&options->program[p], seed + (uint64_t)p);
    for (int fault = 0; fault < WORLD_FAULTS; fault++)
        options->budget[fault] = 1;
    options->budget[WORLD_FAULT_ALLOC] = options->budget[WORLD_FAULT_CALL] = 0;
    options->budget_total = (uint8_t)(seed % 4);
}

/* Cuts a process off from the servers for longer than a deadline. */
static void cut_off(struct world *world, int process)
{
    struct action fault = {.kind = ACTION_PARTITION, .process = (uint8_t)process};
    world_apply(world, &fault);
    world_pass_time(world, 700, STAGE_STEPS_MAX, NULL, NULL);
    fault.kind = ACTION_HEAL;
    world_apply(world, &fault);
}

/* Does one run, and compares the judges of its events with the references. */
static void judge_run_of(const struct ls_recipe *recipe, uint64_t seed, int only)
{
    static struct action actions[WORLD_ACTIONS_MAX];
    struct world_options options;
    struct rng rng;
    bool timed = seed % 2 == 0;
    rng_seed(&rng, seed);
    prepare(&options, recipe, timed, seed);
    int first_fault = (int)rng_below(&rng, STEPS);
    recorded_count = 0;
    struct world *world = world_open(&options, record, NULL);
    assert_non_null(world);
    world_begin(world);
    for (int step = 0; step < STEPS && !world_trouble(world); step++) {
        if (timed && step == first_fault && seed % 4 == 0)
            cut_off(world, (int)(seed % PROCESSES));
        int count = world_actions(world, actions);
        if (count == 0)
            break;
        const struct action *action = &actions[rng_below(&rng, (uint32_t)count)];
        bool pauses = action->kind == ACTION_PAUSE;
        if (world_is_fault(action) && (step < first_fault || rng_below(&rng, 8) != 0))
            continue;
        world_apply(world, action);
        if (timed && pauses) /* for longer than its session lives */
            world_pass_time(world, 7000, STAGE_STEPS_MAX, NULL, NULL);
    }
    world_settle(world, STAGE_STEPS_MAX, NULL, NULL);
    if (timed) /* passes all deadlines */
        world_pass_time(world, 1000, STAGE_STEPS_MAX, NULL, NULL);
    world_rest(world);
    world_close(world);
    compare(&(struct trace_list){recorded, timed, recipe->reentrant, false, 0, false}, recorded_count, seed,
            only);
}

/* Returns the reference of the property that the recipe breaks, or -1. */
static int reference_of(const struct ls_recipe *recipe)
{
    for (int r = 0; r < REFERENCES; r++)
        if (strcmp(recipe->breaks, references[r].property) == 0)
            return r;
    return -1;
}

/* Does runs of a broken recipe until its property was violated a few times. */
static void judge_runs_of_broken(const struct ls_recipe *recipe)
{
    int r = reference_of(recipe);
    uint64_t seed = 0;
    do
        judge_run_of(recipe, seed + 1, seed < RUNS / 8 ? -1 : r);
    while (++seed < RUNS / 8 || (r >= 0 && violated[r] < VIOLATED_EACH && seed < RUNS_MAX));
}

static void on_random_runs(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= RUNS; seed++)
        judge_run_of(&textbook_recipe, seed, -1);
    tell(0);
    for (int i = 0; i < broken_recipes_count; i++)
        judge_runs_of_broken(broken_recipes[i]);
    for (int i = 0; i < broken_recipes_count; i++) {
        int r = reference_of(broken_recipes[i]);
        if (r >= 0 && violated[r] == 0)
            fail_msg("no random run violates %s", references[r].property);
    }
    tell(0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(on_random_lists),
        cmocka_unit_test(on_random_calls),
        cmocka_unit_test(on_random_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
