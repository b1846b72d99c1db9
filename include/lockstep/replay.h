/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Does a run of a scenario again and judges it: the base of regression tests. `lockstep export` writes
 * such tests.
 *
 * A run is a scenario, a schedule, and a list of choices, each a label. With the recipe of its recording
 * the run is the same to the byte. A changed recipe may act in another way from some choice on. Then:
 *
 * - Each further choice is done where it becomes possible, or is left out.
 * - Behind the list the programs go on, all faults end, and the properties that hold at rest are judged.
 *
 * So each judged run is a run of the scenario, and a property that it violates is violated.
 *
 * The choices of a lasso, a run that goes round, hold the marks `cycle` and `hopeless NAME`
 * (docs/trace-format.md). If the last choice does not lead back to `cycle`, the recipe acts in another
 * way. Where the run has come to rest, the properties are also asked whether a process waits for ever.
 *
 * Part of liblockstep_sim (lockstep::sim). One world exists per address space: ls_replay_run() makes one
 * and closes it. No other world may be open meanwhile, in any thread. */
#ifndef LOCKSTEP_REPLAY_H
#define LOCKSTEP_REPLAY_H

#include <lockstep/recipe.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum ls_replay_verdict {
    LS_REPLAY_HOLDS,      /* judged, and not violated */
    LS_REPLAY_NOT_JUDGED, /* not violated, but the premise of a judged property was never met */
    LS_REPLAY_VIOLATED,   /* violated, whatever came after */
    LS_REPLAY_LIMIT, /* no verdict: the world met a limit or an unsupported call, or does not come to rest */
};

/* A run to be done. The caller owns all of it, and changes none of it during ls_replay_run(). */
struct ls_replay {
    const struct ls_recipe *recipe; /* recipe under test; never NULL */
    const char *property;           /* property to be judged; NULL = all that judge the scenario */
    const char *const *scenario;    /* lines of the scenario's text, ended by NULL */
    const char *const *choices;     /* labels in their order, ended by NULL */
    const char *schedule;           /* "directed", "uniform", "pct", "swarm" or "search", as in the trace */
    uint64_t seed;                  /* seed, as in the trace */
    const char *seeded;             /* origin of the seed, as in the trace: NULL, "given" or "swept" */
    const char *without;            /* letters of choice points that the world lacks; NULL = none */
};

#define LS_REPLAY_TEXT_MAX 2048

struct ls_replay_result {
    enum ls_replay_verdict verdict;
    const char *property; /* name of the violated property that is told first; NULL = none is violated */
    const char *promise;  /* sentence of that property; NULL likewise */
    uint64_t step;        /* number of the action that showed the violation, from 1; 0 = no violation */
    uint64_t steps;       /* number of actions in the whole run */
    int choices;          /* number of choices in the list */
    int fits;             /* number of choices, from the first on, that were done as they stand */
    int left_out;         /* number of the others that could not be done */
    /* Lines for people: the violated property and the reason, and the first choice that does not fit. */
    char text[LS_REPLAY_TEXT_MAX];
};

/* Does a run and judges it. Returns 0 and fills in *result, or one of these. After an error `text` says why,
 * and the rest of *result has no meaning.
 *
 * - LS_EINVAL: the scenario, the property or another part cannot be understood.
 * - LS_ENOMEM: memory is short, or no world can be made. */
int ls_replay_run(const struct ls_replay *replay, struct ls_replay_result *result);

/* Returns the built-in recipe of this name (`lockstep list recipes`), or loads the recipe of a shared object
 * if the name is a path. Returns NULL if there is none, or the object is refused. */
const struct ls_recipe *ls_recipe_find(const char *name);

/* Loads the property of a shared object (<lockstep/property.h>) for the life of the program. The property
 * judges later runs by its `modes`, and if a scenario names it. It judges no lasso: its states need not
 * recur. The same path again does nothing. Returns 0, or LS_EINVAL and writes the reason, one clause, into
 * the `size` bytes of `why`. */
int ls_property_load(const char *path, char *why, size_t size);

#ifdef __cplusplus
}
#endif

#endif
