/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Several locks at once. The core of the mutex drives each member.
 *
 *   (no bundle) --> ASKING --> HELD --> RELEASING --> ENDED --> (no bundle)
 *                     |          |                      ^  ^
 *                     |          '-----> LOST ----------'  |
 *                     '------------------------------------'
 *
 *   ASKING    -> ASKING     restart(): a member that was granted is lost; all are asked for again
 *   ASKING    -> HELD       on_done: the last member was granted
 *   ASKING    -> ENDED      on_done, acquire(): a member was refused, or the acquire is to stop (`rc`)
 *   HELD      -> RELEASING  give_level_back(): the last level
 *   RELEASING -> ENDED      on_freed: all members have answered; give_level_back(): no member will answer
 *   HELD      -> LOST       on_lost: a member is lost; the others are given back
 *   LOST      -> ENDED      give_level_back(): the owner has released the last level, and learned of the
 *                           loss; inherit_levels(): the owner's next bundle is lost too, and has the
 *                           levels; close_multi()
 *
 * A bundle is one owner's acquire of all members, and the hold after it:
 * - In ASKING one member, `at`, is pending or has an undelivered answer. The `granted` members before it are
 *   held, or were lost (`again`).
 * - The slot of a bundle makes the numbers by which the members know their owner (inner_owner). A slot is
 *   free again when its bundle is freed, after all released members have answered. So no answer to a release
 *   is taken for that of a later bundle.
 * - Members have no deadline. The bundle may have one.
 *
 * No deadlock among multis.
 *   Definition. A multi waits for another one if its pending member is held by the other one, or the other
 *   one's contender is before it in the member's line.
 *   Claim. Multis alone, whose members are of sessions with one ensemble and chroot and have different paths,
 *   never wait in a circle.
 *   Why. A multi has one pending member. All members that it holds come before that one in the order of
 *   paths, and a lock has one path. Around a circle, each path would be greater than the one before.
 *   Checked by. scenarios/explore/multi_both_orders*.scn. */
#include "lock/claim.h"

#include <lockstep/multi.h>
#include <stddef.h>
#include <string.h>

enum { MUTEX, READER, WRITER, LEASES };

enum bundle_state {
    ASKING = 1,
    HELD,
    RELEASING,
    LOST, /* the owner has not released all levels */
    ENDED /* freed once its releases are answered and its callbacks have returned */
};

/* A blocking caller, on its stack. */
struct bundle_call {
    struct ls_waiter waiter;
    struct ls_multi_outcome outcome;
    bool done;
};

struct lock_bundle {
    struct lock_bundle *next;
    struct ls_multi *multi;
    struct ls_multi_member *at; /* the member that was asked for last */
    struct bundle_call *call;   /* the blocking caller that waits for the answer; NULL: a callback answers */
    uint64_t owner;
    struct ls_timer deadline;
    uint32_t slot;    /* number of the bundle, from 1 */
    uint32_t granted; /* members that are held */
    uint32_t unfreed; /* releases of members and leases that are not answered yet */
    uint32_t depth;
    uint32_t telling; /* callbacks of this bundle that are running */
    int32_t rc;       /* code that stops the acquire, or of the release; 0 = none */
    int32_t zk_rc;
    int32_t member; /* number of the member that caused `rc` or a loss; -1 = none */
    uint8_t state;  /* enum bundle_state */
    uint8_t try_only;
    uint8_t untold; /* on_lost is to be called when the running callback has returned */
    uint8_t asked;  /* a request for a held member came; finish() has it read again */
    uint8_t again;  /* a member was lost; restart() follows the present one's answer */
};

static const struct ls_multi_ops no_ops;

static const struct ls_multi_ops *ops_of(const struct ls_multi *multi)
{
    const struct ls_multi_options *options = lock_queue_deref(multi->options);
    return options && options->ops ? options->ops : &no_ops;
}

static int number_of(const struct ls_multi_member *member)
{
    return (int)(member - member->multi->members);
}

static struct ls_mutex *line_of(struct ls_multi_member *member)
{
    return member->kind == LEASES ? &member->lock.semaphore.line : member->face;
}

static struct ls_multi_member *member_of(struct ls_mutex *face)
{
    char *at = (char *)face;
    if (face->place->role == LOCK_ROLE_WRITER)
        at -= offsetof(struct ls_rwlock, write);
    return (struct ls_multi_member *)(void *)at;
}

_Static_assert(offsetof(struct ls_multi_member, lock) == 0 && offsetof(struct ls_rwlock, read) == 0 &&
                   offsetof(struct ls_semaphore, leases) == 0,
               "callbacks of a member find it");

