/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Facts that several judges share, such as claims of owners (waits and holds), nodes, links and watches. Each
 * fact is stored once. */
#include "base/assert.h"
#include "check/state.h"

#define WANTS_PROCESSES                                                                                      \
    (EVENT_BIT(EVENT_LINK_UP) | EVENT_BIT(EVENT_LINK_DOWN) | EVENT_BIT(EVENT_EXPIRED) |                      \
     EVENT_BIT(EVENT_AUTH_FAILED) | EVENT_BIT(EVENT_SESSION_CLOSED) | EVENT_BIT(EVENT_CRASHED) |             \
     EVENT_BIT(EVENT_RESTARTED) | EVENT_BIT(EVENT_PAUSED) | EVENT_BIT(EVENT_RESUMED))
#define WANTS_CLAIMS                                                                                         \
    (EVENT_BIT(EVENT_ASKED) | EVENT_BIT(EVENT_GRANTED) | EVENT_BIT(EVENT_FAILED) |                           \
     EVENT_BIT(EVENT_RELEASED) | EVENT_BIT(EVENT_REFUSED) | EVENT_BIT(EVENT_LOST) |                          \
     EVENT_BIT(EVENT_CRASHED) | EVENT_BIT(EVENT_LOCK_CLOSED) | EVENT_BIT(EVENT_HOLD_LOST))
#define WANTS_NODES (EVENT_BIT(EVENT_NODE_CREATED) | EVENT_BIT(EVENT_NODE_DELETED))
#define WANTS_CAPACITY                                                                                       \
    (EVENT_BIT(EVENT_CAPACITY) | EVENT_BIT(EVENT_ASKED) | EVENT_BIT(EVENT_LOCK_CLOSED) |                     \
     EVENT_BIT(EVENT_CRASHED) | EVENT_BIT(EVENT_STOPPED))
#define WANTS_COUNT                                                                                          \
    (EVENT_BIT(EVENT_COUNT_SET) | EVENT_BIT(EVENT_ASKED) | EVENT_BIT(EVENT_LOCK_CLOSED) |                    \
     EVENT_BIT(EVENT_CRASHED) | EVENT_BIT(EVENT_STOPPED))
#define WANTS_EVICTED (EVENT_BIT(EVENT_EXPIRED) | EVENT_BIT(EVENT_LISTED))
#define WANTS_LISTENERS                                                                                      \
    (EVENT_BIT(EVENT_LISTENS) | EVENT_BIT(EVENT_LOCK_CLOSED) | EVENT_BIT(EVENT_CRASHED) |                    \
     EVENT_BIT(EVENT_STOPPED))
#define WANTS_WATCHES                                                                                        \
    (EVENT_BIT(EVENT_WATCH_SET) | EVENT_BIT(EVENT_WATCH_GONE) | EVENT_BIT(EVENT_SESSION_CLOSED) |            \
     EVENT_BIT(EVENT_CRASHED))

uint64_t ledger_wants(unsigned needs)
{
    uint64_t wants = 0;
    if (needs & CHECK_NEEDS_PROCESSES)
        wants |= WANTS_PROCESSES;
    if (needs & CHECK_NEEDS_CLAIMS)
        wants |= WANTS_CLAIMS;
    if (needs & CHECK_NEEDS_NODES)
        wants |= WANTS_NODES;
    if ((needs & CHECK_NEEDS_NODES) && (needs & CHECK_NEEDS_CLAIMS))
        wants |= WANTS_EVICTED;
    if (needs & CHECK_NEEDS_CLAIMS) {
        wants |= WANTS_CAPACITY;
        wants |= WANTS_COUNT;
    }
    if (needs & CHECK_NEEDS_WATCHES)
        wants |= WANTS_WATCHES;
    if (needs & CHECK_NEEDS_LISTENERS)
        wants |= WANTS_LISTENERS;
    return wants;
}

bool ledger_is_local(unsigned needs, const struct event *event)
{
    uint64_t local = EVENT_BIT(EVENT_LINK_DOWN) | EVENT_BIT(EVENT_LISTED);
    uint64_t wants = ledger_wants(needs & ~CHECK_NEEDS_WATCHES) & ~local;
    return (wants & EVENT_BIT(event->kind)) == 0;
}

static struct check_record *process_record(struct check_table *table, int process, int handle)
{
    struct check_record *record = table_get(table, RECORD_PROCESS, 0, process, handle);
    return record ? record : table_put(table, RECORD_PROCESS, 0, process, handle, 0, 0);
}

static void settle_process(struct check_table *table, struct check_record *record)
{
    if (record->session == 0 && record->flags == 0)
        table_drop(table, record);
}

static void end_link(struct check_table *table, struct check_record *record)
{
    record->flags &= (uint16_t)~PROCESS_UP;
    record->session = 0;
    settle_process(table, record);
}

/* Notes LINK_UP. Clears PAUSED and CRASHED, too: a process that is told of a link runs. */
static void begin_link(struct check_table *table, const struct event *event)
{
    struct check_record *process = process_record(table, event->process, 0);
    process->flags &= PROCESS_UP;
    settle_process(table, process);
    struct check_record *record = process_record(table, event->process, event->owner);
    LS_ASSERT(table_is_alone(table, record));
    record->flags = PROCESS_UP;
    record->session = event->session;
}

