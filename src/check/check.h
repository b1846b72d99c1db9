/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The judges: small automata over semantic events (D5), one property per file, named as its sentence.
 *
 * A set of chosen properties keeps its whole state in one block: a table of records that is sorted and packed
 * at the front, so that equal futures have equal bytes and only the live bytes need to be hashed. There are
 * no pointers in it, and all zero is the initial state. What the judges have found (premises met, the first
 * violation) lies outside the block, in struct check_stats: it is a result, not a state. */
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include <lockstep/lock_spec.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/event.h>

#define CHECK_PROPERTIES_MAX 40

/* A set of properties: a bit for each, by position. */
typedef uint64_t check_mask;
#define CHECK_BIT(position) ((check_mask)1 << (position))
#define CHECK_ALL UINT64_MAX
#define CHECK_WHY_MAX 240

/* In which modes a property means something when no file names it (D6, D8). */
#define PROPERTY_UNTIMED 0x01u
#define PROPERTY_TIMED 0x02u
#define PROPERTY_ALWAYS (PROPERTY_UNTIMED | PROPERTY_TIMED)
#define PROPERTY_SEVERAL 0x04u /* only where some step asks for several locks at once */
#define PROPERTY_LEASES 0x08u  /* only where the coordinator ends a contender by time alone */

struct check_table; /* the state block, see check/state.h */

/* What the judges know about the run besides its events. */
struct check_context {
    int processes;           /* how many processes there are */
    int locks;               /* how many locks */
    int owners;              /* owners per process and lock that ask at once; 0 = 2 */
    bool timed;              /* event.now_ms means something */
    bool reentrant;          /* the recipe lets an owner acquire again what it holds */
    bool contender_per_unit; /* a hold has a contender for each unit of its count */
    bool queues;             /* contenders come from a line of nodes that queue */
    bool resizes;            /* some process may learn of another capacity than the declared one */
    bool counted;            /* the capacity of a lock stands in a node that each process watches */
    bool refusing; /* servers refuse requests without a fault: permissions, defects, numbers at their end */
    bool leases;   /* contenders have leases, and their sessions are lives of processes (coordinator.h) */
    int tolerance_ms;   /* how late an answer may be: the quantum, or the scheduling slack of a real run */
    int work_window_ms; /* timed: bounded_work forgets what is older; 0 = 4000 */
    const struct ls_lock_spec *specs; /* what each lock is; NULL = mutexes. They outlive the set */
    /* Names for the sentences; NULL = "process 0", "lock 0". The text must outlive the call only. */
    const char *(*process_name)(const void *names, int process);
    const char *(*lock_name)(const void *names, int lock);
    const void *names;
};

/* What one judge says about one event. */
struct check_note {
    int premises;            /* how often the premise was met by this event */
    bool violated;           /* `why` says what happened */
    char why[CHECK_WHY_MAX]; /* one sentence, valid only if violated */
};

struct property {
    const char *name;     /* "at_most_one_holder" */
    const char *sentence; /* what is promised */
    const char *premise;  /* what its count counts */
    const char *blind_to; /* what it cannot see */
    unsigned modes;       /* PROPERTY_…: where it is judged without being named */
    bool needs_clock;     /* it is never judged without one, also if it is named */
    bool needs_search;    /* it sees no events: a search judges it, of an exploring scenario that names it */
    uint64_t wants;       /* bit 1 << kind for each event kind that it looks at */
    unsigned needs;       /* CHECK_NEEDS_…: what the shared ledger must know, see check/state.h */
    /* Whether it makes no difference without a clock to its state and its verdicts if such an event is seen before or behind those of
     * other processes and of the servers. For events that it wants; NULL = none is like that. */
    bool (*is_local)(const struct event *event);
    int records_per_process;   /* records of its own, at most, for one process */
    int records_per_contender; /* for one process, lock and owner */
    void (*observe)(struct check_table *table, const struct check_context *context, const struct event *event,
                    struct check_note *note);
    const struct ls_property
        *loaded; /* of somebody else, in place of `observe`, see check/loaded.h; NULL = built in */
};

/* All properties, in the order in which they are listed: those that are built in, then those that were loaded. */
const struct property *const *check_all(int *count);
int check_count(void);

/* The property of that name, or NULL. */
const struct property *check_find(const char *name);

/* Its position in check_all(), or -1. Bit `1 << position` stands for it in masks. */
int check_position(const char *name);

/* All properties that mean something by default in that mode (bits as in check_position()). */
check_mask check_default_mask(bool timed);

/* What check_default_mask() leaves out: properties about calls for several locks, and about leases. */
check_mask check_special_mask(bool timed, bool several, bool leases);

/* Adds a property to all, for the life of the program; its position, or -1 if there are too many. Not while a set exists. */
int check_add(const struct property *property);

/* Those that are not built in. */
check_mask check_loaded_mask(void);

