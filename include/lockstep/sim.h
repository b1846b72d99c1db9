/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The simulated world: processes that run a recipe, an in-memory ZooKeeper, links, timers and faults.
 *
 * A world is a value in one arena at a fixed address (D3): saved, restored, compared and fingerprinted as bytes. All
 * nondeterminism is a choice (D4): world_actions() lists what can happen next in a canonical order, world_apply() does
 * one of them. A run is a world and its list of choices; who chooses (a script, a random schedule, a search, a replay, a
 * fuzzer) is not the world's business. One world exists per address space. */
#ifndef LOCKSTEP_SIM_H
#define LOCKSTEP_SIM_H

#include <lockstep/event.h>
#include <lockstep/recipe.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WORLD_PROCESSES_MAX 32 /* processes; their names are one to 15 characters */
#define WORLD_NAME_MAX 16
#define WORLD_LOCKS_MAX 4
#define WORLD_SERVERS_MAX 5
#define WORLD_PROGRAM_MAX 16   /* operations in a client program */
#define WORLD_LINKS_MAX 2      /* connections of a process */
#define WORLD_TASKS_MAX 4      /* owners of a process that have programs of their own */
#define WORLD_ACTIONS_MAX 1024 /* enabled actions at one moment */
#define WORLD_LABEL_MAX 160
#define WORLD_PATH_MAX 256 /* bytes of a path, with its zero */
#define WORLD_NODES_MAX 4  /* of the operator, before a run begins */

struct world;
struct event; /* lockstep/event.h */

/* ---- actions ---- */

/* Numbers of kinds never change: seeds, corpora and EVENT_FAULT depend on them. Each has a row in src/coord/action.c,
 * or in the table of the one coordinator that has this kind. */
