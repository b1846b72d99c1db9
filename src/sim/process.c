/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Processes: calls of a recipe, and its reports. While a recipe is called, calls of the client library are
 * those of its process (D3b). */
#include "base/assert.h"
#include "base/stop_points.h"
#include "sim/abilities.h"
#include "sim/world.h"

#include <lockstep/error.h>
#include <stdio.h>

/* Always inlined: a call behind zones_paint_stack() would leave addresses on the painted stack. */
static inline __attribute__((always_inline)) const struct ls_recipe *recipe(void)
{
    return the_world.options.recipe;
}

/* Begins a call. A recipe may write anywhere in its memory; other blocks are marked by their writers. */
static void admit(int p)
{
    LS_ASSERT(the_world.locked == 0 && the_world.in_callback == 0);
    arena_mark(&the_world.arena, the_world.heap_block[p]);
    the_world.entered = true;
    the_world.running = 1 + p;
    the_world.coordinator->enter(p);
}

/* Begins a call of the recipe, and returns its state. `fn` is the function at which a debugger may stop; NULL
 * = none. In a world with zones, enter() paints the stack last. It is inlined, so the recipe's frame will lie
 * on the painted bytes. */
static inline __attribute__((always_inline)) void *enter(int p, code_fn fn)
{
    void *state = process_state(p);
    admit(p);
    stop_points_call(fn);
    if (the_world.zoned) {
        zones_paint_stack();
    }
    return state;
}

static void ask_wrong(int p)
{
    if (recipe()->wrong == NULL || the_world.stopping) {
        return;
    }
    static char told[96]; /* a copy, because the recipe may change its text */
    the_world.asked = p;
    const char *text = recipe()->wrong(process_state(p));
    if (text != NULL) {
        snprintf(told, sizeof told, "%.*s", (int)sizeof told - 1, text);
        world_tell_offence(p, EVENT_OFFENCE_WRONG, told);
    }
    the_world.asked = -1;
}

/* Calls what a search calls outside of steps, where nobody could say which step broke it. */
static void ask_pure(int p)
{
    if (!the_world.zoned || the_world.stopping || !process_at(p)->started) {
        return;
    }
    LS_ASSERT(the_world.asked < 0);
    the_world.asked = p;
    if (recipe()->states_now != NULL) {
        (void)recipe()->states_now(process_state(p));
    }
    if (recipe()->canon != NULL && !canon_stays_inside(p)) {
        world_tell_offence(p, EVENT_OFFENCE_STALE, "canon()");
    }
    the_world.asked = -1;
}

static void call_over(void)
{
    the_world.running = 0;
    the_world.coordinator->leave();
}

static void leave(void)
{
    int p = the_world.running - 1;
    if (the_world.locked != 0 || the_world.in_callback != 0) {
        world_note_offence(the_world.locked != 0 ? EVENT_OFFENCE_KEEP : EVENT_OFFENCE_RETURN, NULL);
        the_world.locked = 0;
        the_world.in_callback = 0;
    }
    call_over();
    ask_wrong(p);
    ask_pure(p);
}

/* Begins a call, unless an owner acts within a report, because then the call that reports goes on. Returns
 * the state. */
static inline __attribute__((always_inline)) void *enter_verb(int p, code_fn fn)
{
    return the_world.reacting ? process_state(p) : enter(p, fn);
}

static void leave_verb(void)
{
    if (!the_world.reacting) {
        leave();
    }
}

/* ---- slots: who asked for what ---- */

struct slot *process_slot(int p, int lock, int owner)
{
    struct pack pack = process_pack(p);
    for (struct rec *rec = pack_first(&pack, LIST_SLOT); rec != NULL; rec = pack_next(&pack, rec)) {
        if (rec->tag == lock && rec->word == (uint32_t)owner) {
            return (struct slot *)rec;
        }
    }
    return NULL;
}

static bool is_in_order(const struct rec *slot, const struct rec *next)
{
    return next == NULL || slot->tag < next->tag || (slot->tag == next->tag && slot->word < next->word);
}