/* Returns the member at a place, from 0, in the order of asking. */
static struct ls_multi_member *member_at(const struct ls_multi *multi, uint32_t place)
{
    struct ls_multi_member *member = multi->first;
    while (place--)
        member = member->next;
    return member;
}

/* Returns the owner as which the bundle holds a member; of several leases, the number of the first one. */
static uint64_t inner_owner(const struct lock_bundle *bundle, const struct ls_multi_member *member)
{
    return member->leases ? (uint64_t)(bundle->slot - 1) * member->leases + 1 : bundle->slot;
}

static uint32_t units_of(const struct ls_multi_member *member)
{
    return member->leases ? member->leases : 1;
}

static struct lock_bundle *bundle_of(const struct ls_multi_member *member, uint64_t inner)
{
    uint64_t slot = (inner - 1) / units_of(member) + 1;
    struct lock_bundle *bundle = member->multi->bundles;
    while (bundle && bundle->slot != slot)
        bundle = bundle->next;
    return bundle;
}

static struct lock_bundle *find(const struct ls_multi *multi, uint64_t owner, enum bundle_state from,
                                enum bundle_state to)
{
    struct lock_bundle *bundle = multi->bundles;
    while (bundle && (bundle->owner != owner || bundle->state < from || bundle->state > to))
        bundle = bundle->next;
    return bundle;
}

static uint32_t free_slot(const struct ls_multi *multi)
{
    uint32_t slot = 1;
    const struct lock_bundle *bundle = multi->bundles;
    while (bundle) {
        bool taken = bundle->slot == slot;
        slot += taken;
        bundle = taken ? multi->bundles : bundle->next;
    }
    return slot;
}

static void reap(struct lock_bundle *bundle)
{
    if (bundle->state != ENDED || bundle->unfreed || bundle->telling)
        return;
    struct lock_bundle **link = &bundle->multi->bundles;
    while (*link != bundle)
        link = &(*link)->next;
    *link = bundle->next;
    ls_env_free(bundle->multi->env, bundle);
}

/* Takes the environment's mutex. Returns NULL and takes nothing if the multi is closed, or has no members. */
static struct ls_env *lock(const struct ls_multi *multi)
{
    struct ls_env *env = __atomic_load_n(&multi->env, __ATOMIC_ACQUIRE);
    if (!env)
        return NULL;
    ls_env_lock(env);
    if (multi->env)
        return env;
    ls_env_unlock(env); /* another thread has closed the multi in between */
    return NULL;
}

static struct ls_env *enter(struct ls_multi *multi)
{
    struct ls_env *env = lock(multi);
    if (env)
        multi->busy++;
    return env;
}

/* Ends an entry into the multi: calls `how` for the sessions of its open members. */
static void deliver(struct ls_multi *multi, void (*how)(struct ls_session *session))
{
    const struct ls_session *last = NULL;
    for (struct ls_multi_member *member = multi->first; member; member = member->next) {
        struct ls_session *session = member->face->session;
        if (session && session != last)
            how(session);
        last = session;
    }
}

static void leave(struct ls_multi *multi)
{
    struct ls_env *env = multi->env;
    deliver(multi, lock_queue_deliver);
    if (!--multi->busy && multi->closing)
        lock_queue_wake(multi->session);
    ls_env_unlock(env);
}

/* Asks for bundle->at. Returns LS_OK, and on_done follows; or the code of a refusal. */
static int ask(struct lock_bundle *bundle)
{
    struct ls_multi_member *member = bundle->at;
    int timeout_ms = bundle->try_only ? 0 : -1;
    if (!member->face->session || !line_of(member)->session)
        return LS_ECLOSED;
    if (member->kind == LEASES)
        return lock_semaphore_acquire(&member->lock.semaphore, inner_owner(bundle, member), member->leases,
                                      timeout_ms, NULL);
    return lock_mutex_acquire(member->face, inner_owner(bundle, member), timeout_ms, NULL);
}

/* Notes why an acquire stops, unless rc is LS_OK. The first reason counts. */
static void stop(struct lock_bundle *bundle, int rc, int zk_rc, int member)
{
    if (bundle->rc)
        return;
    bundle->rc = rc;
    bundle->zk_rc = zk_rc;
    bundle->member = member;
}

/* Ends the wait for the present member. on_done follows in any case: if the member is not pending any more,
 * its answer is on the way. */
static void stop_waiting(struct lock_bundle *bundle, int rc)
{
    struct ls_mutex *line = line_of(bundle->at);
    struct lock_claim *claim = line->session ? lock_index_find(line, inner_owner(bundle, bundle->at)) : NULL;
    if (claim && lock_mutex_pending(claim))
        lock_mutex_fail(claim, rc, 0);
}

