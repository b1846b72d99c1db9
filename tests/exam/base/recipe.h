/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A correct lock recipe whose functions can be replaced one by one: recipe.c defines each of them as a weak symbol, and
 * a file of tests/exam that defines a function of the same name replaces it. It is examples/recipes/next_in_line.c, which
 * docs/your-own-recipe.md explains, with guarded writes besides. */
#ifndef EXAM_BASE_RECIPE_H
#define EXAM_BASE_RECIPE_H

#include <lockstep/error.h>
#include <lockstep/recipe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#define CLAIMS_MAX 8
#define PATH_MAX_BYTES 256
#define PREFIX "lock-"

enum phase { FREE, MAKING_PARENT, CREATING, LISTING, WATCHING, WAITING, HELD, UNWATCHING, DELETING };

/* One owner's way to one lock and back. */
struct claim {
    struct recipe *recipe;
    struct ls_timer deadline;
    struct ls_stamp
        sent; /* when the node was asked for: the session lives half its timeout longer at least */
    int64_t czxid;
    int32_t number; /* behind the name of our node */
    bool named;     /* there is a node of ours, or was */
    uint8_t phase;  /* enum phase */
    uint8_t lock, owner;
    int depth;        /* while HELD */
    uint8_t parent;   /* MAKING_PARENT: how many characters of the directory's path exist */
    bool busy;        /* a request is under way */
    bool ended;       /* the caller has its answer: what is left is ours to clean up */
    bool freeing;     /* given back: FREED is owed */
    bool trying;      /* does not wait */
    bool watching;    /* a watch stands, or may stand, on `ahead` */
    char ahead[64];   /* the name of the node before ours */
    int64_t spare[2]; /* zero; a replaced function may keep a value here */
};

struct recipe {
    struct ls_env *env;
    const struct ls_recipe_config *config;
    zhandle_t *zh;
    struct ls_timer reopen;
    int64_t session;    /* 0 = none */
    int32_t timeout_ms; /* of the session */
    bool connected;
    bool was_suspended;
    bool closing; /* inside zookeeper_close(), which runs callbacks */
    bool stopping;
    struct claim claim[CLAIMS_MAX];
    int64_t spare[2]; /* zero; a replaced function may keep a value here */
};

void tell_session(struct recipe *r, enum ls_report_kind kind);
void tell(struct claim *claim, enum ls_report_kind kind, int rc);
void clear(struct claim *claim, struct recipe *r);
void forget(struct claim *claim);
void fail(struct claim *claim, int rc);
void open_session(struct recipe *r);
void close_session(struct recipe *r);
void on_reopen(void *ctx);
void lose_session(struct recipe *r);
void on_connected(struct recipe *r);
void on_event(zhandle_t *zh, int type, int state, const char *path, void *ctx);
const char *directory(const struct claim *claim);
void node_path(const struct claim *claim, char path[PATH_MAX_BYTES]);
int32_t number_of(const char *name);
bool answered(struct claim *claim, int rc);
uint8_t next_parent(const struct claim *claim);
void on_parent(int rc, const char *value, const void *ctx);
int make_parent(struct claim *claim);
void on_created(int rc, const char *value, const struct Stat *stat, const void *ctx);
int create(struct claim *claim);
void grant(struct claim *claim);
bool find_place(struct claim *claim, const struct String_vector *names);
void on_list(int rc, const struct String_vector *names, const void *ctx);
void on_ahead(zhandle_t *zh, int type, int state, const char *path, void *ctx);
void on_watched(int rc, const char *value, int size, const struct Stat *stat, const void *ctx);
void ahead_path(const struct claim *claim, char path[PATH_MAX_BYTES]);
int watch(struct claim *claim);
void on_unwatched(int rc, const void *ctx);
int unwatch(struct claim *claim);
void on_deleted(int rc, const void *ctx);
int delete_node(struct claim *claim);
void go(struct claim *claim, enum phase phase);
int start(void *state, struct ls_env *env, const struct ls_recipe_config *config);
void stop(void *state);
struct claim *find(struct recipe *r, int lock, int owner);
void on_deadline(void *ctx);
int acquire(void *state, int lock, int owner, int timeout_ms);
int cancel(void *state, int lock, int owner);
int release(void *state, int lock, int owner);
enum ls_belief query(const void *state, int lock, int owner);
bool idle(const void *state);
void canon(const void *state, struct ls_rename *rename);
int guard(const void *state, int lock, int owner, zoo_op_t *op, char *path, size_t size);
zhandle_t *handle(const void *state);

#endif
