/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The index of a session's claims: a tree by watch_id, a tree by owner, and the list of all claims.
 *
 * Both trees are treaps whose priorities are mixed from the watch_id. So their shape depends on the claims in
 * them alone, not on the order in which the claims came. The list has the order in which they came. With
 * 65,535 claims, the most that a session has, the tree by watch_id is 37 deep. This file allocates
 * nothing. */
#include "lock/claim.h"

typedef bool (*is_before_fn)(const struct lock_claim *a, const struct lock_claim *b);

enum { BY_WATCH, BY_OWNER };

static bool is_before_by_watch(const struct lock_claim *a, const struct lock_claim *b)
{
    return a->watch_id < b->watch_id;
}

static bool is_before_by_owner(const struct lock_claim *a, const struct lock_claim *b)
{
    if (a->mutex != b->mutex)
        return a->mutex < b->mutex;
    return a->owner != b->owner ? a->owner < b->owner : a->watch_id < b->watch_id;
}

static const is_before_fn is_before[] = {[BY_WATCH] = is_before_by_watch, [BY_OWNER] = is_before_by_owner};

/* Returns a claim's priority. The mixing permutes the 32-bit numbers, so no two claims of a session have the
 * same. */
static uint32_t priority(const struct lock_claim *claim)
{
    uint32_t x = claim->watch_id;
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

static uint32_t size_of(const struct lock_claim *tree)
{
    return tree ? tree->below + 1 : 0;
}

static void count(struct lock_claim *claim, int kind)
{
    if (kind == BY_WATCH)
        claim->below = size_of(claim->tree[kind].left) + size_of(claim->tree[kind].right);
}

static void split(int kind, struct lock_claim *tree, const struct lock_claim *claim,
                  struct lock_claim **before, struct lock_claim **after)
{
    if (!tree) {
        *before = NULL;
        *after = NULL;
        return;
    }
    struct lock_branch *branch = &tree->tree[kind];
    if (is_before[kind](tree, claim)) {
        *before = tree;
        split(kind, branch->right, claim, &branch->right, after);
    } else {
        *after = tree;
        split(kind, branch->left, claim, before, &branch->left);
    }
    count(tree, kind);
}

/* Joins two trees. All claims of `before` come before those of `after`. */
static struct lock_claim *join(int kind, struct lock_claim *before, struct lock_claim *after)
{
    if (!before || !after)
        return before ? before : after;
    struct lock_claim *root = priority(before) > priority(after) ? before : after;
    if (root == before)
        before->tree[kind].right = join(kind, before->tree[kind].right, after);
    else
        after->tree[kind].left = join(kind, before, after->tree[kind].left);
    count(root, kind);
    return root;
}

static void insert(int kind, struct lock_claim **link, struct lock_claim *claim)
{
    while (*link && priority(*link) > priority(claim)) {
        struct lock_claim *above = *link;
        above->below += kind == BY_WATCH;
        link = is_before[kind](claim, above) ? &above->tree[kind].left : &above->tree[kind].right;
    }
    split(kind, *link, claim, &claim->tree[kind].left, &claim->tree[kind].right);
    count(claim, kind);
    *link = claim;
}

static void take_out(int kind, struct lock_claim **link, struct lock_claim *claim)
{
    while (*link != claim) {
        struct lock_claim *above = *link;
        above->below -= kind == BY_WATCH;
        link = is_before[kind](claim, above) ? &above->tree[kind].left : &above->tree[kind].right;
    }
    *link = join(kind, claim->tree[kind].left, claim->tree[kind].right);
    claim->tree[kind] = (struct lock_branch){NULL, NULL};
}

uint16_t lock_index_free_watch(const struct ls_session *session)
{
    uint32_t taken = 0; /* all numbers from 1 to this one are taken */
    for (const struct lock_claim *at = session->watchers; at;) {
        uint32_t left = size_of(at->tree[BY_WATCH].left);
        bool dense = at->watch_id == taken + left + 1;
        taken += dense ? left + 1 : 0;
        at = dense ? at->tree[BY_WATCH].right : at->tree[BY_WATCH].left;
    }
    return taken < UINT16_MAX ? (uint16_t)(taken + 1) : 0;
}

struct lock_claim *lock_index_watcher(const struct ls_session *session, uint16_t watch_id)
{
    struct lock_claim *at = session->watchers;
    while (at && at->watch_id != watch_id)
        at = watch_id < at->watch_id ? at->tree[BY_WATCH].left : at->tree[BY_WATCH].right;
    return at;
}

/* Returns the claim of this owner on the mutex that is nearest to the root, or NULL. */
static struct lock_claim *top_of(const struct ls_mutex *mutex, uint64_t owner)
{
    struct lock_claim *at = mutex->session->owners;
    while (at && (at->mutex != mutex || at->owner != owner)) {
        bool behind = at->mutex != mutex ? at->mutex < mutex : at->owner < owner;
        at = behind ? at->tree[BY_OWNER].right : at->tree[BY_OWNER].left;
    }
    return at;
}

/* Returns a claim of the owner of `top`: with `tomb` the tomb, otherwise the claim that is no tomb; NULL if
 * there is none. The tree has at most one of each for an owner and a mutex. */
static struct lock_claim *find(struct lock_claim *top, bool tomb)
{
    if (!top || (top->state == LOCK_TOMB) == tomb)
        return top;
    const struct lock_branch *other = &top->tree[BY_OWNER];
    struct lock_claim *side[] = {other->left, other->right};
    for (int i = 0; i < 2; i++) {
        struct lock_claim *at = side[i];
        while (at && (at->mutex != top->mutex || at->owner != top->owner))
            at = i ? at->tree[BY_OWNER].left : at->tree[BY_OWNER].right;
        if (at)
            return at;
    }
    return NULL;
}

struct lock_claim *lock_index_find(const struct ls_mutex *mutex, uint64_t owner)
{
    struct lock_claim *top = top_of(mutex, owner);
    struct lock_claim *alive = find(top, false);
    return alive ? alive : top;
}

struct lock_claim *lock_index_tomb(const struct ls_mutex *mutex, uint64_t owner)
{
    return find(top_of(mutex, owner), true);
}

/* Returns whether a claim in the tree is no tomb. */
static bool any_alive(const struct lock_claim *tree)
{
    return tree && (tree->state <= LOCK_HELD || any_alive(tree->tree[BY_OWNER].left) ||
                    any_alive(tree->tree[BY_OWNER].right));
}

bool lock_index_any_alive(const struct ls_session *session)
{
    return any_alive(session->owners);
}

void lock_index_add(struct lock_claim *claim)
{
    struct ls_session *session = claim->place->session;
    claim->previous = session->last_claim;
    if (claim->previous)
        claim->previous->next = claim;
    else
        session->claims = claim;
    session->last_claim = claim;
    insert(BY_WATCH, &session->watchers, claim);
    insert(BY_OWNER, &session->owners, claim);
}

void lock_index_disown(struct lock_claim *claim)
{
    take_out(BY_OWNER, &claim->place->session->owners, claim);
}

void lock_index_remove(struct lock_claim *claim)
{
    struct ls_session *session = claim->place->session;
    take_out(BY_WATCH, &session->watchers, claim);
    if (claim->previous)
        claim->previous->next = claim->next;
    else
        session->claims = claim->next;
    if (claim->next)
        claim->next->previous = claim->previous;
    else
        session->last_claim = claim->previous;
}