/* Drops the note of a loss from a member's tomb: on_lost of the bundle is called once for all members. */
static void hush(const struct ls_mutex *face, uint64_t owner)
{
    struct lock_claim *tomb = lock_index_tomb(face, owner);
    if (!tomb || !(tomb->notes & LOCK_NOTE_LOST))
        return;
    LS_SOMETIMES("members-are-lost-together");
    tomb->notes = (uint16_t)((tomb->notes & ~LOCK_NOTE_LOST) | LOCK_NOTE_GO);
    tomb->czxid = 0;
}

static int give_back_unit(struct ls_mutex *face, uint64_t owner)
{
    if (!face->session)
        return LS_ECLOSED;
    hush(face, owner);
    return lock_mutex_release(face, owner, NULL);
}

/* Releases all held members, in reverse order. Returns the first code other than 0, or 0. */
static int give_back(struct lock_bundle *bundle)
{
    int first = LS_OK;
    while (bundle->granted) {
        struct ls_multi_member *member = member_at(bundle->multi, --bundle->granted);
        for (uint32_t i = units_of(member); i-- > 0;) {
            int rc = give_back_unit(member->face, inner_owner(bundle, member) + i);
            bundle->unfreed += rc == LS_OK;
            first = first ? first : rc;
        }
    }
    return first;
}

/* Bracket a callback: the environment's mutex is dropped, and reap() does not free the bundle. */
static void begin_telling(struct lock_bundle *bundle)
{
    bundle->telling++;
    ls_env_unlock(bundle->multi->env);
}

static void end_telling(struct lock_bundle *bundle)
{
    ls_env_lock(bundle->multi->env);
    bundle->telling--;
}

static void tell_lost(struct lock_bundle *bundle)
{
    struct ls_multi *multi = bundle->multi;
    uint64_t owner = bundle->owner;
    int member = bundle->member;
    bundle->untold = 0;
    begin_telling(bundle);
    if (ops_of(multi)->on_lost)
        ops_of(multi)->on_lost(multi, owner, member);
    end_telling(bundle);
}

static void tell_done(struct lock_bundle *bundle, const struct ls_multi_outcome *outcome)
{
    struct ls_multi *multi = bundle->multi;
    uint64_t owner = bundle->owner;
    begin_telling(bundle);
    if (ops_of(multi)->on_done)
        ops_of(multi)->on_done(multi, owner, outcome);
    end_telling(bundle);
    if (bundle->untold)
        tell_lost(bundle);
}

static void tell_freed(struct lock_bundle *bundle)
{
    struct ls_multi *multi = bundle->multi;
    uint64_t owner = bundle->owner;
    int rc = bundle->rc;
    begin_telling(bundle);
    if (ops_of(multi)->on_freed)
        ops_of(multi)->on_freed(multi, owner, rc);
    end_telling(bundle);
}

static void wake(struct lock_bundle *bundle, const struct ls_multi_outcome *outcome)
{
    bundle->call->outcome = *outcome;
    bundle->call->done = true;
    ls_env_wake(bundle->multi->env, &bundle->call->waiter);
    bundle->call = NULL;
}

/* Handles requests to give members back that came while other members were awaited. A request is the contents
 * of a member's node, so nodes with a watch are read as if they had just changed. */
static void hear_requests(struct lock_bundle *bundle)
{
    struct ls_multi_member *member = bundle->multi->first;
    for (; member; member = member->next) {
        struct lock_claim *claim =
            member->face->session ? lock_index_find(member->face, inner_owner(bundle, member)) : NULL;
        if (claim && member->kind != LEASES && claim->ear == LOCK_EAR_LISTENING)
            lock_revoke_heard(claim, ZOO_CHANGED_EVENT);
    }
    bundle->asked = 0;
}

static void finish(struct lock_bundle *bundle)
{
    struct ls_multi_outcome outcome = {
        .rc = bundle->rc, .zk_rc = bundle->zk_rc, .member = bundle->rc ? bundle->member : -1};
    ls_env_timer_stop(bundle->multi->env, &bundle->deadline);
    outcome.depth = bundle->rc ? 0 : 1;
    bundle->depth = outcome.depth;
    bundle->state = bundle->rc ? ENDED : HELD;
    if (bundle->rc) {
        if (bundle->granted)
            LS_SOMETIMES("some-of-several-members-are-given-back");
        give_back(bundle);
    } else if (bundle->asked) {
        hear_requests(bundle);
    }
    if (bundle->call)
        wake(bundle, &outcome);
    else
        tell_done(bundle, &outcome);
    reap(bundle);
}

/* Adds the levels of the owner's bundle in LOST, if it has one, and ends that bundle. */
static void inherit_levels(struct lock_bundle *bundle)
{
    struct lock_bundle *former = find(bundle->multi, bundle->owner, LOST, LOST);
    if (!former)
        return;
    bundle->depth = bundle->depth > UINT32_MAX - former->depth ? UINT32_MAX : bundle->depth + former->depth;
    former->state = ENDED;
    reap(former);
}

