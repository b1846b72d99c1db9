/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The simulated world: processes that run a recipe, a coordinator in memory (ZooKeeper or another one),
 * links, timers and faults.
 *
 * A world is a value in one arena at a fixed address (D3): it is saved, restored, compared and
 * fingerprinted as bytes. All nondeterminism is a choice (D4): world_actions() lists the enabled actions
 * in a canonical order, and world_apply() does one of them. A run is a world and its list of choices. A
 * driver chooses: a script, a random schedule, a search, a replay or a fuzzer. One world exists per
 * address space. */
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

#define WORLD_PROCESSES_MAX 32
#define WORLD_NAME_MAX 16 /* bytes of a process's name, with its zero; a name has at least one character */
#define WORLD_LOCKS_MAX 4
#define WORLD_SERVERS_MAX 5
#define WORLD_PROGRAM_MAX 16   /* operations in a client program */
#define WORLD_LINKS_MAX 2      /* connections of a process */
#define WORLD_TASKS_MAX 4      /* owners of a process that have programs of their own */
#define WORLD_ACTIONS_MAX 1024 /* enabled actions at one moment */
#define WORLD_LABEL_MAX 160
#define WORLD_PATH_MAX 256 /* bytes of a path, with its zero */
#define WORLD_NODES_MAX 4  /* nodes that the operator has made before a run begins */

struct world;
struct event; /* lockstep/event.h */

/* ---- actions ---- */

/* Kinds of actions, each with an example of its label in quotation marks. Numbers of kinds never change:
 * seeds, corpora and EVENT_FAULT depend on them. Each kind has a row in src/coord/action_kinds.c, or in the
 * table of the one coordinator that has it. */
enum action_kind {
    /* Steps of the system. */
    ACTION_APPLY,     /* a server reads the next request of a process's handle: "apply s1 a create" */
    ACTION_COMMIT,    /* a write that a cut left in the pipeline commits: "commit-late a create" */
    ACTION_CATCH_UP,  /* a follower applies the next transaction of the log: "catch-up s2 create" */
    ACTION_DELIVER,   /* the handle's thread runs the next callback: "deliver a create-reply" */
    ACTION_CONNECT,   /* connect, handshake and SetWatches with one server: "connect a s1" */
    ACTION_BURY,      /* the closeSession transaction of a closing session commits: "bury a" */
    ACTION_HANG_UP,   /* the server closes the link of a dead session: "hang-up a" */
    ACTION_GIVE_UP,   /* a handle drops a link or an attempt, mute for 2/3 of the timeout: "give-up a" */
    ACTION_RECEIVE,   /* fine only: the client takes a message out of its socket: "receive a create-reply" */
    ACTION_HANDSHAKE, /* fine only: the answer to the connect request arrives: "handshake a" */
    ACTION_REARM,     /* fine only: the server reads SetWatches: "rearm a" */
    ACTION_LINGER,    /* fine only: a server reads a write of a link that is broken: "linger a create" */
    ACTION_FIRE,      /* a timer fires: "fire a retry-timer" */
    ACTION_ADVANCE,   /* timed only: the clock moves to the next moment of interest: "advance" */

    /* Verbs of client programs. */

    /* lock, owner, timeout_ms: "a acquire", "a acquire y owner=2 timeout=2000ms", "a try". A step of a
     * program that goes on without the answer has the same label. */
    ACTION_ACQUIRE,
    /* lock, owner: "a release"; a step of a program that is done also if the lock is not held: "a release
     * anyway" */
    ACTION_RELEASE,
    ACTION_CANCEL, /* lock, owner: "a cancel" */
    /* lock: a write to a resource that compares tokens: "a write"; in a multi with the guard of the recipe:
     * "a write guarded" */
    ACTION_WRITE,
    ACTION_REVOCABLE, /* lock: the process listens to requests to give it back from now on: "a revocable" */
    ACTION_REVOKE,    /* lock, place: asks the contender at that place, from 1: "a revoke place=2" */
    ACTION_STOP,      /* closes the session in an orderly way: "a stop" */
    ACTION_START,     /* opens a session again: "a start" */

