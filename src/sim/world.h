/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The inside of a world. Below src, only src/sim includes this header. Tests that look into a world include
 * it too. */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "base/arena.h"
#include "base/assert.h"
#include "base/code_ref.h"
#include "base/packed_records.h"
#include "coord/coordinator.h"
#include "sim/abilities.h"
#include "sim/sandbox.h"
#include "trace/event_names.h"

#include <lockstep/sim.h>

struct ls_env {
    uint8_t process;
};

struct world_state {
    struct arena_block head;
    uint8_t budget[WORLD_FAULTS]; /* faults of each kind that may still be bought */
    uint8_t budget_total;         /* faults that may still be bought, over all kinds; 255 = no limit */
    uint8_t over;                 /* 1: after world_end_faults() */
    uint8_t reserved[2];
    uint32_t repeated; /* a bit for each process that has a record in LIST_REPEAT */
    uint8_t unused[8];
    int64_t newest[WORLD_LOCKS_MAX]; /* newest fencing token that the resource of each lock took; 0 = none */
    /* bit p set: retries (LS_TIMER_WORK) of process p may not fire until something changes; 0 with a clock
     * (D8) */
    uint32_t tired;
    int32_t now_ms; /* the clock in ms; 0 without one */
};

/* ---- process blocks: lists behind struct process ---- */

enum { LIST_SLOT, LIST_TIMER, LIST_REPEAT };

struct process {
    struct arena_block head;
    uint8_t started;
    uint8_t crashed;
    uint8_t paused;              /* a copy of the coordinator's, because it is read often */
    uint8_t fail_in;             /* n: the n-th next allocation fails; 0 = none does */
    uint32_t ids;                /* number of attempt ids handed out; it never restarts */
    uint8_t closed;              /* a bit for each lock that the process has closed */
    uint8_t pc[WORLD_TASKS_MAX]; /* index of the next step of each list of its program */
    uint8_t reserved[3];
    void *kept; /* pointer that the coordinator keeps, into the heap; NULL = none */
    struct pack_table table;
};

/* The belief in a hold granted in this step, before the recipe is asked for it. */
#define BELIEF_NONE 3

/* A pair (lock, owner) that waits, holds, has yet to release a lost hold, or has another belief than
 * LS_NOT_HELD. The list is sorted by lock, then by owner. */
struct slot {
    struct rec rec; /* tag = lock, word = owner */
    int32_t depth;
    uint8_t pending; /* 1 = an acquire has no answer yet */
    uint8_t lost;    /* 1 = the hold was lost, and the process was told */
    uint8_t belief;  /* enum ls_belief as announced last, or BELIEF_NONE */
    uint8_t call;    /* a bit for each lock of its call for several; 0 = a call for one lock */
    int64_t token;
};

/* An armed timer. The list is sorted by name, then by address. */
struct timer {
    struct rec rec; /* tag = enum ls_timer_role */
    code_ref name;
    code_ref fn;
    int32_t due_ms;
    uint32_t reserved;
    struct ls_timer *timer;
    void *ctx;
};

/* A poll or renewal that has fired since the last repeats_forget() of its process. */
struct repeat {
    struct rec rec;
    const struct ls_timer *timer;
};

/* ---- what does not change during a run ---- */

#define TEXTS_MAX 64

struct world {
    struct arena arena;
    const struct coordinator *coordinator;
    struct coord_host host;
    struct world_options options;
    world_observer observer;
    void *observer_ctx;
    struct ls_env *env[WORLD_PROCESSES_MAX];
    const struct ls_recipe_config *config;
    const char *lock_path[WORLD_LOCKS_MAX]; /* whole path of each lock, chroot included */
    int state_block;
    int judge_block;
    struct process *process[WORLD_PROCESSES_MAX];
    int process_block[WORLD_PROCESSES_MAX];
    int heap_block[WORLD_PROCESSES_MAX];
    uint64_t steps;
    /* a bit for each kind of fault that a budget has paid for since open or reset; no image restores it */
    uint32_t paid;
    uint64_t layouts;
    int locked;  /* 1: the environment's mutex is held */
    int running; /* 1 + the process whose recipe is being called; 0 = none */
    int asked;   /* process whose recipe answers a question, which changes nothing; -1 = none */
    int in_callback;
    bool programmed;
    struct release *release; /* innermost release() under way, see process.c; NULL = none */
    bool reacting;           /* an owner acts within the report of an answer */
    bool timer_fired;        /* a timer that is no deadline has fired in this step */
    bool lease_timer_fired;  /* a timer that ends a belief in a lease has fired in this step */
    bool stopping;
    uint8_t closing; /* 1 + the lock whose close() is under way; 0 = none */
    bool zoned;      /* there is a guard, and memory has red zones (red_zones.c) */
    bool entered;    /* a recipe was entered in this guarded step */
    enum world_doubt doubt;
    bool sums;       /* events are added up in event_sum */
    bool muted;      /* events are not shown: the step will be done again */
    bool observing;  /* a judge looks at an event */
    uint8_t painted; /* kinds of memory that are painted: PAINT_… */
    uint8_t paint;   /* byte that painted memory holds */
    uint64_t event_sum;
    int aborted; /* 1 + the process that the client library has ended in this step; 0 = none */
    const char *text[TEXTS_MAX];
    int texts;
    char why[WORLD_LABEL_MAX];
    char trouble[256];
};

