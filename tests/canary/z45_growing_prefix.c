/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Z45: creates again under a name that begins with its id once more, and does not find what it had created.
 *
 * Source: CURATOR-190, pull request 69 of apache/curator. In Curator persistent ephemeral nodes did this at
 * each reconnection, and all of them lived as long as the session.
 *
 * This recipe has protection (Z01). Each time that a create has to be done again, it puts its id in front of
 * the name. It looks whether a node of that name is there already, and creates one if not. But the name is
 * the one of the last time, which begins with the id. Now the id is there twice, no node has such a name,
 * and each loss creates another node.
 *
 * FIXED always starts from the plain name.
 *
 * Caught by no_orphan_node: at rest there are two nodes of one waiter. */
#define NAME_MAX_BYTES 192
#define CLAIM_FIELDS char name[NAME_MAX_BYTES]; /* the beginning of the name of its node */
#include "skeleton/known_by_id.h"

/* Puts the id in front of the name. */
static void protect(struct claim *claim)
{
    char id[ID_CHARACTERS + 1], base[NAME_MAX_BYTES];
    strcpy(base, PREFIX);
#ifndef FIXED
    memcpy(base, claim->name, sizeof base); /* the second time there is an id in it */
#endif
    id_text(claim, id);
    memset(claim->name, 0, sizeof claim->name);
    snprintf(claim->name, sizeof claim->name, "%s%.*s", id, NAME_MAX_BYTES - ID_CHARACTERS - 1, base);
}

static void begun(struct claim *claim)
{
    strcpy(claim->name, PREFIX);
    protect(claim);
}

static void create_lost(struct claim *claim)
{
    protect(claim);
    expect_a_node(claim);
}

static void copy_name(const struct claim *claim, char name[NAME_MAX_BYTES])
{
    memcpy(name, claim->name, NAME_MAX_BYTES);
}

static void show_name(const struct claim *claim, struct ls_rename *rename)
{
    rename->text(rename, claim->name);
}

static const struct variation variation = {
    .begun = begun, .create_lost = create_lost, .name_of = copy_name, .show = show_name};

CANARY(.name = "growing-prefix",
       .summary = "creates again under a name that begins with its id once more, and does not find what it "
                  "had created",
       .breaks = "no_orphan_node");