static struct slot *make_slot(int p, int lock, int owner)
{
    struct slot *slot = process_slot(p, lock, owner);
    if (slot != NULL) {
        return slot;
    }
    struct pack pack = process_pack(p);
    struct rec *before = pack_first(&pack, LIST_SLOT);
    while (before != NULL &&
           (before->tag < lock || (before->tag == lock && before->word < (uint32_t)owner))) {
        before = pack_next(&pack, before);
    }
    slot = (struct slot *)pack_insert(&pack, LIST_SLOT, before, sizeof *slot);
    if (slot == NULL) {
        world_note_trouble("limit: a process asks for too many locks at once");
        return NULL;
    }
    slot->rec.tag = (uint8_t)lock;
    slot->rec.word = (uint32_t)owner;
    LS_ASSERT(is_in_order(&slot->rec, pack_next(&pack, &slot->rec)));
    return slot;
}

static void drop_idle_slots(int p)
{
    struct pack pack = process_pack(p);
    struct rec *rec = pack_first(&pack, LIST_SLOT);
    while (rec != NULL) {
        struct slot *slot = (struct slot *)rec;
        if (slot->depth == 0 && !slot->pending && slot->belief == LS_NOT_HELD) {
            pack_remove(&pack, rec);
            rec = pack_first(&pack, LIST_SLOT);
        } else {
            rec = pack_next(&pack, rec);
        }
    }
}

static struct event slot_event(int kind, int p, int lock, int owner)
{
    struct event event = observe_process(kind, p);
    event.lock = (uint8_t)lock;
    event.owner = (uint8_t)owner;
    return event;
}

/* ---- life ---- */

void process_start(int p)
{
    struct process *process = process_mark(p);
    LS_ASSERT(!process->started && !process->crashed);
    if (!heap_clear(p, recipe()->state_size)) {
        return;
    }
    process->started = 1;
    void *state = enter(p, (code_fn)recipe()->start);
    int rc = recipe()->start(state, the_world.env[p], the_world.config);
    leave();
    if (rc < 0) {
        world_note_trouble("the recipe does not start: %s", ls_strerror(rc));
    }
}

/* Clears what a process has, such as its timers, its slots and its heap. Keeps `ids`, so that attempt ids
 * stay unique, and `pc`. */
static void wipe(int p)
{
    struct process *process = process_mark(p);
    struct pack pack = process_pack(p);
    pack_clear(&pack, LIST_TIMER);
    pack_clear(&pack, LIST_SLOT);
    repeats_forget(p);
    heap_clear(p, 0);
    process->started = 0;
    process->paused = 0;
    process->closed = 0;
    process->fail_in = 0;
    the_world.coordinator->fail_call(p, 0);
    process_wake(p);
    process->kept = NULL;
    LS_ASSERT(pack_first(&pack, LIST_SLOT) == NULL && pack_first(&pack, LIST_TIMER) == NULL);
    LS_ASSERT(!process_tired(p) && (the_state()->repeated >> p & 1u) == 0);
}

static void end_beliefs(int p)
{
    struct pack pack = process_pack(p);
    for (struct rec *rec = pack_first(&pack, LIST_SLOT); rec != NULL; rec = pack_next(&pack, rec)) {
        const struct slot *slot = (struct slot *)rec;
        if (slot->belief == LS_HELD) {
            struct event event = slot_event(EVENT_DOUBTS, p, slot->rec.tag, (int)slot->rec.word);
            observe(&event);
        }
    }
}

static bool may_lose_memory(void)
{
    return (the_world.options.defects & WORLD_DEFECT_DROP_AT_CLOSE) != 0;
}

static void tell_leak(int p, struct heap_use use)
{
    static char text[64];
    if (use.blocks > 0 && !may_lose_memory()) {
        snprintf(text, sizeof text, "stop() leaves %u bytes in %u block%s", use.bytes, use.blocks,
                 use.blocks == 1 ? "" : "s");
        world_tell_offence(p, EVENT_OFFENCE_LEAK, text);
    }
}

static void check_memory_at_stop(int p)
{
    if (the_world.zoned && !zones_are_whole(p)) {
        zones_scrub(p);
    } else {
        tell_leak(p, heap_use(p));
    }
}

void process_stop(int p)
{
    the_world.stopping = true;
    void *state = enter(p, (code_fn)recipe()->stop);
    recipe()->stop(state);
    leave();
    the_world.stopping = false;
    if (the_world.coordinator->has_open(p)) {
        world_tell_offence(p, EVENT_OFFENCE_OPEN, NULL);
    }
    end_beliefs(p);
    check_memory_at_stop(p);
    wipe(p);
    struct event event = observe_process(EVENT_STOPPED, p);
    observe(&event);
}

