/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The state of the judges: one sorted table of records, and the ledger of facts that several judges share.
 *
 * Records are ordered by kind, lock, process, owner, a. Each kind belongs to the ledger or to one judge. A
 * record whose question is answered is dropped at once, so that equal futures give equal bytes. */
#ifndef CHECK_STATE_H
#define CHECK_STATE_H

#include <check/check.h>

/* What the ledger must know for a property. */
#define CHECK_NEEDS_PROCESSES 0x01u
#define CHECK_NEEDS_CLAIMS 0x02u
#define CHECK_NEEDS_NODES 0x04u
#define CHECK_NEEDS_WATCHES 0x08u
#define CHECK_NEEDS_LISTENERS 0x10u

_Static_assert(EVENT_KINDS <= 64, "event kinds fit into a mask");

enum record_kind {
    RECORD_NONE,
    /* The ledger. */
    RECORD_PROCESS, /* process, owner = which handle; flags PROCESS_…; a = session of the handle while its link is up, else 0 */
    RECORD_CLAIM, /* lock, process, owner; flags CLAIM_…, depth; a = czxid of the node that its grant stands
                     on, b = its token if that is another one: the owner goes on holding in its own place */
    RECORD_NODE, /* lock, process; flags NODE_…; a = czxid, b = session: a contender node that stands in the
                     committed log */
    RECORD_WATCH, /* lock, process, owner = enum event_watch; a = czxid of the watched node, b = session in which the last of
                     them was set, 0 once it is over; flags = how many;
                     depth = number of the directory, of EVENT_WATCH_PARENT */
    RECORD_EVICTED, /* lock, process; flags EVICTED_…; a = czxid of a contender that the operator deleted while its
                       process waits */
    RECORD_LISTENER, /* lock, process: it hears requests to give the lock back, and of the end of its node */
    RECORD_FAULTED,  /* nobody's; flags = a bit for each enum event_fault; see ledger_note_fault() */
    /* The judges. */
    RECORD_GHOST,    /* at_most_one_holder: as NODE, deleted while first and while its process waits */
    RECORD_BELIEVER, /* at_most_one_believer: lock, process, owner believes to hold */
    RECORD_TAKEN, /* at_most_one_believer: lock, process; a = czxid of a contender that the operator deleted */
    RECORD_FENCE, /* no_stale_effect: lock; a = newest token granted, b = newest token taken */
    RECORD_LEFT, /* at_most_one_wakeup_per_release: lock = first of its group, process; flags LEFT_…: it has left the line */
    RECORD_PLACE, /* granted_in_order: lock, process; flags PLACE_…; a = czxid, b = zxid of its deletion */
    RECORD_RELEASE, /* release_matches_acquire: lock, process, owner; flags RELEASE_…; a = czxid of the node
                     */
    RECORD_TOLD, /* every_loss_is_told: process; flags TOLD_…; a = session told to be connected, b = lost before it */
    RECORD_DEADLINE, /* deadline_is_kept: lock, process, owner; a = the moment */
    RECORD_WORK, /* bounded_work: process; flags = requests since it was last given a reason; a = since when
                  */
    RECORD_CREATES, /* bounded_work: lock, process; flags = contenders that it may still create; owner = 1: of nodes
                       that queue */
    RECORD_GONE, /* hold_keeps_its_node: lock, process; a = czxid, deleted by a request while its process waits */
    RECORD_ANSWER, /* answers_have_reasons: lock, process, owner; flags ANSWER_…, depth = releases that are not
                      answered; a = the moment of its deadline */
    RECORD_APART, /* answers_have_reasons, no_orphan_node: process; told that its session is lost, and of no other since */
    RECORD_UNDOES, /* answers_have_reasons: lock, process; an acquire failed, and requests are under way since */
    RECORD_TERM, /* belief_ends_in_time: lock, process, owner; flags TERM_…; a = session of the grant */
    RECORD_OVER, /* belief_ends_in_time: process; a = session whose time is up, which the process was not told */
    RECORD_LEASE_OVER, /* belief_ends_in_time: lock, process; a lease has run out, and it has no node since */
    RECORD_QUESTION, /* every_revocation_is_told: lock, process; flags QUESTION_…, depth = REVOKES without an answer */
    RECORD_REQUEST, /* every_revocation_is_told: lock, process; a = czxid of a node; flags REQUEST_…, depth = times that
                       its data was set and its holder was not asked */
    RECORD_HEARD, /* hold_keeps_its_node: lock, process, owner; a = czxid of its hold's node, of whose end it heard or will hear */
    RECORD_OWES,  /* no_orphan_node: lock, process; depth = releases that have no answer yet */
    RECORD_LOADED, /* lock = which loaded property, process = which 16 bytes of its state; a and b are these bytes */
    RECORD_NEWS,   /* all_or_none: lock, process, owner; see there */
    RECORD_QUEUED, /* the ledger: lock, process; a = czxid, b = session: a node that queues and stands */
    RECORD_CAPACITY, /* the ledger: lock, process; flags = the capacity that the process knows, depth = the largest that
                        it has known since it last began to wait for the lock without a claim to it */
    RECORD_LATE, /* at_most_one_holder: as GHOST; depth = the least capacity by which it was admitted when it was deleted */
    RECORD_COUNT,   /* the ledger: lock; flags = the capacity that stands in its node, 0 = none */
    RECORD_SHUT,    /* the ledger: lock, process; it has closed the lock, whose capacity stands in a node */
    RECORD_RUN_OUT, /* the ledger: lock, process; a = czxid of a contender whose lease ended while its process
                       waits */
    RECORD_OUTAGE,  /* bounded_work: of no process; an outage of the servers lasts */
    RECORD_KINDS
};