static void set_process_flags(struct check_table *table, int process, unsigned clear, unsigned set)
{
    LS_ASSERT((clear & set) == 0 && ((clear | set) & PROCESS_UP) == 0);
    struct check_record *record = process_record(table, process, 0);
    record->flags = (uint16_t)((record->flags & ~clear) | set);
    settle_process(table, record);
}

static void observe_process(struct check_table *table, const struct event *event)
{
    if (event->process == EVENT_PROCESS_NONE)
        return;
    struct check_record *record;
    switch (event->kind) {
    case EVENT_LINK_UP:
        begin_link(table, event);
        break;
    case EVENT_LINK_DOWN: /* the next LINK_UP names a session again */
    case EVENT_EXPIRED:
    case EVENT_AUTH_FAILED:
        record = table_get(table, RECORD_PROCESS, 0, event->process, event->owner);
        if (record)
            end_link(table, record);
        break;
    case EVENT_SESSION_CLOSED:
        while ((record = ledger_session(table, event->process, event->session)) != NULL)
            end_link(table, record);
        break;
    case EVENT_CRASHED:
        table_drop_process(table, RECORD_PROCESS, event->process);
        set_process_flags(table, event->process, 0, PROCESS_CRASHED);
        break;
    case EVENT_RESTARTED:
        table_drop_process(table, RECORD_PROCESS, event->process);
        break;
    case EVENT_PAUSED:
        set_process_flags(table, event->process, 0, PROCESS_PAUSED);
        break;
    case EVENT_RESUMED:
        set_process_flags(table, event->process, PROCESS_PAUSED, 0);
        break;
    default:
        LS_ASSERT(!"each kind that is wanted has a case");
        break;
    }
}

struct check_record *ledger_claim(struct check_table *table, const struct event *event)
{
    return table_get(table, RECORD_CLAIM, event->lock, event->process, event->owner);
}

static bool is_live(const struct check_record *claim)
{
    return claim->flags & (CLAIM_WAITING | CLAIM_HOLDING);
}

static void settle_claim(struct check_table *table, struct check_record *claim)
{
    LS_ASSERT((claim->flags & CLAIM_HOLDING) ? (claim->flags & CLAIM_VOID) == 0 : claim->czxid == 0);
    if (!is_live(claim))
        claim->flags &= (uint16_t) ~(CLAIM_BESIDE | (claim->flags & CLAIM_VOID ? 0 : CLAIM_CALLS));
    if (claim->flags == 0)
        table_drop(table, claim);
}

/* Marks the live claims that other owners of the process have on the lock. Returns the mark for the owner's
 * own claim: CLAIM_BESIDE if there are any, else 0. */
static uint16_t join(struct check_table *table, const struct event *event)
{
    uint16_t mark = 0;
    struct check_record *claim = table_first_lock(table, RECORD_CLAIM, event->lock);
    for (; claim; claim = table_next_lock(table, claim)) {
        if (claim->process != event->process || claim->owner == event->owner || !is_live(claim))
            continue;
        mark = CLAIM_BESIDE;
        claim->flags |= mark;
    }
    return mark;
}

static struct check_record *begin_claim(struct check_table *table, const struct event *event)
{
    struct check_record *claim = ledger_claim(table, event);
    if (!claim)
        claim = table_put(table, RECORD_CLAIM, event->lock, event->process, event->owner, 0, 0);
    LS_ASSERT(table_is_alone(table, claim));
    if (!is_live(claim))
        claim->flags |= join(table, event);
    return claim;
}

static void observe_asked(struct check_table *table, const struct event *event)
{
    LS_ASSERT((uint64_t)event->call_locks <= CLAIM_CALLS >> CLAIM_CALL_AT);
    struct check_record *claim = begin_claim(table, event);
    claim->flags &= (uint16_t)~CLAIM_CALLS;
    claim->flags |= (uint16_t)(CLAIM_WAITING | (uint64_t)event->call_locks << CLAIM_CALL_AT);
}

/* ---- holds of several nodes ---- */

bool ledger_is_bound(const struct check_record *node)
{
    return (node->flags & (NODE_BOUND | NODE_SPENT)) == NODE_BOUND;
}

bool ledger_is_unbound(const struct check_record *node, int64_t session)
{
    return (node->flags & NODE_BOUND) == 0 && node->by_session == session;
}

static void bind(struct check_record *node, int owner)
{
    LS_ASSERT(node->kind == RECORD_NODE && (node->flags & NODE_SPENT) == 0);
    node->flags |= NODE_BOUND;
    node->hold_owner = (uint16_t)owner;
}

/* Binds a hold to the oldest free nodes, from the node of the token on. If that node was bound to another
 * owner, this owner gets it, and the other owner gets the next free one behind the nodes of this hold. */