static void lose(struct lock_bundle *bundle, int member)
{
    inherit_levels(bundle);
    bundle->state = LOST;
    bundle->member = member;
    give_back(bundle);
    bundle->untold = 1;
    if (!bundle->telling)
        tell_lost(bundle);
    reap(bundle);
}

/* Moves the unanswered releases of a bundle, with its slot, to a bundle of their own, which ends with
 * them. */
static int leave_slot(struct lock_bundle *bundle)
{
    if (!bundle->unfreed)
        return LS_OK;
    struct lock_bundle *rest = ls_env_alloc(bundle->multi->env, sizeof *rest);
    if (!rest)
        return LS_ENOMEM;
    rest->multi = bundle->multi;
    rest->slot = bundle->slot;
    rest->unfreed = bundle->unfreed;
    rest->state = ENDED;
    rest->next = bundle->multi->bundles;
    bundle->multi->bundles = rest;
    bundle->unfreed = 0;
    bundle->slot = free_slot(bundle->multi);
    return LS_OK;
}

static bool go_on(struct lock_bundle *bundle, struct ls_multi_member *member)
{
    bundle->at = member;
    stop(bundle, ask(bundle), 0, number_of(member));
    return !bundle->rc;
}

/* Releases the held members, and begins to ask for all members again. Returns whether an answer is
 * awaited. */
static bool restart(struct lock_bundle *bundle)
{
    bundle->again = 0;
    give_back(bundle);
    stop(bundle, leave_slot(bundle), 0, -1);
    return !bundle->rc && go_on(bundle, bundle->multi->first);
}

static bool proceed(struct lock_bundle *bundle)
{
    if (bundle->rc)
        return false;
    if (bundle->again)
        return restart(bundle);
    return bundle->at->next && go_on(bundle, bundle->at->next);
}

static void on_done(struct ls_mutex *face, uint64_t inner, const struct ls_outcome *outcome)
{
    struct ls_multi_member *member = member_of(face);
    struct ls_multi *multi = member->multi;
    enter(multi);
    struct lock_bundle *bundle = bundle_of(member, inner);
    bundle->again |= outcome->rc == LS_ELOST; /* the member was lost before its grant was delivered */
    if (!outcome->rc)
        bundle->granted++;
    else if (!bundle->again)
        stop(bundle, outcome->rc, outcome->zk_rc, number_of(member));
    if (!proceed(bundle))
        finish(bundle);
    leave(multi);
}

static void on_freed(struct ls_mutex *face, uint64_t inner, int rc)
{
    struct ls_multi_member *member = member_of(face);
    struct ls_multi *multi = member->multi;
    enter(multi);
    struct lock_bundle *bundle = bundle_of(member, inner);
    bundle->unfreed--;
    if (bundle->state == RELEASING) {
        bundle->rc = bundle->rc ? bundle->rc : rc;
        if (!bundle->unfreed) {
            bundle->state = ENDED;
            if (bundle->call)
                wake(bundle, &(struct ls_multi_outcome){.rc = bundle->rc});
            else
                tell_freed(bundle);
        }
    }
    reap(bundle);
    leave(multi);
}

static void on_lost(struct ls_mutex *face, uint64_t inner, int64_t token)
{
    (void)token;
    struct ls_multi_member *member = member_of(face);
    struct ls_multi *multi = member->multi;
    enter(multi);
    struct lock_bundle *bundle = bundle_of(member, inner);
    bool stale =
        !face->closing && !lock_index_tomb(face, inner); /* the loss is of a former bundle in this slot */
    if (bundle && bundle->state == ASKING && !stale) {
        LS_SOMETIMES("member-lost-while-others-are-awaited");
        bundle->again = 1;
        stop_waiting(bundle, LS_ELOST);
    } else if (bundle && bundle->state == HELD) {
        lose(bundle, number_of(member));
    }
    leave(multi);
}

static void on_warning(struct ls_mutex *face, uint64_t inner, enum ls_warning warning)
{
    struct ls_multi_member *member = member_of(face);
    struct ls_multi *multi = member->multi;
    struct ls_env *env = enter(multi);
    const struct lock_bundle *bundle = bundle_of(member, inner);
    uint64_t owner = bundle ? bundle->owner : 0;
    ls_env_unlock(env);
    if (owner && warning != LS_WARN_NODE_GONE && ops_of(multi)->on_warning)
        ops_of(multi)->on_warning(multi, owner, number_of(member), warning);
    ls_env_lock(env);
    leave(multi);
}