struct check_record {
    uint8_t kind;    /* enum record_kind */
    uint8_t lock;    /* 0 if the kind has none */
    uint8_t process; /* 0 if the kind has none */
    uint8_t owner;   /* 0 if the kind has none */
    uint16_t flags;  /* see kind */
    uint16_t depth;  /* NODE, CLAIM, WATCH, CAPACITY, LATE, ANSWER, QUESTION, REQUEST and OWES only */
    int64_t a;       /* see kind; part of the order */
    int64_t b;       /* see kind */
};

struct check_table {
    uint32_t used;     /* records in use */
    uint32_t capacity; /* set at the first event, constant since */
    uint32_t full;     /* 1 after a record did not fit */
    uint32_t reserved; /* 0 */
    uint64_t kinds;    /* a bit for each kind of which there is a record */
    struct check_record record[];
};
_Static_assert(RECORD_KINDS <= 64, "a bit for each kind");

#define PROCESS_UP 0x01u      /* the last link event of this handle was LINK_UP */
#define PROCESS_PAUSED 0x02u  /* of the process: in the record of its first handle */
#define PROCESS_CRASHED 0x04u /* likewise */

#define EVICTED_SHOWN 0x01u /* a list that was read behind the deletion has reached the process */

#define CLAIM_WAITING 0x01u /* asked, or waits again after a loss (enum ls_lock_loss), and not answered */
#define CLAIM_HOLDING                                                                                        \
    0x02u                /* granted, not given back, and the process was not told that the session is lost */
#define CLAIM_VOID 0x04u /* was HOLDING when the loss was told: nothing is promised of it any more */
#define CLAIM_BESIDE 0x08u /* since this owner began to wait, another one of the process waited or held too */

/* Of a claim: the locks that were asked for in one call with it, a bit for each; 0 = it was asked for alone. */
#define CLAIM_CALL_AT 8
#define CLAIM_CALLS 0xff00u
static inline unsigned claim_call(const struct check_record *claim)
{
    return claim->flags >> CLAIM_CALL_AT;
}

/* Of a node. */
#define NODE_UNDER                                                                                           \
    0x01u /* created while an owner of its process waited for its lock and held alone in the group */
/* Of a lock whose holds have several nodes each (lock_nodes()). */
#define NODE_BOUND 0x02u    /* a hold stands or stood on it; depth = the owner, or NODE_NOBODY */
#define NODE_SPENT 0x04u    /* and that hold is over; depth = the owner that gave it back, or NODE_NOBODY */
#define NODE_HAD_ROOM 0x08u /* admitted when its process, which waited, learned of a smaller capacity */
#define NODE_NOBODY 0xffu
#define NODE_DIRECTORY_SHIFT 8 /* flags above: number of the directory; of QUEUED too */

/* In NODE_CREATED and NODE_DELETED: the node queues. */
#define CODE_QUEUED 2

/* LS_ENOENT of the public interface, which judges do not include: in REFUSED it says that a cancel was
 * refused, not a release. A test compares the two numbers. */
#define CODE_NOTHING_PENDING (-6)