static void bind_nodes(struct check_table *table, const struct check_context *context,
                       const struct event *event, struct check_record *named)
{
    int left = lock_nodes(context, event->lock);
    LS_ASSERT(left > 1);
    int64_t from = named ? named->czxid : event->token;
    int before = named && ledger_is_bound(named) ? named->hold_owner : NODE_NOBODY;
    if (named && (named->flags & NODE_SPENT) == 0) {
        bind(named, event->owner);
        left--;
    }
    struct check_record *node = table_get(table, RECORD_NODE, event->lock, event->process, 0);
    for (; node && node->process == event->process; node = table_next_lock(table, node)) {
        if (node->czxid < from || !ledger_is_unbound(node, event->session))
            continue;
        if (left-- > 0)
            bind(node, event->owner);
        else if (before != NODE_NOBODY) {
            bind(node, before);
            before = NODE_NOBODY;
        }
    }
}

/* Marks the nodes of the process's holds that are over. `back` is the owner that released its hold, or
 * NODE_NOBODY. */
static void spend_nodes(struct check_table *table, int process, int back)
{
    struct check_record *node = table_first(table, RECORD_NODE);
    for (; node; node = table_next(table, node)) {
        if (node->process != process || !ledger_is_bound(node))
            continue;
        const struct check_record *claim =
            table_get(table, RECORD_CLAIM, node->lock, node->process, node->hold_owner);
        if (claim && (claim->flags & CLAIM_HOLDING))
            continue;
        node->flags |= NODE_SPENT;
        node->hold_owner = node->hold_owner == back ? node->hold_owner : NODE_NOBODY;
    }
}

const struct check_record *ledger_given_back(struct check_table *table, const struct event *event)
{
    struct check_record *node = table_get(table, RECORD_NODE, event->lock, event->process, 0);
    while (node && node->process == event->process &&
           !((node->flags & NODE_SPENT) && node->hold_owner == event->owner))
        node = table_next_lock(table, node);
    return node && node->process == event->process ? node : NULL;
}

/* Returns the depth that a recipe reports, limited to the range of a record's field. */
static uint16_t levels(int32_t depth)
{
    return (uint16_t)(depth < 0 ? 0 : depth > UINT16_MAX ? UINT16_MAX : depth);
}

static void observe_granted(struct check_table *table, const struct check_context *context, unsigned needs,
                            const struct event *event)
{
    bool own_place = ledger_takes_own_place(table, context, event);
    struct check_record *node = NULL;
    if (needs & CHECK_NEEDS_NODES)
        node = ledger_grant(table, event, RECORD_NONE);
    int64_t czxid = node ? node->czxid : event->token;
    struct check_record *claim = begin_claim(table, event);
    bool anew = (claim->flags & CLAIM_HOLDING) == 0 || event->depth <= 1;
    if (anew)
        claim->czxid = czxid;
    claim->other_token = own_place && claim->czxid != event->token ? event->token : claim->other_token;
    claim->flags = (uint16_t)((claim->flags & (CLAIM_BESIDE | CLAIM_CALLS)) | CLAIM_HOLDING);
    claim->depth = event->depth > 0 ? levels(event->depth) : 1;
    if (anew && (needs & CHECK_NEEDS_NODES) && lock_nodes(context, event->lock) > 1) {
        struct check_record *named = ledger_node(table, event->lock, czxid);
        bind_nodes(table, context, event, named && named->process == event->process ? named : NULL);
    }
    LS_ASSERT((claim->flags & CLAIM_HOLDING) && claim->depth > 0);
}

static void observe_failed(struct check_table *table, struct check_record *claim)
{
    claim->flags &= (uint16_t)~CLAIM_WAITING;
    settle_claim(table, claim);
}

static void end_hold(struct check_record *claim)
{
    claim->flags &= (uint16_t) ~(CLAIM_HOLDING | CLAIM_VOID);
    claim->czxid = 0;
    claim->other_token = 0;
    claim->depth = 0;
    LS_ASSERT((claim->flags & CLAIM_HOLDING) == 0 && claim->depth == 0);
}

static void observe_released(struct check_table *table, struct check_record *claim, int32_t depth)
{
    claim->depth = levels(depth);
    if (claim->depth == 0)
        end_hold(claim);
    settle_claim(table, claim);
}

/* The refusal of a release ends the hold if it says LS_ELOST. If the loss was told before, it clears
 * CLAIM_VOID, whatever it says. */
static void observe_refused(struct check_table *table, struct check_record *claim, int32_t code)
{
    bool lost = (claim->flags & CLAIM_HOLDING) && code == CODE_LOST;
    if (!lost && (claim->flags & CLAIM_VOID) == 0)
        return;
    end_hold(claim);
    settle_claim(table, claim);
}

/* Ends a hold whose loss was told: the claim goes from HOLDING to VOID, or to WAITING if owners of its lock
 * wait again. Both flags keep the record, so settling drops none while a caller walks the list. */
static void lose_hold(const struct check_context *context, struct check_record *claim)
{
    LS_ASSERT(claim->flags & CLAIM_HOLDING);
    end_hold(claim);
    claim->flags |= lock_waits_again(context, claim->lock) ? CLAIM_WAITING : CLAIM_VOID;
}

