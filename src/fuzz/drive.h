/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Does the run that a fuzzer's input stands for (input.h). */
#ifndef FUZZ_DRIVE_H
#define FUZZ_DRIVE_H

#include "fuzz/input.h"
#include "fuzz/situations.h"
#include "scenario/outcome.h"

#define FUZZ_STEPS_MAX 4000 /* actions of a run; what is left then runs by the default schedule */

/* What a run has done. */
struct fuzz_stats {
    uint64_t steps;     /* actions */
    uint64_t decisions; /* that were possible, the default schedule's not counted */
    uint64_t passed;    /* decisions that were not */
    unsigned grants;
    unsigned faults;
};

enum fuzz_end {
    FUZZ_HOLDS,
    FUZZ_VIOLATED, /* a property is: run->stats says which */
    FUZZ_LIMIT,    /* a limit of the world was met: nothing is said */
    FUZZ_FAILED,   /* no world could be made */
};

struct fuzz_driver {
    const struct ls_recipe *recipe;
    struct situations situations;
    struct fuzz_stats stats; /* of the last run */
    struct scenario scenario;
    struct run run;
    bool open; /* there are a scenario and a run: those of this header, with this recipe */
    uint8_t header[FUZZ_HEADER];
    const struct ls_recipe *entered;
    bool begun; /* it is at its beginning */
    /* Which many runs have in common. */
    struct {
        struct world_image *world;
        struct situations situations;
        struct fuzz_stats stats;
        struct check_stats judged;
        uint64_t layout; /* of the world that it is the beginning of */
        bool known;
    } first;
    struct action enabled[WORLD_ACTIONS_MAX];
};

/* Opens the world that the header says, if it is not that of the input before. False if none can be made. Whoever wants to know
 * what a run alone does calls it before fuzz_run(), which does it by itself. */
bool fuzz_enter(struct fuzz_driver *driver, const uint8_t *bytes, size_t size);

/* Zero-initialise, then set `recipe`, and `situations.slot` if somebody wants to know. One driver at a time. */
enum fuzz_end fuzz_run(struct fuzz_driver *driver, const uint8_t *bytes, size_t size);
void fuzz_close(struct fuzz_driver *driver);

/* The same run once more, with its choices recorded: its trace, written below `folder`, with what is violated in *outcome. */
enum fuzz_end fuzz_record(struct fuzz_driver *driver, const uint8_t *bytes, size_t size, const char *folder,
                          struct outcome *outcome);

/* ---- step by step, for who makes an input (encode.h) ---- */

/* The world of a header, at its beginning. False if none can be made. */
bool fuzz_begin(struct fuzz_driver *driver, const uint8_t *bytes, size_t size);

/* False at the end of a run: there are too many steps, or something is violated. */
bool fuzz_may_go_on(const struct fuzz_driver *driver);

/* What a decision with this first byte chooses between, in driver->enabled; returns how many there are. */
int fuzz_choices(struct fuzz_driver *driver, uint8_t first);

/* Which of so many, at least one, the decision means. */
int fuzz_which(const struct fuzz_driver *driver, const uint8_t *decision, int kept);

/* Whether an action that is possible is what the decision is about. */
bool fuzz_is_about(enum fuzz_what what, const struct action *action);

/* False if it is not possible. */
bool fuzz_apply(struct fuzz_driver *driver, const struct action *action);

#endif