static void on_revoke(struct ls_mutex *face, uint64_t inner, int64_t token)
{
    (void)token;
    struct ls_multi_member *member = member_of(face);
    struct ls_multi *multi = member->multi;
    struct ls_env *env = enter(multi);
    struct lock_bundle *bundle = bundle_of(member, inner);
    uint64_t owner = bundle && bundle->state == HELD ? bundle->owner : 0;
    if (bundle && bundle->state == ASKING)
        bundle->asked = 1;
    ls_env_unlock(env);
    if (owner && ops_of(multi)->on_revoke)
        ops_of(multi)->on_revoke(multi, owner, number_of(member));
    ls_env_lock(env);
    leave(multi);
}

static const struct ls_mutex_ops member_ops = {.on_done = on_done,
                                               .on_freed = on_freed,
                                               .on_warning = on_warning,
                                               .on_revoke = on_revoke,
                                               .on_lost = on_lost};
static const struct ls_mutex_options plain_options = {.ops = &member_ops};

int ls_multi_init(struct ls_multi *multi, struct ls_multi_member *members, uint32_t capacity,
                  const struct ls_multi_options *options)
{
    if (!multi || !members || !capacity)
        return LS_EINVAL;
    memset(multi, 0, sizeof *multi);
    multi->members = members;
    multi->capacity = capacity;
    multi->options = lock_queue_ref(options);
    multi->inner = plain_options;
    if (options) {
        multi->inner.acl = options->acl;
        multi->inner.counters = options->counters;
    }
    return LS_OK;
}

/* Returns the constant options if the multi has neither an ACL nor counters. */
static const struct ls_mutex_options *options_of_members(const struct ls_multi *multi)
{
    return multi->inner.acl || multi->inner.counters ? &multi->inner : &plain_options;
}

static int init_member(struct ls_multi_member *member, struct ls_session *session, const char *path,
                       uint32_t capacity)
{
    const struct ls_mutex_options *options = options_of_members(member->multi);
    int rc;
    switch (member->kind) {
    case LEASES:
        member->face = &member->lock.semaphore.leases;
        return ls_semaphore_init(&member->lock.semaphore, session, path, capacity, options);
    case MUTEX:
        member->face = &member->lock.mutex;
        rc = ls_mutex_init(&member->lock.mutex, session, path, options);
        break;
    default:
        member->face = member->kind == READER ? &member->lock.rwlock.read : &member->lock.rwlock.write;
        rc = ls_rwlock_init(&member->lock.rwlock, session, path, options);
        break;
    }
    member->face->revocable = rc == LS_OK; /* a revocable hold learns that its node is deleted */
    return rc;
}

static void undo_init(struct ls_multi_member *member)
{
    if (member->kind == READER || member->kind == WRITER) {
        lock_mutex_undo_init(&member->lock.rwlock.read);
        lock_mutex_undo_init(&member->lock.rwlock.write);
    } else {
        lock_mutex_undo_init(member->face);
        if (member->kind == LEASES)
            lock_mutex_undo_init(&member->lock.semaphore.line);
    }
}

/* Puts a member behind those with smaller or equal paths. Returns false and does nothing if another member
 * has its session and path. */
static bool put_in_order(struct ls_multi *multi, struct ls_multi_member *member)
{
    const char *path = line_of(member)->place->path;
    struct ls_multi_member **link = &multi->first;
    while (*link) {
        int order = strcmp(line_of(*link)->place->path, path);
        if (!order && (*link)->face->session == member->face->session)
            return false;
        if (order > 0)
            break;
        link = &(*link)->next;
    }
    member->next = *link;
    *link = member;
    return true;
}

static int add(struct ls_multi *multi, struct ls_session *session, const char *path, uint32_t kind,
               uint32_t capacity, uint32_t leases)
{
    if (!multi || !multi->members || !session || multi->asked || (multi->env && multi->env != session->env))
        return LS_EINVAL;
    if (multi->count == multi->capacity)
        return LS_EOVERFLOW;
    struct ls_multi_member *member = &multi->members[multi->count];
    memset(member, 0, sizeof *member);
    member->multi = multi;
    member->kind = kind;
    member->leases = leases;
    int rc = init_member(member, session, path, capacity);
    if (rc)
        return rc;
    if (!put_in_order(multi, member)) {
        undo_init(member);
        return LS_EINVAL;
    }
    multi->session = multi->session ? multi->session : session;
    __atomic_store_n(&multi->env, session->env, __ATOMIC_RELEASE);
    return (int)multi->count++;
}

int ls_multi_add_mutex(struct ls_multi *multi, struct ls_session *session, const char *path)
{
    return add(multi, session, path, MUTEX, 0, 0);
}

