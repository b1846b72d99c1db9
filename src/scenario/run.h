/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* One run: the world of this process, the judges that watch it, and if wanted the list of its choices and its
 * story. A driver (a script, a random schedule, a replay) makes the choices through these functions. */
#ifndef SCENARIO_RUN_H
#define SCENARIO_RUN_H

#include "check/check.h"
#include "scenario/narrate.h"
#include "scenario/random_strategy.h"
#include "scenario/scenario.h"
#include "trace/file.h"

#define RUN_SETTLE_STEPS_MAX 20000 /* most steps of a world until it is at rest */

/* The driver of a run. Random schedules are explained in random_strategy.h. */
enum schedule {
    SCHEDULE_DIRECTED,
    SCHEDULE_UNIFORM,
    SCHEDULE_PCT,
    SCHEDULE_SEARCH, /* a search of all runs */
    SCHEDULE_SWARM,
};

const char *schedule_name(enum schedule schedule);

bool schedule_is_random(enum schedule schedule);

/* Returns the schedule of that name; -1 if there is none. */
int schedule_find(const char *name);

/* Events that are not judged yet. */
struct run_events {
    struct event *event; /* owned */
    int count;
    size_t max;
    bool refused; /* memory was short for another event */
};

/* The inputs of a run besides its choices. */
struct run_setup {
    const struct scenario *scenario;
    const struct ls_recipe *recipe;
    enum schedule schedule;
    uint64_t seed;             /* of a random schedule; in other runs see `seeded` */
    enum trace_seed seeded;    /* meaning of `seed` in a run that is not random */
    uint32_t without;          /* of a search: choice points removed from its world (world_without()) */
    struct strategy_plan plan; /* of random runs: how their seeds choose */
    /* the run is one of several parts; its driver does not check the file's claims */
    bool part;
    check_mask spared; /* properties that are not judged, a bit each */
    bool careful;      /* do all steps of recipes from shared objects twice (world_doubt()) */
};

struct run {
    struct run_setup setup;
    struct world *world;
    struct check_set set;
    struct check_stats stats;    /* premises add up over all runs until run_forget() */
    struct narrator *narrator;   /* NULL = silent */
    struct tried tried;          /* of exploring scenarios: union over all runs */
    bool recording;              /* choices are kept */
    struct run_events *held;     /* NULL = events are judged at once */
    bool overflow;               /* the world did not come to rest within the limit */
    int faults_max;              /* of a search: maximum of faults in one run, -1 = the scenario's own */
    uint64_t steps;              /* actions applied in this run */
    struct trace_choice *choice; /* labels are owned */
    int choices;
    size_t choices_max;
    check_mask told;        /* violations so far that the file does not declare */
    int failing_choices;    /* choices up to the last new violation, 0 if there is none */
    uint64_t failing_steps; /* actions up to that violation */
    void (*watch)(void *ctx, const struct run *run,
                  const struct action *action); /* before each action; may be NULL */
    void *watch_ctx;
    void (*watch_event)(void *ctx, const struct event *event); /* for each event; may be NULL */
};

/* Prepares for runs of a scenario; no event has happened yet. Returns 0, or -1 with errno set if the arena
 * cannot be mapped. The world stays mapped until run_leave_world(). */
int run_init(struct run *run, const struct run_setup *setup);

/* Starts a run: lays out the world anew and starts its processes with `autostart`. `seed` and `schedule`
 * replace those of the setup. Keeps the findings, `recording` and the narrator. */
void run_begin(struct run *run, enum schedule schedule, uint64_t seed);

/* Starts a run from an image that world_save() took right after run_begin(), with the judges' findings of
 * that moment. The narrator and `watch_event` do not get the events of the beginning. */
void run_begin_from(struct run *run, const struct world_image *image, const struct check_stats *stats);

/* Frees everything but the world. The narrator is the caller's. */
void run_close(struct run *run);

/* Closes the world, so that a caller can open its own at the same address. No run may be open. */
void run_leave_world(void);

void run_options(const struct run_setup *setup, struct world_options *options);

/* Forgets the judges' findings. */
void run_forget(struct run *run);

/* Applies an enabled action. Returns 0, or LS_EINVAL if it is not enabled. */
int run_apply(struct run *run, const struct action *action);

/* Does one step of a search: an action that world_actions() has just listed, the `depth`th of its run. Does
 * not record it and does not call `watch`. */
void run_do(struct run *run, const struct action *action, uint64_t depth);

/* Does what run_do() does, but adds the events that the judges observe to a list in place of judging them. */
void run_do_held(struct run *run, const struct action *action, uint64_t depth, struct run_events *held);

/* Judges events as if they happened now, in the `depth`th step of the run. */
void run_judge(struct run *run, const struct event *events, int count, uint64_t depth);

/* Returns whether the scenario allows an enabled action now. A directed scenario allows all. An exploring one
 * allows program steps only in their order, and faults only while a budget pays for them. */
bool run_allows(const struct run *run, const struct action *action);

/* Applies the action with this label. Returns 0, or an error of world_find() with *why set. */
int run_apply_label(struct run *run, const char *label, const char **why);

/* - run_settle(): runs the default schedule until rest.
 * - run_pass_time(): lets `ms` pass; without a clock, lets sessions expire and timers fire.
 * - run_heal(): ends all faults in force.
 *
 * The first two set `overflow` if world_settle() or world_pass_time() returns an error, as at
 * RUN_SETTLE_STEPS_MAX steps. */
void run_settle(struct run *run);
void run_pass_time(struct run *run, int ms);
void run_heal(struct run *run);

/* If the world is at rest, judges what must hold there. Returns false if it is not at rest. */
bool run_rest(struct run *run);

/* Tries to complete the run without further faults: ends the faults, and does up to 64 steps of programs with
 * a settle behind each. If the world is at rest then, judges what must hold there. `told`, the failing
 * choices and the failing steps stay. */
void run_go_on(struct run *run);

/* Records a choice that is no action. */
void run_mark(struct run *run, const char *mark);

/* Writes the action of a STEP_ACTION for this run: fills in the slot of a path, the session of an expiry, and
 * the `rc` of a cut. Returns 0 or an error. */
int run_resolve(struct run *run, const struct scenario_command *command, struct action *action);

/* Writes the command as in a scenario. */
void run_command_text(const struct run *run, const struct scenario_command *command, char *text, size_t size);

/* Returns the world's first trouble (world_trouble()), or else a limit of the driver or the judges; NULL =
 * none. */
const char *run_trouble(const struct run *run);

/* Returns a number that grows with each action that a run of this process does, and with run_beat(). If it
 * does not grow, the process may be stuck. */
uint64_t run_heartbeat(void);

/* Makes run_heartbeat() grow: for work that does no action in this process. */
void run_beat(void);

/* Returns whether a property is violated that the scenario does not declare as violated. */
bool run_violated(const struct run *run);

#endif
