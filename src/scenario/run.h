/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* One run: the world of this address space, the judges that watch it, and, if wanted, the list of its choices
 * and its story. Whoever chooses (a script, a random schedule, a replay) drives it through these functions.
 */
#ifndef SCENARIO_RUN_H
#define SCENARIO_RUN_H

#include "check/check.h"
#include "scenario/narrate.h"
#include "scenario/scenario.h"
#include "scenario/strategy.h"
#include "trace/file.h"

#define RUN_SETTLE_STEPS_MAX 20000 /* a world that needs more than this to come to rest never will */

/* Who chooses. A random schedule of a directed scenario has no clock. */
enum schedule {
    SCHEDULE_DIRECTED,
    SCHEDULE_UNIFORM, /* any enabled action, each as likely as the others */
    SCHEDULE_PCT,     /* by random priorities that change at random steps */
    SCHEDULE_SEARCH,  /* a search of all runs */
    SCHEDULE_SWARM,   /* random, with those kinds of fault that its seed draws */
};

/* "directed", "uniform", "pct", "search", "swarm". */
const char *schedule_name(enum schedule schedule);

/* Uniform, PCT or swarm. */
bool schedule_is_random(enum schedule schedule);

/* The inverse; -1 if there is none. */
int schedule_find(const char *name);

/* Events that wait to be judged. */
struct run_events {
    struct event *event; /* owned */
    int count;
    size_t max;
    bool refused; /* memory was short for one more */
};

/* What makes a run, besides its choices. */
struct run_setup {
    const struct scenario *scenario;
    const struct ls_recipe *recipe;
    enum schedule schedule;
    uint64_t seed;             /* of a random schedule; otherwise of the run constants, if `seeded` */
    enum trace_seed seeded;    /* of a run that is not random */
    uint32_t without;          /* of a search: choice points that its world lacks, see world_without() */
    struct strategy_plan plan; /* of random runs: how their seeds choose */
    bool part;                 /* of a larger whole: what the file claims is for the whole to meet */
    check_mask spared;         /* properties that are not judged, a bit each */
    bool careful; /* all steps of recipes from shared objects are done twice, see world_doubt() */
};

struct run {
    struct run_setup setup;
    struct world *world;
    struct check_set set;
    struct check_stats stats;    /* premises add up over runs until run_forget() */
    struct narrator *narrator;   /* NULL = silent */
    struct tried tried;          /* of exploring scenarios: by all runs together */
    bool recording;              /* choices are kept */
    struct run_events *held;     /* NULL = events are judged at once */
    bool overflow;               /* the world did not come to rest within the limit */
    int faults_max;              /* of a search: faults in one run at most, -1 = as the scenario says */
    uint64_t steps;              /* actions applied in this run */
    struct trace_choice *choice; /* labels are owned */
    int choices;
    size_t choices_max;
    check_mask told;        /* undeclared violations seen so far */
    int failing_choices;    /* choices up to the last of them, 0 if there is none */
    uint64_t failing_steps; /* and actions */
    void (*watch)(void *ctx, const struct run *run,
                  const struct action *action); /* before each action; may be NULL */
    void *watch_ctx;
    void (*watch_event)(void *ctx, const struct event *event); /* each event; may be NULL */
};

/* Prepares for runs of a scenario. Nothing has happened yet. Returns 0, or -1 if memory is short or the arena
 * cannot be mapped (errno says which). The world stays mapped for the life of the process. */
int run_init(struct run *run, const struct run_setup *setup);

/* Starts a run from the beginning: the world is laid out anew and its processes start. `seed` and `schedule`
 * may differ from those of the setup. Keeps recording and narrator as they are. */
void run_begin(struct run *run, enum schedule schedule, uint64_t seed);

/* Starts a run from what world_save() has saved right behind such a beginning, with what the judges had found then. Nobody is told
 * of what happens at the beginning. */
void run_begin_from(struct run *run, const struct world_image *image, const struct check_stats *stats);

/* Frees everything but the world. The narrator is the caller's. */
void run_close(struct run *run);

/* Gives the address space of the world back, for whoever opens one himself. No run may be open. */
void run_leave_world(void);

/* The options that the setup stands for. */
void run_options(const struct run_setup *setup, struct world_options *options);

/* Forgets what the judges have found. */
void run_forget(struct run *run);

/* Applies an enabled action. Returns 0, or LS_EINVAL if it is not enabled. */
int run_apply(struct run *run, const struct action *action);

/* One step of a search: an action that world_actions() has just listed, the `depth`th of its run. Neither recorded nor
 * watched. */
void run_do(struct run *run, const struct action *action, uint64_t depth);

/* The same, but the events that a judge wants to see are added to a list in place of being judged. */
void run_do_held(struct run *run, const struct action *action, uint64_t depth, struct run_events *held);

/* Judges events as if they happened now, in the `depth`th step of the run. */
void run_judge(struct run *run, const struct event *events, int count, uint64_t depth);

/* Whether the scenario allows an enabled action at this moment of the run. */
bool run_allows(const struct run *run, const struct action *action);

/* Applies an action whose label this is. Returns 0, or an error of world_find() with *why set. */
int run_apply_label(struct run *run, const char *label, const char **why);

/* The default schedule until rest; until time has passed; until all faults are over. Sets `overflow` if it
 * takes too long. */
void run_settle(struct run *run);
void run_pass_time(struct run *run, int ms);
void run_heal(struct run *run);

/* Judges what is judged at rest, if the world is at rest; returns whether it is. */
bool run_rest(struct run *run);

/* Goes on to the end without any further fault: faults end, programs come to theirs, the world to rest, and what is judged then
 * is judged. Gives up after so many steps. What `run` says of the first violation and its trace stays as it is. */
void run_go_on(struct run *run);

/* Records a choice that is no action. */
void run_mark(struct run *run, const char *mark);

/* What an ACTION command stands for in this run: sessions and paths have numbers only there. Returns 0 or an
 * error. */
int run_resolve(struct run *run, const struct scenario_command *command, struct action *action);

/* The command as a scenario would write it. */
void run_command_text(const struct run *run, const struct scenario_command *command, char *text, size_t size);

/* The first limit or unsupported call that was met, NULL if none. */
const char *run_trouble(const struct run *run);

/* A number that grows with each action of any run in this process: what stands still does not end. */
uint64_t run_heartbeat(void);

/* A step that others have done: they are alive. */
void run_beat(void);

/* True if a property is violated that the scenario does not declare to be. */
bool run_violated(const struct run *run);

#endif