void process_crash(int p)
{
    LS_ASSERT(!process_at(p)->crashed);
    end_beliefs(p);
    the_world.coordinator->crash(p);
    wipe(p);
    process_mark(p)->crashed = 1;
    program_rewind(p);
    struct event event = observe_process(EVENT_CRASHED, p);
    observe(&event);
    LS_ASSERT(!process_at(p)->started && process_at(p)->pc[0] == 0);
}

/* ---- client verbs ---- */

static bool is_ending(int lock)
{
    return the_world.stopping || the_world.closing == 1 + lock;
}

/* Notes and shows a request. `call`: bits of the locks of a call for several, else 0. False: no room. */
static bool ask(int p, int lock, int owner, int timeout_ms, unsigned call)
{
    LS_ASSERT(call == 0 || (call >> lock & 1u) != 0);
    struct slot *slot = make_slot(p, lock, owner);
    if (slot == NULL) {
        return false;
    }
    process_mark(p);
    slot->pending = 1;
    slot->call = (uint8_t)call;
    struct event asked = slot_event(EVENT_ASKED, p, lock, owner);
    asked.timeout_ms = timeout_ms;
    asked.call_locks = call;
    observe(&asked);
    return true;
}

/* Notes and shows that a call was refused. If the recipe has reported an answer too, judges see two. */
static void refuse(int p, int lock, int owner, int rc)
{
    struct slot *slot = process_slot(p, lock, owner);
    if (slot != NULL) {
        slot->pending = 0;
    }
    struct event failed = slot_event(EVENT_FAILED, p, lock, owner);
    failed.rc = rc;
    failed.within_stop = is_ending(lock);
    observe(&failed);
}

void process_acquire_all(int p, const struct action *action)
{
    int locks[WORLD_LOCKS_MAX];
    int count = action_more_locks(action) + 1, owner = action->owner;
    LS_ASSERT(count >= 2 && count <= WORLD_LOCKS_MAX);
    unsigned call = 0;
    for (int i = 0; i < count; i++) {
        locks[i] = action_lock_at(action, i);
        call |= 1u << locks[i];
    }
    for (int i = 0; i < count; i++) {
        if (!ask(p, locks[i], owner, action->timeout_ms, call)) {
            return;
        }
    }
    void *state = enter_verb(p, (code_fn)recipe()->acquire_all);
    int rc = recipe()->acquire_all(state, locks, count, owner, action->timeout_ms);
    leave_verb();
    for (int i = 0; i < count && rc < 0 && process_at(p)->started; i++) {
        refuse(p, locks[i], owner, rc);
    }
}

void process_acquire(int p, int lock, int owner, int timeout_ms)
{
    if (!ask(p, lock, owner, timeout_ms, 0)) {
        return;
    }
    void *state = enter_verb(p, (code_fn)recipe()->acquire);
    int rc = recipe()->acquire(state, lock, owner, timeout_ms);
    leave_verb();
    if (rc < 0 && process_at(p)->started) {
        refuse(p, lock, owner, rc);
    }
}

/* Cancels an acquire, with all locks of its call. */
void process_cancel(int p, int lock, int owner)
{
    const struct slot *slot = process_slot(p, lock, owner);
    unsigned call = slot != NULL && slot->call != 0 ? slot->call : 1u << lock;
    LS_ASSERT(slot != NULL && slot->pending);
    for (int l = 0; l < WORLD_LOCKS_MAX; l++) {
        if ((call >> l & 1u) != 0) {
            struct event canceled = slot_event(EVENT_CANCELED, p, l, owner);
            observe(&canceled);
        }
    }
    void *state = enter(p, (code_fn)recipe()->cancel);
    recipe()->cancel(state, lock, owner);
    leave();
}

/* The release of one lock, by a call that has not returned. If the recipe reports it as freed within the
 * call, EVENT_FREED is shown after the event of the release. */
struct release {
    struct release *outer; /* of the release() around it, or of another lock of its release_all() */
    int lock, owner;
    bool freed_waits;
    struct event freed;
};

static void tell_release(int p, const struct release *release, int rc)
{
    int lock = release->lock, owner = release->owner;
    struct slot *slot = process_slot(p, lock, owner);
    struct event event = slot_event(rc < 0 ? EVENT_REFUSED : EVENT_RELEASED, p, lock, owner);
    if (rc < 0) {
        event.rc = rc;
        if (slot != NULL && slot->lost) {
            slot->depth = 0;
            slot->lost = 0;
        }
    } else if (slot != NULL && slot->depth > 0) {
        event.depth = --slot->depth;
    }
    observe(&event);
    LS_ASSERT(slot == NULL || slot->depth >= 0);
}

