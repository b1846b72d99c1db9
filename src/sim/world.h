/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The inside of a world: what lies in which block. Only src/sim includes this. */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include "base/arena.h"
#include "base/code.h"
#include "base/pack.h"
#include "coord/coordinator.h"
#include "sim/abilities.h"
#include "sim/guard.h"
#include "trace/event.h"

#include <lockstep/sim.h>

/* What a recipe holds in its hand: which process it is. Lies in the constant region. */
struct ls_env {
    uint8_t process;
};

/* The block of the world as a whole. */
struct world_state {
    struct arena_block head;
    uint8_t budget[WORLD_FAULTS]; /* left */
    uint8_t budget_total;         /* left; 255 = no limit */
    uint8_t over; /* nothing fails any more: what no handle has ends, see world_end_faults() */
    uint8_t reserved[2];
    uint32_t repeated; /* a bit for each process of which a poll or renewal has fired since the last change */
    uint8_t unused[8];
    int64_t newest[WORLD_LOCKS_MAX]; /* the resources: the newest fencing token taken */
    uint32_t
        tired; /* untimed, a bit for each process: a timer of work has fired, and nothing has changed since */
    int32_t now_ms; /* the clock; untimed 0 */
};

/* ---- process blocks: lists behind struct process ---- */

enum { LIST_SLOT, LIST_TIMER, LIST_REPEAT };

struct process {
    struct arena_block head;
    uint8_t started;
    uint8_t crashed;
    uint8_t paused;              /* as the coordinator knows it; kept here because it is asked so often */
    uint8_t fail_in;             /* the n-th next allocation fails; 0 = none */
    uint32_t ids;                /* attempt ids handed out */
    uint8_t closed;              /* locks that the process has closed, a bit each */
    uint8_t pc[WORLD_TASKS_MAX]; /* the next step of each list of its program */
    uint8_t reserved[3];
    void *kept; /* of the coordinator, in the heap; NULL = nothing */
    struct pack_table table;
};

/* Of a hold that was granted in this step: nobody has asked for its belief yet. */
#define BELIEF_NONE 3

/* One per (lock, owner) that asked for a lock and has not come to rest, in that order. */
struct slot {
    struct rec rec; /* tag = lock, word = owner */
    int32_t depth;
    uint8_t pending; /* an acquire is not answered yet */
    uint8_t lost;    /* the session died since the grant, and the process was told */
    uint8_t belief;  /* enum ls_belief as last announced, or BELIEF_NONE */
    uint8_t call; /* locks that were asked for in one call with it, a bit each; 0 = it was asked for alone */
    int64_t token;
};

/* An armed timer; sorted by name, then by address. */
struct timer {
    struct rec rec; /* tag = enum ls_timer_role */
    code_ref name;
    code_ref fn;
    int32_t due_ms;
    uint32_t reserved;
    struct ls_timer *timer;
    void *ctx;
};

/* A poll or renewal that has fired since the last change: once more would bring nothing new. */
struct repeat {
    struct rec rec;
    const struct ls_timer *timer;
};

/* ---- what does not change during a run ---- */

#define TEXTS_MAX 64

struct world {
    struct arena arena;
    const struct coordinator *coordinator;
    struct coord_host host; /* what it is lent */
    struct world_options options;
    world_observer observer;
    void *observer_ctx;
    struct ls_env *env[WORLD_PROCESSES_MAX];
    const struct ls_recipe_config *config;
    const char *lock_path[WORLD_LOCKS_MAX]; /* whole paths, chroot included */
    int state_block;
    int judge_block;
    struct process *process[WORLD_PROCESSES_MAX]; /* where the blocks lie; they do not move */
    int process_block[WORLD_PROCESSES_MAX];
    int heap_block[WORLD_PROCESSES_MAX];
    uint64_t steps;
    uint32_t
        paid; /* a bit for each kind of fault that was ever taken out of its budget; no part of the value */
    uint64_t layouts; /* how often it was laid out */
    int locked;       /* the environment's mutex of the running process */
    int running;      /* 1 + the process whose recipe is being entered; 0 = none */
    int asked;        /* the process whose recipe is asked a question, which changes nothing; -1 = none */
    int in_callback;
    bool programmed;         /* some process has a program */
    struct release *release; /* the innermost one that the running process is in; NULL = none */
    bool reacting;           /* an owner acts within the report of an answer */
    bool timer_fired;        /* in this step, one that is no deadline */
    bool lease_timer_fired;  /* in this step, one that ends a belief in a lease */
    bool stopping;           /* within a recipe's stop */
    uint8_t closing;         /* within a recipe's close: 1 + the lock; else 0 */
    bool zoned;              /* there is a guard: the memory of processes has red zones, see zones.c */
    bool entered;            /* a recipe was entered in this guarded call */
    enum world_doubt doubt;
    bool sums;       /* events are added up in event_sum */
    bool muted;      /* nobody is told of events: the step will be done again */
    bool observing;  /* judges look at an event */
    uint8_t painted; /* PAINT_… */
    uint8_t paint;   /* the byte that memory of these kinds holds */
    uint64_t event_sum;
    int aborted; /* the process that the client library has ended in this step, plus one; 0 = none */
    const char *text[TEXTS_MAX];
    int texts;
    char why[WORLD_LABEL_MAX];
    char trouble[256];
};