enum action_kind {
    /* What the system does by itself. */
    ACTION_APPLY,    /* server reads the next request of a process's handle:       "apply s1 a create" */
    ACTION_COMMIT,   /* a write left in the pipeline by a cut commits late:         "commit-late a create" */
    ACTION_CATCH_UP, /* a follower applies the next transaction of the log:         "catch-up s2 create" */
    ACTION_DELIVER, /* the handle's thread runs the next callback:                 "deliver a create-reply" */
    ACTION_CONNECT, /* connect, handshake and SetWatches with one server:          "connect a s1" */
    ACTION_BURY,    /* the closeSession transaction of a closing session commits:  "bury a" */
    ACTION_HANG_UP, /* the server closes the link of a dead session:               "hang-up a" */
    ACTION_GIVE_UP, /* a handle drops a link that has been mute for 2T/3:      "give-up a" */
    ACTION_RECEIVE, /* fine only: the client takes a message out of its socket:  "receive a create-reply" */
    ACTION_HANDSHAKE, /* fine only: the answer to the connect request arrives:     "handshake a" */
    ACTION_REARM,     /* fine only: the server reads SetWatches:                   "rearm a" */
    ACTION_LINGER,    /* fine only: a write is read behind its broken link:        "linger a create" */
    ACTION_FIRE,      /* a timer fires:                                              "fire a retry-timer" */
    ACTION_ADVANCE,   /* timed only: the clock moves to the next moment of interest: "advance" */
    /* What a client program does. */
    ACTION_ACQUIRE, /* lock, owner, timeout_ms:  "a acquire", "a acquire y owner=2 timeout=2s", "a try"; a step of a
                       program that goes on without the answer is called the same */
    ACTION_RELEASE,   /* lock, owner:              "a release"; a step of a program that is never passed over:
                       "a release anyway" */
    ACTION_CANCEL,    /* lock, owner:              "a cancel" */
    ACTION_WRITE,     /* lock: write to a resource that compares tokens:      "a write"; in a multi with the
                       guard of the recipe, if it has one: "a write guarded" */
    ACTION_REVOCABLE, /* lock: from now on it listens to requests to give back: "a revocable" */
    ACTION_REVOKE,    /* lock, place: asks the first in line, or another, to give back: "a revoke place=2" */
    ACTION_STOP,      /* close the session in an orderly way:                 "a stop" */
    ACTION_START,     /* open it again:                                       "a start" */
    /* Faults. */
    ACTION_CUT,            /* keep, apply, rc, late: "cut a keep=0 apply=0 rc=-4", also "late=1" */
    ACTION_REFUSE,         /* the next connection attempt fails:               "refuse a" */
    ACTION_PARTITION,      /* nothing passes between process and servers:      "partition a" */
    ACTION_HEAL,           /* the end of a partition:                          "heal a" */
    ACTION_EXPIRE,         /* the server marks the session closing:            "expire a" */
    ACTION_PAUSE,          /* the process stops, its socket fills:             "pause a" */
    ACTION_RESUME,         /*                                                  "resume a" */
    ACTION_CRASH,          /* the process is gone without a word:              "crash a" */
    ACTION_RESTART,        /* it starts again with empty memory:               "restart a" */
    ACTION_FAIL_ALLOC,     /* the n-th next allocation of the process fails:   "fail-alloc a n=1" */
    ACTION_FREEZE,         /* a follower hears nothing from the leader:        "freeze s2" */
    ACTION_THAW,           /*                                                  "thaw s2" */
    ACTION_LAG,            /* a follower applies only when asked by catch-up:  "lag s2" */
    ACTION_RESTART_SERVER, /* every link of it breaks, all session timers restart: "restart-server s1" */
    ACTION_SWEEP,          /* an empty container that once had a child is deleted:  "sweep x" */
    ACTION_FOREIGN,        /* the operator creates a persistent node:           "create /locks/x/content" */
    ACTION_REMOVE,         /* the operator deletes a node and all below it:     "remove /locks/x" */
    /* Behind the last number of before. */
    ACTION_CLOSE, /* lock: ends the use of it, whatever is asked or held:     "a close" */
    ACTION_OPEN,  /* lock: begins it again:                                   "a open" */
    ACTION_RMDIR, /* the operator deletes the lock's directory, if it is empty:     "rmdir x" */
    ACTION_EVICT, /* lock: the operator deletes the process's oldest contender:  "evict a", "evict a y" */
    ACTION_TOUCH, /* lock: the operator sets the data of the process's oldest contender:  "touch a", "touch a y" */
    ACTION_FAIL_CALL, /* the client library finds no memory for the n-th next call:  "fail-call a n=1" */
    ACTION_RESTRICT, /* lock: the operator makes the process's oldest contender unreadable for others: "restrict a" */
    ACTION_RESIZE, /* lock, capacity: from now on the process knows another capacity: "a resize capacity=2" */
    ACTION_OWN = 64, /* from here on: kinds that one coordinator has of its own */
    ACTION_KINDS = 128
};

/* One choice. Fields that a kind does not use are zero. `a` to `d` name the same bytes, for code that copies or compares
 * actions of any kind. */
struct action {
    uint8_t kind;    /* enum action_kind */
    uint8_t process; /* index; 255 = none */
    union {
        uint8_t a;
        uint8_t handle; /* steps of the coordinator: slot in its process */
        uint8_t timer;  /* FIRE: place among the armed timers of its process */
        uint8_t owner;  /* client verbs */
        uint8_t keep;   /* CUT: messages that still arrive */
        uint8_t nth;    /* REFUSE: which of the handles whose attempt may fail, from 0 */
    };
    union {
        uint8_t b;
        uint8_t server; /* APPLY, CATCH_UP, CONNECT, faults of servers */
        uint8_t lock;   /* client verbs, faults of contenders and directories */
        uint8_t apply;  /* CUT: requests that are still read */
        uint8_t text;   /* FOREIGN, REMOVE: slot of a path, see world_text() */
    };
    union {
        int32_t c;
        int32_t session;    /* EXPIRE, BURY */
        int32_t timeout_ms; /* ACQUIRE: -1 for ever, 0 a try */
        int32_t guarded;    /* WRITE: 1 = in a multi with the recipe's check */
        int32_t anyway;     /* RELEASE: 1 = also if the lock is not held */
        int32_t place;      /* REVOKE: in line, from 1 */
        int32_t capacity;   /* RESIZE: units of the group, from 1 */
        int32_t rc;         /* CUT: of unanswered requests; 0 = that of the world */
        int32_t n;          /* FAIL_ALLOC, FAIL_CALL: which one fails, from 1 */
        int32_t perms;      /* FOREIGN: of the node, for others; 0 = all */
        int32_t ms;         /* ADVANCE: how far; 0 = to the next moment */
    };
    union {
        int32_t d;
        int32_t refused; /* APPLY: 1 = the server refuses the request, as its session is over */
        int32_t modes; /* CUT: ACTION_CUT_LATE, ACTION_CUT_LINK(); ACQUIRE, WRITE: ACTION_NOWAIT, ACTION_ON_…;
                      ACQUIRE, RELEASE: more locks, see action_lock_at() */
    };
};