/* LS_ELOST: in REFUSED it says that the hold was lost, in FREED that it had been lost before. */
#define CODE_LOST (-8)
/* LS_EBUSY, LS_ETIMEDOUT and LS_ECANCELED in FAILED, likewise. */
#define CODE_BUSY (-3)
#define CODE_TIMED_OUT (-4)
#define CODE_CANCELED (-5)
/* LS_UNKNOWN in DOUBTS, likewise. */
#define CODE_UNKNOWN 2
/* LS_ENOTOWNER in WRITTEN, likewise. */
#define CODE_NOT_OWNER (-7)
/* LS_ENOMEM, LS_ECLOSED, LS_EDEADLK and LS_EALREADY in FAILED, likewise. */
#define CODE_NO_MEMORY (-1)
#define CODE_CLOSED (-13)
#define CODE_DEADLOCK (-14)
#define CODE_ALREADY (-15)
/* LS_EUNSURE in REVOKE_SENT, likewise. */
#define CODE_UNSURE (-16)
/* LS_EGAVEUP in FAILED, likewise. */
#define CODE_GAVE_UP (-17)
/* LS_EUNSUPPORTED in LISTENS, likewise. */
#define CODE_UNSUPPORTED (-19)
/* The least number of enum ls_err, likewise. */
#define CODE_LEAST (-20)

/* ZooKeeper's types of the event behind WOKEN. */
enum { TYPE_DELETED = 2, TYPE_CHILD = 4 };

/* Of NODE_DELETED: a request of some process took the node away. */
static inline bool event_is_by_process(const struct event *event)
{
    return event->owner != 0 && event->owner != EVENT_BY_OPERATOR && event->owner != EVENT_BY_TIME &&
           event->owner != EVENT_BY_LOSS;
}

/* ---- the table ---- */

/* The first record with that kind, lock, process and owner; NULL if there is none. */
struct check_record *table_get(struct check_table *table, enum record_kind kind, int lock, int process,
                               int owner);

/* The same, with `a` too. */
struct check_record *table_get_exact(struct check_table *table, enum record_kind kind, int lock, int process,
                                     int owner, int64_t a);

/* Inserts a record, or finds the equal one (b is then left alone). Never NULL: when the table is full, `full`
 * is set and a scratch record is returned. Pointers into the table are invalid after that. */
struct check_record *table_put(struct check_table *table, enum record_kind kind, int lock, int process,
                               int owner, int64_t a, int64_t b);

/* Removes a record of the table; the pointer then points to its successor. NULL is ignored. */
void table_drop(struct check_table *table, struct check_record *record);

/* Removes all records of a kind, those with that process, or those with that lock and process. */
void table_drop_all(struct check_table *table, enum record_kind kind);
void table_drop_process(struct check_table *table, enum record_kind kind, int process);
void table_drop_lock(struct check_table *table, enum record_kind kind, int lock, int process);

/* Iteration: for (r = table_first(t, kind); r; r = table_next(t, r)). table_first_lock() starts at a lock;
 * table_next_lock() ends with it. */
struct check_record *table_first(struct check_table *table, enum record_kind kind);
struct check_record *table_next(struct check_table *table, struct check_record *record);
struct check_record *table_first_lock(struct check_table *table, enum record_kind kind, int lock);
struct check_record *table_next_lock(struct check_table *table, struct check_record *record);

/* ---- the ledger ---- */

/* Judges see an event BEFORE the ledger does: it still shows how things were. */
void ledger_observe(struct check_table *table, const struct check_context *context, unsigned needs,
                    const struct event *event);
uint64_t ledger_wants(unsigned needs);

/* As `is_local` of a property: what is watched is looked at for the same process, or at rest, or by judges who say so of such
 * events themselves; and whether its link is up at rest alone, when the end of its session has made it down as well. */
bool ledger_is_local(unsigned needs, const struct event *event);

/* The claim of the owner that the event is about, NULL if there is none. */
struct check_record *ledger_claim(struct check_table *table, const struct event *event);

/* Claims of one process on one lock that have one of these flags; process -1 = of any process. */
int ledger_claims(struct check_table *table, int lock, int process, unsigned flags);

/* The hold that stands on the node with that czxid, also if it stands on other nodes too; process -1 = of any
 * process. NULL if there is none. */
const struct check_record *ledger_holder(struct check_table *table, int lock, int process, int64_t czxid);

/* True if the process hears requests to give the lock back. */
bool ledger_listens(struct check_table *table, int lock, int process);

/* Remembers a FAULT, or the operator's deletion of a lock's directory, for ledger_may_fail(). Other events are ignored. A judge
 * that asks calls it for both kinds of event. */
void ledger_note_fault(struct check_table *table, const struct event *event);

/* True if a failure needs no reason of its own: a fault came before, or the servers refuse requests without a fault. */
bool ledger_may_fail(struct check_table *table, const struct check_context *context);

/* True if a fault of this class came before. */
bool ledger_had_fault(struct check_table *table, enum event_fault fault);

/* Returns true if the owner that the event is about waits. */
bool ledger_waits(struct check_table *table, const struct event *event);

