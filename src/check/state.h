/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The state of the judges: one sorted table of records, and the ledger of facts that several judges share.
 *
 * Records are ordered by kind, lock, process, owner and a. Each kind belongs to the ledger, to one built-in
 * judge, or to all loaded judges. RECORD_APART belongs to two judges, which put and drop it at the same
 * events. A judge has to drop a record on which no later verdict depends: records make states differ. */
#ifndef CHECK_STATE_H
#define CHECK_STATE_H

#include "check/check.h"

/* Kinds of facts that the ledger must keep for a property. */
#define CHECK_NEEDS_PROCESSES 0x01u
#define CHECK_NEEDS_CLAIMS 0x02u
#define CHECK_NEEDS_NODES 0x04u
#define CHECK_NEEDS_WATCHES 0x08u
#define CHECK_NEEDS_LISTENERS 0x10u

_Static_assert(EVENT_KINDS <= 64, "event kinds fit into a mask");

/* Kinds of records. A comment names the judge that has the kind, and the fields that the kind uses by their
 * names in struct check_record; other fields are 0. `lock = group` is the first lock of the group. */
enum record_kind {
    RECORD_NONE,
    /* The ledger. */
    RECORD_PROCESS, /* process, owner = handle; flags PROCESS_…; session while the link is up, else 0 */
    RECORD_CLAIM,   /* lock, process, owner; flags CLAIM_…; depth; czxid of its node; other_token */
    RECORD_NODE,  /* lock, process; flags NODE_…; czxid, by_session of a contender in the log; hold_owner */
    RECORD_WATCH, /* lock, process, owner = enum event_watch; watches; czxid of the watched node; by_session
                     of the newest, 0 once it is over; directory, of EVENT_WATCH_PARENT */
    RECORD_EVICTED,  /* lock, waiting process; flags EVICTED_…; czxid of a contender that the operator
                       deleted */
    RECORD_LISTENER, /* lock, process that is told of requests to give back, and of the end of its node */
    RECORD_FAULTED,  /* faults; see ledger_note_fault() */
    /* The judges. */
    RECORD_GHOST,    /* at_most_one_holder: lock, process; flags GHOST_…; czxid, by_session of a deleted
                        node */
    RECORD_BELIEVER, /* at_most_one_believer: lock, process, owner: its query answers "held" */
    RECORD_TAKEN,    /* at_most_one_believer: lock, process; czxid of a contender that the operator deleted */
    RECORD_FENCE,    /* no_stale_effect: lock = group; granted_token, taken_token */
    RECORD_LEFT,     /* at_most_one_wakeup_per_release: lock = group, process; flags LEFT_… */
    RECORD_PLACE,    /* granted_in_order: lock, process; flags PLACE_…; czxid, deletion_zxid */
    RECORD_RELEASE,  /* release_matches_acquire: lock, process, owner; flags RELEASE_…; czxid of its node */
    RECORD_TOLD,     /* every_loss_is_told: process; flags TOLD_…; session and lost_session, as told */
    RECORD_DEADLINE, /* deadline_is_kept: lock, process, owner; flags DEADLINE_…; deadline_ms */
    RECORD_WORK,     /* bounded_work: process; requests; began_ms */
    RECORD_CREATES,  /* bounded_work: lock, process; creates; owner = 1: nodes that queue */
    RECORD_GONE,   /* hold_keeps_its_node: lock, process that waits; czxid of a node that a request deleted */
    RECORD_ANSWER, /* answers_have_reasons: lock, process, owner; flags ANSWER_…; pending; deadline_ms;
                      call_locks */
    RECORD_APART,  /* answers_have_reasons, no_orphan_node: process: LOST without a later CONNECTED */
    RECORD_UNDOES, /* answers_have_reasons: lock, process: an acquire failed, its requests may go on */
    RECORD_TERM,   /* belief_ends_in_time: lock, process, owner; flags TERM_…; session of the grant */
    RECORD_OVER,   /* belief_ends_in_time: process; session whose time is up, unknown to the process */
    RECORD_LEASE_OVER, /* belief_ends_in_time: lock, process: lease has run out, no node came or went since */
    RECORD_QUESTION,   /* every_revocation_is_told: lock, process; flags QUESTION_…; pending REVOKES */
    RECORD_REQUEST,    /* every_revocation_is_told: lock, process; flags REQUEST_…; czxid; pending */
    RECORD_HEARD,      /* hold_keeps_its_node: lock, process, owner; czxid of its node, whose end it must
                          know */
    RECORD_OWES,       /* no_orphan_node: lock, process; pending releases */
    RECORD_LOADED,     /* lock = loaded property, process = chunk of its state; first_bytes, last_bytes */
    RECORD_NEWS,       /* all_or_none: lock, process, owner; locks, news */
    RECORD_QUEUED, /* the ledger: lock, process; flags with node_directory(); czxid, by_session of a node that
                          queues */
    RECORD_CAPACITY, /* the ledger: lock = group, process; capacity, largest_capacity */
    RECORD_LATE,     /* at_most_one_holder: as GHOST, of a node that was not admitted; least_capacity */
    RECORD_COUNT,    /* the ledger: lock = group; capacity that its node contains, 0 = none */
    RECORD_SHUT,     /* the ledger: lock = group, process: has closed the lock, whose capacity is in a node */
    RECORD_RUN_OUT,  /* the ledger: lock, process that waits; czxid of a contender whose lease ended */
    RECORD_OUTAGE,   /* bounded_work: of no process: an outage of the servers lasts */
    RECORD_KINDS
};