/* Of a cut: the last request that is read commits late. */
#define ACTION_CUT_LATE 0x01
/* Of a cut: which of the links of the process that are up, from 0. */
#define ACTION_CUT_LINK(nth) ((int32_t)(nth) << 8)

/* How many locks an acquire or a release names behind `lock`, in the order of the call; 0 of any other action. */
static inline int action_more_locks(const struct action *action)
{
    bool takes = action->kind == ACTION_ACQUIRE || action->kind == ACTION_RELEASE;
    return takes ? (int)((uint32_t)action->modes >> 24 & 3u) : 0;
}

static inline int action_lock_at(const struct action *action, int place)
{
    return place == 0 ? action->lock : (int)((uint32_t)action->modes >> (24 + 2 * place) & 3u);
}

/* Adds a lock. There are WORLD_LOCKS_MAX at most. */
static inline void action_add_lock(struct action *action, int lock)
{
    uint32_t more = (uint32_t)action_more_locks(action) + 1;
    uint32_t modes = ((uint32_t)action->modes & ~(3u << 24)) | more << 24;
    action->modes = (int32_t)(modes | (uint32_t)lock << (24 + 2 * more));
}

/* Whether an acquire or a release is about this lock. */
static inline bool action_has_lock(const struct action *action, int lock)
{
    int place = action_more_locks(action);
    while (place > 0 && action_lock_at(action, place) != lock)
        place--;
    return action_lock_at(action, place) == lock;
}

static inline bool action_cut_is_late(const struct action *cut)
{
    return (cut->modes & ACTION_CUT_LATE) != 0;
}

static inline int action_cut_link(const struct action *cut)
{
    return cut->modes >> 8;
}

/* Of an acquire or a write of a program: the next step does not wait for the answer. */
#define ACTION_NOWAIT 0x01
/* Of an acquire of a program: what its owner does within the report of the grant, or of the failure. An enum action_kind
 * that is not 0. */
#define ACTION_ON_GRANTED(kind) ((int32_t)(kind) << 8)
#define ACTION_IS_ON_GRANTED(d) ((int)((d) >> 8 & 0xff))
#define ACTION_ON_FAILED(kind) ((int32_t)(kind) << 16)
#define ACTION_IS_ON_FAILED(d) ((int)((d) >> 16 & 0xff))

/* What drivers ask of a kind of action. They compare kinds for equality at most, never by order. */
enum action_trait {
    TRAIT_SYSTEM = 0x001, /* the system does it by itself: a step of the coordinator, a timer, the clock */
    TRAIT_STEP = 0x002,   /* a step of the coordinator */
    TRAIT_VERB = 0x004,   /* what a caller does; programs consist of such */
    TRAIT_LOCK = 0x008,   /* a verb about one lock: `b` is the lock, `a` the owner */
    TRAIT_ON_PROCESS = 0x010, /* a fault on a process, or the end of one */
    TRAIT_ON_SERVICE = 0x020, /* a fault on the coordinator, or the end of one; its process is none */
    TRAIT_SERVER = 0x040,     /* it happens at one server and is no process's turn: `b` is the server */
    TRAIT_PATH = 0x080,       /* `b` is the slot of a path, see world_text() */
    TRAIT_LINK = 0x100,       /* the link or the session of its process may change */
    TRAIT_MOVES = 0x200,      /* a state in which it is enabled is not at rest */
    TRAIT_FAIR = 0x400,       /* it happens some time in a fair system if it stays enabled */
    TRAIT_HEALS = 0x800,      /* it ends a fault, whatever the budgets */
    TRAIT_BREAKS = 0x1000,    /* a fault, with a budget or without */
    TRAIT_DIRECTORY = 0x2000, /* a fault on the directory of a lock: `b` is the lock, the process is none */
    TRAIT_CONTENDER = 0x4000, /* a fault on a contender of its process: `b` is the lock */
    TRAIT_MEMORY = 0x8000,    /* a lack of memory in its process, the `c`-th next time that it is needed */
    TRAIT_DELIVERS = 0x10000, /* a step of the coordinator that runs a callback of its process */
};