static void observe_lost(struct check_table *table, const struct check_context *context, int process)
{
    struct check_record *claim;
    for (claim = table_first(table, RECORD_CLAIM); claim; claim = table_next(table, claim)) {
        if (claim->process != process || (claim->flags & CLAIM_HOLDING) == 0)
            continue;
        lose_hold(context, claim);
        settle_claim(table, claim);
    }
}

static void observe_hold_lost(const struct check_context *context, struct check_record *claim)
{
    if (claim->flags & CLAIM_HOLDING)
        lose_hold(context, claim);
}

/* An acquire without an answer still waits for one. */
static void observe_closed(struct check_table *table, const struct event *event)
{
    struct check_record *claim = event->rc == 0 ? table_first_lock(table, RECORD_CLAIM, event->lock) : NULL;
    while (claim) {
        if (claim->process != event->process || (claim->flags & (CLAIM_HOLDING | CLAIM_VOID)) == 0) {
            claim = table_next_lock(table, claim);
            continue;
        }
        end_hold(claim);
        settle_claim(table, claim);
        claim = table_first_lock(table, RECORD_CLAIM, event->lock);
    }
}

static void observe_claim(struct check_table *table, const struct check_context *context, unsigned needs,
                          const struct event *event)
{
    LS_ASSERT((EVENT_BIT(event->kind) & WANTS_CLAIMS) != 0);
    struct check_record *claim = ledger_claim(table, event);
    bool anew = context->contender_per_unit && event->kind == EVENT_GRANTED && event->depth <= 1;
    if (anew && claim && (claim->flags & CLAIM_HOLDING)) { /* its former hold is lost */
        claim->flags &= (uint16_t)~CLAIM_HOLDING;
        spend_nodes(table, event->process, NODE_NOBODY);
        claim->flags |= CLAIM_HOLDING;
    }
    if (event->kind == EVENT_ASKED)
        observe_asked(table, event);
    else if (event->kind == EVENT_GRANTED)
        observe_granted(table, context, needs, event);
    else if (event->kind == EVENT_LOST)
        observe_lost(table, context, event->process);
    else if (event->kind == EVENT_CRASHED)
        table_drop_process(table, RECORD_CLAIM, event->process);
    else if (event->kind == EVENT_LOCK_CLOSED)
        observe_closed(table, event);
    else if (!claim)
        return;
    else if (event->kind == EVENT_FAILED)
        observe_failed(table, claim);
    else if (event->kind == EVENT_RELEASED)
        observe_released(table, claim, event->depth);
    else if (event->kind == EVENT_HOLD_LOST)
        observe_hold_lost(context, claim);
    else if (event->kind == EVENT_REFUSED &&
             event->rc != CODE_NOTHING_PENDING) /* that one is a refused cancel */
        observe_refused(table, claim, event->rc);
}

static bool ends_holds(const struct event *event)
{
    return event->kind == EVENT_RELEASED || event->kind == EVENT_LOST || event->kind == EVENT_CRASHED ||
           event->kind == EVENT_LOCK_CLOSED || event->kind == EVENT_HOLD_LOST || event->kind == EVENT_REFUSED;
}

static void observe_holds(struct check_table *table, const struct check_context *context,
                          const struct event *event)
{
    if (context->contender_per_unit && ends_holds(event))
        spend_nodes(table, event->process, event->kind == EVENT_RELEASED ? event->owner : NODE_NOBODY);
}

/* Returns true if an owner of the creating process waits for the lock and holds alone in the group. */
static bool is_under(struct check_table *table, const struct check_context *context,
                     const struct event *created)
{
    if (!context->specs)
        return false;
    struct check_record *claim = table_first_lock(table, RECORD_CLAIM, created->lock);
    for (; claim; claim = table_next_lock(table, claim)) {
        struct event owner = *created;
        owner.owner = claim->owner;
        if (claim->process == created->process && (claim->flags & CLAIM_WAITING) &&
            ledger_holds_alone(table, context, &owner))
            return true;
    }
    return false;
}

static uint16_t directory_flags(const struct event *created)
{
    return (uint16_t)(created->owner << NODE_DIRECTORY_SHIFT);
}

static void observe_queued(struct check_table *table, const struct event *event)
{
    LS_ASSERT(event->node_role == CODE_QUEUED && (EVENT_BIT(event->kind) & WANTS_NODES) != 0);
    if (event->kind == EVENT_NODE_CREATED)
        table_put(table, RECORD_QUEUED, event->lock, event->process, 0, event->czxid, event->session)->flags =
            directory_flags(event);
    else
        table_drop(table,
                   table_get_exact(table, RECORD_QUEUED, event->lock, event->process, 0, event->czxid));
}

static void observe_node(struct check_table *table, const struct check_context *context,
                         const struct event *event)
{
    LS_ASSERT((EVENT_BIT(event->kind) & WANTS_NODES) != 0);
    if (event->lock == EVENT_LOCK_NONE)
        return;
    if (event->node_role == CODE_QUEUED)
        observe_queued(table, event);
    if (event->node_role != 1)
        return;
    if (event->kind == EVENT_NODE_CREATED)
        table_put(table, RECORD_NODE, event->lock, event->process, 0, event->czxid, event->session)->flags =
            (uint16_t)(directory_flags(event) | (is_under(table, context, event) ? NODE_UNDER : 0));
    else
        table_drop(table, ledger_node(table, event->lock, event->czxid));
}

