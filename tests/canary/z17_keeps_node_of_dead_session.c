/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Z17: keeps its place after a reconnection if its node is still there, whichever session it belongs to.
 *
 * Source: CURATOR-696, mended by pull request 500 of apache/curator; seen in apache/druid, issue 16411.
 *
 * Recipes that queue again after each reconnection make way for each other for ever (Z16). So this one looks
 * whether its node is still there, and goes on with it if so. But the session may have ended meanwhile. A
 * new session may begin before the servers have removed the nodes of the old one. A goes on with a node that
 * is about to vanish, finds itself first, and is granted the lock. The node goes, A gets no report, and the
 * next client in line is granted too. Curator's leader latch did this after Z16 was mended: a repair for
 * liveness broke safety.
 *
 * FIXED compares the owner of the node with its session.
 *
 * Caught by at_most_one_holder. */
#include "skeleton/known_by_number.h"

static bool is_own(const struct claim *claim, const struct Stat *stat)
{
#ifdef FIXED
    return stat->ephemeralOwner == claim->recipe->session;
#else
    (void)claim;
    (void)stat;
    return true; /* the node may belong to a session that has ended */
#endif
}

static void on_read(int rc, const struct Stat *stat, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    if (!answered(claim, rc)) {
        return;
    }
    if (rc == ZOK && is_own(claim, stat)) {
        queue_up(claim, stat);
        return;
    }
    if (claim->watching && !claim->ended) {
        lose_session(
            claim->recipe); /* another client has removed the node: the watch goes with the session */
        return;
    }
    begin(claim); /* another session's node may have the number by now */
    if (claim->ended) {
        clean_up(claim);
    } else {
        go(claim, CREATING);
    }
}

static int read_node(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    node_path(claim, path);
    return zoo_aexists(claim->recipe->zh, path, 0, on_read, claim);
}

static void keep_node(struct claim *claim)
{
    claim->phase = claim->number != NO_NUMBER ? READING : CREATING;
}

static bool look_for_node(struct claim *claim)
{
    if (claim->phase == LISTING || claim->phase == WATCHING || claim->phase == WAITING) {
        claim->phase = READING;
    }
    return false;
}

static void finish_reading(struct claim *claim)
{
    if (claim->phase == READING) {
        go(claim, READING); /* whose node it is decides whether it is to be deleted */
    } else {
        clean_up(claim);
    }
}

static const struct variation variation = {.next_session = keep_node,
                                           .reconnected = look_for_node,
                                           .after_failure = finish_reading,
                                           .read = read_node};

CANARY(.name = "keeps-node-of-dead-session",
       .summary =
           "keeps its place after a reconnection if its node is still there, whichever session it belongs to",
       .breaks = "at_most_one_holder");
