/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* C03: the search after a lost create keeps a name where the rest of the recipe keeps a path.
 *
 * Source: found by reading the Java WriteLock (findPrefixInChildren). No report is known.
 *
 * A create is done and its answer is lost. The client lists the children and finds its node by the prefix,
 * which names its session. It keeps the name as the list has it, where the answer to the create would have
 * had the whole path. Its place is found by the number, so no node is before its own. But the first in line
 * is a path, which is not equal to the name. So the client is not the owner, and there is no node to wait
 * for: it sleeps for ever. When its caller gives up, the delete gets the name, which is no path, and the
 * node stays.
 *
 * One client and one broken connection are enough. FIXED keeps the path.
 *
 * Caught by no_lost_wakeup. */
#define CLAIM_FIELDS bool bare; /* the node is known by its name without a path */
#include "skeleton/known_by_name.h"

/* The node that a lost create may have made. */
static void on_searched(int rc, const struct String_vector *names, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    char prefix[NAME_MAX_BYTES];
    if (!answered(claim, rc)) {
        return;
    }
    own_prefix(claim, prefix);
    for (int i = 0; rc == ZOK && i < names->count; i++) {
        if (strncmp(names->data[i], prefix, strlen(prefix)) == 0) {
            snprintf(claim->name, sizeof claim->name, "%s", names->data[i]);
#ifndef FIXED
            claim->bare = true;
#endif
            go(claim, claim->ended ? DELETING : READING);
            return;
        }
    }
    go(claim, claim->ended ? DELETING : CREATING);
}

/* The server that the list comes from is not behind the leader. */
static void on_synced(int rc, const char *value, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    (void)value;
    if (answered(claim, rc)) {
        int sent = zoo_aget_children(claim->recipe->zh, directory(claim), 0, on_searched, claim);
        claim->busy = sent == ZOK;
        if (sent == ZMARSHALLINGERROR) {
            lose_session(claim->recipe); /* the library is short of memory: no event follows */
        }
    }
}

static int search(struct claim *claim)
{
    return zoo_async(claim->recipe->zh, directory(claim), on_synced, claim);
}

static void create_lost(struct claim *claim)
{
    claim->phase = SEARCHING; /* at CONNECTED */
}

static void on_found(int rc, const struct Stat *stat, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;
    if (!answered(claim, rc)) {
        return;
    }
    claim->czxid = rc == ZOK ? stat->czxid : 0;
    if (claim->ended) {
        go(claim, DELETING);
    } else if (number_of(claim->name) < 0) {
        fail(claim, LS_ESEQUENCE);
    } else {
        go(claim, rc == ZOK ? LISTING : CREATING);
    }
}

/* Asks for the Stat that the answer to the create would have had. */
static int read_node(struct claim *claim)
{
    char path[PATH_MAX_BYTES];
    node_path(claim, path);
    return zoo_aexists(claim->recipe->zh, path, 0, on_found, claim);
}

/* The first in line is a path. */
static bool is_owner(const struct claim *claim, const struct String_vector *names)
{
    (void)names;
    return claim->ahead[0] == 0 && !claim->bare;
}

static void path_or_name(const struct claim *claim, char path[PATH_MAX_BYTES])
{
    snprintf(path, PATH_MAX_BYTES, "%s%s%s", claim->bare ? "" : directory(claim), claim->bare ? "" : "/",
             claim->name);
}

static void enters(struct claim *claim, enum phase phase)
{
    claim->bare &= phase != CREATING; /* the answer to a create has the path */
}

static const struct variation variation = {.names_session = true,
                                           .names_claim = true,
                                           .is_first = is_owner,
                                           .enters = enters,
                                           .create_lost = create_lost,
                                           .search = search,
                                           .read = read_node,
                                           .path_to_delete = path_or_name};

CANARY(.name = "c03-name-in-place-of-path",
       .summary = "the search after a lost create keeps a name where the rest keeps paths",
       .breaks = "no_lost_wakeup");