void process_release(int p, int lock, int owner)
{
    struct release release = {.outer = the_world.release, .lock = lock, .owner = owner};
    the_world.release = &release;
    void *state = enter_verb(p, (code_fn)recipe()->release);
    int rc = recipe()->release(state, lock, owner);
    leave_verb();
    LS_ASSERT(the_world.release == &release);
    the_world.release = release.outer;
    process_mark(p);
    tell_release(p, &release, rc);
    if (release.freed_waits) {
        observe(&release.freed);
    }
}

void process_release_all(int p, const struct action *action)
{
    struct release release[WORLD_LOCKS_MAX];
    struct release *outer = the_world.release;
    int locks[WORLD_LOCKS_MAX];
    int count = action_more_locks(action) + 1;
    LS_ASSERT(count >= 2 && count <= WORLD_LOCKS_MAX);
    for (int i = 0; i < count; i++) {
        locks[i] = action_lock_at(action, i);
        release[i] = (struct release){.outer = the_world.release, .lock = locks[i], .owner = action->owner};
        the_world.release = &release[i];
    }
    void *state = enter_verb(p, (code_fn)recipe()->release_all);
    int rc = recipe()->release_all(state, locks, count, action->owner);
    leave_verb();
    LS_ASSERT(the_world.release == &release[count - 1]);
    the_world.release = outer;
    process_mark(p);
    for (int i = 0; i < count; i++) {
        tell_release(p, &release[i], rc);
    }
    for (int i = 0; i < count; i++) {
        if (release[i].freed_waits) {
            observe(&release[i].freed);
        }
    }
}

/* The resource of an unguarded write refuses a token that is older than the newest it took. */
void process_write(int p, int lock, int owner, bool guarded)
{
    const struct slot *slot = process_slot(p, lock, owner);
    LS_ASSERT(slot != NULL && slot->depth > 0 && !slot->lost);
    int64_t token = the_world.coordinator->position(slot->token);
    if (guarded) {
        enter(p, (code_fn)recipe()->guard);
        the_world.coordinator->write_start(p, lock, owner, token);
        leave();
        return;
    }
    struct world_state *state = state_mark();
    struct event event = slot_event(EVENT_EFFECT, p, lock, owner);
    event.token = token;
    event.taken = token >= state->newest[lock];
    if (event.taken == 1) {
        state->newest[lock] = token;
    }
    LS_ASSERT(state->newest[lock] >= token);
    observe(&event);
}

static void tell_of_lock(int kind, int p, int lock, int rc)
{
    struct event event = slot_event(kind, p, lock, 0);
    event.code = rc;
    observe(&event);
}

void process_revocable(int p, int lock)
{
    LS_ASSERT(recipe_can_revoke(recipe()));
    void *state = enter(p, (code_fn)recipe()->revocable);
    int rc = recipe()->revocable(state, lock);
    leave();
    tell_of_lock(EVENT_LISTENS, p, lock, rc);
}

/* Shows the request first, because its answer may come before revoke() returns. */
void process_revoke(int p, int lock, int place)
{
    LS_ASSERT(recipe_can_revoke(recipe()));
    tell_of_lock(EVENT_REVOKES, p, lock, 0);
    void *state = enter(p, (code_fn)recipe()->revoke);
    int rc = recipe()->revoke(state, lock, place);
    leave();
    if (rc < 0) {
        tell_of_lock(EVENT_REVOKE_SENT, p, lock, rc);
    }
}

/* Shows the capacity before the call, because set_capacity() may grant. Leaves that to the recipe if it has
 * `count`. */
void process_resize(int p, int lock, int capacity)
{
    LS_ASSERT(recipe_can_resize(recipe()) && capacity > 0);
    if (recipe()->count == NULL) {
        tell_of_lock(EVENT_CAPACITY, p, lock, capacity);
    }
    void *state = enter_verb(p, (code_fn)recipe()->set_capacity);
    int rc = recipe()->set_capacity(state, lock, capacity);
    leave_verb();
    if (rc < 0) {
        world_note_trouble("the recipe refuses a capacity: %s", ls_strerror(rc));
    }
}

bool process_has_closed(int p, int lock)
{
    return (process_at(p)->closed >> lock & 1) != 0;
}

