/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Does the run of a fuzzer's input (input_format.h). */
#ifndef FUZZ_DRIVE_H
#define FUZZ_DRIVE_H

#include "fuzz/input_format.h"
#include "fuzz/situations.h"
#include "scenario/outcome.h"

#define FUZZ_STEPS_MAX 4000 /* after so many actions the faults end, the run settles, and rest is judged */

/* Counts of a run. */
struct fuzz_stats {
    uint64_t steps;     /* actions */
    uint64_t decisions; /* decisions other than FUZZ_DEFAULT that were possible */
    uint64_t passed;    /* decisions that were not possible */
    unsigned grants;
    unsigned faults;
};

enum fuzz_end {
    FUZZ_HOLDS,
    FUZZ_VIOLATED, /* run->stats says which property */
    FUZZ_LIMIT,    /* no verdict: a limit of the world was met */
    FUZZ_FAILED,   /* no world could be made */
};

struct fuzz_driver {
    const struct ls_recipe *recipe;
    struct situations situations;
    struct fuzz_stats stats; /* of the last run */
    struct scenario scenario;
    struct run run;
    bool open; /* `scenario` and `run` are open, for this header and the recipe `entered` */
    uint8_t header[FUZZ_HEADER];
    const struct ls_recipe *entered;
    bool begun; /* the run is at its beginning, for the next fuzz_run() */
    /* The beginning of the runs with this header, if `known`. */
    struct {
        struct world_image *world;
        struct situations situations;
        struct fuzz_stats stats;
        struct check_stats judged;
        uint64_t layout; /* world_layout() when `world` was saved */
        bool known;
    } first;
    struct action enabled[WORLD_ACTIONS_MAX];
};

/* Opens the world of the input's header and begins a run in it, if that has not been done yet. Returns false
 * if no world can be made. fuzz_run() calls it, too. */
bool fuzz_enter(struct fuzz_driver *driver, const uint8_t *bytes, size_t size);

/* Does a run. The driver is zero before its first run, apart from `recipe` and, if wanted, `situations.slot`.
 * Only one driver may be open. */
enum fuzz_end fuzz_run(struct fuzz_driver *driver, const uint8_t *bytes, size_t size);
void fuzz_close(struct fuzz_driver *driver);

/* Does a run and records it. Writes the trace of a violation below `folder`, and findings to *outcome. */
enum fuzz_end fuzz_record(struct fuzz_driver *driver, const uint8_t *bytes, size_t size, const char *folder,
                          struct outcome *outcome);

/* ---- step by step, for making an input (encode.h) ---- */

/* Opens the world of a header, at the beginning of a run. Returns false if no world can be made. */
bool fuzz_begin(struct fuzz_driver *driver, const uint8_t *bytes, size_t size);

/* Returns false after FUZZ_STEPS_MAX steps, after a violation, and in a world with world_trouble(). */
bool fuzz_may_go_on(const struct fuzz_driver *driver);

/* Writes to driver->enabled the actions that a decision with this first byte may mean. Returns their
 * number. */
int fuzz_choices(struct fuzz_driver *driver, uint8_t first);

/* Returns the index of the decision's action among the `kept` > 0 actions of fuzz_choices(). */
int fuzz_which(const struct fuzz_driver *driver, const uint8_t *decision, int kept);

/* Returns whether a decision of this kind may mean the action. */
bool fuzz_is_about(enum fuzz_what what, const struct action *action);

/* Does an action. Returns false if it is not possible. */
bool fuzz_apply(struct fuzz_driver *driver, const struct action *action);

#endif
