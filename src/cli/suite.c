/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The standard suite: situations for any mutex recipe, in scenarios/suite. Each is searched while it is small enough, and
 * gets random schedules behind that. */
#include "cli/cli.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#define STATES_MAX 400000

void cli_suite_limits(struct cli_options *options)
{
    if (options->suite && options->search.states_max == 0) {
        options->search.states_max = STATES_MAX;
    }
}

static bool is_there(char *path, size_t size, const char *from, const char *to)
{
    return (size_t)snprintf(path, size, "%s%s", from, to) < size && access(path, R_OK | X_OK) == 0;
}

const char *cli_suite_folder(void)
{
    static char path[PATH_MAX];
    char program[PATH_MAX];
    ssize_t size = readlink("/proc/self/exe", program, sizeof program - 1);
    program[size > 0 ? size : 0] = 0;
    char *slash = strrchr(program, '/');
    if (slash) {
        *slash = 0;
    }
    bool found = is_there(path, sizeof path, "scenarios/suite", "") ||
                 is_there(path, sizeof path, program, "/../../scenarios/suite") ||
                 is_there(path, sizeof path, program, "/../share/lockstep/scenarios/suite");
    return found ? path : NULL;
}

/* Whether somebody acquires what he has not given back. */
static bool reenters(const struct world_program *program)
{
    int depth[WORLD_LOCKS_MAX][8] = {{0}};
    bool deep = false;
    for (int i = 0; i < program->count; i++) {
        const struct action *op = &program->ops[i];
        if (op->kind == ACTION_ACQUIRE) {
            deep |= ++depth[op->b][op->a & 7] > 1;
        } else if (op->kind == ACTION_RELEASE && depth[op->b][op->a & 7] > 0) {
            depth[op->b][op->a & 7]--;
        } else if (op->kind == ACTION_CLOSE) {
            memset(depth[op->b], 0, sizeof depth[op->b]);
        }
    }
    return deep;
}

const char *cli_suite_leaves_out(const struct scenario *scenario, const struct ls_recipe *recipe)
{
    bool asked = recipe && !recipe->reentrant;
    for (int i = 0; asked && i < scenario->options.processes; i++) {
        if (reenters(&scenario->options.program[i])) {
            return "the recipe does not claim to be reentrant";
        }
    }
    return NULL;
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