int ls_multi_add_reader(struct ls_multi *multi, struct ls_session *session, const char *path)
{
    return add(multi, session, path, READER, 0, 0);
}

int ls_multi_add_writer(struct ls_multi *multi, struct ls_session *session, const char *path)
{
    return add(multi, session, path, WRITER, 0, 0);
}

int ls_multi_add_leases(struct ls_multi *multi, struct ls_session *session, const char *path,
                        uint32_t capacity, uint32_t count)
{
    if (!count || count > capacity)
        return LS_EINVAL;
    return add(multi, session, path, LEASES, capacity, count);
}

static void close_member(struct ls_multi_member *member)
{
    if (member->kind == LEASES)
        ls_semaphore_close(&member->lock.semaphore);
    else if (member->kind == MUTEX)
        ls_mutex_close(&member->lock.mutex);
    else
        ls_rwlock_close(&member->lock.rwlock);
}

static bool is_closing(const void *about)
{
    const struct ls_multi *multi = about;
    return multi->closing;
}

static bool is_busy(const void *about)
{
    const struct ls_multi *multi = about;
    return multi->busy;
}

/* Closes a multi. The closes of the members answer all acquires and asynchronous releases. That ends all
 * bundles but those in LOST, which end here. */
static void close_multi(struct ls_multi *multi, struct ls_env *env)
{
    multi->closing = true;
    ls_env_unlock(env);
    for (uint32_t i = multi->count; i-- > 0;)
        close_member(member_at(multi, i));
    ls_env_lock(env);
    lock_queue_wait(multi->session, is_busy, multi);
    while (multi->bundles) {
        struct lock_bundle *bundle = multi->bundles;
        bundle->state = ENDED;
        bundle->unfreed = 0;
        reap(bundle);
    }
    struct ls_session *session = multi->session;
    multi->members = NULL;
    multi->first = NULL;
    multi->count = 0;
    __atomic_store_n(&multi->env, NULL, __ATOMIC_RELEASE);
    multi->closing = false;
    lock_queue_wake(session);
}

int ls_multi_close(struct ls_multi *multi)
{
    struct ls_env *env = lock(multi);
    if (!env) {
        multi->members = NULL;
        return LS_OK;
    }
    bool in_callback = ls_env_in_callback(env);
    if (!in_callback && multi->closing)
        lock_queue_wait(multi->session, is_closing, multi);
    else if (!in_callback)
        close_multi(multi, env);
    ls_env_unlock(env);
    return in_callback ? LS_EDEADLK : LS_OK;
}

static void on_deadline(void *context)
{
    struct lock_bundle *bundle = context;
    struct ls_multi *multi = bundle->multi;
    if (bundle->state != ASKING)
        return;
    multi->busy++;
    stop(bundle, LS_ETIMEDOUT, 0, number_of(bundle->at));
    stop_waiting(bundle, LS_ETIMEDOUT);
    struct ls_env *env = multi->env;
    leave(multi); /* drops the mutex, which a timer's function holds when it begins and returns */
    ls_env_lock(env);
}

static struct lock_bundle *new_bundle(struct ls_multi *multi, uint64_t owner, int timeout_ms)
{
    struct lock_bundle *bundle = ls_env_alloc(multi->env, sizeof *bundle);
    if (!bundle)
        return NULL;
    if (timeout_ms > 0 && ls_env_timer_start(multi->env, &bundle->deadline, "deadline-timer",
                                             (uint32_t)timeout_ms, on_deadline, bundle)) {
        ls_env_free(multi->env, bundle);
        return NULL;
    }
    bundle->multi = multi;
    bundle->owner = owner;
    bundle->at = multi->first;
    bundle->slot = free_slot(multi);
    bundle->try_only = timeout_ms == 0;
    bundle->state = ASKING;
    bundle->next = multi->bundles;
    multi->bundles = bundle;
    return bundle;
}

static int reenter(struct lock_bundle *bundle)
{
    if (bundle->state != HELD)
        return LS_EALREADY;
    if (bundle->depth == UINT32_MAX)
        return LS_EOVERFLOW;
    bundle->depth++;
    return 1;
}

static int acquire(struct ls_multi *multi, uint64_t owner, int timeout_ms, struct bundle_call *call)
{
    if (multi->closing)
        return LS_ECLOSED;
    if (!owner || lock_mutex_is_of_another_thread(multi->env, owner))
        return LS_EINVAL;
    struct lock_bundle *bundle = find(multi, owner, ASKING, HELD);
    if (bundle)
        return reenter(bundle);
    bundle = new_bundle(multi, owner, timeout_ms);
    if (!bundle)
        return LS_ENOMEM;
    multi->asked = true;
    int rc = ask(bundle);
    bundle->call = call;
    if (!rc)
        return LS_OK;
    ls_env_timer_stop(multi->env, &bundle->deadline);
    bundle->state = ENDED;
    reap(bundle);
    return rc;
}