/* ---- a set of chosen properties ---- */

struct check_set {
    struct check_context context;
    check_mask mask;               /* the chosen ones */
    unsigned needs;                /* union of their needs */
    uint64_t ledger_wants;         /* event kinds that the ledger looks at */
    check_mask wants[EVENT_KINDS]; /* for each event kind the chosen properties that look at it */
    uint32_t capacity;             /* records that the block can hold */
};

/* What was found about one property. */
struct check_finding {
    uint64_t premises; /* how often its premise was met */
    bool violated;
    bool
        later; /* violated, but only when the run that violates another one went on; not in check_stats.violated */
    bool elsewhere;          /* violated, but only in another run; not in check_stats.violated */
    uint64_t step;           /* the first violation: check_stats.step at that time */
    uint8_t event_kind;      /* the event that showed it */
    uint8_t process;         /* of that event */
    int32_t code;            /* of that event; 0 in what a checkpoint has kept */
    int64_t now_ms;          /* of that event */
    char why[CHECK_WHY_MAX]; /* one sentence */
};

/* Results of a run. Zero-initialise; the caller sets `step` before each step. */
struct check_stats {
    uint64_t step;       /* kept by the caller */
    check_mask violated; /* the properties that are violated */
    bool limit;          /* the block was too small: nothing after that is judged */
    check_mask met;      /* properties whose premise was met since the caller last set this to 0 */
    struct check_finding finding[CHECK_PROPERTIES_MAX]; /* by position */
    uint32_t met_times[CHECK_PROPERTIES_MAX];           /* how often, for those in `met`; never copied */
};

/* Copies what is known of the properties that there are, without places that no property has. */
void check_stats_copy(struct check_stats *to, const struct check_stats *from);

enum check_verdict {
    CHECK_NOT_JUDGED, /* the premise was never met, or the property was not chosen */
    CHECK_HOLDS,
    CHECK_VIOLATED,
};

/* Prepares a set; `context` is copied (its names pointer too). Nothing but check_set_spare() changes the set after
 * that. Whatever the mask says, a recipe that misbehaves violates contract_is_kept: its run ends there, and the
 * others judge no more. */
void check_set_init(struct check_set *set, check_mask mask, const struct check_context *context);

/* The set judges none of these any more, contract_is_kept included. */
void check_set_spare(struct check_set *set, check_mask mask);

/* Returns true if the set can find a violation of this property. */
bool check_set_judges(const struct check_set *set, int position);

/* Size of the state block. It must be aligned to 8 and zeroed before the first event. */
size_t check_set_state_size(const struct check_set *set);

/* True if some judge looks at such an event. */
bool check_set_wants(const struct check_set *set, const struct event *event);

/* True if no judge can tell whether such an event came before or behind those of other processes and of the servers. */
bool check_set_is_local(const struct check_set *set, const struct event *event);

/* Shows one event to the judges. Returns true if the block may have changed. Once stats->limit is set it does
 * nothing. */
bool check_set_observe(const struct check_set *set, void *block, struct check_stats *stats,
                       const struct event *event);

/* How many bytes at the front of the block are in use; what lies behind them is zero. A multiple of 8. */
size_t check_set_live_bytes(const void *block);

/* Values in the block that a renaming of growing numbers must change too (D3c), and times that a driver may
 * shift. The new values must keep the order within each type. */
enum check_value {
    CHECK_VALUE_NONE,
    CHECK_VALUE_ZXID,
    CHECK_VALUE_SESSION,
    CHECK_VALUE_TIME,
};
typedef void (*check_visit_fn)(void *ctx, enum check_value type, int64_t *value);
void check_set_visit(void *block, check_visit_fn visit, void *ctx);

/* The same record by record: their order says nothing. `process` is the byte that names a process, NULL if none is named;
 * check_record_visit() visits the values of that one. */
typedef void (*check_record_fn)(void *ctx, void *record, size_t size, const uint8_t *process);
void check_set_records(void *block, check_record_fn visit, void *ctx);
void check_record_visit(void *record, check_visit_fn visit, void *ctx);

/* Whether the numbers that grow are all shown: then states may be taken for one that differ by a renaming of them. */
bool check_set_shows_numbers(const struct check_set *set);

/* Shows the numbers of loaded properties, which lie across records. check_set_visit() does so too. */
void check_set_visit_loaded(void *block, check_visit_fn visit, void *ctx);

enum check_verdict check_verdict(const struct check_set *set, const struct check_stats *stats, int position);

/* Writes the positions of the violated properties of `mask` in the order in which they are told; returns how many. If two
 * clients held at once, at_most_one_holder is the first; the others come by the step of their violation, those of one step by
 * position. */
int check_violated(const struct check_stats *stats, check_mask mask, int positions[CHECK_PROPERTIES_MAX]);

/* "holds", "violated", "not-judged". */
const char *check_verdict_name(enum check_verdict verdict);

#endif
