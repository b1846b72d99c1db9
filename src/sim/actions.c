/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What can happen next: the ensemble's steps, timers, program steps, and faults as far as budgets allow, in this order;
 * within each by process and slot. This order is canonical: it breaks ties wherever somebody takes "the first". */
#include "base/assert.h"
#include "sim/world.h"

#include <string.h>

_Static_assert(WORLD_LINKS_MAX == FAKEZK_HANDLES_MAX, "each handle has a link");

/* ---- the ensemble's steps as actions ---- */

static const uint8_t kind_of_step[] = {
    [FAKEZK_APPLY] = ACTION_APPLY,         [FAKEZK_COMMIT] = ACTION_COMMIT,
    [FAKEZK_CATCH_UP] = ACTION_CATCH_UP,   [FAKEZK_DELIVER] = ACTION_DELIVER,
    [FAKEZK_CONNECT] = ACTION_CONNECT,     [FAKEZK_BURY] = ACTION_BURY,
    [FAKEZK_HANG_UP] = ACTION_HANG_UP,     [FAKEZK_GIVE_UP] = ACTION_GIVE_UP,
    [FAKEZK_EXPIRE] = ACTION_EXPIRE,       [FAKEZK_RECEIVE] = ACTION_RECEIVE,
    [FAKEZK_HANDSHAKE] = ACTION_HANDSHAKE, [FAKEZK_REARM] = ACTION_REARM,
    [FAKEZK_LINGER] = ACTION_LINGER};

void action_of_step(const struct fakezk_step *step, struct action *out)
{
    *out = (struct action){.kind = kind_of_step[step->kind],
                           .process = step->client,
                           .handle = step->handle,
                           .server = step->server,
                           .session = step->session,
                           .refused = step->refused};
}

void step_of_action(const struct action *action, struct fakezk_step *out)
{
    static const uint8_t kind_of_action[] = {
        [ACTION_APPLY] = FAKEZK_APPLY,         [ACTION_COMMIT] = FAKEZK_COMMIT,
        [ACTION_CATCH_UP] = FAKEZK_CATCH_UP,   [ACTION_DELIVER] = FAKEZK_DELIVER,
        [ACTION_CONNECT] = FAKEZK_CONNECT,     [ACTION_BURY] = FAKEZK_BURY,
        [ACTION_HANG_UP] = FAKEZK_HANG_UP,     [ACTION_GIVE_UP] = FAKEZK_GIVE_UP,
        [ACTION_EXPIRE] = FAKEZK_EXPIRE,       [ACTION_RECEIVE] = FAKEZK_RECEIVE,
        [ACTION_HANDSHAKE] = FAKEZK_HANDSHAKE, [ACTION_REARM] = FAKEZK_REARM,
        [ACTION_LINGER] = FAKEZK_LINGER};
    *out = (struct fakezk_step){.kind = kind_of_action[action->kind],
                                .client = action->process,
                                .handle = action->handle,
                                .server = action->server,
                                .session = action->session,
                                .refused = action->refused != 0};
}

/* ---- the list ---- */

struct list {
    struct action *out;
    int count;
    unsigned faults; /* kinds that may still be bought, a bit each */
};

/* Fields are written where they stay: putting an action together elsewhere and copying it is slower. */
static struct action *add(struct list *list, enum action_kind kind, int process)
{
    static struct action beyond;
    if (list->count == WORLD_ACTIONS_MAX) {
        world_note_trouble("limit: more than %d actions are enabled at once", WORLD_ACTIONS_MAX);
        return &beyond;
    }
    struct action *action = &list->out[list->count++];
    *action = (struct action){.kind = (uint8_t)kind, .process = (uint8_t)process};
    return action;
}

static void add_step(struct list *list, const struct fakezk_step *step)
{
    struct action *action = add(list, kind_of_step[step->kind], step->client);
    action->handle = step->handle;
    action->server = step->server;
    action->session = step->session;
    action->refused = step->refused;
}

static void add_timers(struct list *list, int p)
{
    if (!process_running(p)) {
        return;
    }
    struct pack pack = process_pack(p);
    uint8_t index = 0;
    for (struct rec *rec = pack_first(&pack, LIST_TIMER); rec != NULL; rec = pack_next(&pack, rec), index++) {
        if (timer_may_fire(p, (struct timer *)rec)) {
            add(list, ACTION_FIRE, p)->timer = index;
        }
    }
}