extern struct world the_world;

/* Forgets the call of a recipe that is under way. */
static inline void world_forget_call(void)
{
    the_world.locked = the_world.in_callback = the_world.running = 0;
    the_world.asked = -1;
    the_world.release = NULL;
    the_world.reacting = the_world.timer_fired = the_world.lease_timer_fired = the_world.stopping = false;
    the_world.closing = 0;
}

static inline struct world_state *state_mark(void)
{
    arena_mark(&the_world.arena, the_world.state_block);
    return arena_at(&the_world.arena, the_world.state_block);
}

static inline struct world_state *the_state(void)
{
    arena_read(&the_world.arena, the_world.state_block);
    return arena_at(&the_world.arena, the_world.state_block);
}

/* Returns the clock in ms. In a world without a clock, returns 0 and does not read the state block. */
static inline int32_t clock_now_ms(void)
{
    return the_world.options.timed ? the_state()->now_ms : 0;
}

static inline struct process *process_at(int p)
{
    arena_read(&the_world.arena, the_world.process_block[p]);
    return the_world.process[p];
}

static inline struct process *process_mark(int p)
{
    LS_ASSERT(p >= 0 && p < the_world.options.processes);
    arena_mark(&the_world.arena, the_world.process_block[p]);
    return process_at(p);
}

static inline struct pack process_pack(int p)
{
    return (struct pack){&the_world.arena, the_world.process_block[p], (unsigned char *)(process_at(p) + 1)};
}

static inline bool process_tired(int p)
{
    return (the_state()->tired >> p & 1u) != 0;
}

static inline bool process_running(int p)
{
    const struct process *process = process_at(p);
    return process->started && !process->paused;
}

/* ---- what a coordinator may lack ---- */

static inline void lending_keep(int place)
{
    if (the_world.coordinator->lending != NULL) {
        the_world.coordinator->lending->keep(place);
    }
}

static inline void lending_put_back(int place)
{
    if (the_world.coordinator->lending != NULL) {
        the_world.coordinator->lending->put_back(place);
    }
}

static inline void lending_lend(int area)
{
    if (the_world.coordinator->lending != NULL) {
        the_world.coordinator->lending->lend(area);
    }
}

static inline bool lending_is_whole(void)
{
    return the_world.coordinator->lending == NULL || the_world.coordinator->lending->is_whole();
}

static inline bool lending_is_same(uint64_t from_0, uint64_t from_1)
{
    return the_world.coordinator->lending != NULL && the_world.coordinator->lending->is_same(from_0, from_1);
}

/* Returns whether a guarded write of this owner has no answer yet; -1 = of any owner. */
static inline bool write_waits(int p, int owner)
{
    return the_world.coordinator->write_waits != NULL && the_world.coordinator->write_waits(p, owner);
}