struct action_info {
    const char *verb;     /* its word in labels, scenarios and lists */
    uint32_t traits;      /* enum action_trait */
    uint8_t fault;        /* the budget that pays for it (enum world_fault) + 1; 0 = none */
    uint8_t fault_class;  /* of a fault: enum event_fault */
    const char *stimulus; /* a verb that enters the recipe: its name in coverage; NULL otherwise */
};

/* Indexed by kind; no verb = no such kind. Constant once all coordinators are registered, which is before main(). */
extern struct action_info world_action_infos[ACTION_KINDS];

/* True if actions of this kind have one of these traits; false for a number that is no kind. */
static inline bool action_kind_has(unsigned kind, unsigned traits)
{
    return kind < ACTION_KINDS && (world_action_infos[kind].traits & traits) != 0;
}

static inline bool action_has(const struct action *action, unsigned traits)
{
    return action_kind_has(action->kind, traits);
}

/* The word of a kind; "unknown" for a number that is none. */
const char *world_action_verb(int kind);

/* ---- options ---- */

/* Fault kinds with a budget, in the order of `budget` below; names as in "explore loss<=1". */
enum world_fault {
    WORLD_FAULT_LOSS,     /* "loss": cut */
    WORLD_FAULT_EXPIRE,   /* "expire" */
    WORLD_FAULT_PAUSE,    /* "pause" */
    WORLD_FAULT_CRASH,    /* "crash" (restart is free) */
    WORLD_FAULT_REFUSE,   /* "refuse" */
    WORLD_FAULT_LAG,      /* "lag" */
    WORLD_FAULT_LATE,     /* "late": applied late, a kind of cut */
    WORLD_FAULT_CANCEL,   /* "cancel": the caller gives up */
    WORLD_FAULT_ALLOC,    /* "alloc" */
    WORLD_FAULT_SWEEP,    /* "sweep" */
    WORLD_FAULT_SERVER,   /* "server": restart of a server */
    WORLD_FAULT_RMDIR,    /* "rmdir" */
    WORLD_FAULT_EVICT,    /* "evict" */
    WORLD_FAULT_TOUCH,    /* "touch" */
    WORLD_FAULT_CALL,     /* "call" */
    WORLD_FAULT_RESTRICT, /* "restrict" */
    WORLD_FAULT_OWN = 24, /* from here on: faults that one coordinator has of its own */
    WORLD_FAULTS = 32
};

/* Returns NULL for a number that no fault has. */
const char *world_fault_name(enum world_fault fault);

/* Defects that can be switched on; default off, or on where the real one has it. */
#define WORLD_DEFECT_WRAP 0x01u /* "wrap": the pre-3.6 counter: 2147483647 is followed by -2147483648 (F49) */
#define WORLD_DEFECT_IMMORTAL 0x02u /* "immortal": ephemerals of a dead session are never deleted */
#define WORLD_DEFECT_SILENT_SESSION                                                                          \
    0x04u /* "silent-session": reconnect hands out a new session without saying so (Z44) */
#define WORLD_DEFECT_DROP_AT_CLOSE 0x08u /* "drop-at-close": completions are not called at close (F21) */
#define WORLD_DEFECT_MISSED_WATCH 0x10u  /* "missed-watch": the server forgets to send a DELETED */
#define WORLD_DEFECT_CURSOR 0x20u /* "half-list": a failed attempt leaves half of an even server list (F91) */

/* A setting of the servers: some serve clients that only read (F105). */
#define WORLD_SETTING_READ_ONLY 0x08u