/* A record. The members of a union are names of the same bytes; enum record_kind says which one a kind uses.
 * Only code for records of all kinds says `a` and `b`. */
struct check_record {
    uint8_t kind; /* enum record_kind */
    uint8_t lock;
    uint8_t process;
    uint8_t owner; /* 0 if the kind has none; likewise lock and process */
    union {
        uint16_t flags; /* bits; enum record_kind says how their names begin */
        uint16_t watches;
        uint16_t faults;   /* classes of the faults so far: a bit for each enum event_fault */
        uint16_t requests; /* number of requests after the last reason */
        uint16_t creates;  /* number of contenders, or of nodes that queue, that may yet be created */
        uint16_t locks;    /* the locks of a call, a bit each */
        uint16_t capacity; /* capacity that the process knows, or that a node contains */
    };
    union {
        uint16_t depth;            /* levels of the hold; 0 = no hold */
        uint16_t hold_owner;       /* with NODE_BOUND: owner whose hold it is or was, or NODE_NOBODY */
        uint16_t directory;        /* number of the directory whose children are watched */
        uint16_t pending;          /* number of releases without FREED, unanswered REVOKES, or untold
                                      requests */
        uint16_t news;             /* enum event_kind of the lock's last news; 0 = none, or all locks of the
                                      call have got it */
        uint16_t largest_capacity; /* as ledger_largest_capacity() returns it */
        uint16_t least_capacity;   /* least capacity under which the node is admitted */
    };
    union { /* part of the order */
        int64_t a;
        int64_t czxid; /* zxid that created a node */
        int64_t session;
        int64_t deadline_ms;   /* end of the wait in ms, as event.now_ms; 0 = none, or no clock */
        int64_t began_ms;      /* time in ms of the first of these `requests`; 0 in untimed runs */
        int64_t granted_token; /* newest fencing token that was granted */
        int64_t first_bytes;   /* bytes 0 to 7 of the chunk of a state */
    };
    union {
        int64_t b;
        int64_t by_session;    /* session that created the node, or set the watch */
        int64_t other_token;   /* token of the claim if it is not czxid (ledger_takes_own_place()); else 0 */
        int64_t lost_session;  /* session that was lost before the present one; 0 = none */
        int64_t deletion_zxid; /* zxid of the node's deletion; 0 = it stands */
        int64_t taken_token;   /* newest fencing token that the resource took; of shared holds the last */
        int64_t call_locks;    /* the locks of a call, a bit each; 0 = the call was for one lock */
        int64_t last_bytes;
    };
};
_Static_assert(sizeof(struct check_record) == 24, "the names of a union are names of the same bytes");

struct check_table {
    uint32_t used;
    uint32_t capacity; /* room in records; constant from the first event on */
    uint32_t full;     /* 1 once a record did not fit, or loaded_trouble() names an offence */
    uint32_t reserved; /* 0 */
    uint64_t kinds;    /* set of the kinds that have a record, a bit each */
    struct check_record record[];
};
_Static_assert(RECORD_KINDS <= 64, "a bit for each kind");