bool process_has_closed_one(int p, const struct action *action)
{
    LS_ASSERT(action_has(action, TRAIT_LOCK));
    for (int i = 0; i <= action_more_locks(action); i++) {
        int lock = action_lock_at(action, i);
        if (lock < the_world.options.locks && process_has_closed(p, lock)) {
            return true;
        }
    }
    return false;
}

/* Ends the holds of a closed lock: its recipe gives them back without a report. Leaves `pending` as it is,
 * because the recipe reports the end of each acquire. */
static void end_holds(int p, int lock)
{
    struct pack pack = process_pack(p);
    for (struct rec *rec = pack_first(&pack, LIST_SLOT); rec != NULL; rec = pack_next(&pack, rec)) {
        struct slot *slot = (struct slot *)rec;
        if (slot->rec.tag == lock) {
            slot->depth = 0;
            slot->lost = 0;
        }
    }
}

void process_close(int p, int lock)
{
    LS_ASSERT(recipe_can_close(recipe()) && the_world.closing == 0);
    tell_of_lock(EVENT_CLOSES, p, lock, 0);
    the_world.closing = (uint8_t)(1 + lock);
    void *state = enter_verb(p, (code_fn)recipe()->close);
    int rc = recipe()->close(state, lock);
    leave_verb();
    the_world.closing = 0;
    if (rc >= 0) {
        process_mark(p)->closed |= (uint8_t)(1u << lock);
        end_holds(p, lock);
    }
    tell_of_lock(EVENT_LOCK_CLOSED, p, lock, rc < 0 ? rc : 0);
}

void process_open(int p, int lock)
{
    LS_ASSERT(process_has_closed(p, lock));
    void *state = enter(p, (code_fn)recipe()->open);
    int rc = recipe()->open(state, lock);
    leave();
    if (rc >= 0) {
        process_mark(p)->closed &= (uint8_t) ~(1u << lock);
    } else if (rc != LS_ENOMEM) {
        world_note_trouble("the recipe refuses to open a lock: %s", ls_strerror(rc));
    }
}

/* ---- the world's side: callbacks and timers ---- */

void process_wake(int p)
{
    if (p < the_world.options.processes && process_tired(p)) {
        state_mark()->tired &= ~(1u << p);
    }
}

void process_wake_all(void)
{
    if (the_state()->tired != 0) {
        state_mark()->tired = 0;
    }
}

/* Clears `tired` if the process has no timers_of_work() and awaits no answer. States that differ in this bit
 * alone then become one. */
static void forget_tiredness(int p)
{
    if (process_tired(p) && !timers_of_work(p) && !the_world.coordinator->awaits(p)) {
        process_wake(p);
    }
}

bool process_says_idle(int p)
{
    bool can_be_asked = process_at(p)->started && the_world.running == 0;
    if (!can_be_asked || recipe()->idle == NULL) {
        return false;
    }
    LS_ASSERT(the_world.asked < 0);
    the_world.asked = p;
    bool idle = recipe()->idle(process_state(p));
    the_world.asked = -1;
    return idle;
}

static void tell_settled(int p)
{
    if (!the_world.coordinator->awaits(p)) {
        struct event event = observe_process(EVENT_SETTLED, p);
        event.idle = process_says_idle(p);
        observe(&event);
    }
}

void process_run_step(const struct action *step)
{
    int p = step->process;
    bool runs = action_has(step, TRAIT_DELIVERS);
    struct coord_news news = {0};
    if (runs) {
        admit(p); /* before_callback paints */
    }
    the_world.coordinator->step(step, &news);
    if (news.answer || news.client) {
        process_wake(p);
    }
    if (news.client) {
        repeats_forget(p); /* an answer is no news for a timer that asks again */
    }
    if (runs) {
        leave();
        tell_settled(p);
        forget_tiredness(p);
    }
    if (news.everyone) {
        process_wake_all();
        repeats_forget_all();
    }
}