static void note_shown(struct check_table *table, const struct event *event)
{
    struct check_record *evicted = table_get(table, RECORD_EVICTED, event->lock, event->process, 0);
    for (; evicted && evicted->process == event->process; evicted = table_next_lock(table, evicted))
        evicted->flags |= EVICTED_SHOWN;
}

static void drop_deleted(struct check_table *table, int lock, int process)
{
    table_drop_lock(table, RECORD_EVICTED, lock, process);
    table_drop_lock(table, RECORD_RUN_OUT, lock, process);
}

/* Returns true if contenders have leases, and neither a request, the operator, nor a loss by a server has
 * deleted this one. */
static bool has_run_out(const struct check_context *context, const struct event *event)
{
    return context->leases && (event->owner == 0 || event->owner == EVENT_BY_TIME);
}

static void note_deleted(struct check_table *table, const struct check_context *context,
                         const struct event *event)
{
    LS_ASSERT(event->kind == EVENT_NODE_DELETED);
    if (event->node_role != 1 || !ledger_claims(table, event->lock, event->process, CLAIM_WAITING))
        return;
    if (event->owner == EVENT_BY_OPERATOR)
        table_put(table, RECORD_EVICTED, event->lock, event->process, 0, event->czxid, 0);
    else if (has_run_out(context, event))
        table_put(table, RECORD_RUN_OUT, event->lock, event->process, 0, event->czxid, 0);
}

/* Keeps nodes that the operator deleted, or whose leases ended, while a present wait may refer to them. */
static void observe_evicted(struct check_table *table, const struct check_context *context,
                            const struct event *event)
{
    switch (event->kind) {
    case EVENT_NODE_DELETED:
        note_deleted(table, context, event);
        break;
    case EVENT_GRANTED:
    case EVENT_FAILED:
        if (!ledger_claims(table, event->lock, event->process, CLAIM_WAITING))
            drop_deleted(table, event->lock, event->process);
        break;
    case EVENT_LISTED:
        note_shown(table, event);
        break;
    case EVENT_EXPIRED:
    case EVENT_CRASHED:
        table_drop_process(table, RECORD_EVICTED, event->process);
        table_drop_process(table, RECORD_RUN_OUT, event->process);
        break;
    default:
        break;
    }
}

/* Returns the record of the watch that is gone, NULL = none. The event may name another kind of watch than
 * WATCH_SET did, so all kinds are tried. */
static struct check_record *watch_of(struct check_table *table, const struct event *event)
{
    struct check_record *record =
        table_get_exact(table, RECORD_WATCH, event->lock, event->process, event->watch, event->czxid);
    for (int type = EVENT_WATCH_OWN; !record && type <= EVENT_WATCH_COUNT; type++)
        record = table_get_exact(table, RECORD_WATCH, event->lock, event->process, type, event->czxid);
    return record;
}

static void observe_watch_set(struct check_table *table, const struct event *event)
{
    struct check_record *record =
        table_put(table, RECORD_WATCH, event->lock, event->process, event->watch, event->czxid, 0);
    record->watches++;
    record->directory = event->watch == EVENT_WATCH_PARENT ? event->owner : 0;
    record->by_session = event->session;
}

/* Sets by_session of the watches of an ended session to 0. Their records stay until WATCH_GONE or CRASHED. */
static void end_session_of_watches(struct check_table *table, const struct event *closed)
{
    struct check_record *record = table_first(table, RECORD_WATCH);
    for (; record; record = table_next(table, record))
        if (record->process == closed->process && record->by_session == closed->session)
            record->by_session = 0;
}

static void observe_watch(struct check_table *table, const struct event *event)
{
    if (event->kind == EVENT_CRASHED)
        table_drop_process(table, RECORD_WATCH, event->process);
    else if (event->kind == EVENT_SESSION_CLOSED)
        end_session_of_watches(table, event);
    else if (event->lock == EVENT_LOCK_NONE || event->process == EVENT_PROCESS_NONE)
        return;
    else if (event->kind == EVENT_WATCH_SET)
        observe_watch_set(table, event);
    else {
        LS_ASSERT(event->kind == EVENT_WATCH_GONE);
        struct check_record *record = watch_of(table, event);
        LS_ASSERT(!record || record->watches > 0);
        if (record && --record->watches == 0)
            table_drop(table, record);
    }
}

static void observe_listener(struct check_table *table, const struct event *event)
{
    if (event->kind == EVENT_CRASHED || event->kind == EVENT_STOPPED)
        table_drop_process(table, RECORD_LISTENER, event->process);
    else if (event->rc != 0)
        return;
    else if (event->kind == EVENT_LISTENS)
        table_put(table, RECORD_LISTENER, event->lock, event->process, 0, 0, 0);
    else {
        LS_ASSERT(event->kind == EVENT_LOCK_CLOSED);
        table_drop_lock(table, RECORD_LISTENER, event->lock, event->process);
    }
}

