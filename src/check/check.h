/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The judges: small automata over semantic events (D5). Each built-in property is one file, with its name.
 *
 * A set of chosen properties keeps its state in one block: a table of records, sorted and packed at the
 * front. So the bytes do not depend on the order in which records were added. The block has no pointers, and
 * all zero is the initial state. Findings (premises met, the first violation) are results, not state: they
 * lie outside the block, in struct check_stats. */
#ifndef CHECK_CHECK_H
#define CHECK_CHECK_H

#include "trace/event_names.h"
#include <lockstep/lock_spec.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHECK_PROPERTIES_MAX 40

/* A set of properties, one bit each, by position in check_all(). */
typedef uint64_t check_mask;
#define CHECK_BIT(position) ((check_mask)1 << (position))
#define CHECK_ALL UINT64_MAX
#define CHECK_WHY_MAX 240

/* Worlds in which a property is judged although no file names it (D6, D8). */
#define PROPERTY_UNTIMED 0x01u
#define PROPERTY_TIMED 0x02u
#define PROPERTY_ALWAYS (PROPERTY_UNTIMED | PROPERTY_TIMED)
#define PROPERTY_SEVERAL 0x04u /* only worlds in which some step asks for several locks at once */
#define PROPERTY_LEASES 0x08u  /* only worlds in which the coordinator ends a contender by time alone */

struct check_table; /* the state block: check/state.h */

/* Facts about the run that events do not tell. */
struct check_context {
    int processes;
    int locks;
    int owners;              /* owners per process and lock that may ask at once; 0 = 2 */
    bool timed;              /* the run has a clock: event.now_ms is valid */
    bool reentrant;          /* the recipe lets an owner acquire again a lock that it holds */
    bool contender_per_unit; /* a hold has one contender for each unit of its count */
    bool queues;             /* contenders come from a queue of other nodes (LS_NODE_QUEUED) */
    bool resizes;            /* some process may learn of a capacity other than the declared one */
    bool counted;            /* the capacity of a lock is stored in a node that each process watches */
    bool refusing; /* servers may refuse requests without a fault: permissions, defects, settings, used-up
                      numbers */
    bool leases;   /* contenders have leases; the session of one is a life of its process (coordinator.h) */
    int tolerance_ms;   /* ms by which an answer may miss its deadline */
    int work_window_ms; /* in timed runs, ms of the window in which bounded_work counts; 0 = 4000 */
    const struct ls_lock_spec *specs; /* one for each lock, NULL = all mutexes; must outlive the set */
    /* Return names for sentences; the caller copies them at once. If such a pointer is NULL, the name is
     * "process N" or "lock N", with the index N. */
    const char *(*process_name)(const void *names, int process);
    const char *(*lock_name)(const void *names, int lock);
    const void *names;
};

/* The verdict of one judge on one event. */
struct check_note {
    int premises; /* number of times that this event met the premise */
    bool violated;
    char why[CHECK_WHY_MAX]; /* one sentence, valid only if violated */
};

struct property {
    const char *name;     /* "at_most_one_holder" */
    const char *sentence; /* the promise, in one sentence */
    const char *premise;  /* the situation that check_note.premises counts */
    const char *blind_to; /* violations that it cannot find */
    unsigned modes;       /* PROPERTY_… */
    bool needs_clock;     /* it is not judged without a clock, even if a file names it */
    bool needs_search;    /* a search judges it, not events: in exploring scenarios that name it */
    uint64_t wants;       /* event kinds that it observes, as EVENT_BIT() */
    unsigned needs;       /* CHECK_NEEDS_…: facts that the ledger must keep for it (check/state.h) */
    /* Returns true if the event, without a clock, commutes with events of other processes and of the servers.
     * State and verdicts are the same in both orders. Called for kinds in `wants` only; NULL = false. */
    bool (*is_local)(const struct event *event);
    int records_per_process;   /* most records of its own for one process */
    int records_per_contender; /* most records of its own for one process, lock, owner and node of a hold */
    void (*observe)(struct check_table *table, const struct check_context *context, const struct event *event,
                    struct check_note *note);
    const struct ls_property
        *loaded; /* a loaded property, judged in place of `observe`, see check/loaded.h; NULL = built in */
};

/* Returns all properties, built-in ones first, and writes their number to *count. */
const struct property *const *check_all(int *count);
int check_count(void);

/* Returns the property of that name, or NULL. */
const struct property *check_find(const char *name);

/* Returns the position of the property of that name in check_all(); -1 if there is none. */
int check_position(const char *name);

/* Returns the properties that are judged in each world with (`timed`) or without a clock, if the scenario
 * names none. For some worlds check_special_mask() returns further ones. */
check_mask check_default_mask(bool timed);

/* Returns the properties, for a world with (`timed`) or without a clock, that have PROPERTY_SEVERAL if
 * `several`, and those that have PROPERTY_LEASES if `leases`. */
check_mask check_special_mask(bool timed, bool several, bool leases);

/* Adds a property to check_all(), for the life of the program. Returns its position, or -1 if
 * CHECK_PROPERTIES_MAX is reached. Its name must be new. Must not be called while a set exists. */