/* The operations of one owner, which do not wait for answers of other owners: ops[begin] to ops[end - 1]. */
struct world_task {
    uint8_t begin, end;
    uint8_t owner;
    bool endless; /* start again after the last */
};

struct world_program {
    struct action ops[WORLD_PROGRAM_MAX]; /* client verbs in order; process is filled in by the world */
    int count;
    bool endless;  /* start again after the last */
    uint8_t tasks; /* 0 = all operations are one list, and wait for the answers of all owners */
    struct world_task task[WORLD_TASKS_MAX]; /* one behind the other, without gaps */
};

/* Choice points that a world may lack, by the letters of docs/fidelity.md, to show what a search sees with them:
 *   a order between sessions   b instant of a loss      c applied, but the reply lost   d -4 or -7
 *   e which server, and when   f instant of an expiry   g orders that are no promise    i a client that stands still
 *   j completions at close     k sweep and rmdir        l callbacks inside init
 * A world that lacks some has fewer runs, and each of them is a run of the whole world with the same constants. */
#define WORLD_CHOICE_POINT(letter) (1u << ((letter) - 'a'))
#define WORLD_WITHOUT_MAX 27 /* letters and the zero */

/* Letters to a mask. False if there is none, or one that is no choice of a world. */
bool world_without(const char *letters, uint32_t *mask);

/* The inverse, sorted. */
void world_without_text(uint32_t mask, char text[WORLD_WITHOUT_MAX]);

struct canon;

#define WORLD_CROWD_MAX 150
#define WORLD_OWN_OPTIONS_MAX 8

struct world_options {
    const struct ls_recipe *recipe;
    const char *coordinator; /* name of one that is linked; NULL = "zookeeper" */
    int processes;
    char name[WORLD_PROCESSES_MAX][WORLD_NAME_MAX];
    bool autostart[WORLD_PROCESSES_MAX]; /* start() is called when the world begins */
    int locks;
    const char *lock_path[WORLD_LOCKS_MAX];    /* below the chroot, whose own node is "/" */
    struct ls_lock_spec lock[WORLD_LOCKS_MAX]; /* all zero = a mutex; a group has one path */
    const char *chroot;                        /* NULL or "/app" */
    const char *node[WORLD_NODES_MAX];   /* persistent ones that stand already; whole paths; NULL = none */
    uint8_t node_perms[WORLD_NODES_MAX]; /* everybody's permission bits there; 0 = all */
    const char *contents;                /* contents of contender nodes, NULL = none */
    bool keep_fresh;                     /* holders renew their belief, if the recipe knows how */
    bool timers_first; /* timed: the default schedule fires timers that are due before it delivers messages */
    bool used_directory; /* the lock directories exist and have been used before */
    bool no_containers;  /* the servers lack container nodes (-6) */
    int servers;
    bool timed;         /* virtual clock; otherwise timers and expiry have no value (D8) */
    int latency_min_ms; /* one way; timed only */
    int latency_max_ms;
    int tick_ms; /* server tickTime */
    int session_timeout_ms;
    int loss_rc;   /* -4 or -7: what failed requests get in cuts that do not say */
    uint64_t seed; /* run constants: order of child lists, session ids, closeSession events, jitter */
    int32_t sequence_preset; /* the lock directories' next suffix; implies used_directory when not 0 */
    int crowd; /* persistent nodes in each lock directory, 0 to WORLD_CROWD_MAX; implies used_directory when not 0 */
    unsigned defects;                   /* WORLD_DEFECT_… */
    unsigned settings;                  /* of the servers, see `settings` of src/coord/coordinator.h */
    int32_t own[WORLD_OWN_OPTIONS_MAX]; /* options of the coordinator alone, in the order of its table */
    bool callbacks_in_init;             /* F19 */
    bool fine;                          /* smaller steps, untimed only: ACTION_RECEIVE to ACTION_LINGER */
    uint32_t without;                   /* choice points that the world lacks: WORLD_CHOICE_POINT bits */
    struct world_program program[WORLD_PROCESSES_MAX];
    uint8_t budget[WORLD_FAULTS]; /* for world_actions(); scripts may apply any fault without one */
    uint8_t budget_total;         /* over all kinds; 255 = no limit of its own */
    size_t judge_bytes;           /* size of the block for the driver's judges, inside the arena */
    void (*judge_canon)(void *judges,
                        struct canon *canon); /* shows their numbers that grow; NULL = it cannot */
    bool several; /* some step asks for several locks at once: the recipe has to know how */
    bool resizes; /* some step tells a process another capacity than the declared one */
};