/* Returns true if another owner of its process waits for the lock. */
bool ledger_others_wait(struct check_table *table, const struct event *event);

/* True if the operator deleted a contender of another lock that the process waits for, and that it asked for in one
 * call with this one. */
bool ledger_call_is_broken(struct check_table *table, const struct check_context *context, int lock,
                           int process);

/* True if the claim was answered already at this level: a grant to it is only one level deeper. */
bool ledger_holds(struct check_table *table, const struct event *event);

/* The contender node with that czxid, whoever created it; NULL if it does not stand. */
struct check_record *ledger_node(struct check_table *table, int lock, int64_t czxid);

/* True if a hold stands on the node, of a lock whose holds have several nodes each. */
bool ledger_is_bound(const struct check_record *node);

/* True if the node may become one of the nodes of a hold that is granted in this session. */
bool ledger_is_unbound(const struct check_record *node, int64_t session);

/* A node that the owner gave back with a hold of several nodes, and that stands; NULL if there is none. */
const struct check_record *ledger_given_back(struct check_table *table, const struct event *event);

/* Number of the directory below which the node with that czxid stands, a node that queues included. */
int ledger_directory(struct check_table *table, int lock, int64_t czxid);

/* True if a contender node of the process stands in the line of the lock's group. */
bool ledger_has_node(struct check_table *table, const struct check_context *context, int lock, int process);

/* Nodes of the process that queue for the lock and stand. */
int ledger_queued(struct check_table *table, int lock, int process);

/* True if the process waits, and has no contender since the operator deleted one. */
bool ledger_is_evicted(struct check_table *table, const struct check_context *context, int lock, int process);

/* True if the process runs, and some handle of it is connected and has a session: what it leaves undone at rest is its own
 * fault. */
bool ledger_answerable(struct check_table *table, int process);

/* True if the link of some handle of the process is up, as far as the process was told. */
bool ledger_is_linked(struct check_table *table, int process);

/* True if the session, which is a life of the process (check_context.leases), is over. The process has
 * crashed or stopped, or is connected in another life. */
bool ledger_life_is_over(struct check_table *table, int process, int64_t session);

/* The handle of the process whose link is up with that session; NULL if there is none. */
struct check_record *ledger_session(struct check_table *table, int process, int64_t session);

/* The node that a grant stands on: of the grantee's nodes, or of `ghosts` (a kind, or RECORD_NONE), the one
 * whose czxid is the token; otherwise the oldest that no other claim of the process stands on. NULL if there
 * is none, or if the operator deleted the one that the token names, or its lease has ended. */
struct check_record *ledger_grant(struct check_table *table, const struct event *event,
                                  enum record_kind ghosts);

/* The czxid of the node that a token of a claim stands for; `token` itself, unless the owner holds in its
 * own place. */
int64_t ledger_node_of_token(const struct check_record *claim, int64_t token);

/* ---- groups (lockstep/lock_spec.h) ---- */

/* The records of one kind at the locks of a lock's group. Iteration as above. */
struct check_record *group_first_record(struct check_table *table, const struct check_context *context,
                                        enum record_kind kind, int lock);
struct check_record *group_next_record(struct check_table *table, const struct check_context *context,
                                       struct check_record *record);

/* The first lock of a lock's group. A lock that nobody has declared is a group of its own. */
int group_of(const struct check_context *context, int lock);

/* Claims of one process at the locks of a lock's group that have one of these flags; process -1 = of any process. */
int group_claims(struct check_table *table, const struct check_context *context, int lock, int process,
                 unsigned flags);

/* Watches of one process and type at the locks of a lock's group, those of sessions that are over included. */
int group_watches(struct check_table *table, const struct check_context *context, int lock, int process,
                  enum event_watch type);

/* True if the owner has a claim with one of these flags at another lock of the group. */
bool group_has_other_claim(struct check_table *table, const struct check_context *context,
                           const struct event *event, unsigned flags);

/* Contenders that one hold of the lock stands on. */
int lock_nodes(const struct check_context *context, int lock);

/* True if no other hold of the group may stand beside one of this lock, whatever capacity a process learns of. */
bool lock_stands_alone(const struct check_context *context, int lock);

/* True if an owner that loses its hold of the lock waits again without asking (enum ls_lock_loss). */
bool lock_waits_again(const struct check_context *context, int lock);