unsigned action_faults_left(void)
{
    static const uint8_t none[WORLD_FAULTS];
    const struct world_state *state = the_state();
    unsigned kinds = 0;
    if (state->budget_total == 0 || memcmp(state->budget, none, sizeof none) == 0) {
        return 0; /* mostly */
    }
    for (int f = 0; f < WORLD_FAULTS; f++) {
        kinds |= (unsigned)(state->budget[f] > 0) << f;
    }
    return kinds;
}

static bool may_buy(const struct list *list, enum world_fault fault)
{
    return (list->faults >> fault & 1u) != 0;
}

static struct action *add_cut(struct list *list, int p, int link, int keep, int apply)
{
    struct action *cut = add(list, ACTION_CUT, p);
    cut->keep = (uint8_t)keep;
    cut->apply = (uint8_t)apply;
    cut->rc = the_world.options.loss_rc;
    cut->modes = ACTION_CUT_LINK(link);
    return cut;
}

static void add_cuts_of(struct list *list, int p, int link, int handle)
{
    bool loss = may_buy(list, WORLD_FAULT_LOSS);
    bool late = may_buy(list, WORLD_FAULT_LATE);
    int keep_max = fakezk_unreceived_messages(p, handle);
    int apply_max = fakezk_unread_requests(p, handle);
    for (int keep = 0; keep <= keep_max; keep++) {
        for (int apply = 0; apply <= apply_max; apply++) {
            if (loss && fakezk_can_cut(p, handle, keep, apply, false)) {
                add_cut(list, p, link, keep, apply);
            }
            if (late && fakezk_can_cut(p, handle, keep, apply, true)) {
                add_cut(list, p, link, keep, apply)->modes |= ACTION_CUT_LATE;
            }
        }
    }
}

static void add_cuts(struct list *list, int p)
{
    int handle;
    for (int link = 0; (handle = fakezk_linked(p, link)) >= 0; link++) {
        add_cuts_of(list, p, link, handle);
    }
}

static void add_refusals(struct list *list, int p)
{
    for (int nth = 0; fakezk_refusable(p, nth) >= 0; nth++) {
        add(list, ACTION_REFUSE, p)->nth = (uint8_t)nth;
    }
}

static void add_expiries(struct list *list, int p)
{
    for (int h = 0; h < FAKEZK_HANDLES_MAX; h++) {
        int32_t session = fakezk_session(p, h);
        if (session != 0 && fakezk_session_live(session)) {
            add(list, ACTION_EXPIRE, p)->session = session;
        }
    }
}

static void add_cancels(struct list *list, int p)
{
    struct pack pack = process_pack(p);
    for (struct rec *rec = pack_first(&pack, LIST_SLOT); rec != NULL; rec = pack_next(&pack, rec)) {
        if (((struct slot *)rec)->pending) {
            struct action *cancel = add(list, ACTION_CANCEL, p);
            cancel->owner = (uint8_t)rec->word;
            cancel->lock = rec->tag;
        }
    }
}

/* Whoever has crashed or stands still goes on for nothing. */
static void add_returns(struct list *list, int p)
{
    if (process_at(p)->crashed) {
        add(list, ACTION_RESTART, p);
    }
    if (process_at(p)->paused) {
        add(list, ACTION_RESUME, p);
    }
}

/* The next one, or the one behind it: a step may need memory twice. */
enum { FAILING_MAX = 2 };

static void add_failures(struct list *list, int kind, int p)
{
    for (int n = 1; n <= FAILING_MAX; n++) {
        add(list, kind, p)->n = n;
    }
}

static void add_faults_of_started(struct list *list, int p)
{
    if (may_buy(list, WORLD_FAULT_PAUSE) && !process_at(p)->paused) {
        add(list, ACTION_PAUSE, p);
    }
    if (may_buy(list, WORLD_FAULT_CRASH)) {
        add(list, ACTION_CRASH, p);
    }
    if (may_buy(list, WORLD_FAULT_REFUSE)) {
        add_refusals(list, p);
    }
    if (process_at(p)->paused) {
        return;
    }
    if (may_buy(list, WORLD_FAULT_CANCEL)) {
        add_cancels(list, p);
    }
    if (may_buy(list, WORLD_FAULT_ALLOC) && process_at(p)->fail_in == 0) {
        add_failures(list, ACTION_FAIL_ALLOC, p);
    }
    if (may_buy(list, WORLD_FAULT_CALL) && fakezk_failing_call(p) == 0) {
        add_failures(list, ACTION_FAIL_CALL, p);
    }
}