/* Returns LS_ECLOSED for a closed multi, `empty` for one without members. */
static int closed_rc(const struct ls_multi *multi, int empty)
{
    return multi->members ? empty : LS_ECLOSED;
}

int ls_multi_acquire_start(struct ls_multi *multi, uint64_t owner, int timeout_ms)
{
    if (!enter(multi))
        return closed_rc(multi, LS_EINVAL);
    int rc = acquire(multi, owner, timeout_ms, NULL);
    leave(multi);
    return rc;
}

int ls_multi_cancel(struct ls_multi *multi, uint64_t owner)
{
    if (!enter(multi))
        return closed_rc(multi, LS_ENOENT);
    struct lock_bundle *bundle = find(multi, owner, ASKING, ASKING);
    bundle = bundle && !bundle->rc ? bundle : NULL; /* with `rc`, its answer is on the way */
    if (bundle) {
        stop(bundle, LS_ECANCELED, 0, -1);
        stop_waiting(bundle, LS_ECANCELED);
    }
    leave(multi);
    return bundle ? LS_OK : LS_ENOENT;
}

static int give_level_back(struct ls_multi *multi, uint64_t owner, struct bundle_call *call)
{
    struct lock_bundle *bundle = find(multi, owner, ASKING, HELD);
    if (multi->closing)
        return LS_ECLOSED;
    if (bundle && bundle->state == ASKING)
        return LS_ENOTOWNER;
    bundle = bundle ? bundle : find(multi, owner, LOST, LOST);
    if (!bundle)
        return LS_ENOTOWNER;
    bool lost = bundle->state == LOST;
    if (--bundle->depth) {
        if (call)
            call->done = true;
        return lost ? LS_ELOST : LS_OK;
    }
    bundle->state = lost ? ENDED : RELEASING;
    bundle->rc = lost ? LS_ELOST : give_back(bundle);
    int rc = bundle->rc;
    if (!lost && bundle->unfreed) {
        bundle->call = call;
        return LS_OK;
    }
    bundle->state = ENDED;
    reap(bundle);
    return rc;
}

int ls_multi_release_start(struct ls_multi *multi, uint64_t owner)
{
    if (!enter(multi))
        return closed_rc(multi, LS_ENOTOWNER);
    int rc = give_level_back(multi, owner, NULL);
    leave(multi);
    return rc;
}

static const struct lock_bundle *holder(const struct ls_multi *multi, uint64_t owner)
{
    return find(multi, owner, HELD, HELD);
}

static bool holds_member(const struct lock_bundle *bundle, const struct ls_multi_member *member)
{
    bool holds = member->face->session;
    for (uint32_t i = 0; holds && i < units_of(member); i++)
        holds = lock_mutex_holder(member->face, inner_owner(bundle, member) + i);
    return holds;
}

/* Returns the ms for which the owner may believe in all members; -1 if it does not hold all of them. */
static int belief_left_ms(const struct ls_multi *multi, uint64_t owner)
{
    const struct lock_bundle *bundle = holder(multi, owner);
    int least_ms = bundle ? INT32_MAX : -1;
    const struct ls_multi_member *member = bundle ? multi->first : NULL;
    for (; member && least_ms >= 0; member = member->next) {
        bool holds = holds_member(bundle, member);
        int left_ms = holds ? lock_session_belief_left_ms(member->face->session) : -1;
        least_ms = left_ms < least_ms ? left_ms : least_ms;
    }
    return least_ms;
}

enum ls_belief ls_multi_query(const struct ls_multi *multi, uint64_t owner)
{
    struct ls_env *env = lock(multi);
    if (!env)
        return LS_NOT_HELD;
    int left_ms = belief_left_ms(multi, owner);
    ls_env_unlock(env);
    return left_ms < 0 ? LS_NOT_HELD : left_ms ? LS_HELD : LS_UNKNOWN;
}

int ls_multi_belief_left_ms(const struct ls_multi *multi, uint64_t owner)
{
    struct ls_env *env = lock(multi);
    if (!env)
        return 0;
    int left_ms = belief_left_ms(multi, owner);
    ls_env_unlock(env);
    return left_ms < 0 ? 0 : left_ms;
}

uint32_t ls_multi_depth(const struct ls_multi *multi, uint64_t owner)
{
    struct ls_env *env = lock(multi);
    if (!env)
        return 0;
    const struct lock_bundle *bundle = holder(multi, owner);
    uint32_t depth = bundle ? bundle->depth : 0;
    ls_env_unlock(env);
    return depth;
}

static bool is_member(const struct ls_multi *multi, int member)
{
    return member >= 0 && (uint32_t)member < multi->count;
}

