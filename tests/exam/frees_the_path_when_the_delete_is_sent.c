/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Each claim has a block with the path of its node. The recipe frees the block as soon as the delete was sent.
 * A delete whose answer was lost is sent again, and the recipe then writes the path into freed memory.
 * It breaks "what the recipe allocates for it the recipe's" in recipe.h: the block is no longer the recipe's.
 * Another owner may have the block by then. His release deletes the wrong path, and the lock stays taken. */
/* breaks: no_orphan_node */
#include "base/recipe.h"

#define BLOCK(claim) ((char *)(intptr_t)(claim)->spare[0])

static void drop(struct claim *claim)
{
    ls_env_lock(claim->recipe->env);
    ls_env_free(claim->recipe->env, BLOCK(claim));
    ls_env_unlock(claim->recipe->env);
}

void clear(struct claim *claim, struct recipe *r)
{
#ifdef FIXED
    if (claim->recipe != NULL) {
        drop(claim);
    }
#endif
    memset(claim, 0, sizeof *claim);
    claim->recipe = r;
}

int delete_node(struct claim *claim)
{
    if (BLOCK(claim)[0] == 0) {
        node_path(claim, BLOCK(claim));
    }
    int rc = zoo_adelete(claim->recipe->zh, BLOCK(claim), -1, on_deleted, claim);
#ifndef FIXED
    if (rc == ZOK && claim->spare[1]++ == 0) {
        drop(claim); /* the client has copied it */
    }
#endif
    return rc;
}

void canon(const void *state, struct ls_rename *rename)
{
    const struct recipe *r = state;
    rename->session(rename, &r->session);
    for (int i = 0; i < CLAIMS_MAX; i++) {
        const struct claim *claim = &r->claim[i];
        if (claim->phase != FREE) {
            rename->zxid(rename, &claim->czxid);
            if (claim->named) {
                rename->sequence(rename, &claim->number);
            }
            rename->text(rename, claim->ahead);
            if (BLOCK(claim) != NULL) {
                rename->text(rename, BLOCK(claim));
            }
        }
    }
}

/* As lose_session() in base/recipe.c, but that a path in the block is forgotten with the number. */
void lose_session(struct recipe *r)
{
    r->connected = false;
    if (r->session != 0) {
        tell_session(r, LS_REPORT_LOST);
    }
    r->session = 0;
    r->was_suspended = false;
    for (int i = 0; i < CLAIMS_MAX; i++) {
        struct claim *claim = &r->claim[i];
        claim->watching = false;
        if (claim->phase == HELD || claim->ended || claim->freeing) {
            forget(claim);
        } else if (claim->phase != FREE) {
            claim->phase = CREATING;
            claim->named = false;
            BLOCK(claim)[0] = 0;
        }
    }
    ls_env_timer_start(r->env, &r->reopen, "reopen-timer", 1, on_reopen, r);
}

int acquire(void *state, int lock, int owner, int timeout_ms)
{
    struct recipe *r = state;
    struct claim *claim = find(r, lock, owner);
    if (claim != NULL && claim->phase == HELD) {
        claim->depth++;
        tell(claim, LS_REPORT_GRANTED, 0);
        return 0;
    }
    if (claim != NULL) {
        return LS_EALREADY;
    }
    claim = r->claim;
    while (claim < r->claim + CLAIMS_MAX && claim->phase != FREE) {
        claim++;
    }
    if (claim == r->claim + CLAIMS_MAX) {
        return LS_ENOMEM;
    }
    if (timeout_ms == 0 && !r->connected) {
        return LS_EBUSY;
    }
    *claim = (struct claim){
        .recipe = r, .lock = (uint8_t)lock, .owner = (uint8_t)owner, .trying = timeout_ms == 0};
    ls_env_lock(r->env);
    claim->spare[0] = (int64_t)(intptr_t)ls_env_alloc(r->env, PATH_MAX_BYTES);
    ls_env_unlock(r->env);
    if (BLOCK(claim) == NULL ||
        (timeout_ms > 0 && ls_env_timer_start(r->env, &claim->deadline, "deadline-timer",
                                              (uint32_t)timeout_ms, on_deadline, claim) != 0)) {
        clear(claim, r);
        return LS_ENOMEM;
    }
    go(claim, CREATING);
    return 0;
}

void stop(void *state)
{
    struct recipe *r = state;
    r->stopping = true;
    ls_env_timer_stop(r->env, &r->reopen);
    for (int i = 0; i < CLAIMS_MAX; i++) {
        ls_env_timer_stop(r->env, &r->claim[i].deadline);
    }
    close_session(r);
    for (int i = 0; i < CLAIMS_MAX; i++) {
        clear(&r->claim[i], r);
    }
    memset(r, 0, sizeof *r);
}