int check_add(const struct property *property);

check_mask check_loaded_mask(void);

struct check_set {
    struct check_context context;
    check_mask mask;               /* the chosen properties */
    unsigned needs;                /* CHECK_NEEDS_… of all chosen properties */
    uint64_t ledger_wants;         /* event kinds that the ledger observes */
    check_mask wants[EVENT_KINDS]; /* the properties that observe an event kind, see check_set_init() */
    uint32_t capacity;             /* size of the block, in records */
};

struct check_finding {
    uint64_t premises;
    bool violated;
    bool later;         /* violated, but only where a run went on behind another violation; not in
                                check_stats.violated */
    bool elsewhere;     /* violated, but only in another run; not in check_stats.violated */
    uint64_t step;      /* check_stats.step of the first violation; the fields below are of its event */
    uint8_t event_kind; /* enum event_kind */
    uint8_t process;
    int32_t code; /* 0 in a result that comes from a checkpoint */
    int64_t now_ms;
    char why[CHECK_WHY_MAX]; /* one sentence */
};

/* Results of a run, zero-initialised by the caller. */
struct check_stats {
    uint64_t step;       /* number of the present step; the caller sets it before each step */
    check_mask violated; /* properties that are violated */
    bool limit;          /* the block was too small, or loaded_trouble() names an offence: later events are
                            not judged */
    check_mask met;      /* properties whose premise was met after the caller last set this to 0 */
    struct check_finding finding[CHECK_PROPERTIES_MAX]; /* by position */
    uint32_t met_times[CHECK_PROPERTIES_MAX];           /* number of times, valid for `met` */
};

/* Copies the results of the properties that exist, without `met_times`. */
void check_stats_copy(struct check_stats *to, const struct check_stats *from);

enum check_verdict {
    CHECK_NOT_JUDGED, /* the premise was never met, or the property was not chosen */
    CHECK_HOLDS,
    CHECK_VIOLATED,
};

/* Prepares a set, which only check_set_spare() changes later. `context` is copied, but not what it points to.
 * A MISBEHAVED violates contract_is_kept even if `mask` lacks that property. */
void check_set_init(struct check_set *set, check_mask mask, const struct check_context *context);

/* Removes the properties of `mask` from the set. If contract_is_kept is among them, MISBEHAVED no longer
 * violates it. */
void check_set_spare(struct check_set *set, check_mask mask);

/* Returns true if the property at this position is chosen, or if it is contract_is_kept and was not removed.
 * False for position -1. */
bool check_set_judges(const struct check_set *set, int position);

/* Returns the size of the state block. The block must be aligned to 8 and zeroed before the first event. */
size_t check_set_state_size(const struct check_set *set);

/* Returns true if some judge, or the ledger, observes events of this kind. */
bool check_set_wants(const struct check_set *set, const struct event *event);

/* Returns true if the event commutes as `is_local` says, for the ledger and all judges that observe it. An
 * event of no process does not. */
bool check_set_is_local(const struct check_set *set, const struct event *event);

/* Shows one event to the judges that want it, then to the ledger. If stats->limit is set, does nothing.
 * Returns true if the block may have changed. */
bool check_set_observe(const struct check_set *set, void *block, struct check_stats *stats,
                       const struct event *event);

/* Returns the number of bytes in use at the front of the block, a multiple of 8. All others are zero. */
size_t check_set_live_bytes(const void *block);

/* Types of values that a visitor is shown. A renaming maps zxids and sessions (D3c), and keeps the order
 * within each type. */
enum check_value {
    CHECK_VALUE_NONE,
    CHECK_VALUE_ZXID,
    CHECK_VALUE_SESSION,
    CHECK_VALUE_TIME,
};
typedef void (*check_visit_fn)(void *ctx, enum check_value type, int64_t *value);
void check_set_visit(void *block, check_visit_fn visit, void *ctx);

/* check_set_records() visits all records; their order carries no information. `process` points to the byte
 * that names a process, NULL if the record names none. check_record_visit() visits the values of one
 * record. */
typedef void (*check_record_fn)(void *ctx, void *record, size_t size, const uint8_t *process);
void check_set_records(void *block, check_record_fn visit, void *ctx);
void check_record_visit(void *record, check_visit_fn visit, void *ctx);

/* Returns true if all growing numbers are visited: only then may states that differ by a renaming be
 * merged. */
bool check_set_shows_numbers(const struct check_set *set);

/* The part of check_set_visit() for states of loaded properties. check_record_visit() does not visit their
 * numbers. */
void check_set_visit_loaded(void *block, check_visit_fn visit, void *ctx);

enum check_verdict check_verdict(const struct check_set *set, const struct check_stats *stats, int position);

/* Writes the positions of the violated properties of `mask`, and returns how many. They are ordered by the
 * step of their first violation, then by position, but at_most_one_holder comes first. */
int check_violated(const struct check_stats *stats, check_mask mask, int positions[CHECK_PROPERTIES_MAX]);

const char *check_verdict_name(enum check_verdict verdict);

#endif