    /* Faults. */
    ACTION_CUT,       /* keep, apply, rc, modes: a link breaks: "cut a keep=0 apply=0 rc=-4 late" */
    ACTION_REFUSE,    /* a connection attempt fails: "refuse a" */
    ACTION_PARTITION, /* nothing passes between process and servers: "partition a" */
    ACTION_HEAL,      /* the end of a partition: "heal a" */
    ACTION_EXPIRE,    /* the server marks the session closing: "expire a" */
    ACTION_PAUSE,     /* the process stops, its socket fills: "pause a" */
    ACTION_RESUME,    /* the process goes on: "resume a" */
    ACTION_CRASH,     /* the process ends without closing its session: "crash a" */
    ACTION_RESTART,   /* a crashed process starts again with empty memory: "restart a" */
    /* the n-th next allocation of the process fails; the start of a timer of LS_TIMER_DEADLINE counts as one:
     * "fail-alloc a n=1" */
    ACTION_FAIL_ALLOC,
    ACTION_FREEZE,         /* a follower hears nothing from the leader: "freeze s2" */
    ACTION_THAW,           /* the end of a freeze or a lag: "thaw s2" */
    ACTION_LAG,            /* a follower applies only when asked by catch-up: "lag s2" */
    ACTION_RESTART_SERVER, /* its links break; with the leader, session timers restart: "restart-server s1" */
    ACTION_SWEEP,          /* an empty container that once had a child is deleted: "sweep x" */
    /* the operator creates a persistent node and its missing ancestors: "create /locks/x/content" */
    ACTION_FOREIGN,
    ACTION_REMOVE, /* the operator deletes a node and all below it: "remove /locks/x" */

    /* Further kinds; a new one goes to the end. "Its contender" is the oldest contender of the process at the
     * lock. Without one, it is the oldest node of the process that queues there. */
    ACTION_CLOSE, /* verb; lock: ends its use, whatever is asked or held: "a close" */
    ACTION_OPEN,  /* verb; lock: begins its use again: "a open" */
    /* lock: the operator deletes an empty directory of the lock. If the lock's path is missing, the operator
     * deletes its nearest ancestor that exists and is empty: "rmdir x" */
    ACTION_RMDIR,
    ACTION_EVICT,     /* lock: the operator deletes its contender: "evict a", "evict a y" */
    ACTION_TOUCH,     /* lock: the operator sets the data of its contender: "touch a", "touch a y" */
    ACTION_FAIL_CALL, /* the client library finds no memory for the n-th next call: "fail-call a n=1" */
    ACTION_RESTRICT,  /* lock: the operator makes its contender unreadable for others: "restrict a" */
    ACTION_RESIZE,    /* verb; lock, capacity: the process knows another capacity: "a resize capacity=2" */
    ACTION_OWN = 64,  /* from here on: kinds that one coordinator has of its own */
    ACTION_KINDS = 128
};

/* One choice. Fields that a kind does not use are zero. `a` to `d` name the same bytes as the other
 * members, for code that copies or compares actions of any kind. */
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
        int32_t rc;         /* CUT: result of unanswered requests; 0 = loss_rc of the world */
        int32_t n;          /* FAIL_ALLOC, FAIL_CALL: which one fails, from 1 */
        int32_t perms;      /* FOREIGN: permission bits of the node for all users; 0 = all bits */
        int32_t ms;         /* ADVANCE: distance in ms; 0 = to the next moment */
    };
    union {
        int32_t d;
        int32_t refused; /* APPLY: 1 = the server refuses the request, because its session is closing */
        /* CUT: ACTION_CUT_LATE, ACTION_CUT_LINK(). ACQUIRE, WRITE: ACTION_NOWAIT, ACTION_ON_…. ACQUIRE,
         * RELEASE: more locks, see action_lock_at(). */
        int32_t modes;
    };
};

/* Mode of a cut: the last request that is read commits late. */
#define ACTION_CUT_LATE 0x01
/* Mode of a cut: index of the link among those of the process that are up, from 0. */
#define ACTION_CUT_LINK(nth) ((int32_t)(nth) << 8)

/* Returns the number of locks that an acquire or a release names behind `lock`; 0 for any other action. */
static inline int action_more_locks(const struct action *action)
{
    bool takes = action->kind == ACTION_ACQUIRE || action->kind == ACTION_RELEASE;
    return takes ? (int)((uint32_t)action->modes >> 24 & 3u) : 0;
}

/* Returns the lock at this place of the call; `lock` has the place 0. */
static inline int action_lock_at(const struct action *action, int place)
{
    return place == 0 ? action->lock : (int)((uint32_t)action->modes >> (24 + 2 * place) & 3u);
}