#define PROCESS_UP 0x01u      /* the last link event of this handle was LINK_UP */
#define PROCESS_PAUSED 0x02u  /* property of the process: stored with its first handle */
#define PROCESS_CRASHED 0x04u /* likewise */

#define EVICTED_SHOWN 0x01u /* the process was given a list that was read after the deletion */

#define CLAIM_WAITING 0x01u /* asked, or waits again after a loss (enum ls_lock_loss), and not answered */
#define CLAIM_HOLDING 0x02u /* granted, and neither released, told to be lost, nor its lock closed */
#define CLAIM_VOID 0x04u    /* was HOLDING when the loss was told, and the owner does not wait again */
#define CLAIM_BESIDE 0x08u  /* another owner of the process waited for the lock or held it meanwhile */

/* Bits of `flags` above CLAIM_…: the locks of the claim's call, a bit each; 0 = it asked for one lock. */
#define CLAIM_CALL_AT 8
#define CLAIM_CALLS 0xff00u
static inline unsigned claim_call(const struct check_record *claim)
{
    return claim->flags >> CLAIM_CALL_AT;
}

#define NODE_UNDER 0x01u /* when created, its process had an owner that waited for the lock and held alone */
/* NODE_BOUND and NODE_SPENT are set only for holds of several nodes (lock_nodes()). */
#define NODE_BOUND 0x02u /* a hold rests or rested on it */
#define NODE_SPENT 0x04u /* and that hold is over; hold_owner = the owner that released it, or NODE_NOBODY */
#define NODE_HAD_ROOM 0x08u /* admitted when its process, which waited, learned of a smaller capacity */
#define NODE_NOBODY 0xffu
#define NODE_DIRECTORY_SHIFT 8 /* position of the directory's number in the flags of NODE and QUEUED */
static inline int node_directory(const struct check_record *node)
{
    return node->flags >> NODE_DIRECTORY_SHIFT;
}

/* node_role of a node that queues. */
#define CODE_QUEUED 2

/* Codes of enum ls_err, which judges do not include; UNKNOWN is LS_UNKNOWN of enum ls_belief. NOTHING_PENDING
 * is LS_ENOENT: in REFUSED it says that a cancel was refused, not a release. */
#define CODE_NOTHING_PENDING (-6)

#define CODE_LOST (-8)
#define CODE_BUSY (-3)
#define CODE_TIMED_OUT (-4)
#define CODE_CANCELED (-5)
#define CODE_UNKNOWN 2
#define CODE_NOT_OWNER (-7)
#define CODE_NO_MEMORY (-1)
#define CODE_CLOSED (-13)
#define CODE_DEADLOCK (-14)
#define CODE_ALREADY (-15)
#define CODE_UNSURE (-16)
#define CODE_GAVE_UP (-17)
#define CODE_UNSUPPORTED (-19)
#define CODE_LEAST (-20)

enum { TYPE_DELETED = 2, TYPE_CHILD = 4 };

/* Returns true if a request of some process deleted the node of this NODE_DELETED. */
static inline bool event_is_by_process(const struct event *event)
{
    return event->owner != 0 && event->owner != EVENT_BY_OPERATOR && event->owner != EVENT_BY_TIME &&
           event->owner != EVENT_BY_LOSS;
}

/* ---- the table ---- */

/* Returns the first record with that kind, lock, process and owner; NULL if there is none. */
struct check_record *table_get(struct check_table *table, enum record_kind kind, int lock, int process,
                               int owner);

/* Returns the record with that `a` too; NULL if there is none. */
struct check_record *table_get_exact(struct check_table *table, enum record_kind kind, int lock, int process,
                                     int owner, int64_t a);

/* Returns the record with this key (kind, lock, process, owner) and this `a`, whose `b` stays as it is. If
 * there is none, inserts one. If the table has no room for it, sets `full` and returns a scratch record. An
 * insertion invalidates all pointers into the table. */
struct check_record *table_put(struct check_table *table, enum record_kind kind, int lock, int process,
                               int owner, int64_t a, int64_t b);

/* Returns true if no other record has the key of this one: then its `a` may change, and the order stays. True
 * for the scratch record. */
bool table_is_alone(const struct check_table *table, const struct check_record *record);

/* Removes a record; the pointer then points to its successor, if there is one. Ignores NULL and the scratch
 * record. */
void table_drop(struct check_table *table, struct check_record *record);

