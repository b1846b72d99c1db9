/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The adapter of ZooKeeper's fake: fakezk behind coord/coordinator.h. Outside of src/coordzk, only tests
 * include this. */
#ifndef COORDZK_INTERNAL_H
#define COORDZK_INTERNAL_H

#include "coord/coordinator.h"

#include <lockstep/fakezk.h>

extern const struct coord_host *the_host;

/* ---- steps.c: the fake's steps as actions ---- */

/* Writes the fake's step for an action that has TRAIT_STEP, or is an ACTION_EXPIRE. */
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

/* ---- events.c ---- */

void events_open(void);
void events_observe(void *ctx, const struct fakezk_event *event);

/* The role of a path for the locks of the world. */
enum path_role {
    PATH_OTHER,
    PATH_DIRECTORY, /* the path of a lock, or one of the recipe's `directories` below it */
    PATH_CONTENDER, /* a contender of a lock, if it is ephemeral */
    PATH_QUEUED,    /* a node that queues for a lock, if it is ephemeral */
    PATH_COUNT,     /* the node of a lock's capacity */
};
/* Returns the lock that a path is about, -1 = none, and sets *role. In a group this is the lock whose
 * contender the path is, or else the first lock. */
int lock_of_path(const char *path, enum path_role *role);
/* Looks at a client's oldest ephemeral node in each directory of a lock. Returns the path of the first that
 * is a contender of that lock. If there is none, returns the first that queues for it, or NULL. */
const char *contender_of(int client, int lock);
/* Returns the index-th directory with nodes of a lock: the recipe's `directories`, then the path of the lock.
 * NULL behind them. */
const char *lock_directory(int lock, int index);

/* ---- texts.c ---- */

bool texts_label_word(const char *word);
void texts_detail(const struct action *action, struct coord_detail *detail);
void texts_answer(const struct action *delivery, char text[WORLD_LABEL_MAX]);
void texts_label(const struct action *action, char label[WORLD_LABEL_MAX]);
void texts_dump(char *text, size_t size);
void texts_stimulus(const struct action *delivery, char text[WORLD_LABEL_MAX]);

/* ---- guarded_write.c: writes that commit only while the hold stands; called with the client entered ---- */

void guarded_start(int client, int lock, int owner, int64_t position);
/* Returns true if a write of this owner has no answer yet; -1 = of any owner. */
bool guarded_waits(int client, int owner);
/* Sends unanswered writes again when the link is up. */
void guarded_resume(int client, bool new_session);
/* Emits EVENT_EFFECT if this FAKEZK_EFFECT is of a guarded write. */
void guarded_observe(const struct fakezk_event *from);
int guarded_ask(int client, int lock, int owner);

/* ---- ablation.c: worlds that lack choice points ---- */

/* Removes the actions that are no choice; returns how many are left. */
int without_filter(struct action *actions, int count);

#endif