/* Adds a lock behind the others. An action names at most WORLD_LOCKS_MAX. */
static inline void action_add_lock(struct action *action, int lock)
{
    uint32_t more = (uint32_t)action_more_locks(action) + 1;
    uint32_t modes = ((uint32_t)action->modes & ~(3u << 24)) | more << 24;
    action->modes = (int32_t)(modes | (uint32_t)lock << (24 + 2 * more));
}

/* Returns whether an acquire or a release is about this lock. */
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

/* Mode of an acquire or a write of a program: the next step does not wait for the answer. The next step waits
 * all the same if it acquires, releases or writes with that lock and owner, or if both are writes. */
#define ACTION_NOWAIT 0x01
/* Modes of an acquire of a program: the verb (enum action_kind) that its owner does within the report of the
 * grant, or of the failure; 0 = none. */
#define ACTION_ON_GRANTED(kind) ((int32_t)(kind) << 8)
#define ACTION_IS_ON_GRANTED(d) ((int)((d) >> 8 & 0xff))
#define ACTION_ON_FAILED(kind) ((int32_t)(kind) << 16)
#define ACTION_IS_ON_FAILED(d) ((int)((d) >> 16 & 0xff))

/* Traits of a kind of action, for drivers. A driver compares kinds for equality at most, never by order. */
enum action_trait {
    TRAIT_SYSTEM = 0x001, /* the system does it by itself: a step of the coordinator, a timer, the clock */
    TRAIT_STEP = 0x002,   /* a step of the coordinator */
    TRAIT_VERB = 0x004,   /* an act of a caller; programs consist of these */
    TRAIT_LOCK = 0x008,   /* a verb about one lock: `b` is the lock, `a` the owner */
    TRAIT_ON_PROCESS = 0x010, /* a fault on a process, or the end of one */
    TRAIT_ON_SERVICE = 0x020, /* a fault on the coordinator, or the end of one; its process is none */
    TRAIT_SERVER = 0x040,     /* it happens at one server, and no process takes part: `b` is the server */
    TRAIT_PATH = 0x080,       /* `b` is the slot of a path, see world_text() */
    TRAIT_LINK = 0x100,       /* the link or the session of its process may change */
    TRAIT_MOVES = 0x200,      /* a search takes no state in which it is enabled for one at rest */
    TRAIT_FAIR = 0x400,       /* under weak fairness it happens at last if it stays enabled */
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
    const char *stimulus; /* a verb or restart that enters the recipe: its name in coverage; else NULL */
};

/* Properties of each kind of action, by kind. A number without a verb is no kind. Constant once all
 * coordinators are registered, which is before main(). */
extern struct action_info world_action_infos[ACTION_KINDS];

/* Returns whether actions of this kind have one of these traits; false for a number that is no kind. */
static inline bool action_kind_has(unsigned kind, unsigned traits)
{
    return kind < ACTION_KINDS && (world_action_infos[kind].traits & traits) != 0;
}

static inline bool action_has(const struct action *action, unsigned traits)
{
    return action_kind_has(action->kind, traits);
}

/* Returns the word of a kind; "unknown" for a number that is no kind. */
const char *world_action_verb(int kind);

/* ---- options ---- */