void table_drop_all(struct check_table *table, enum record_kind kind);
void table_drop_process(struct check_table *table, enum record_kind kind, int process);
void table_drop_lock(struct check_table *table, enum record_kind kind, int lock, int process);

/* Iterate: for (r = table_first(t, kind); r; r = table_next(t, r)). table_first_lock() starts at a lock, and
 * table_next_lock() ends with it. */
struct check_record *table_first(struct check_table *table, enum record_kind kind);
struct check_record *table_next(struct check_table *table, struct check_record *record);
struct check_record *table_first_lock(struct check_table *table, enum record_kind kind, int lock);
struct check_record *table_next_lock(struct check_table *table, struct check_record *record);

/* ---- the ledger ---- */

/* Adds an event to the ledger. Judges see it first, so the ledger shows them the state before it. */
void ledger_observe(struct check_table *table, const struct check_context *context, unsigned needs,
                    const struct event *event);
uint64_t ledger_wants(unsigned needs);

/* Returns true if the event commutes as far as the ledger goes, as `is_local` of a property.
 *   - Events of watches are left out. Judges read watches at REST. The other judge that reads them,
 *     at_most_one_wakeup_per_release, denies these events in its is_local().
 *   - LINK_DOWN commutes. Links are read at events of their own process and at REST. answers_have_reasons
 *     reads links of other processes too, to excuse tries. LINK_DOWN excuses the same tries.
 *   - LISTED commutes: it sets EVICTED_SHOWN, which is read at GRANTED of the same process. */
bool ledger_is_local(unsigned needs, const struct event *event);

/* Returns the claim of the event's owner; NULL if there is none. */
struct check_record *ledger_claim(struct check_table *table, const struct event *event);

/* Returns the number of claims on the lock that have one of these flags; process -1 = of all processes. */
int ledger_claims(struct check_table *table, int lock, int process, unsigned flags);

/* Returns the hold that rests on this node, alone or with other nodes; NULL = none. Process -1 = of any
 * process. */
const struct check_record *ledger_holder(struct check_table *table, int lock, int process, int64_t czxid);

bool ledger_listens(struct check_table *table, int lock, int process);

/* Records a FAULT, or a NODE_DELETED of some lock with node_role and owner 0, which stands for the operator's
 * deletion of the lock's directory. A judge that calls ledger_may_fail() or ledger_had_fault() calls this at
 * each FAULT and NODE_DELETED. */
void ledger_note_fault(struct check_table *table, const struct event *event);

/* Returns true if ledger_note_fault() has recorded anything, or if servers may refuse requests without a
 * fault. */
bool ledger_may_fail(struct check_table *table, const struct check_context *context);

bool ledger_had_fault(struct check_table *table, enum event_fault fault);

bool ledger_waits(struct check_table *table, const struct event *event);

/* Returns true if another owner of the event's process waits for the lock. */
bool ledger_others_wait(struct check_table *table, const struct event *event);

/* Returns true if the process waits for the lock by a call for several, and the operator deleted its
 * contender of another lock of that call. */
bool ledger_call_is_broken(struct check_table *table, const struct check_context *context, int lock,
                           int process);

bool ledger_holds(struct check_table *table, const struct event *event);

/* Returns the contender with that czxid, of any process; NULL if it does not exist. */
struct check_record *ledger_node(struct check_table *table, int lock, int64_t czxid);

/* For holds of several nodes: returns true if a hold that is not over rests on the node. */
bool ledger_is_bound(const struct check_record *node);

/* Returns true if no hold was ever bound to the node, and the node was created in this session. The ledger
 * may then bind a hold to it. */
bool ledger_is_unbound(const struct check_record *node, int64_t session);

/* Returns an existing node of a hold of several nodes that the event's owner has released; NULL = none. */
const struct check_record *ledger_given_back(struct check_table *table, const struct event *event);

/* Returns the number of the directory of that contender or node that queues; 0 if there is no such node. */
int ledger_directory(struct check_table *table, int lock, int64_t czxid);

/* Returns true if the process has a contender node in the line of the lock's group. */
bool ledger_has_node(struct check_table *table, const struct check_context *context, int lock, int process);

/* Returns the number of nodes by which the process queues for the lock (LS_NODE_QUEUED: no contenders), and
 * whose session has a link that is up. */
int ledger_queued(struct check_table *table, int lock, int process);