/* Sensible values: one server, untimed, 10 ms latency, tick 200 ms, timeout 4 s, rc -4, all budgets 0. */
void world_options_default(struct world_options *options);

/* ---- life ---- */

typedef void (*world_observer)(void *ctx, const struct event *event);

/* Builds the one world in this address space. `options` is copied. Returns NULL only if the arena cannot be mapped
 * (errno says why). Events go to the observer, which must not call back into the world. */
struct world *world_open(const struct world_options *options, world_observer observer, void *ctx);

/* Begins again from the initial state with other options, cheaper than close and open. */
void world_reset(struct world *world, const struct world_options *options);

/* Another number whenever it has begun again: what was saved before fits no more. */
uint64_t world_layout(const struct world *world);

void world_close(struct world *world);

void world_set_observer(struct world *world, world_observer observer, void *ctx);

/* Which steps of a recipe from a shared object are done twice, with other bytes in all memory that it may not read: few, as the
 * seed and their number say; the first ones of each kind too; or all. Steps are counted anew from this call on. At first: few. */
enum world_doubt { WORLD_DOUBT_FEW, WORLD_DOUBT_FIRST, WORLD_DOUBT_ALL };
void world_doubt(struct world *world, enum world_doubt doubt);

/* True if its recipe comes from a shared object: it may be to blame for what else would be ours. */
bool world_is_guarded(const struct world *world);

/* Starts the processes with autostart. Call once after open or reset, with the observer in place. */
void world_begin(struct world *world);

/* ---- choices ---- */

/* Enabled system actions, program steps and budgeted faults in canonical order; returns how many (0 = nothing can
 * happen). `out` holds WORLD_ACTIONS_MAX. */
int world_actions(struct world *world, struct action *out);

/* Those of them that are one process's, or, with the number of processes, nobody's: together they are all. Untimed worlds
 * that lack no choice point only. */
int world_actions_of(struct world *world, int process, struct action *out);

/* What an action may come from, a bit each. */
enum world_part {
    WORLD_PART_ENSEMBLE = 1, /* up to FIRE, and expiries of sessions that nobody will come back for */
    WORLD_PART_TIMERS = 2,   /* FIRE */
    WORLD_PART_PROGRAM = 4,  /* the next step of a program */
    WORLD_PART_FAULTS = 8,   /* what is bought, and what ends a fault */
    WORLD_PARTS = 15,
};

/* The same list with what comes from these parts alone. */
int world_actions_among(struct world *world, int process, unsigned parts, struct action *out);

/* True if this action, of any kind, can be applied now. */
bool world_enabled(struct world *world, const struct action *action);

/* Does it. Returns 0; LS_EINVAL if it is not enabled (nothing has changed then). A reached capacity or a call that
 * the fake does not support is sticky: see world_trouble(). */
int world_apply(struct world *world, const struct action *action);

/* The same for an action that world_actions() has just listed, or world_enabled() found enabled: it is not asked again.
 * For searches, which do many steps of each list. */
void world_do(struct world *world, const struct action *action);

/* The budget that an action is paid from (enum world_fault), -1 if it is none that has one. */
int world_fault_of(const struct action *action);

/* True if budgeted world_actions() would count it as a fault. */
bool world_is_fault(const struct action *action);

/* True if it is what a caller does: programs consist of such. */
static inline bool world_is_verb(const struct action *action)
{
    return action_has(action, TRAIT_VERB);
}

/* True if they are one and the same: all fields are, but for whether a program goes on without the answer. */
bool world_same_action(const struct action *a, const struct action *b);

/* Writes the action's label; two enabled actions never share one. */
void world_label(struct world *world, const struct action *action, char label[WORLD_LABEL_MAX]);