/* Marks the waiting process's nodes that its former, larger capacity admits, and by which no owner holds. */
static void note_room(struct check_table *table, const struct check_context *context,
                      const struct event *event)
{
    struct check_record *node = group_first_record(table, context, RECORD_NODE, event->lock);
    for (; node; node = group_next_record(table, context, node))
        if (node->process == event->process && !ledger_holder(table, node->lock, -1, node->czxid) &&
            ledger_claims(table, node->lock, node->process, CLAIM_WAITING) &&
            ledger_admits_node(table, context, node, NULL))
            node->flags |= NODE_HAD_ROOM;
}

/* Clears NODE_HAD_ROOM of the process's nodes in the group. */
static void forget_room(struct check_table *table, const struct check_context *context,
                        const struct event *event)
{
    struct check_record *node = group_first_record(table, context, RECORD_NODE, event->lock);
    for (; node; node = group_next_record(table, context, node))
        if (node->process == event->process)
            node->flags &= (uint16_t)~NODE_HAD_ROOM;
}

/* Drops the record of a process's capacities if both are the declared capacity. */
static void settle_capacity(struct check_table *table, const struct check_context *context, int lock,
                            struct check_record *known)
{
    LS_ASSERT(context->specs && lock < context->locks && known->kind != RECORD_COUNT);
    int declared = context->specs[lock].capacity;
    if (known->capacity == declared && known->largest_capacity == declared)
        table_drop(table, known);
}

static void learn_capacity(struct check_table *table, const struct check_context *context,
                           const struct event *event)
{
    int process = event->process, lock = event->lock, group = group_of(context, lock);
    int before = ledger_capacity(table, context, lock, process);
    int largest = ledger_largest_capacity(table, context, lock, process);
    bool claims = group_claims(table, context, lock, process, CLAIM_WAITING | CLAIM_HOLDING) > 0;
    if (event->capacity < before)
        note_room(table, context, event);
    struct check_record *known = table_put(table, RECORD_CAPACITY, group, process, 0, 0, 0);
    known->capacity = (uint16_t)event->capacity;
    known->largest_capacity = (uint16_t)(claims && largest > event->capacity ? largest : event->capacity);
    settle_capacity(table, context, lock, known);
}

static void observe_capacity(struct check_table *table, const struct check_context *context,
                             const struct event *event)
{
    if (!context->resizes)
        return;
    if (event->kind == EVENT_CRASHED || event->kind == EVENT_STOPPED) {
        table_drop_process(table, RECORD_CAPACITY, event->process);
        return;
    }
    if (event->lock >= context->locks) /* a recipe may report any lock */
        return;
    int group = group_of(context, event->lock);
    struct check_record *known = table_get(table, RECORD_CAPACITY, group, event->process, 0);
    if (event->kind == EVENT_CAPACITY) {
        learn_capacity(table, context, event);
    } else if (known && event->kind == EVENT_LOCK_CLOSED && event->rc == 0) {
        table_drop(table, known);
    } else if (event->kind == EVENT_ASKED && group_claims(table, context, event->lock, event->process,
                                                          CLAIM_WAITING | CLAIM_HOLDING) == 0) {
        forget_room(table, context, event);
        if (known) {
            known->largest_capacity = known->capacity;
            settle_capacity(table, context, event->lock, known);
        }
    }
}

static void observe_count(struct check_table *table, const struct check_context *context,
                          const struct event *event)
{
    if (!context->counted)
        return;
    if (event->kind == EVENT_CRASHED || event->kind == EVENT_STOPPED) {
        table_drop_process(table, RECORD_SHUT, event->process);
        return;
    }
    int group = group_of(context, event->lock);
    if (event->kind == EVENT_COUNT_SET) {
        table_put(table, RECORD_COUNT, group, 0, 0, 0, 0)->capacity = (uint16_t)event->capacity;
        return;
    }
    struct check_record *shut = table_get(table, RECORD_SHUT, group, event->process, 0);
    if (event->kind == EVENT_LOCK_CLOSED && event->rc == 0)
        table_put(table, RECORD_SHUT, group, event->process, 0, 0, 0);
    else if (shut && event->kind == EVENT_ASKED)
        table_drop(table, shut);
}

bool ledger_has_open(struct check_table *table, const struct check_context *context, int lock, int process)
{
    return !context->counted || !table_get(table, RECORD_SHUT, group_of(context, lock), process, 0);
}

int ledger_count(struct check_table *table, const struct check_context *context, int lock)
{
    const struct check_record *count =
        context->counted ? table_get(table, RECORD_COUNT, group_of(context, lock), 0, 0) : NULL;
    return count ? count->capacity : 0;
}

