/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The adapter of ZooKeeper's fake: fakezk behind coord/coordinator.h. Only src/coordzk includes this. */
#ifndef COORDZK_INTERNAL_H
#define COORDZK_INTERNAL_H

#include "coord/coordinator.h"

#include <lockstep/fakezk.h>

/* The services of the world around the fake. */
extern const struct coord_host *the_host;

/* ---- steps.c: the fake's steps as actions ---- */

/* Writes the step of the fake that an action with TRAIT_STEP, or EXPIRE, stands for. */
void step_of_action(const struct action *action, struct fakezk_step *out);

void steps_list(struct action_list *list, int client);
bool steps_enabled(const struct action *action);
void steps_do(const struct action *action, struct coord_news *news);
bool steps_next_by_default(int client, struct action *out);
bool steps_last_by_default(struct action *out);

/* ---- faults.c ---- */

const char *faults_lacking(const struct world_options *options, enum world_fault fault);
void faults_list(struct action_list *list, int client, enum coord_place place);
bool faults_enabled(const struct action *action);
void faults_do(const struct action *action);
unsigned faults_price(const struct action *action);

/* ---- events.c: from what the fake says to semantic events ---- */

void events_open(void);
void events_observe(void *ctx, const struct fakezk_event *event);

/* Role of a path for the locks of the world. */
enum path_role {
    PATH_OTHER,
    PATH_DIRECTORY, /* the path of a lock, or a child of it below which nodes of the lock stand */
    PATH_CONTENDER, /* a contender of a lock, if it is ephemeral */
    PATH_QUEUED,    /* a node that queues for a lock, if it is ephemeral */
    PATH_COUNT,     /* the node of a lock's capacity */
};
/* Returns the lock that a path is about, -1 if there is none. Of the locks of a group it is the one whose
 * contender the path is, or else the first. */
int lock_of_path(const char *path, enum path_role *role);
/* Returns the path of a client's oldest contender in the group of a lock, if it is one of that lock.
 * Otherwise returns the path of the client's oldest node that queues there, or NULL. */
const char *contender_of(int client, int lock);
/* Returns the index-th directory below which nodes of a lock stand, the deepest first, and the path of the
 * lock last. NULL behind them. */
const char *lock_directory(int lock, int index);

/* ---- texts.c ---- */

bool texts_label_word(const char *word);
void texts_answer(const struct action *delivery, char text[WORLD_LABEL_MAX]);
void texts_label(const struct action *action, char label[WORLD_LABEL_MAX]);
void texts_dump(char *text, size_t size);
void texts_stimulus(const struct action *delivery, char text[WORLD_LABEL_MAX]);

/* ---- guarded_write.c: writes that commit only while the hold stands; called with the client entered ---- */

void guarded_start(int client, int lock, int owner, int64_t position);
/* Returns true if a write of this owner (-1 = of any) has no answer yet. */
bool guarded_waits(int client, int owner);
/* Sends unanswered writes again when the link is up. */
void guarded_resume(int client, bool new_session);
/* Emits an effect if this multi with a check, which committed or failed, was a guarded write. */
void guarded_observe(const struct fakezk_event *from);
int guarded_ask(int client, int lock, int owner);

/* ---- choice_points.c: worlds that lack choice points ---- */

/* Removes the actions that are no choice from a list; returns how many are left. */
int without_filter(struct action *actions, int count);

#endif