/* The inverse: finds the action whose label this is. System actions are looked up among the enabled ones; client verbs
 * and faults are parsed. Returns 0; LS_ENOENT if no enabled action has that label; LS_EINVAL if it is not a label. On
 * error *why (static or scratch text, never NULL) says what was expected. */
int world_find(struct world *world, const char *label, struct action *action, const char **why);

/* The node text that ACTION_FOREIGN and ACTION_REMOVE refer to: interns a path for this run, returns its slot or
 * LS_ENOMEM. */
int world_text(struct world *world, const char *path);

/* ---- the default schedule, for scripts ---- */

/* Chooses what a well-behaved system does next: deliveries, applications, connections, timers of work, the end of
 * closing sessions; in timed worlds the clock moves when nothing else is due. Does not choose program steps or faults,
 * and lets no deadline, expiry or ping count as work. Returns false when at rest. */
bool world_default_action(struct world *world, struct action *out);

/* Runs default actions until rest; `limit` bounds the steps. Returns the number of steps, or LS_EOVERFLOW. The step
 * function (may be NULL) is called before each action is applied. */
typedef void (*world_step_fn)(void *ctx, const struct action *action);
int world_settle(struct world *world, int limit, world_step_fn step, void *ctx);

/* Timed: runs everything due within the next `ms` and leaves the clock exactly there. Untimed: lets armed timers,
 * deadlines and due expiries happen, then settles. */
int world_pass_time(struct world *world, int ms, int limit, world_step_fn step, void *ctx);

/* Ends all faults that are still in force: heals, thaws, resumes, restarts what crashed if `revive`. As actions, through
 * the step function. */
int world_heal(struct world *world, bool revive, world_step_fn step, void *ctx);

/* True if this action ends a fault, as world_heal() may do whatever the budgets: a heal, a thaw, a resume, a restart, or
 * the end of a session that no handle has any more. */
bool world_is_healing(const struct action *action);

/* True when nothing is under way: see EVENT_REST. */
bool world_at_rest(struct world *world);

/* Emits EVENT_REST if at rest; returns whether it was. */
bool world_rest(struct world *world);

/* ---- the value ---- */

struct world_image;                                  /* a saved world, in the caller's heap */
struct world_image *world_save(struct world *world); /* NULL if memory is short */
void world_restore(struct world *world, const struct world_image *image);
bool world_image_equal(const struct world_image *a, const struct world_image *b);
size_t world_image_bytes(const struct world_image *image);
void world_image_free(struct world_image *image);

/* Equal for equal worlds, and for two different ones with a chance of 1 in 2^64. Costs what the blocks cost that were
 * marked since the last call. */
uint64_t world_fingerprint(struct world *world);

/* True if a block differs from the image though nobody has marked it since the fingerprint was taken last; says which. */
bool world_unmarked_write(const struct world *world, const struct world_image *image,
                          char block[WORLD_LABEL_MAX]);

/* Takes out of the list that the action delivers what the recipe says it will not look at (struct ls_recipe, `unread`). False if
 * it delivers none, or there is nothing to be taken out. */
bool world_drop_unread(struct world *world, const struct action *action);

/* What the fingerprint stands for. Writes at most `size` bytes; returns how many there are. */
size_t world_bytes(const struct world *world, unsigned char *out, size_t size);

/* The fingerprint up to the renaming of numbers that grow (D3c, state/canon.h). NULL if the recipe or the judges do not show
 * theirs, if the world's constants or programs tie something to them (a preset sequence, guarded writes), or if memory is
 * short; the caller closes it. */
struct canon *world_canon(struct world *world);

/* The same up to the names of processes too (state/canon.h). NULL also if the world makes a difference between them: other
 * programs, several servers, a recipe that is not `symmetric`. */
struct canon *world_symmetric_canon(struct world *world);
bool world_is_symmetric(const struct world *world);

/* Where everything lies (base/arena.h), for searches, which remember what steps do to its blocks. */
struct arena;
struct arena *world_arena(struct world *world);