void process_fire(int p, int index)
{
    LS_ASSERT(!the_world.timer_fired && !the_world.lease_timer_fired);
    struct pack pack = process_pack(p);
    struct timer fired = *timer_at(p, index);
    LS_ASSERT(timer_is_due(&fired));
    if (!the_world.options.timed && timer_is(&fired, LS_TIMER_WORK) && !process_tired(p)) {
        state_mark()->tired |= 1u << p;
    }
    if (timer_repeats(&fired)) {
        repeats_note(p, fired.timer);
    }
    pack_remove(&pack, &timer_at(p, index)->rec);
    ls_timer_fn fn = (ls_timer_fn)code_unpack_fn(fired.fn);
    enter(p, (code_fn)fn);
    fired.timer->armed = 0;
    the_world.timer_fired = !timer_is(&fired, LS_TIMER_DEADLINE);
    the_world.lease_timer_fired = timer_is(&fired, LS_TIMER_LEASE);
    the_world.locked = 1;
    fn(fired.ctx);
    if (the_world.locked != 1) {
        world_note_offence(EVENT_OFFENCE_RETURN, NULL);
    }
    the_world.locked = 0;
    leave();
    forget_tiredness(p);
}

/* ---- reports ---- */

/* Cancels within the report of an answer. If cancel() returns an error, shows EVENT_REFUSED. */
static void react_by_cancel(int p, int lock, int owner)
{
    int rc = recipe()->cancel(process_state(p), lock, owner);
    if (rc < 0) {
        struct event event = slot_event(EVENT_REFUSED, p, lock, owner);
        event.rc = rc;
        observe(&event);
    }
}

/* Does the verb that the program's acquire has for this report (ACTION_ON_GRANTED, ACTION_ON_FAILED). Does
 * none if the recipe is not `in_reports`, within another such verb, or within stop(). Does no close within a
 * close. */
static void react(int p, int lock, int owner, bool failed)
{
    bool acts = the_world.programmed && recipe()->in_reports && !the_world.stopping;
    const struct action *op = acts ? program_last_acquire(p, lock, owner) : NULL;
    if (op == NULL || the_world.reacting) {
        return;
    }
    the_world.reacting = true;
    switch (failed ? ACTION_IS_ON_FAILED(op->modes) : ACTION_IS_ON_GRANTED(op->modes)) {
    case ACTION_ACQUIRE:
        process_acquire(p, lock, owner, -1);
        break;
    case ACTION_RELEASE:
        process_release(p, lock, owner);
        break;
    case ACTION_CANCEL:
        react_by_cancel(p, lock, owner);
        break;
    case ACTION_CLOSE:
        if (recipe_can_close(recipe()) && the_world.closing == 0) {
            process_close(p, lock);
        }
        break;
    default:
        break;
    }
    the_world.reacting = false;
}

static int32_t session_of_grant(int p, int lock, int64_t position)
{
    const struct coordinator *coordinator = the_world.coordinator;
    return coordinator->session_of_grant != NULL ? coordinator->session_of_grant(p, lock, position) : 0;
}

static void report_grant(int p, const struct ls_report *report)
{
    struct slot *slot = make_slot(p, report->lock, report->owner);
    if (slot == NULL) {
        return;
    }
    process_mark(p);
    slot->pending = 0;
    slot->lost = 0;
    slot->depth = report->depth > 0 ? report->depth : 1;
    slot->token = report->token;
    if (slot->belief == LS_NOT_HELD) {
        slot->belief = BELIEF_NONE; /* any answer differs from it */
    }
    struct event event = slot_event(EVENT_GRANTED, p, report->lock, report->owner);
    event.depth = report->depth;
    event.token = the_world.coordinator->position(report->token);
    event.session = session_of_grant(p, report->lock, event.token);
    observe(&event);
    react(p, report->lock, report->owner, false);
}

static void report_failure(int p, const struct ls_report *report)
{
    struct slot *slot = process_slot(p, report->lock, report->owner);
    if (slot != NULL) {
        process_mark(p);
        slot->pending = 0;
    }
    struct event event = slot_event(EVENT_FAILED, p, report->lock, report->owner);
    event.rc = report->rc;
    event.within_stop = is_ending(report->lock);
    observe(&event);
    react(p, report->lock, report->owner, true);
}

static void report_freed(int p, const struct ls_report *report)
{
    struct event event = slot_event(EVENT_FREED, p, report->lock, report->owner);
    event.rc = report->rc;
    event.within_stop = is_ending(report->lock);
    struct release *release = the_world.release;
    while (release != NULL &&
           (release->lock != report->lock || release->owner != report->owner || release->freed_waits)) {
        release = release->outer;
    }
    if (release != NULL) {
        LS_ASSERT(!release->freed_waits && release->lock == report->lock);
        release->freed_waits = true;
        release->freed = event;
    } else {
        observe(&event);
    }
}

/* Ends the hold of a slot, if there is one. With LS_LOSS_WAITS the owner waits again. Otherwise the hold is
 * marked as lost until the owner releases it. */
