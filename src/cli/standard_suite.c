/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The standard suite: situations for any recipe, in scenarios/suite. Folders below it are for other kinds of
 * lock than the mutex, and for other coordinators than ZooKeeper. An exploring situation is searched up to a
 * number of states; a larger one gets random schedules after that. */
#include "cli/cli.h"

#include "base/assert.h"
#include "sim/abilities.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#define STATES_MAX 400000

void cli_suite_limits(struct cli_options *options)
{
    if (options->suite && options->search.states_max == 0) {
        options->search.states_max = STATES_MAX;
    }
    LS_ASSERT(!options->suite || options->search.states_max > 0);
}

const char *cli_suite_folder(void)
{
    static char path[PATH_MAX];
    if (access("scenarios/suite", R_OK | X_OK) == 0) {
        return "scenarios/suite";
    }
    return cli_find_data(path, "scenarios/suite", "share/lockstep/scenarios/suite") ? path : NULL;
}

#define OWNERS_MAX 8

/* The levels of one process by lock and owner, counted over the steps of its program: acquires, also those
 * that may fail, minus releases; 0 after a close. */
struct depths {
    const struct world_options *options;
    int of[WORLD_LOCKS_MAX][OWNERS_MAX];
};

/* Returns the levels that an owner holds of all locks of the group. */
static int depth_in_group(const struct depths *depths, int lock, int owner)
{
    int sum = 0;
    for (int other = 0; other < depths->options->locks; other++) {
        if (depths->options->lock[other].group == depths->options->lock[lock].group) {
            sum += depths->of[other][owner];
        }
    }
    LS_ASSERT(lock < depths->options->locks && sum >= depths->of[lock][owner]);
    return sum;
}

/* Counts what the owner does within the report of the grant (`on granted:`). Within the report of a failure
 * (`on failed:`) the owner holds nothing that an acquire could add to. */
static bool goes_deeper_in_report(struct depths *depths, const struct action *op)
{
    int *depth = &depths->of[op->lock][op->owner & (OWNERS_MAX - 1)];
    unsigned reaction = ACTION_IS_ON_GRANTED(op->modes);
    *depth += reaction == ACTION_ACQUIRE ? 1 : reaction == ACTION_RELEASE ? -1 : 0;
    return reaction == ACTION_ACQUIRE;
}

/* Counts one step of a process. Returns whether the step acquires a lock of a group of which the owner
 * holds a lock already. */
static bool goes_deeper(struct depths *depths, const struct action *op)
{
    int *depth = depths->of[op->lock];
    int owner = op->owner & (OWNERS_MAX - 1);
    bool deep = false;
    switch (op->kind) {
    case ACTION_ACQUIRE:
        for (int i = 0; i <= action_more_locks(op); i++) {
            depths->of[action_lock_at(op, i)][owner]++;
            deep |= depth_in_group(depths, action_lock_at(op, i), owner) > 1;
        }
        return goes_deeper_in_report(depths, op) || deep;
    case ACTION_RELEASE:
        for (int i = 0; i <= action_more_locks(op); i++) {
            depths->of[action_lock_at(op, i)][owner] -= depths->of[action_lock_at(op, i)][owner] > 0;
        }
        return false;
    case ACTION_CLOSE:
        memset(depth, 0, sizeof depths->of[op->lock]);
        return false;
    default:
        return false;
    }
}

static bool reenters(const struct world_options *options, const struct world_program *program)
{
    struct depths depths = {.options = options};
    bool deep = false;
    for (int i = 0; i < program->count; i++) {
        deep |= goes_deeper(&depths, &program->ops[i]);
    }
    return deep;
}

/* As reenters(), for the commands of a directed scenario. A try, or an acquire with a deadline, adds no level
 * for later commands, because it may fail. */