/* Returns true if the process is neither paused nor crashed, and the link of some handle of it is up. */
bool ledger_answerable(struct check_table *table, int process);

/* Returns true if some link of the process is up. A link is up from LINK_UP to the first of these: LINK_DOWN,
 * EXPIRED or AUTH_FAILED of its handle, SESSION_CLOSED of its session, CRASHED or RESTARTED of the
 * process. */
bool ledger_is_linked(struct check_table *table, int process);

/* For lives of processes (check_context.leases): returns true if the process has crashed or stopped, or is
 * connected in another life than this one. After a restart returns false until the process is connected. */
bool ledger_life_is_over(struct check_table *table, int process, int64_t session);

/* Returns the record of the handle whose link is up with that session; NULL if there is none. */
struct check_record *ledger_session(struct check_table *table, int process, int64_t session);

/* Returns the node that a grant rests on: one of the process's nodes, or of its records of kind `ghosts`
 * (RECORD_NONE: of none). The first of these rules that fits decides:
 *   - The token names a node or a ghost: that one.
 *   - The token names a node that the operator or the end of a lease deleted: NULL.
 *   - The token is 0, and the operator deleted a node of the process: the oldest free ghost, if there is one.
 *     With RECORD_NONE: NULL.
 *   - Else the oldest free node, or without one the oldest free ghost; NULL if there is neither.
 * Free: no other owner of the process holds by it. */
struct check_record *ledger_grant(struct check_table *table, const struct event *event,
                                  enum record_kind ghosts);

/* Returns the czxid of the node that a token of a claim names: another number than the token only if the
 * owner took its own place. */
int64_t ledger_node_of_token(const struct check_record *claim, int64_t token);

/* ---- groups (lockstep/lock_spec.h) ---- */

/* Iterate, as above, over the records of one kind at all locks of a group. */
struct check_record *group_first_record(struct check_table *table, const struct check_context *context,
                                        enum record_kind kind, int lock);
struct check_record *group_next_record(struct check_table *table, const struct check_context *context,
                                       struct check_record *record);

/* Returns the first lock of the lock's group; the lock itself if no spec declares it. */
int group_of(const struct check_context *context, int lock);

/* Returns the number of claims on locks of the group that have one of these flags; process -1 = of all
 * processes. */
int group_claims(struct check_table *table, const struct check_context *context, int lock, int process,
                 unsigned flags);

/* Returns the number of the process's watches of that type at locks of the group, those of ended sessions
 * included. */
int group_watches(struct check_table *table, const struct check_context *context, int lock, int process,
                  enum event_watch type);

/* Returns true if the event's owner has a claim with one of these flags at another lock of the group. */
bool group_has_other_claim(struct check_table *table, const struct check_context *context,
                           const struct event *event, unsigned flags);

/* Returns the number of contenders that one hold of the lock rests on. */
int lock_nodes(const struct check_context *context, int lock);

/* Returns true if a hold of the lock excludes all others of the group, whatever capacity a process knows. */
bool lock_stands_alone(const struct check_context *context, int lock);

/* Returns true if an owner waits again after a loss without asking (enum ls_lock_loss). */
bool lock_waits_again(const struct check_context *context, int lock);

/* ---- admission: holds that may exist at the same time (lockstep/lock_spec.h) ----
 *
 * Definition. The line of a group is its contender nodes, ordered by czxid. A set of holds is compatible if
 * it has one member, or if all are shared and the sum of their counts is at most the capacity. A contender is
 * admitted if its hold is compatible with two sets together. One is the holds that the contenders before it
 * in line would have. The other is the holds of other owners whose nodes exist.
 *   - If the contender's owner holds an exclusive lock of the group, the first set is empty (a downgrade).
 *     The node of that hold must exist, or the contender have joined the line during that hold (NODE_UNDER).
 *   - A contender with NODE_UNDER stands before each contender without it.
 *   - If a hold has a node for each unit of its count, each node counts one unit.
 *   - The capacity is the one that the contender's process knows: the declared one until an event CAPACITY. 0
 *     is no limit.
 *
 * Claim. In a line of mutexes only the first contender is admitted. If all processes know one capacity, a
 * contender that is admitted stays so until its node goes, or that capacity shrinks.
 * Why. New contenders join the line at its end, and a hold behind the contender that excludes it was not
 * admitted. With different capacities a later contender, by a larger one, may be admitted and exclude it.
 * Example. Readers r, writers w, in line r1 w2 r3. r1 is admitted. w2 is not, nor is r3, which is behind w2.
 * If r1 goes, w2 is admitted. If the owner of w2 holds and joins the line with r4, r4 is admitted, though r3
 * is not.
 * Checked by tests/check/test_admission.c. */