static void lose_hold(struct slot *slot)
{
    bool again = slot->rec.tag < the_world.options.locks &&
                 the_world.options.lock[slot->rec.tag].loss == LS_LOSS_WAITS;
    if (again && slot->depth > 0) {
        slot->depth = 0;
        slot->pending = 1;
    } else {
        slot->lost = slot->depth > 0;
    }
    LS_ASSERT(!slot->lost || (slot->depth > 0 && !(again && slot->pending)));
}

static void mark_lost(int p)
{
    process_mark(p);
    struct pack pack = process_pack(p);
    for (struct rec *rec = pack_first(&pack, LIST_SLOT); rec != NULL; rec = pack_next(&pack, rec)) {
        lose_hold((struct slot *)rec);
    }
}

static void report_hold_lost(int p, const struct ls_report *report)
{
    struct slot *slot = process_slot(p, report->lock, report->owner);
    if (slot != NULL) {
        process_mark(p);
        lose_hold(slot);
    }
    struct event event = slot_event(EVENT_HOLD_LOST, p, report->lock, report->owner);
    event.token = the_world.coordinator->position(report->token);
    event.lease_timer = the_world.lease_timer_fired;
    observe(&event);
}

static void report_session(int p, const struct ls_report *report)
{
    static const uint8_t kinds[] = {[LS_REPORT_CONNECTED] = EVENT_CONNECTED,
                                    [LS_REPORT_SUSPENDED] = EVENT_SUSPENDED,
                                    [LS_REPORT_RECONNECTED] = EVENT_RECONNECTED,
                                    [LS_REPORT_LOST] = EVENT_LOST,
                                    [LS_REPORT_READ_ONLY] = EVENT_READ_ONLY};
    if (report->kind == LS_REPORT_LOST) {
        mark_lost(p);
    }
    struct event event = observe_process(kinds[report->kind], p);
    event.session = report->session & 0x7fffffff;
    observe(&event);
    bool connected = report->kind == LS_REPORT_CONNECTED || report->kind == LS_REPORT_RECONNECTED;
    if (connected && the_world.coordinator->write_resume != NULL) {
        the_world.coordinator->write_resume(p, report->kind == LS_REPORT_CONNECTED);
    }
}

void ls_report(struct ls_env *env, const struct ls_report *report)
{
    int p = env->process;
    struct event event;
    if (the_world.locked != 0) {
        world_note_offence(EVENT_OFFENCE_KEEP, NULL);
    }
    switch (report->kind) {
    case LS_REPORT_GRANTED:
        report_grant(p, report);
        break;
    case LS_REPORT_FAILED:
        report_failure(p, report);
        break;
    case LS_REPORT_FREED:
        report_freed(p, report);
        break;
    case LS_REPORT_WARNING:
        event = observe_process(EVENT_WARNED, p);
        event.lock = (uint8_t)report->lock;
        event.warning = report->rc;
        observe(&event);
        break;
    case LS_REPORT_REVOKE:
        event = slot_event(EVENT_REVOKE_ASKED, p, report->lock, report->owner);
        event.token = the_world.coordinator->position(report->token);
        observe(&event);
        break;
    case LS_REPORT_ASKED:
        tell_of_lock(EVENT_REVOKE_SENT, p, report->lock, report->rc);
        break;
    case LS_REPORT_HOLD_LOST:
        report_hold_lost(p, report);
        break;
    case LS_REPORT_CAPACITY:
        tell_of_lock(EVENT_CAPACITY, p, report->lock, report->rc);
        break;
    case LS_REPORT_IDLE:
        event = observe_process(EVENT_IDLE, p);
        observe(&event);
        break;
    default:
        report_session(p, report);
        break;
    }
}

/* ---- belief ---- */

static void ask_slot(int p, struct slot *slot)
{
    LS_ASSERT(the_world.asked < 0);
    the_world.asked = p;
    enum ls_belief belief = recipe()->query(process_state(p), slot->rec.tag, (int)slot->rec.word);
    the_world.asked = -1;
    if (belief == (enum ls_belief)slot->belief) {
        return;
    }
    bool denied = belief == LS_NOT_HELD && slot->depth > 0 && !slot->lost;
    bool unsure = slot->belief == BELIEF_NONE && belief == LS_UNKNOWN && !the_world.options.timed;
    bool announce = belief == LS_HELD || slot->belief == LS_HELD || denied || unsure;
    process_mark(p);
    LS_ASSERT(slot->rec.list == LIST_SLOT);
    slot->belief = (uint8_t)belief;
    if (announce) {
        struct event event = slot_event(belief == LS_HELD ? EVENT_BELIEVES : EVENT_DOUBTS, p, slot->rec.tag,
                                        (int)slot->rec.word);
        event.belief = (int32_t)belief;
        event.doubt = denied                  ? EVENT_DOUBT_DENIED
                      : the_world.timer_fired ? EVENT_DOUBT_TIMER
                                              : EVENT_DOUBT_OTHER;
        observe(&event);
    }
}