extern struct world the_world;

/* From now on no recipe is being called, whatever was under way. */
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

/* The clock. Without one, nothing depends on it. */
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

/* Whether a guarded write of this owner (any, if it is -1) has no answer yet. */
static inline bool write_waits(int p, int owner)
{
    return the_world.coordinator->write_waits != NULL && the_world.coordinator->write_waits(p, owner);
}

void world_note_trouble(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The recipe of the process that runs does what no recipe may. */
void world_note_offence(enum event_offence offence, const char *where);

/* That of this process does. */
void world_tell_offence(int p, enum event_offence offence, const char *where);

/* ---- guard.c: steps of recipes that are not to be trusted ---- */

/* fn(ctx), a step of this process and this kind (0: no recipe is called but for its belief), guarded if there is a guard: a process that did not come back is noted, and as if it had
 * crashed. */
void guard_call(int process, uint32_t kind, void (*fn)(void *ctx), void *ctx);

/* fn(ctx), of which nothing stays. False if it did not come back, or there is no guard. */
bool guard_rehearse(void (*fn)(void *ctx), void *ctx);

/* ---- twice.c: reads of memory that is not to be read ---- */

void twice_begin(void);
/* Whether the next step, of this kind, is to be done twice. */
bool twice_is_due(uint32_t kind);
/* To be called before the step, of this process. False if memory is short. */
bool twice_prepare(int process);
/* True if the step is now to be done with other bytes in such memory. What it has done is undone by twice_end(). */
bool twice_next(void);
void twice_end(bool came_back);
/* To be called behind the step. */
void twice_compare(void);
/* True if the step is now to be done once more, to find out why. What it has done is undone by twice_end_reason(). */
bool twice_next_reason(void);
void twice_end_reason(bool came_back);
/* The offence if the runs differ, otherwise EVENT_OFFENCES. */
enum event_offence twice_verdict(void);
/* Does something of which nothing stays, and of which nobody is told. False if it did not come back, or memory is short. */
bool twice_rehearse(bool (*call)(void (*fn)(void *ctx), void *ctx), void (*fn)(void *ctx), void *ctx);
/* To be called instead behind a step that has not come back; `twice` says whether it was done twice. */
void twice_drop(bool twice);
/* Adds an event up. */
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
/* Whether the process has closed this lock. */
bool process_has_closed(int p, int lock);
void process_close(int p, int lock);
void process_open(int p, int lock);
void process_resize(int p, int lock, int capacity);
void process_fire(int p, int timer);
void process_run_step(const struct action *step);
/* Something has changed for this process (all of them): retries may go on, see timer_may_fire(). */
void process_wake(int p);
void process_wake_all(void);
struct slot *process_slot(int p, int lock, int owner);
/* The same for an action that names several locks. */
void process_acquire_all(int p, const struct action *action);
void process_release_all(int p, const struct action *action);
/* Puts the recipe's query to one process and announces a change (D5). */
void process_ask_belief(int p);

/* To be asked at rest alone. */
void process_ask_idle(int p);

/* What its idle() answers. False if it has none, or cannot be asked: it is not started, or is being called. */
bool process_says_idle(int p);
void *process_state(int p);

/* ---- program.c: what processes do by themselves ---- */

/* How many lists of operations the program has, at least one. */
int program_lists(int p);
/* The next step of a list, if the process is ready for it, otherwise NULL. Its `process` is not filled in. */
const struct action *program_next_op(int p, int list);
/* If a list stands at this action, it goes on. */
void program_pass(const struct action *action);
/* Steps that have lost their meaning are passed over. */
void program_skip_ops(int p);
/* The acquire of this lock that the owner's list had last, or NULL. */
const struct action *program_last_acquire(int p, int lock, int owner);
/* To the begin of each list. */
void program_rewind(int p);

/* ---- heap.c: the memory of one process ---- */

/* Whose a block is: each is freed by its owner's function. */
enum heap_owner {
    HEAP_FREE,
    HEAP_ENV,    /* from ls_env_alloc() */
    HEAP_MALLOC, /* from malloc() of a shared object */
    HEAP_WORLD,  /* ours */
    HEAP_LATE,   /* zones.c: freed in the call that is under way */
};

/* Zeroed, but for what malloc() gives. NULL: there is no more, which is noted. */
void *heap_alloc(int p, size_t size, enum heap_owner owner);
void heap_free(int p, void *memory, enum heap_owner owner);
bool heap_clear(int p, size_t state_size); /* false: the state is too large, which is noted */

/* How many blocks of the recipe are allocated, and their bytes. A world with zones counts the bytes that were asked for,
 * another world multiples of 8. */
struct heap_use {
    uint32_t blocks, bytes;
};
struct heap_use heap_use(int p);

/* ---- zones.c: the same for recipes that are not to be trusted ---- */

#define HEAP_BYTES WORLD_HEAP_BYTES
#define HEAP_GAP_BYTES (128u << 10)

/* The state of a process: its distance from the begin of the block. */
size_t zones_state(void);
bool zones_clear(int p, size_t state_size);
void *zones_alloc(int p, size_t size, enum heap_owner owner);
void zones_free(int p, void *memory, enum heap_owner owner);

/* How many bytes a block was asked for with; 0 if it is none. */
size_t zones_size(int p, const void *memory, enum heap_owner owner);

/* True if all that is not the recipe's is as it was: asked when a call ends. What was freed in it may be handed out then. If
 * not, the offence is told, and the process is to be given up. */
bool zones_are_whole(int p);

struct heap_use zones_use(int p); /* see heap_use() */

/* Memory that is not to be read, which holds another byte than its own, `paint`, in steps that are done twice. */
enum {
    PAINT_FRESH = 1, /* from malloc(), and the stack: not set yet */
    PAINT_FREED = 2, /* freed, or a zone */
    PAINT_LENT = 4,  /* lent to callbacks that are over */
    PAINT_ALL = 7,
};

/* Gives all such memory of a process the bytes that the_world.painted says. */
void zones_paint(int p);

/* The same for the stack below the caller. */
void zones_paint_stack(void);

/* Whether the memory of a process after a step stands for the same as after the step done with painted memory: bytes that were
 * moved and never looked at may differ. */
bool zones_same(const unsigned char *now, const unsigned char *painted, size_t size, unsigned char paint);

/* Makes the memory of a process empty, whatever has become of it. */
void zones_scrub(int p);

/* ---- env.c ---- */

struct timer *timer_at(int p, int index);
int timer_count(int p);
const char *timer_name(const struct timer *timer);
bool timer_is_due(const struct timer *timer);
/* Whether the timer goes on with something: it is no deadline and no upkeep. */
bool timer_is_work(const struct timer *timer);
/* Whether a timer of this role is armed. */
bool timers_of_role(int p, enum ls_timer_role role);

/* Whether the timer has this role. */
bool timer_is(const struct timer *timer, enum ls_timer_role role);
/* Its time has come; untimed, something has changed since a timer of work fired last (D8); of a poll or renewal, since
 * this one did; and a timer that waits for another one or for an answer (recipe.h) has waited. */
bool timer_may_fire(int p, const struct timer *timer);
/* Whether one of work is armed, or a poll that something new is to be found by. */
bool timers_of_work(int p);
/* Whether it is a poll or a renewal. */
bool timer_repeats(const struct timer *timer);
/* Notes that this one has fired; and that something has changed for a process, or for all. */
void repeats_note(int p, const struct ls_timer *timer);
void repeats_forget(int p);
void repeats_forget_all(void);
/* What the process's ls_env_unique_id() would give, with the number 0. */
void env_attempt_id(int p, uint8_t id[16]);

/* ---- world.c: what judges are told ---- */

void observe(const struct event *event);
/* An event of a process, with the clock filled in. */
struct event observe_process(int kind, int p);

/* ---- without.c: worlds that lack choice points ---- */

/* Gives the constants of a run that are no choice their plainest value. */
void without_constants(struct world_options *options);

/* ---- canon.c ---- */

/* No process will set the data of a node: neither its recipe nor its program does. */
bool world_sets_no_data(const struct world_options *options);

/* ---- steps: actions.c, apply.c, schedule.c ---- */

/* The kinds of fault (enum world_fault) that may still be bought, a bit each. */
unsigned action_faults_left(void);
/* Takes a fault out of its budget; one that was due anyway costs nothing. */
void action_pay(const struct action *action, bool due);
/* Returns true if two acquires, or two releases, name the same locks in the same order. */
bool action_same_locks(const struct action *a, const struct action *b);

#endif