/* At each lock, if the process has a contender there and the budget pays. */
static void add_at_contenders(struct list *list, int kind, int p)
{
    bool pays = may_buy(list, (enum world_fault)(world_action_infos[kind].fault - 1));
    for (int lock = 0; pays && lock < the_world.options.locks; lock++) {
        if (contender_of(p, lock) != NULL) {
            add(list, kind, p)->lock = (uint8_t)lock;
        }
    }
}

/* Of sessions that no handle has any more, those whose process has crashed are listed among the ensemble's steps. */
static void add_ends(struct list *list, int p)
{
    int32_t sessions[16];
    int count = fakezk_sessions(p, false, sessions, 16);
    for (int i = 0; i < count; i++) {
        struct fakezk_step step = {.kind = FAKEZK_EXPIRE, .client = (uint8_t)p, .session = sessions[i]};
        if (!session_is_owned(p, sessions[i]) && !fakezk_can_step(&step)) {
            add(list, ACTION_EXPIRE, p)->session = sessions[i];
        }
    }
}

static void add_process_faults(struct list *list, int p)
{
    add_returns(list, p);
    if (the_state()->over) {
        add_ends(list, p);
    }
    if (list->faults == 0) {
        return;
    }
    if (may_buy(list, WORLD_FAULT_LOSS) || may_buy(list, WORLD_FAULT_LATE)) {
        add_cuts(list, p);
    }
    if (may_buy(list, WORLD_FAULT_EXPIRE)) {
        add_expiries(list, p);
    }
    add_at_contenders(list, ACTION_EVICT, p);
    add_at_contenders(list, ACTION_TOUCH, p);
    add_at_contenders(list, ACTION_RESTRICT, p);
    if (process_at(p)->started) {
        add_faults_of_started(list, p);
    }
}

static void add_common_faults(struct list *list)
{
    for (int s = 0; s < the_world.options.servers; s++) {
        if (fakezk_is_frozen(s)) {
            add(list, ACTION_THAW, EVENT_PROCESS_NONE)->server = (uint8_t)s;
        } else if (s > 0 && may_buy(list, WORLD_FAULT_LAG)) {
            add(list, ACTION_FREEZE, EVENT_PROCESS_NONE)->server = (uint8_t)s;
        }
        if (may_buy(list, WORLD_FAULT_SERVER)) {
            add(list, ACTION_RESTART_SERVER, EVENT_PROCESS_NONE)->server = (uint8_t)s;
        }
    }
    for (int lock = 0; may_buy(list, WORLD_FAULT_SWEEP) && lock < the_world.options.locks; lock++) {
        if (the_world.options.lock[lock].group == lock && fakezk_can_sweep(the_world.lock_path[lock])) {
            add(list, ACTION_SWEEP, EVENT_PROCESS_NONE)->lock = (uint8_t)lock;
        }
    }
    for (int lock = 0; may_buy(list, WORLD_FAULT_RMDIR) && lock < the_world.options.locks; lock++) {
        char path[FAKEZK_PATH_MAX];
        if (the_world.options.lock[lock].group == lock && action_empty_directory(lock, path)) {
            add(list, ACTION_RMDIR, EVENT_PROCESS_NONE)->lock = (uint8_t)lock;
        }
    }
}

static void add_advance(struct list *list)
{
    struct action advance = {.kind = ACTION_ADVANCE, .process = EVENT_PROCESS_NONE};
    if (the_world.options.timed && world_enabled(&the_world, &advance)) {
        add(list, ACTION_ADVANCE, EVENT_PROCESS_NONE);
    }
}

/* The same verb of two lists is one action. */
static bool is_listed(const struct list *list, int first, const struct action *action)
{
    for (int i = first; i < list->count - 1; i++) {
        if (world_same_action(&list->out[i], action)) {
            return true;
        }
    }
    return false;
}