/* A set of holds; all zero is the empty set. */
struct hold_set {
    int units;
    bool some; /* the set is not empty */
    bool exclusive;
};

void hold_set_add(struct hold_set *set, const struct check_context *context, int lock);

/* Adds one contender: one unit if a hold has a node for each unit, else the whole hold. */
void hold_set_add_node(struct hold_set *set, const struct check_context *context, int lock);

/* Returns true if a hold of this lock is compatible with the set under this capacity; 0 = no limit. */
bool hold_set_admits(const struct hold_set *set, const struct check_context *context, int lock, int capacity);

/* Returns the capacity that the lock's node contains; 0 = none, or no node contains one
 * (check_context.counted). */
int ledger_count(struct check_table *table, const struct check_context *context, int lock);

/* Returns false if the process has closed the lock, and has not asked since. True without `counted`. */
bool ledger_has_open(struct check_table *table, const struct check_context *context, int lock, int process);

/* Returns the capacity of the lock's group that the process knows now; 0 = no limit. */
int ledger_capacity(struct check_table *table, const struct check_context *context, int lock, int process);

/* Returns the largest capacity that the process has known. An ASKED or a CAPACITY begins anew, with the
 * present capacity, if the process neither waits nor holds in the group then. */
int ledger_largest_capacity(struct check_table *table, const struct check_context *context, int lock,
                            int process);

struct contender {
    int lock, process;
    int owner;              /* -1 = unknown */
    int64_t czxid;          /* its position in line */
    int64_t gone;           /* czxid of a node that is taken for deleted; 0 = none */
    int capacity;           /* lower bound of the capacity; 0 = the one that its process knows */
    struct hold_set beside; /* further holds with which it must be compatible */
};

/* Returns true if the contender is admitted. If `obstacle` is not NULL, *obstacle gets the oldest contender
 * that was counted against this one, or NULL. For a shared lock exclusive ones come first. */
bool ledger_admits(struct check_table *table, const struct check_context *context,
                   const struct contender *contender, const struct check_record **obstacle);

/* Returns true if the contender of this node, whose owner is unknown, is admitted; writes *obstacle as
 * ledger_admits() does. If a hold has several nodes, fewer nodes than the capacity must precede this one. */
bool ledger_admits_node(struct check_table *table, const struct check_context *context,
                        const struct check_record *node, const struct check_record **obstacle);

/* Returns the units of this node's contender and of its obstacles together. If all are shared, that is the
 * least capacity under which the contender is admitted. */
int ledger_units_needed(struct check_table *table, const struct check_context *context,
                        const struct check_record *node);

/* Returns true if the event's owner holds an exclusive lock of the group by a node that exists. False without
 * specs. */
bool ledger_holds_alone(struct check_table *table, const struct check_context *context,
                        const struct event *event);

/* Returns true if the event grants a shared lock with the token of an exclusive hold of its owner in the
 * group. The owner takes its own place. The node of that hold may be gone. False without specs. */
bool ledger_takes_own_place(struct check_table *table, const struct check_context *context,
                            const struct event *event);

/* Returns true if the contender's node has NODE_UNDER, and its owner still holds an exclusive lock of the
 * group. An unknown owner counts as holding. False without specs. */
bool ledger_joined_under(struct check_table *table, const struct check_context *context,
                         const struct contender *contender);

/* Returns the contender of a NODE or PLACE record; its owner is unknown. */
struct contender contender_of_record(const struct check_record *record);

/* ---- sentences ---- */

#define CHECK_NAME_MAX 32
struct check_name {
    char text[CHECK_NAME_MAX];
};
struct check_name check_process_name(const struct check_context *context, int process);
struct check_name check_lock_name(const struct check_context *context, int lock);

/* Names for a sentence, in a function with `context` and `event`. */
#define WHO check_process_name(context, event->process).text
#define WHAT check_lock_name(context, event->lock).text

/* Sets note->violated and the sentence, unless they are set: the first violation of an event counts. */
void check_violate(struct check_note *note, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