void world_note_trouble(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Shows EVENT_MISBEHAVED: the recipe that is being called or asked breaks a rule. `where`: function, text or
 * NULL. */
void world_note_offence(enum event_offence offence, const char *where);

/* Shows EVENT_MISBEHAVED of process p, or of process 0 if p is no process. */
void world_tell_offence(int p, enum event_offence offence, const char *where);

/* ---- sandbox.c: steps of recipes that are not to be trusted ---- */

/* Does fn(ctx) as a step of this process. `kind` is for twice_is_due(); 0 = the step is done once. With a
 * guard, shows EVENT_MISBEHAVED if fn does not return, or if a forbidden write or read of memory is found. A
 * process crashes if its recipe did not return, or if its heap is found damaged after its step. With or
 * without a guard, it crashes if the client library ended it. */
void guard_call(int process, uint32_t kind, void (*fn)(void *ctx), void *ctx);

/* Does fn(ctx) and undoes it. False: fn did not return; or it was not called, because there is no guard or
 * memory is short. */
bool guard_rehearse(void (*fn)(void *ctx), void *ctx);

/* ---- twice.c: reads of memory that is not to be read ---- */

void twice_begin(void);
/* Counts a step of this kind. Returns whether it is to be done twice. */
bool twice_is_due(uint32_t kind);
/* Saves the state before a step of this process. False: memory is short. */
bool twice_prepare(int process);
/* Returns true if the step is to be done now with painted memory. twice_end() then undoes it. */
bool twice_next(void);
void twice_end(bool came_back);
void twice_compare(void);
/* Returns true if the step is to be done again, to find the reason. twice_end_reason() then undoes it. */
bool twice_next_reason(void);
void twice_end_reason(bool came_back);
/* Returns the offence; EVENT_OFFENCES = the runs do not differ. */
enum event_offence twice_verdict(void);
/* Calls fn(ctx) by `call`, unseen by judges, and undoes it. False: no return, or memory is short. */
bool twice_rehearse(bool (*call)(void (*fn)(void *ctx), void *ctx), void (*fn)(void *ctx), void *ctx);
/* Frees all that was saved, if `twice`: for a step that has not come back. */
void twice_drop(bool twice);
void twice_note(const struct event *event);

/* ---- process.c: entering recipes ---- */

void process_start(int p);
void process_stop(int p);
void process_crash(int p);
void process_acquire(int p, int lock, int owner, int timeout_ms);
void process_release(int p, int lock, int owner);
void process_cancel(int p, int lock, int owner);
void process_write(int p, int lock, int owner, bool guarded);
void process_revocable(int p, int lock);
void process_revoke(int p, int lock, int place);
bool process_has_closed(int p, int lock);

/* Returns whether the process has closed one of the locks that a verb names. */
bool process_has_closed_one(int p, const struct action *action);

void process_close(int p, int lock);
void process_open(int p, int lock);
void process_resize(int p, int lock, int capacity);
void process_fire(int p, int timer);
void process_run_step(const struct action *step);
/* Clear `tired` of one process, or of all, because something has changed. */
void process_wake(int p);
void process_wake_all(void);
struct slot *process_slot(int p, int lock, int owner);
void process_acquire_all(int p, const struct action *action);
void process_release_all(int p, const struct action *action);
/* Asks the recipe of one process for its beliefs. Shows changes to and from LS_HELD, and some others (D5).
 * Also makes calls that the recipe has to refuse. */
void process_ask_belief(int p);

/* At rest: shows an offence if idle() returns false, or, with a guard, if stop() would leave memory. */
void process_ask_idle(int p);

/* Returns the answer of the recipe's idle(). False if there is no idle(), the process has not started, or a
 * recipe is being called. */
bool process_says_idle(int p);
void *process_state(int p);

/* ---- program.c: what processes do by themselves ---- */

int program_lists(int p);
/* Returns the next step of a list if the process is ready for it, or NULL. Its `process` is not set. */
const struct action *program_next_op(int p, int list);
void program_pass(const struct action *action);
/* Passes over steps that have lost their meaning. */
void program_skip_ops(int p);
/* Returns the last acquire of this lock and owner before the next step of the owner's list; NULL = none. An
 * endless list wraps around. */
const struct action *program_last_acquire(int p, int lock, int owner);
void program_rewind(int p);

/* ---- heap.c: the memory of one process ---- */

/* The owner of a block. Only its functions free the block. */
enum heap_owner {
    HEAP_FREE,
    HEAP_ENV,    /* from ls_env_alloc() */
    HEAP_MALLOC, /* from malloc() of a shared object */
    HEAP_WORLD,  /* of the world and the coordinator */
    HEAP_LATE,   /* red_zones.c: freed in the call that is under way */
};

/* Returns a block, zeroed unless it is HEAP_MALLOC. NULL: the heap is full, which is a trouble; or, with
 * zones, it is damaged or has no state. */
void *heap_alloc(int p, size_t size, enum heap_owner owner);
void heap_free(int p, void *memory, enum heap_owner owner);
bool heap_contains(int p, const void *memory, size_t size); /* the bytes are in the state or behind it */
bool heap_clear(int p, size_t state_size);                  /* false: the state is too large, a trouble */

/* Number and bytes of a recipe's blocks. With zones, bytes as the recipe asked for; else each block rounded
 * up to 8. */
struct heap_use {
    uint32_t blocks, bytes;
};
struct heap_use heap_use(int p);

/* ---- red_zones.c: the same for recipes that are not to be trusted ---- */

#define HEAP_BYTES WORLD_HEAP_BYTES
#define HEAP_GAP_BYTES (128u << 10)

size_t zones_state(void);
bool zones_clear(int p, size_t state_size);
void *zones_alloc(int p, size_t size, enum heap_owner owner);
void zones_free(int p, void *memory, enum heap_owner owner);

/* Returns the size that a block was asked for with; 0 also if the owner has no such block. */
size_t zones_size(int p, const void *memory, enum heap_owner owner);

/* Returns whether the bytes around the state and the blocks, and in free memory, are as they must be. If so,
 * frees the HEAP_LATE blocks. If not, shows the offence. */
bool zones_are_whole(int p);

struct heap_use zones_use(int p);

/* Kinds of memory that must not be read. Painted memory holds `paint` in place of its usual byte. */
enum {
    PAINT_FRESH = 1, /* not set: from malloc(), and the stack */
    PAINT_FREED = 2, /* freed, or a zone */
    PAINT_LENT = 4,  /* lent to a callback that is over */
    PAINT_ALL = 7,
};

/* Fills the memory of the painted kinds in the heap of a process. */
void zones_paint(int p);

/* Fills STACK_BYTES of the stack below the caller with FRESH; with `paint` if PAINT_FRESH is painted. */
void zones_paint_stack(void);

/* Returns whether `now`, the memory after the plain run, equals `painted`, that after the painted run.
 * `paint` equals FRESH, FREED and ZONE here. Pointers to the same place of the two lent areas are equal
 * too. */
bool zones_same(const unsigned char *now, const unsigned char *painted, size_t size, unsigned char paint);

/* Empties memory that may be damaged. */
void zones_scrub(int p);

/* ---- env.c ---- */

struct timer *timer_at(int p, int index);
int timer_count(int p);
const char *timer_name(const struct timer *timer);
bool timer_is_due(const struct timer *timer);
/* Returns whether the role is neither LS_TIMER_DEADLINE nor LS_TIMER_UPKEEP. */
bool timer_is_work(const struct timer *timer);
bool timers_of_role(int p, enum ls_timer_role role);

bool timer_is(const struct timer *timer, enum ls_timer_role role);
/* Returns whether a timer is due. Without a clock, furthermore:
 * - LS_TIMER_WORK: whether the process is not tired (D8);
 * - LS_TIMER_POLL, LS_TIMER_RENEWAL: whether the timer has not fired since repeats_forget();
 * - LS_TIMER_LEASE, LS_TIMER_PATIENCE: whether the condition holds that recipe.h states for the role. */
bool timer_may_fire(int p, const struct timer *timer);
/* Returns whether a timer is armed that timer_is_work() and that waits for no condition of its role. */
bool timers_of_work(int p);
bool timer_repeats(const struct timer *timer);
/* Notes that a poll or renewal has fired. Without a clock it may not fire again until repeats_forget(). */
void repeats_note(int p, const struct ls_timer *timer);
/* Lets the polls and renewals of a process fire again. */
void repeats_forget(int p);
void repeats_forget_all(void);
/* Writes an id as ls_env_unique_id() does, with the counter 0. */
void env_attempt_id(int p, uint8_t id[16]);

/* ---- world.c: what judges are told ---- */

void observe(const struct event *event);
/* Returns an event of a process at the present time, of no lock. */
struct event observe_process(int kind, int p);

/* ---- ablation.c: worlds that lack choice points ---- */

void without_constants(struct world_options *options);

/* ---- label.c ---- */

/* Returns the name of a lock in labels. */
const char *label_lock_name(int lock);

/* ---- canon.c ---- */

bool world_sets_no_data(const struct world_options *options);

/* Calls canon() of the recipe of a started process. Returns false if it shows a number that does not lie in
 * the state or in a block of the process. */
bool canon_stays_inside(int p);

/* ---- steps: actions.c, apply.c, default_schedule.c ---- */

/* Returns a bit for each enum world_fault that the budgets still pay for. */
unsigned action_faults_left(void);
/* Takes a fault out of its budget. Does nothing if `due` (the fault is free), if the budget is empty, or if
 * no budget pays for the action. */
void action_pay(const struct action *action, bool due);
/* Returns whether two acquires, or two releases, name the same locks in the same order. */
bool action_same_locks(const struct action *a, const struct action *b);

#endif