/* ---- admission: who may hold beside whom (lockstep/lock_spec.h) ----
 *
 * Definition. The line of a group is its contender nodes by czxid. A set of holds stands together if all of
 *   them are shared and their counts sum up to at most the capacity, or if it has one member. A contender is
 *   admitted if its hold stands together with the holds that all contenders before it in line would have,
 *   and with the holds of other owners whose nodes stand. The nodes by which its own owner holds do not
 *   count. A contender that joined the line while its owner
 *   held alone is admitted whoever stands before it, also when the node of that hold has gone (a downgrade).
 *   If a hold has a node for each unit of its count, each node counts one unit, also behind the contender.
 *   The capacity is the one that the process of the contender knows. It is the declared one until an event CAPACITY
 *   tells the process another one.
 *
 * Claim. Of a line of mutexes the first contender alone is admitted. Once admitted, a contender stays admitted until its
 *   node goes, or its process learns of a smaller capacity: nobody joins the line before it, and a hold behind it that
 *   excludes it was not admitted. If processes know different capacities, a later contender of a larger one may exclude it.
 *
 * Example. Readers r, writers w, in line r1 w2 r3. r1 is admitted. w2 is not, nor is r3, as w2 stands before it. If r1
 *   goes, w2 is admitted. If the owner of w2 holds and joins the line with r4, r4 is admitted, though r3 is not. */

/* Holds that are to stand at the same time. All zero is the empty set. */
struct hold_set {
    int units;      /* sum of their counts */
    bool some;      /* there is one */
    bool exclusive; /* one of them is exclusive */
};

void hold_set_add(struct hold_set *set, const struct check_context *context, int lock);

/* The same for one contender of the hold. */
void hold_set_add_node(struct hold_set *set, const struct check_context *context, int lock);

/* True if a hold of this lock stands together with the set, by this capacity. */
bool hold_set_admits(const struct hold_set *set, const struct check_context *context, int lock, int capacity);

/* The capacity that stands in the node of a lock, 0 if there is none; whether the process has such a lock open. */
int ledger_count(struct check_table *table, const struct check_context *context, int lock);
bool ledger_has_open(struct check_table *table, const struct check_context *context, int lock, int process);

/* The capacity of the lock's group that the process knows now; 0 = no limit. */
int ledger_capacity(struct check_table *table, const struct check_context *context, int lock, int process);

/* The largest that it has known since it last began to wait for the lock without a claim to it. */
int ledger_largest_capacity(struct check_table *table, const struct check_context *context, int lock,
                            int process);

struct contender {
    int lock, process;
    int owner;              /* -1 = not known */
    int64_t czxid;          /* its place in line */
    int64_t gone;           /* czxid of a node that counts as deleted; 0 = none */
    int capacity;           /* at least this one counts; 0 = what its process knows */
    struct hold_set beside; /* holds that it must stand together with besides */
};

/* True if the contender is admitted. `obstacle`, unless it is NULL, becomes the oldest contender in its way, or NULL. */
bool ledger_admits(struct check_table *table, const struct check_context *context,
                   const struct contender *contender, const struct check_record **obstacle);

/* True if the contender of this node is admitted. Where a hold has several nodes, each node counts as one unit, and
 * is admitted if fewer nodes than the capacity stand before it. */
bool ledger_admits_node(struct check_table *table, const struct check_context *context,
                        const struct check_record *node, const struct check_record **obstacle);

/* The least capacity by which the contender of this node, which is a shared one, is admitted. */
int ledger_units_needed(struct check_table *table, const struct check_context *context,
                        const struct check_record *node);

/* True if the owner has a hold of another lock of the group that stands alone. */
bool ledger_holds_alone(struct check_table *table, const struct check_context *context,
                        const struct event *event);

/* True if the event is the grant of a shared lock, and its token is that of a hold of the owner that stands
 * alone in the group: the owner takes its own place. The node of that hold may be gone. */
bool ledger_takes_own_place(struct check_table *table, const struct check_context *context,
                            const struct event *event);

/* True if the contender's node was created while its owner held alone, and the owner has not given that hold
 * back. An owner that is not known may be any that waits for the lock. */
bool ledger_joined_under(struct check_table *table, const struct check_context *context,
                         const struct contender *contender);

/* The contender that a record of a node or a place names; its owner is not known. */
struct contender contender_of_record(const struct check_record *record);

/* ---- sentences ---- */

#define CHECK_NAME_MAX 32
struct check_name {
    char text[CHECK_NAME_MAX];
};
struct check_name check_process_name(const struct check_context *context, int process);
struct check_name check_lock_name(const struct check_context *context, int lock);

/* In a function with `context` and `event`: made only when there is something to say. */
#define WHO check_process_name(context, event->process).text
#define WHAT check_lock_name(context, event->lock).text

/* Sets note->violated and the sentence; the first violation of an event wins. */
void check_violate(struct check_note *note, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