int64_t ls_multi_token(const struct ls_multi *multi, uint64_t owner, int member)
{
    struct ls_env *env = lock(multi);
    if (!env)
        return 0;
    const struct lock_bundle *bundle = is_member(multi, member) ? holder(multi, owner) : NULL;
    const struct ls_multi_member *at = bundle ? &multi->members[member] : NULL;
    const struct lock_claim *claim =
        at && at->face->session ? lock_mutex_holder(at->face, inner_owner(bundle, at)) : NULL;
    int64_t token = claim ? claim->czxid : 0;
    ls_env_unlock(env);
    return token;
}

int ls_multi_counters(const struct ls_multi *multi, struct ls_mutex_counters *out)
{
    struct ls_env *env = lock(multi);
    if (!env)
        return LS_EINVAL;
    const struct ls_mutex_counters *counters = multi->inner.counters;
    if (counters)
        *out = *counters;
    ls_env_unlock(env);
    return counters ? LS_OK : LS_EINVAL;
}

static int guard(const struct ls_multi *multi, uint64_t owner, int member, zoo_op_t *op, char *path,
                 size_t size)
{
    const struct lock_bundle *bundle = holder(multi, owner);
    if (!is_member(multi, member))
        return LS_EINVAL;
    if (!bundle)
        return find(multi, owner, LOST, LOST) ? LS_ELOST : LS_ENOTOWNER;
    const struct ls_multi_member *at = &multi->members[member];
    if (!at->face->session)
        return LS_ENOTOWNER;
    return lock_mutex_guard(at->face, inner_owner(bundle, at), op, path, size);
}

int ls_multi_guard(const struct ls_multi *multi, uint64_t owner, int member, zoo_op_t *op, char *path,
                   size_t size)
{
    struct ls_env *env = lock(multi);
    if (!env)
        return multi->members ? LS_EINVAL : LS_ENOTOWNER;
    int rc = guard(multi, owner, member, op, path, size);
    ls_env_unlock(env);
    return rc;
}

/* Enters for a call that may wait. Returns NULL and enters nothing in a callback (*err = LS_EDEADLK), and if
 * the multi is closed or has no members (closed_rc). */
static struct ls_env *enter_blocking(struct ls_multi *multi, int *err, int empty)
{
    struct ls_env *env = enter(multi);
    *err = env ? LS_EDEADLK : closed_rc(multi, empty);
    if (!env || !ls_env_in_callback(env))
        return env;
    multi->busy--;
    ls_env_unlock(env);
    return NULL;
}

/* Ends a blocking call that was started with the result `rc`: sleeps until the answer if rc is LS_OK, and
 * drops the mutex. */
static int finish_blocking(struct ls_multi *multi, struct ls_env *env, struct bundle_call *call, int rc)
{
    deliver(multi, lock_queue_hand_over);
    while (!rc && !call->done)
        ls_env_wait(env, &call->waiter);
    ls_env_waiter_close(env, &call->waiter);
    if (!--multi->busy && multi->closing)
        lock_queue_wake(multi->session);
    ls_env_unlock(env);
    return rc ? rc : call->outcome.rc;
}

int ls_multi_acquire_outcome(struct ls_multi *multi, int timeout_ms, struct ls_multi_outcome *outcome)
{
    struct bundle_call call = {.outcome = {.member = -1}};
    *outcome = call.outcome;
    struct ls_env *env = enter_blocking(multi, &outcome->rc, LS_EINVAL);
    if (!env)
        return outcome->rc;
    uint64_t owner = ls_env_self(env);
    ls_env_waiter_init(env, &call.waiter);
    int rc = acquire(multi, owner, timeout_ms, &call);
    if (rc == 1) {
        call.outcome.depth = holder(multi, owner)->depth;
        call.done = true;
        rc = LS_OK;
    }
    rc = finish_blocking(multi, env, &call, rc);
    *outcome = call.outcome;
    outcome->rc = rc;
    return rc;
}

int ls_multi_acquire(struct ls_multi *multi, int timeout_ms)
{
    struct ls_multi_outcome outcome;
    return ls_multi_acquire_outcome(multi, timeout_ms, &outcome);
}

int ls_multi_try(struct ls_multi *multi)
{
    return ls_multi_acquire(multi, 0);
}

int ls_multi_release(struct ls_multi *multi)
{
    struct bundle_call call = {.done = false};
    int rc;
    struct ls_env *env = enter_blocking(multi, &rc, LS_ENOTOWNER);
    if (!env)
        return rc;
    ls_env_waiter_init(env, &call.waiter);
    return finish_blocking(multi, env, &call, give_level_back(multi, ls_env_self(env), &call));
}
