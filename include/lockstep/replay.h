/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* One run of a scenario again, judged: what a regression test is made of. `lockstep export` writes such tests.
 *
 * A run is a scenario, who chose, and the list of choices, each a label. With the recipe that it was recorded with the
 * run is the same to the byte. A mended recipe acts otherwise from some choice on: what is possible of the rest is done
 * all the same, where it becomes possible; then the programs go on, all faults end, and what holds at rest is judged. So
 * every run that is judged is a run of the scenario, and a property that it violates is violated. Choices may hold the marks of a
 * run that goes round, `cycle` and `hopeless NAME` (docs/trace-format.md): then the last choice has to lead back to `cycle`, or
 * the recipe acts otherwise. Whether somebody waits for ever is also asked where everything has come to rest.
 *
 * Part of liblockstep_sim (lockstep::sim). One world exists per address space: not while another one is open, and not
 * from several threads. Each call makes one and leaves none. */
#ifndef LOCKSTEP_REPLAY_H
#define LOCKSTEP_REPLAY_H

#include <lockstep/recipe.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ls_replay_verdict {
    LS_REPLAY_HOLDS, /* judged, and not violated */
    LS_REPLAY_NOT_JUDGED, /* not violated, but the property's premise was never met: the run says nothing about it */
    LS_REPLAY_VIOLATED, /* violated, whatever came after */
    LS_REPLAY_LIMIT, /* no verdict: the world met a limit or a call that it does not support, or never rests */
};

/* What is to be run. All of it stays the caller's. */
struct ls_replay {
    const struct ls_recipe *recipe; /* under test; must not be NULL */
    const char *property;           /* the one to be judged; NULL = all that the scenario is judged by */
    const char *const *scenario;    /* its text, line by line, NULL behind the last */
    const char *const *choices;     /* labels in their order, NULL behind the last */
    const char *schedule;           /* who chose: "directed", "uniform", "pct", "swarm" or "search" */
    uint64_t seed;                  /* as in the trace */
    const char *seeded;             /* what the seed stands for: NULL, "given" or "swept", as in the trace */
    const char *without;            /* letters of choice points that the world lacks; NULL = it has all */
};

#define LS_REPLAY_TEXT_MAX 2048

struct ls_replay_result {
    enum ls_replay_verdict verdict;
    const char *property; /* the violated one; of several the first; NULL if none is */
    const char *promise;  /* what it promises, a sentence; NULL likewise */
    uint64_t step;        /* the action that showed the violation, counted from 1 */
    uint64_t steps;       /* actions of the whole run */
    int choices;          /* of the list */
    int fits;             /* so many of them, from the first on, were done as they stand */
    int left_out;         /* so many of the others could not be done */
    char text
        [LS_REPLAY_TEXT_MAX]; /* all that as text for people, lines: what is violated and by what, and from which choice
                                      on the list does not fit */
};

/* Runs and judges. Returns 0 and fills in *result; or LS_EINVAL if the scenario, the property or another part cannot be
 * understood, LS_ENOMEM if memory is short or no world can be made: then the text says why, and nothing else in *result
 * means anything. */
int ls_replay_run(const struct ls_replay *replay, struct ls_replay_result *result);

/* A built-in recipe by its name (`lockstep list recipes`), NULL if there is none of that name. */
const struct ls_recipe *ls_recipe_find(const char *name);

/* Loads the property of a shared object (<lockstep/property.h>), for the life of the program: each run from then on is judged by
 * it too. The same path again does nothing. Returns 0; or LS_EINVAL and says why in `why`, of `size` bytes, one clause. */
int ls_property_load(const char *path, char *why, size_t size);

#ifdef __cplusplus
}
#endif

#endif