/* The blocks that the actions of one process (or nobody's, with the number of processes) mostly depend on, ascending; returns
 * how many. The judges' block is none of them: judges see events, and nobody sees judges. */
int world_scope(const struct world *world, int process, int *blocks);
int world_judge_block(const struct world *world);

/* Of all actions of one process that are enabled, as world_actions_of() lists them: whether one, *which, may go before everything
 * that anybody does, as far as the world can tell. What remains to be asked is whether it reads and changes nothing but the
 * process's own blocks (and reads what world_budget_block() has of it), what the judges see of it, and whether
 * world_uses() stays the same where it has to be unused. World_knows_alone() is false of a world that cannot tell at all: it has
 * a clock, small steps, or lacks choice points. */
enum world_alone { WORLD_ALONE_NEVER, WORLD_ALONE, WORLD_ALONE_IF_UNUSED };
enum world_alone world_alone(struct world *world, int process, const struct action *actions, int count,
                             int *which);
bool world_knows_alone(const struct world *world);
void world_own_blocks(const struct world *world, int process, uint64_t bits[2]);

/* Another number whenever the process has called its client library, or that has changed in another way than by messages to
 * the process. No part of the world. */
uint64_t world_uses(const struct world *world, int process);

/* The block that holds what is left of the fault budgets; how many faults of each kind have been bought, and the same
 * world with others bought, as far as the budgets go. */
int world_budget_block(const struct world *world);
void world_bought(struct world *world, uint8_t bought[WORLD_FAULTS]);
void world_buy(struct world *world, const uint8_t bought[WORLD_FAULTS]);

/* ---- what is covered ---- */

/* What an enabled action brings to its process, without names and numbers of this run: "create-reply ok", "list-reply lost",
 * "deleted other", "session-connected", "retry-timer", "acquire". False if it does not enter a recipe. */
bool world_stimulus(struct world *world, const struct action *action, char text[WORLD_LABEL_MAX]);

/* The abstract states that the attempts of a process are in (struct ls_recipe): a bit for each, 1 if its recipe does not say
 * or does not run. */
uint32_t world_recipe_states(struct world *world, int process);

/* Returns the index in `ops` of the program's operation that an enabled client verb is; -1 if the verb is none. Changes
 * nothing. */
int world_program_step(struct world *world, const struct action *action);

/* A bit for each kind of fault (enum world_fault) that was taken out of its budget since open or reset,
 * whatever was restored meanwhile. */
uint32_t world_faults_paid(const struct world *world);

/* True if a process has done or passed over all steps of its program, which is not endless, and waits for no answer. */
bool world_program_ended(struct world *world, int process);

/* True if the directory of a lock is a container. */
bool world_has_container(struct world *world);

/* ---- what goes on for ever ---- */

/* True if this process has asked for a lock and has no answer yet. */
bool world_waits(const struct world *world, int process);

/* How many faults can still be bought; and none from now on. Whoever has crashed may start again all the same, who stands
 * still goes on, and from now on a session ends that no handle has any more, at no cost, whatever became of its process. */
int world_faults_left(const struct world *world);
void world_end_faults(struct world *world);

/* An enabled action that does not wait for ever in a fair system has a channel: "apply a", "deliver a", "fire a retry-timer".
 * A channel that is never empty is served some time. False if nobody has to do the action: an acquire of a program, a
 * restart, a fault from a budget. */
bool world_channel(struct world *world, const struct action *action, char text[WORLD_LABEL_MAX]);

/* ---- questions ---- */

const struct world_options *world_get_options(const struct world *world);
int64_t world_now_ms(const struct world *world);
uint64_t world_steps(const struct world *world); /* actions applied since open or reset */
void *world_judges(struct world *world);         /* the judge block; zeroed at open and reset */
/* To be called after writing to it: how many bytes at its front are in use; what lies behind them is zero. */
void world_judges_changed(struct world *world, size_t live_bytes);
enum ls_belief world_belief(struct world *world, int process, int lock, int owner);

/* A text that describes the first limit or unsupported call that the run met; NULL if none. */
const char *world_trouble(const struct world *world);

/* Prints clients, sessions, nodes and messages in readable form, for stories and debugging. */
void world_describe(struct world *world, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