static bool commands_reenter(const struct scenario *scenario)
{
    struct depths depths[WORLD_PROCESSES_MAX] = {0};
    for (int i = 0; i < WORLD_PROCESSES_MAX; i++) {
        depths[i].options = &scenario->options;
    }
    bool deep = false;
    for (int i = 0; i < scenario->commands; i++) {
        const struct scenario_command *command = &scenario->command[i];
        const struct action *op = &command->action;
        if (command->step == STEP_ACTION && op->process < WORLD_PROCESSES_MAX) {
            struct depths before = depths[op->process];
            deep |= goes_deeper(&depths[op->process], op);
            if (op->kind == ACTION_ACQUIRE && op->timeout_ms >= 0) {
                depths[op->process] = before;
            }
        }
    }
    return deep;
}

/* Returns why the recipe cannot do an operation, as a clause; NULL = it can. */
static const char *lacks(const struct ls_recipe *recipe, const struct action *op)
{
    switch (op->kind) {
    case ACTION_WRITE:
        return op->guarded == 1 && !recipe_can_guard(recipe) ? "the recipe cannot guard writes" : NULL;
    case ACTION_REVOCABLE:
    case ACTION_REVOKE:
        return !recipe_can_revoke(recipe) ? "the recipe knows no revocation" : NULL;
    case ACTION_CLOSE:
    case ACTION_OPEN:
        return !recipe_can_close(recipe) ? "the recipe cannot close locks" : NULL;
    case ACTION_RESIZE:
        return !recipe_can_resize(recipe) ? "the recipe knows one capacity alone" : NULL;
    default:
        return NULL;
    }
}

static const char *commands_lack(const struct scenario *scenario, const struct ls_recipe *recipe)
{
    const char *why = NULL;
    for (int i = 0; recipe && why == NULL && i < scenario->commands; i++) {
        const struct scenario_command *command = &scenario->command[i];
        why = command->step == STEP_ACTION ? lacks(recipe, &command->action) : NULL;
    }
    return why;
}

const char *cli_suite_leaves_out(const struct scenario *scenario, const struct ls_recipe *recipe)
{
    if (recipe && !recipe_is_for(recipe, scenario->options.coordinator)) {
        return "the recipe is for another coordinator";
    }
    if (recipe && recipe_unknown_kind(recipe, &scenario->options) != LS_LOCK_KINDS) {
        return "the recipe does not know this kind of lock";
    }
    if (recipe && scenario->options.several && !recipe_can_take_several(recipe)) {
        return "the recipe takes one lock at a time";
    }
    const char *lacking = commands_lack(scenario, recipe);
    if (lacking) {
        return lacking;
    }
    bool asked = recipe && !recipe->reentrant;
    bool deep = commands_reenter(scenario);
    for (int i = 0; i < scenario->options.processes; i++) {
        deep |= reenters(&scenario->options, &scenario->options.program[i]);
    }
    return asked && deep ? "the recipe does not claim to be reentrant" : NULL;
}

bool cli_suite_full(const struct cli_options *options, const struct cli_job *job)
{
    const struct outcome *outcome = job->outcome;
    return options->suite && outcome->verdict == VERDICT_LIMIT &&
           outcome->search.states >= options->search.states_max;
}

bool cli_suite_tried(const struct cli_options *options, const struct cli_job *job)
{
    return cli_suite_full(options, job) && job->outcome->runs > 0;
}

bool cli_suite_asks_for_worlds(const struct cli_options *options)
{
    bool none = options->budget_given && options->budget_s <= 0 && options->budget_states == 0;
    bool named = options->filter != NULL && strncmp(options->filter, "worlds/", strlen("worlds/")) == 0;
    return options->suite && !none && options->shards == 0 &&
           (options->filter == NULL || options->budget_given || named);
}

bool cli_suite_has_worlds(const struct cli_options *options)
{
    bool of_mutexes = !options->recipe_given ||
                      (recipe_knows_kind(options->found_recipe, LS_LOCK_MUTEX) &&
                       recipe_is_for(options->found_recipe, NULL)); /* only ZooKeeper has worlds */
    return of_mutexes && cli_suite_asks_for_worlds(options);
}