void ledger_observe(struct check_table *table, const struct check_context *context, unsigned needs,
                    const struct event *event)
{
    uint64_t bit = EVENT_BIT(event->kind);
    if ((needs & CHECK_NEEDS_CLAIMS) && (WANTS_CAPACITY & bit))
        observe_capacity(table, context, event);
    if ((needs & CHECK_NEEDS_CLAIMS) && (WANTS_COUNT & bit))
        observe_count(table, context, event);
    if ((needs & CHECK_NEEDS_PROCESSES) && (WANTS_PROCESSES & bit))
        observe_process(table, event);
    if ((needs & CHECK_NEEDS_CLAIMS) && (WANTS_CLAIMS & bit)) {
        observe_claim(table, context, needs, event);
        observe_holds(table, context, event);
    }
    if ((needs & CHECK_NEEDS_NODES) && (WANTS_NODES & bit))
        observe_node(table, context, event);
    if ((needs & CHECK_NEEDS_NODES) && (needs & CHECK_NEEDS_CLAIMS))
        observe_evicted(table, context, event);
    if ((needs & CHECK_NEEDS_WATCHES) && (WANTS_WATCHES & bit))
        observe_watch(table, event);
    if ((needs & CHECK_NEEDS_LISTENERS) && (WANTS_LISTENERS & bit))
        observe_listener(table, event);
}

int ledger_claims(struct check_table *table, int lock, int process, unsigned flags)
{
    LS_ASSERT(flags != 0);
    int count = 0;
    struct check_record *claim;
    for (claim = table_first_lock(table, RECORD_CLAIM, lock); claim; claim = table_next_lock(table, claim))
        if ((process < 0 || claim->process == process) && (claim->flags & flags))
            count++;
    return count;
}

bool ledger_listens(struct check_table *table, int lock, int process)
{
    return table_get(table, RECORD_LISTENER, lock, process, 0) != NULL;
}

const struct check_record *ledger_holder(struct check_table *table, int lock, int process, int64_t czxid)
{
    struct check_record *claim = table_first_lock(table, RECORD_CLAIM, lock);
    while (claim && !((claim->flags & CLAIM_HOLDING) && claim->czxid == czxid &&
                      (process < 0 || claim->process == process)))
        claim = table_next_lock(table, claim);
    const struct check_record *node = claim ? NULL : ledger_node(table, lock, czxid);
    if (node && ledger_is_bound(node) && (process < 0 || node->process == process))
        claim = table_get(table, RECORD_CLAIM, lock, node->process, node->hold_owner);
    return claim;
}

void ledger_note_fault(struct check_table *table, const struct event *event)
{
    bool directory = event->kind == EVENT_NODE_DELETED && event->node_role == 0 && event->owner == 0 &&
                     event->lock != EVENT_LOCK_NONE;
    LS_ASSERT(event->kind != EVENT_FAULT || event->owner <= EVENT_FAULT_MEMORY);
    if (event->kind == EVENT_FAULT)
        table_put(table, RECORD_FAULTED, 0, 0, 0, 0, 0)->faults |= (uint16_t)(1u << event->owner);
    else if (directory)
        table_put(table, RECORD_FAULTED, 0, 0, 0, 0, 0)->faults |= 1u << EVENT_FAULT_NODES;
}

bool ledger_had_fault(struct check_table *table, enum event_fault fault)
{
    const struct check_record *record = table_get(table, RECORD_FAULTED, 0, 0, 0);
    LS_ASSERT(!record || record->faults != 0);
    return record && (record->faults & 1u << fault);
}

bool ledger_may_fail(struct check_table *table, const struct check_context *context)
{
    return context->refusing || table_get(table, RECORD_FAULTED, 0, 0, 0);
}

bool ledger_waits(struct check_table *table, const struct event *event)
{
    const struct check_record *claim = ledger_claim(table, event);
    return claim && (claim->flags & CLAIM_WAITING);
}

bool ledger_others_wait(struct check_table *table, const struct event *event)
{
    return ledger_claims(table, event->lock, event->process, CLAIM_WAITING) > ledger_waits(table, event);
}

bool ledger_call_is_broken(struct check_table *table, const struct check_context *context, int lock,
                           int process)
{
    unsigned call = 0;
    struct check_record *claim = table_first_lock(table, RECORD_CLAIM, lock);
    for (; claim; claim = table_next_lock(table, claim))
        if (claim->process == process && (claim->flags & CLAIM_WAITING))
            call |= claim_call(claim);
    for (int other = 0; other < context->locks; other++)
        if (other != lock && (call >> other & 1) != 0 && table_get(table, RECORD_EVICTED, other, process, 0))
            return true;
    return false;
}

bool ledger_holds(struct check_table *table, const struct event *event)
{
    const struct check_record *claim = ledger_claim(table, event);
    return claim && (claim->flags & CLAIM_HOLDING);
}

struct check_record *ledger_node(struct check_table *table, int lock, int64_t czxid)
{
    struct check_record *node;
    for (node = table_first_lock(table, RECORD_NODE, lock); node; node = table_next_lock(table, node))
        if (node->czxid == czxid)
            return node;
    return NULL;
}

int ledger_directory(struct check_table *table, int lock, int64_t czxid)
{
    const struct check_record *node = ledger_node(table, lock, czxid);
    if (node)
        return node_directory(node);
    struct check_record *queued = table_first_lock(table, RECORD_QUEUED, lock);
    while (queued && queued->czxid != czxid)
        queued = table_next_lock(table, queued);
    return queued ? node_directory(queued) : 0;
}