/* Kinds of faults that have a budget, in the order of `budget` below, with names as in "explore loss<=1". */
enum world_fault {
    WORLD_FAULT_LOSS,     /* "loss": a cut */
    WORLD_FAULT_EXPIRE,   /* "expire" */
    WORLD_FAULT_PAUSE,    /* "pause" */
    WORLD_FAULT_CRASH,    /* "crash"; a restart is free */
    WORLD_FAULT_REFUSE,   /* "refuse" */
    WORLD_FAULT_LAG,      /* "lag": a freeze or a lag */
    WORLD_FAULT_LATE,     /* "late": a cut whose last request commits late */
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

/* Returns the name of a fault; NULL for a number below WORLD_FAULTS that no fault has. */
const char *world_fault_name(enum world_fault fault);

/* Defects of ZooKeeper that can be switched on, by a bit each; all are off by default. */
#define WORLD_DEFECT_WRAP 0x01u     /* "wrap": the counter before 3.6: -2147483648 follows 2147483647 (F49) */
#define WORLD_DEFECT_IMMORTAL 0x02u /* "immortal": ephemerals of a dead session are never deleted */
#define WORLD_DEFECT_SILENT_SESSION                                                                          \
    0x04u /* "silent-session": a reconnect hands out a new session, and no event says so (Z44) */
#define WORLD_DEFECT_DROP_AT_CLOSE 0x08u /* "drop-at-close": completions are not called at close (F21) */
#define WORLD_DEFECT_MISSED_WATCH 0x10u  /* "missed-watch": the server sends no DELETED event */
#define WORLD_DEFECT_CURSOR 0x20u /* "half-list": a failed attempt skips half of an even server list (F91) */

/* A setting of the servers: a frozen follower serves handles that were opened with ZOO_READONLY (F105). */
#define WORLD_SETTING_READ_ONLY 0x08u

/* The operations of one owner, which do not wait for answers to other owners: ops[begin] to ops[end - 1]. */
struct world_task {
    uint8_t begin, end;
    uint8_t owner;
    bool endless; /* after the last operation the first follows again */
};

struct world_program {
    struct action ops[WORLD_PROGRAM_MAX]; /* client verbs in order; the world fills in `process` */
    int count;
    bool endless;  /* after the last operation the first follows again */
    uint8_t tasks; /* 0 = all operations are one list, and wait for the answers to all owners */
    struct world_task task[WORLD_TASKS_MAX]; /* `tasks` of them; their ranges of ops follow without gaps */
};

/* Choice points that a world may lack, by the letters of docs/fidelity.md. Without one, a search shows
 * which violations it finds by means of that point:
 *   a order between sessions      b instant of a loss         c applied, but the reply lost
 *   d -4 or -7                    e which server, and when    f instant of an expiry
 *   g orders that are no promise  i a paused client           j completions at close
 *   k sweep and rmdir             l callbacks inside init
 * A world that lacks some has fewer runs. Each of these runs is a run of the whole world with the same
 * constants. */
#define WORLD_CHOICE_POINT(letter) (1u << ((letter) - 'a'))
#define WORLD_WITHOUT_MAX 27 /* bytes of all letters, with the zero */

/* Sets *mask to the choice points of these letters. Returns false if there is no letter, or one that is no
 * choice point of a world. */
bool world_without(const char *letters, uint32_t *mask);

/* Writes the letters of a mask, sorted. */
void world_without_text(uint32_t mask, char text[WORLD_WITHOUT_MAX]);

struct canon;

#define WORLD_CROWD_MAX 150
#define WORLD_OWN_OPTIONS_MAX 8

struct world_options {
    const struct ls_recipe *recipe;
    const char *coordinator; /* name of a coordinator that is linked; NULL = "zookeeper" */
    int processes;
    char name[WORLD_PROCESSES_MAX][WORLD_NAME_MAX];
    bool autostart[WORLD_PROCESSES_MAX]; /* start() is called when the world begins */
    int locks;
    const char *lock_path[WORLD_LOCKS_MAX];    /* paths below the chroot; "/" = the node of the chroot */
    struct ls_lock_spec lock[WORLD_LOCKS_MAX]; /* all zero = a mutex; locks of a group have one path */
    const char *chroot;                        /* a path such as "/app"; NULL = none */
    const char *node[WORLD_NODES_MAX];   /* whole paths of persistent nodes that stand already; NULL = none */
    uint8_t node_perms[WORLD_NODES_MAX]; /* permission bits of these nodes for all users; 0 = all bits */
    const char *contents;                /* contents of contender nodes, NULL = none */
    bool keep_fresh;                     /* holders renew their belief, if the recipe can */
    bool timers_first;   /* the default schedule fires a timer before it chooses steps of the coordinator */
    bool used_directory; /* the lock directories exist and have been used before */
    bool no_containers;  /* the servers lack container nodes (-6) */
    int servers;
    bool timed;         /* virtual clock; without it, timers and expiries have no time (D8) */
    int latency_min_ms; /* shortest time of a message one way, in ms; timed only */
    int latency_max_ms; /* longest such time */
    int tick_ms;        /* tickTime of the servers in ms */
    int session_timeout_ms;
    int loss_rc; /* -4 or -7: result of failed requests in a cut whose `rc` is 0 */
    /* seed of the constants of a run, such as session ids and the order of lists; and seed of jitter */
    uint64_t seed;
    int32_t sequence_preset; /* next suffix in the lock directories; not 0 implies used_directory */
    int crowd;         /* nodes in each lock directory, to WORLD_CROWD_MAX; not 0 implies used_directory */
    unsigned defects;  /* WORLD_DEFECT_… */
    unsigned settings; /* settings of the servers, see src/coord/coordinator.h */
    int32_t own[WORLD_OWN_OPTIONS_MAX]; /* options of the coordinator alone, in the order of its table */
    bool callbacks_in_init;             /* callbacks run within zookeeper_init() (F19) */
    bool fine;                          /* smaller steps, untimed only: ACTION_RECEIVE to ACTION_LINGER */
    uint32_t without;                   /* choice points that the world lacks: WORLD_CHOICE_POINT bits */
    struct world_program program[WORLD_PROCESSES_MAX];
    uint8_t budget[WORLD_FAULTS]; /* most faults of each kind; a fault of a script needs no budget */
    uint8_t budget_total;         /* most faults of all kinds together; 255 = only the limits of `budget` */
    size_t judge_bytes;           /* bytes of the block for the driver's judges, in the arena */
    /* Shows the numbers that grow in the judges' block; NULL = the driver cannot. */
    void (*judge_canon)(void *judges, struct canon *canon);
    bool several; /* a program asks for several locks at once: the recipe needs acquire_all() */
    bool resizes; /* a program tells a process another capacity than the declared one */
};

/* Sets the defaults: one process, one mutex at /locks/x, one server, untimed, 10 ms latency. Ticks have
 * 200 ms, sessions a timeout of 4 s, loss_rc is -4, all budgets are 0, and budget_total is 255. `recipe`
 * becomes NULL. */
void world_options_default(struct world_options *options);

/* ---- life ---- */

typedef void (*world_observer)(void *ctx, const struct event *event);

/* Builds the one world in this address space. The struct `options` is copied. The recipe, and the texts that
 * `options` points to, must outlive the world. Events go to the observer, which must not call back into the
 * world; NULL = events are dropped. Returns NULL only if the arena cannot be mapped (errno says why). */
struct world *world_open(const struct world_options *options, world_observer observer, void *ctx);

/* Begins again from the initial state of these options. Keeps the observer. Maps no memory anew. */
void world_reset(struct world *world, const struct world_options *options);

/* Returns a generation counter, which grows at each world_open() and world_reset(). An image that was
 * saved under another generation must not be restored. */
uint64_t world_layout(const struct world *world);

void world_close(struct world *world);

void world_set_observer(struct world *world, world_observer observer, void *ctx);

/* Chooses the steps that are done twice, with other bytes in all memory that a recipe may not read. Only
 * steps of recipes from shared objects are done twice. The numbering of steps begins anew. At first the
 * choice is WORLD_DOUBT_FEW.
 *
 * - WORLD_DOUBT_FEW: a few steps, chosen by the seed and the number of the step.
 * - WORLD_DOUBT_FIRST: the first steps of each kind too, and more of the later ones.
 * - WORLD_DOUBT_ALL: all steps that enter the recipe. */
enum world_doubt { WORLD_DOUBT_FEW, WORLD_DOUBT_FIRST, WORLD_DOUBT_ALL };
void world_doubt(struct world *world, enum world_doubt doubt);

/* Returns whether a guard is set for the recipe, as it is for one from a shared object (src/sim/sandbox.h).
 * Damage to memory may then be the recipe's fault; otherwise it is a mistake of the world. */
bool world_is_guarded(const struct world *world);

/* Makes the nodes that stand before a run, and starts the processes with autostart. Call it once after open
 * or reset, with the observer in place. Does nothing if the world has a trouble already. */
void world_begin(struct world *world);

/* ---- choices ---- */

/* Lists these enabled actions in canonical order: system actions, program steps, faults that a budget pays
 * for, and ends of such faults. Returns their number. `out` has room for WORLD_ACTIONS_MAX. */
int world_actions(struct world *world, struct action *out);

/* Lists those actions of world_actions() that belong to one process. With the number of processes as
 * `process`, lists those that belong to none. All these lists together have all actions of world_actions().
 * The world must be untimed and lack no choice point. */
int world_actions_of(struct world *world, int process, struct action *out);

/* Sources of actions, a bit each. */
enum world_part {
    WORLD_PART_ENSEMBLE = 1, /* steps of the coordinator, and expiries that are due */
    WORLD_PART_TIMERS = 2,   /* timers that fire */
    WORLD_PART_PROGRAM = 4,  /* next steps of programs */
    WORLD_PART_FAULTS = 8,   /* faults from a budget, and ends of faults */
    WORLD_PARTS = 15,
};

/* Lists the actions of world_actions_of() that come from these parts. */
int world_actions_among(struct world *world, int process, unsigned parts, struct action *out);

/* Returns whether this action, of any kind, can be applied now. */
bool world_enabled(struct world *world, const struct action *action);

/* Does an action. Returns 0; LS_EINVAL if the action is not enabled, and then changes nothing. If the
 * action meets a capacity, or a call that the coordinator does not support, world_trouble() says so from
 * then on. */
int world_apply(struct world *world, const struct action *action);

/* Does an action that world_actions() has just listed, or that world_enabled() found enabled. Does not ask
 * again: for searches, which do many actions of each list. */
void world_do(struct world *world, const struct action *action);

/* Returns the budget (enum world_fault) that pays for actions of this kind, -1 if they need none. A late cut
 * has a budget of its own. An expiry that costs nothing has WORLD_FAULT_EXPIRE, too. */
int world_fault_of(const struct action *action);

/* Returns whether world_fault_of() names a budget for the action. */
bool world_is_fault(const struct action *action);

/* Returns whether an action is a client verb; programs consist of these. */
static inline bool world_is_verb(const struct action *action)
{
    return action_has(action, TRAIT_VERB);
}

/* Returns whether all fields of two actions are equal. Of the field `d` of a verb only the locks count:
 * how its program goes on (ACTION_NOWAIT, ACTION_ON_…) makes no difference. */
bool world_same_action(const struct action *a, const struct action *b);

/* Writes the label of an action. Two actions of one list of world_actions() never have one label. */
void world_label(struct world *world, const struct action *action, char label[WORLD_LABEL_MAX]);

/* Finds the enabled action that has this label. System actions other than ACTION_ADVANCE are looked up
 * among the enabled ones; the others are parsed. Returns 0, or one of these:
 *
 * - LS_ENOENT: no enabled action has that label.
 * - LS_EINVAL: the text is no label.
 *
 * On error *why is the reason, one clause. A reason for LS_EINVAL names the words that were expected and
 * found. On success *why is empty. The text is the world's, and valid until the next call. */
int world_find(struct world *world, const char *label, struct action *action, const char **why);

/* Interns a path for this run. Returns its slot, which ACTION_FOREIGN and ACTION_REMOVE have as `text`; or
 * LS_ENOMEM, if there is no room or the path is too long. */
int world_text(struct world *world, const char *path);

/* ---- the default schedule, for scripts ---- */

/* Chooses the next step of a well-behaved system: a step of the coordinator, or a timer of work. In a timed
 * world it also chooses any timer or expiry that is due. If nothing is due and work lies ahead, it lets the
 * clock move. Deadlines, upkeep, expiries and pings are no work. The function never chooses a program step or
 * a fault that a budget pays for. Returns false if there is no step to choose. */
bool world_default_action(struct world *world, struct action *out);

/* Does default actions until there is none. Calls `step`, unless it is NULL, before it applies an action.
 * Returns the number of actions. Returns LS_EOVERFLOW if `limit` actions are done, or the world has a
 * trouble, and another action is to follow. */
typedef void (*world_step_fn)(void *ctx, const struct action *action);
int world_settle(struct world *world, int limit, world_step_fn step, void *ctx);

/* Lets time pass; calls `step` and returns as world_settle() does.
 *
 * - Timed: does all that is due within the next `ms` milliseconds, and leaves the clock exactly there. A
 *   clock ends after 23 days.
 * - Untimed: lets clients give up mute links. Lets sessions expire whose process is cut off, paused or not
 *   started. Then lets each armed timer that may fire do so once. Settles before and after each of these
 *   actions, each time with `limit`. */
int world_pass_time(struct world *world, int ms, int limit, world_step_fn step, void *ctx);

/* Ends the faults in force that have an end: thaws servers, heals and resumes processes, and ends faults of
 * the coordinator's own kinds. Ends sessions without a handle. With `revive` restarts crashed processes.
 * Applies actions, and calls `step` as world_settle() does. Returns the number of actions. */
int world_heal(struct world *world, bool revive, world_step_fn step, void *ctx);

/* Returns whether this action ends a fault, whatever the budgets: a heal, a thaw, a resume, a restart, or an
 * end of a fault of the coordinator's own. Returns true also for the expiry of a session that no handle has
 * any more. */
bool world_is_healing(const struct action *action);

/* Returns whether nothing is under way, see EVENT_REST. */
bool world_at_rest(struct world *world);

/* Returns whether the world is at rest. If so, asks all recipes whether clean-up or memory is left over,
 * and emits EVENT_REST. */
bool world_rest(struct world *world);

/* ---- the value ---- */

struct world_image; /* a saved world, in the heap of the program */

/* Returns an image, which the caller frees with world_image_free(); NULL if memory is short. */
struct world_image *world_save(struct world *world);

/* Restores an image of this generation, see world_layout(). */
void world_restore(struct world *world, const struct world_image *image);
bool world_image_equal(const struct world_image *a, const struct world_image *b);
size_t world_image_bytes(const struct world_image *image);
void world_image_free(struct world_image *image);

/* Returns a hash of the world: equal for equal worlds, and for two different ones with a chance of about 1 in
 * 2^64. The cost depends on the blocks that were marked since the last call. */
uint64_t world_fingerprint(struct world *world);

/* Returns whether a block differs from the image, though it was not marked since the last
 * world_fingerprint(). Then writes a name of the block. */
bool world_unmarked_write(const struct world *world, const struct world_image *image,
                          char block[WORLD_LABEL_MAX]);

/* Removes names from the list of children that the action delivers: those that the recipe will not look at
 * (`unread` of struct ls_recipe). Returns false if the action delivers no list, or no name was removed. */
bool world_drop_unread(struct world *world, const struct action *action);

/* Writes the used bytes of each block, for which the fingerprint stands. A block that does not fit into the
 * rest of `size` is left out, and so are all blocks behind it. Returns the number of all bytes, written or
 * not. */
size_t world_bytes(const struct world *world, unsigned char *out, size_t size);

/* Opens the fingerprint up to the renaming of numbers that grow (D3c, src/state/canon.h). The caller
 * closes it. Returns NULL in these cases:
 *
 * - The recipe or the judges do not show their numbers.
 * - A constant or a program of the world depends on such numbers: a preset sequence, or guarded writes.
 * - Memory is short. */
struct canon *world_canon(struct world *world);

/* Opens the fingerprint up to the renaming of processes too. Returns NULL also if world_is_symmetric() is
 * false. */
struct canon *world_symmetric_canon(struct world *world);

/* Returns whether the world makes no difference between its processes. Returns false in these cases:
 *
 * - There is only one process, or there are more than CANON_PROCESSES_MAX.
 * - The programs or the autostarts of processes differ.
 * - There are several servers.
 * - The world lacks choice point a.
 * - The recipe is not `symmetric`. */
bool world_is_symmetric(const struct world *world);

/* Returns the arena of the world (src/base/arena.h). A search remembers what steps do to its blocks. */
struct arena;
struct arena *world_arena(struct world *world);

/* Writes the blocks that the actions of one process mostly read, ascending. With the number of processes
 * as `process`, those of the actions that belong to none. Returns their number. The judges' block is not
 * among them: judges see events, and no action reads the judges. */
int world_scope(const struct world *world, int process, int *blocks);

/* Returns the index of the arena block of the judges. */
int world_judge_block(const struct world *world);

/* Partial order: looks for an action of a process that may go before all others, so that it is a
 * persistent set (src/sim/independence.c). `actions` are those of world_actions_of(). *which becomes the
 * index of the action. The world answers as far as it can tell. The search checks the rest when it does the
 * action:
 *
 * - The action changes only blocks of world_own_blocks(), and reads only these and world_budget_block().
 * - Its events are of this process, and local for the judges (check_set_is_local() of src/check/check.h).
 * - WORLD_ALONE_IF_UNUSED: the action leaves world_uses() as it is.
 *
 * The world can tell only if world_knows_alone(): without a clock and small steps, and with all choice
 * points. */
enum world_alone { WORLD_ALONE_NEVER, WORLD_ALONE, WORLD_ALONE_IF_UNUSED };
enum world_alone world_alone(struct world *world, int process, const struct action *actions, int count,
                             int *which);
bool world_knows_alone(const struct world *world);

/* Sets the bits, by index, of the process's own blocks. These are the block of its timers and requests, its
 * heap with the state of the recipe, and its block of the coordinator. */
void world_own_blocks(const struct world *world, int process, uint64_t bits[2]);

/* Returns a number that changes when the process calls its client library, or when the library changes for
 * it in another way than by messages to the process. The number is no part of the world. */
uint64_t world_uses(const struct world *world, int process);

/* Returns the index of the arena block that holds what is left of the fault budgets. */
int world_budget_block(const struct world *world);

/* Writes how many faults of each kind were bought; after world_end_faults(), all that the options allow. */
void world_bought(struct world *world, uint8_t bought[WORLD_FAULTS]);

/* Sets how many faults of each kind were bought. None may be more than its budget. */
void world_buy(struct world *world, const uint8_t bought[WORLD_FAULTS]);

/* ---- coverage ---- */

/* Writes the stimulus that an enabled action brings to the recipe of its process, without names and
 * numbers of the run. Examples: "create-reply ok", "list-reply lost", "deleted other",
 * "session-connected", "retry-timer", "acquire". Returns false for a write, and for an action that does not
 * enter a recipe. */
bool world_stimulus(struct world *world, const struct action *action, char text[WORLD_LABEL_MAX]);

/* Returns the abstract states of the attempts of a process, a bit for each (states_now() of struct
 * ls_recipe). Returns 1 if the recipe has no states_now(), or the process has not started. */
uint32_t world_recipe_states(struct world *world, int process);

/* Returns the index in `ops` of the program's operation that is this enabled verb; -1 if no program does
 * the verb next. Changes nothing. */
int world_program_step(struct world *world, const struct action *action);

/* Returns a bit for each kind of fault (enum world_fault) that a budget has paid for since open or reset,
 * whatever image was restored meanwhile. */
uint32_t world_faults_paid(const struct world *world);

/* Returns whether a process has done or passed over all steps of its program, and waits for no answer.
 * False for an endless program. */
bool world_program_ended(struct world *world, int process);

/* Returns whether the directory of some lock is a container. */
bool world_has_container(struct world *world);

/* ---- liveness: runs that go on for ever ---- */

/* Returns whether an owner of this process waits for a lock: its acquire has no answer yet, or it waits again
 * after a loss (LS_LOSS_WAITS). */
bool world_waits(const struct world *world, int process);

/* Returns how many faults can still be bought. */
int world_faults_left(const struct world *world);

/* Sets all budgets to 0. Ends of faults stay enabled, restarts too. From now on world_actions() lists the
 * expiry of each session that no handle has any more, whether or not its process has crashed. Such an expiry
 * costs nothing. */
void world_end_faults(struct world *world);

/* Writes the channel of an enabled action that is subject to weak fairness: "apply a", "deliver a", "fire
 * a retry-timer". A channel that is never empty from some moment on is served sooner or later. Returns
 * false for an action that need not happen, such as an acquire of a program, a restart, or a fault from a
 * budget. The file src/sim/weak_fairness.c lists the fair actions. */
bool world_channel(struct world *world, const struct action *action, char text[WORLD_LABEL_MAX]);

/* ---- questions ---- */

const struct world_options *world_get_options(const struct world *world);
int64_t world_now_ms(const struct world *world);
uint64_t world_steps(const struct world *world); /* number of actions that were done since open or reset */

/* Returns the block of the judges, `judge_bytes` long; it is zeroed at open and reset. */
void *world_judges(struct world *world);

/* Says that the judges' block was written. `live_bytes` at its front are in use; the bytes behind are
 * zero. */
void world_judges_changed(struct world *world, size_t live_bytes);

/* Returns the answer of the recipe's query() now; LS_NOT_HELD if the process has not started. */
enum ls_belief world_belief(struct world *world, int process, int lock, int owner);

/* Returns a text about the first trouble of the run; NULL = none. Troubles are, for instance, a limit, a call
 * that the coordinator does not support, and a recipe that does not fit the world or does not start. */
const char *world_trouble(const struct world *world);

/* Writes servers, nodes, clients, processes and timers in readable form, for stories and debugging. */
void world_describe(struct world *world, char *text, size_t size);

#ifdef __cplusplus
}
#endif

#endif