static void add_ops(struct list *list, int p)
{
    int first = list->count;
    for (int i = 0; i < program_lists(p); i++) {
        const struct action *op = program_next_op(p, i);
        if (op == NULL) {
            continue;
        }
        int count = list->count;
        struct action *action = add(list, op->kind, p);
        action->a = op->a;
        action->b = op->b;
        action->c = op->c;
        action->d = op->d;
        if (!world_enabled(&the_world, action) || is_listed(list, first, action)) {
            list->count = count;
        }
    }
}

static struct fakezk_step steps[STEPS_MAX];

static void add_steps(struct list *list, int count)
{
    for (int i = 0; i < count; i++) {
        add_step(list, &steps[i]);
    }
}

int world_actions(struct world *world, struct action *out)
{
    struct list list = {out, 0, action_faults_left()};
    add_steps(&list, fakezk_steps(steps, STEPS_MAX));
    for (int p = 0; p < world->options.processes; p++) {
        add_timers(&list, p);
    }
    add_advance(&list);
    for (int p = 0; world->programmed && p < world->options.processes; p++) {
        add_ops(&list, p);
    }
    for (int p = 0; p < world->options.processes; p++) {
        add_process_faults(&list, p);
    }
    add_common_faults(&list);
    return world->options.without == 0 ? list.count : without_filter(out, list.count);
}

int world_actions_among(struct world *world, int p, unsigned parts, struct action *out)
{
    struct list list = {out, 0, 0};
    bool is_process = p < world->options.processes;
    LS_ASSERT(!world->options.timed && world->options.without == 0);
    if ((parts & WORLD_PART_ENSEMBLE) != 0) {
        add_steps(&list, fakezk_steps_of(is_process ? p : (int)FAKEZK_NONE, steps, STEPS_MAX));
    }
    if ((parts & WORLD_PART_TIMERS) != 0 && is_process) {
        add_timers(&list, p);
    }
    if ((parts & WORLD_PART_PROGRAM) != 0 && is_process && world->programmed) {
        add_ops(&list, p);
    }
    if ((parts & WORLD_PART_FAULTS) != 0) {
        list.faults = action_faults_left();
        if (is_process) {
            add_process_faults(&list, p);
        } else {
            add_common_faults(&list);
        }
    }
    return list.count;
}

int world_actions_of(struct world *world, int p, struct action *out)
{
    return world_actions_among(world, p, WORLD_PARTS, out);
}

/* ---- faults and their budgets ---- */

int world_fault_of(const struct action *action)
{
    if (action->kind >= ACTION_KINDS) {
        return -1;
    }
    bool late = action->kind == ACTION_CUT && action_cut_is_late(action);
    return late ? WORLD_FAULT_LATE : world_action_infos[action->kind].fault - 1;
}

bool world_is_fault(const struct action *action)
{
    return world_fault_of(action) >= 0;
}

/* What the program does behind it is no part of what is done, nor of its label. */
bool world_same_action(const struct action *a, const struct action *b)
{
    return a->kind == b->kind && a->process == b->process && a->a == b->a && a->b == b->b && a->c == b->c &&
           (world_is_verb(a) || a->d == b->d);
}

const char *world_fault_name(enum world_fault fault)
{
    static const char *const names[] = {"loss",  "expire", "pause", "crash",   "refuse", "lag",
                                        "late",  "cancel", "alloc", "sweep",   "server", "rmdir",
                                        "evict", "touch",  "call",  "restrict"};
    _Static_assert(sizeof names / sizeof *names == WORLD_FAULTS, "one name per fault");
    LS_ASSERT(fault < WORLD_FAULTS);
    return names[fault];
}

/* An expiry that was due anyway costs nothing. */
void action_pay(const struct action *action, bool due)
{
    int fault = world_fault_of(action);
    if (fault < 0 || due) {
        return;
    }
    const struct world_state *state = the_state();
    if (state->budget[fault] == 0) {
        return; /* a script's fault */
    }
    the_world.paid |= 1u << fault;
    struct world_state *paid = state_mark();
    paid->budget[fault]--;
    if (paid->budget_total != 255) {
        paid->budget_total--;
    }
}