static bool has_record(struct check_table *table, const struct check_context *context, enum record_kind kind,
                       int lock, int process)
{
    struct check_record *record = group_first_record(table, context, kind, lock);
    while (record && record->process != process)
        record = group_next_record(table, context, record);
    return record != NULL;
}

bool ledger_has_node(struct check_table *table, const struct check_context *context, int lock, int process)
{
    return has_record(table, context, RECORD_NODE, lock, process);
}

int ledger_queued(struct check_table *table, int lock, int process)
{
    int count = 0;
    struct check_record *node = table_first_lock(table, RECORD_QUEUED, lock);
    for (; node; node = table_next_lock(table, node))
        count += node->process == process && ledger_session(table, process, node->by_session);
    return count;
}

/* Returns the next PROCESS record of the process behind `record`, or its first one if `record` is NULL. NULL
 * behind the last. */
static struct check_record *next_handle(struct check_table *table, struct check_record *record, int process)
{
    record = record ? table_next(table, record) : table_first(table, RECORD_PROCESS);
    LS_ASSERT(!record || record->lock == 0);
    while (record && record->process < process)
        record = table_next(table, record);
    return record && record->process == process ? record : NULL;
}

struct check_record *ledger_session(struct check_table *table, int process, int64_t session)
{
    struct check_record *record = next_handle(table, NULL, process);
    while (record && (record->session == 0 || record->session != session))
        record = next_handle(table, record, process);
    return record;
}

bool ledger_life_is_over(struct check_table *table, int process, int64_t session)
{
    bool other = false;
    struct check_record *record = next_handle(table, NULL, process);
    for (; record; record = next_handle(table, record, process)) {
        LS_ASSERT((record->flags & (PROCESS_CRASHED | PROCESS_PAUSED)) == 0 || record->owner == 0);
        if (record->flags & PROCESS_CRASHED)
            return true;
        other = other || (record->session != 0 && record->session != session);
    }
    return other;
}

bool ledger_is_linked(struct check_table *table, int process)
{
    struct check_record *record = next_handle(table, NULL, process);
    while (record && (record->flags & PROCESS_UP) == 0)
        record = next_handle(table, record, process);
    return record != NULL;
}

bool ledger_answerable(struct check_table *table, int process)
{
    bool linked = false;
    struct check_record *record = next_handle(table, NULL, process);
    for (; record; record = next_handle(table, record, process)) {
        LS_ASSERT(record->flags != 0 || record->session != 0);
        if (record->flags & (PROCESS_PAUSED | PROCESS_CRASHED))
            return false;
        linked = linked || ((record->flags & PROCESS_UP) && record->session != 0);
    }
    return linked;
}

/* Returns true if another owner of the process holds by this node. */
static bool taken(struct check_table *table, const struct event *event, int64_t czxid)
{
    struct check_record *claim;
    for (claim = table_first_lock(table, RECORD_CLAIM, event->lock); claim;
         claim = table_next_lock(table, claim))
        if (claim->process == event->process && claim->owner != event->owner &&
            (claim->flags & CLAIM_HOLDING) && claim->czxid == czxid)
            return true;
    return false;
}

int64_t ledger_node_of_token(const struct check_record *claim, int64_t token)
{
    LS_ASSERT(!claim || claim->kind == RECORD_CLAIM);
    return claim && claim->other_token != 0 && claim->other_token == token ? claim->czxid : token;
}

static struct check_record *oldest_free(struct check_table *table, const struct event *event,
                                        enum record_kind kind)
{
    LS_ASSERT(kind == RECORD_NODE || kind == RECORD_GHOST);
    struct check_record *node = table_get(table, kind, event->lock, event->process, 0);
    for (; node && node->process == event->process; node = table_next_lock(table, node))
        if (!taken(table, event, node->czxid))
            return node;
    return NULL;
}

struct check_record *ledger_grant(struct check_table *table, const struct event *event,
                                  enum record_kind ghosts)
{
    struct check_record *node =
        table_get_exact(table, RECORD_NODE, event->lock, event->process, 0, event->token);
    if (!node && ghosts != RECORD_NONE)
        node = table_get_exact(table, ghosts, event->lock, event->process, 0, event->token);
    if (node || table_get_exact(table, RECORD_EVICTED, event->lock, event->process, 0, event->token) ||
        table_get_exact(table, RECORD_RUN_OUT, event->lock, event->process, 0, event->token))
        return node;
    /* Without a token the grant may rest on the deleted node, which only a ghost can represent. */
    bool evicted = event->token == 0 && table_get(table, RECORD_EVICTED, event->lock, event->process, 0);
    struct check_record *ghost = ghosts != RECORD_NONE ? oldest_free(table, event, ghosts) : NULL;
    if (evicted && (ghost || ghosts == RECORD_NONE))
        return ghost;
    node = oldest_free(table, event, RECORD_NODE);
    return node ? node : ghost;
}