/* Asks for the guard of an owner that does not hold. If guard() succeeds, shows an offence, because a write
 * with that guard may commit. */
static void ask_for_guard(int p, const struct slot *slot)
{
    LS_ASSERT(the_world.asked < 0 && (slot->depth == 0 || slot->lost));
    the_world.asked = p;
    int rc = the_world.coordinator->guard(p, slot->rec.tag, (int)slot->rec.word);
    the_world.asked = -1;
    if (rc == 0) {
        world_tell_offence(p, EVENT_OFFENCE_GUARD, NULL);
    }
}

/* Makes a call that has to be refused: release() for an owner that only waits, cancel() for one that does not
 * wait. Leaves out owners that wait and hold, and closed or undeclared locks. */
static void ask_refusal(int p, const struct slot *slot)
{
    static char told[64];
    bool waits = slot->pending && slot->depth == 0;
    int lock = slot->rec.tag;
    if ((slot->pending && !waits) || lock >= the_world.options.locks || process_has_closed(p, lock)) {
        return;
    }
    int wanted = waits ? LS_ENOTOWNER : LS_ENOENT;
    int owner = (int)slot->rec.word;
    LS_ASSERT(waits ? slot->pending && slot->depth == 0 : !slot->pending);
    void *state = enter(p, NULL);
    the_world.asked = p;
    int rc = waits ? recipe()->release(state, lock, owner) : recipe()->cancel(state, lock, owner);
    the_world.asked = -1;
    call_over();
    if (rc != wanted) {
        snprintf(told, sizeof told, "%s() returns %d, not %d", waits ? "release" : "cancel", rc, wanted);
        world_tell_offence(p, EVENT_OFFENCE_REFUSAL, told);
    }
}

/* Asks a paused process too. */
void process_ask_belief(int p)
{
    struct pack pack = process_pack(p);
    struct rec *rec = pack_first(&pack, LIST_SLOT);
    if (rec == NULL || !process_at(p)->started) {
        return;
    }
    if (the_world.zoned) {
        zones_paint_stack();
    }
    bool idle = false;
    for (; rec != NULL; rec = pack_next(&pack, rec)) {
        struct slot *slot = (struct slot *)rec;
        LS_ASSERT(is_in_order(rec, pack_next(&pack, rec)));
        ask_slot(p, slot);
        if (recipe_can_guard(recipe()) && (slot->depth == 0 || slot->lost)) {
            ask_for_guard(p, slot);
        }
        ask_refusal(p, slot);
        idle |= slot->depth == 0 && !slot->pending && slot->belief == LS_NOT_HELD;
    }
    if (idle) {
        drop_idle_slots(p);
    }
}

static void ask_idle(void *ctx)
{
    int p = *(int *)ctx;
    if (!process_says_idle(p)) {
        world_tell_offence(p, EVENT_OFFENCE_CLEAN, NULL);
    }
}

struct rehearsal {
    int process;
    struct heap_use left;
};

static void rehearse_stop(void *ctx)
{
    struct rehearsal *rehearsal = ctx;
    LS_ASSERT(!the_world.stopping && the_world.muted);
    the_world.stopping = true;
    void *state = enter(rehearsal->process, (code_fn)recipe()->stop);
    recipe()->stop(state);
    leave();
    rehearsal->left = heap_use(rehearsal->process);
}

static void ask_leak(int p)
{
    static struct rehearsal rehearsal; /* static: recipes write on this stack */
    rehearsal = (struct rehearsal){.process = p};
    if (process_running(p) && guard_rehearse(rehearse_stop, &rehearsal)) {
        tell_leak(p, rehearsal.left);
    }
}

void process_ask_idle(int p)
{
    ask_leak(p);
    if (recipe()->idle != NULL && process_at(p)->started) {
        guard_call(p, ACTION_KINDS + 1u, ask_idle, &p);
    }
}
