/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The files of checkpoints: one for each scenario, named after the scenario, in the user's folder. */
#include "cli/cli.h"

#include "base/assert.h"
#include "base/file.h"
#include "cli/small_worlds.h"
#include "explore/checkpoint.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCENARIO_SUFFIX ".scn"

/* Returns the last part of the scenario's path, or "stdin"; *size is its length without the suffix. */
static const char *short_name(const struct cli_job *job, int *size)
{
    const char *name = job->scenario.input.name;
    const char *slash = strrchr(name, '/');
    name = strcmp(name, INPUT_STANDARD) == 0 ? "stdin" : slash != NULL ? slash + 1 : name;
    size_t length = strlen(name), suffix = strlen(SCENARIO_SUFFIX);
    bool suffixed = length > suffix && strcmp(name + length - suffix, SCENARIO_SUFFIX) == 0;
    *size = (int)(suffixed ? length - suffix : length);
    return name;
}

/* Returns the rank, from 1, of a scenario among those of the list that have the same name. */
static int place_among_equals(const struct cli_job *jobs, int job)
{
    int size, other_size, place = 1;
    const char *name = short_name(&jobs[job], &size);
    for (int i = 0; i < job; i++) {
        const char *other = short_name(&jobs[i], &other_size);
        place += size == other_size && strncmp(name, other, (size_t)size) == 0;
    }
    LS_ASSERT(place >= 1 && place <= job + 1);
    return place;
}

/* Returns true for "rounds.2": without a number of its own, its file could be that of a second "rounds". */
static bool ends_with_number(const char *name, int size)
{
    int digits = 0;
    while (digits < size && name[size - 1 - digits] >= '0' && name[size - 1 - digits] <= '9') {
        digits++;
    }
    return digits > 0 && digits < size && name[size - 1 - digits] == '.';
}

static bool name_file(const char *folder, const struct cli_job *jobs, int job, char path[CLI_CHECKPOINT_MAX])
{
    char number[16] = "";
    int size, place = place_among_equals(jobs, job);
    const char *name = short_name(&jobs[job], &size);
    if (place > 1 || ends_with_number(name, size)) {
        snprintf(number, sizeof number, ".%d", place);
    }
    int written = snprintf(path, CLI_CHECKPOINT_MAX, "%s/%.*s%s.checkpoint", folder, size, name, number);
    return written < CLI_CHECKPOINT_MAX;
}

static bool is_there(const char *path)
{
    return access(path, F_OK) == 0;
}

static int find_old(const struct cli_options *options, const char *command, struct cli_job *jobs, int count)
{
    char expected[CHECKPOINT_TEXT_MAX], found[CHECKPOINT_TEXT_MAX];
    int old = 0;
    for (int i = 0; i < count; i++) {
        if (!name_file(options->resume, jobs, i, jobs[i].resume)) {
            return cli_usage_error(command, "a shorter path after --resume", options->resume);
        }
        if (!is_there(jobs[i].resume)) {
            jobs[i].resume[0] = 0;
        } else if (checkpoint_check(jobs[i].resume, options->search.identity, &jobs[i].scenario, expected,
                                    found) != 0) {
            return cli_usage_error(command, expected, found);
        } else {
            old++;
        }
    }
    LS_ASSERT(old <= count);
    return old > 0 || enumerate_is_kept(options)
               ? 0
               : cli_usage_error(command, "a folder with a checkpoint of these scenarios after --resume",
                                 options->resume);
}

/* Names the new checkpoints. Refuses to overwrite the checkpoint of another search. */
static int place_new(const struct cli_options *options, const char *command, struct cli_job *jobs, int count)
{
    static const char ELSEWHERE[] =
        "a folder without a checkpoint of these scenarios after --checkpoint (--resume goes on with it)";
    for (int i = 0; i < count; i++) {
        if (!name_file(options->checkpoint, jobs, i, jobs[i].checkpoint)) {
            return cli_usage_error(command, "a shorter path after --checkpoint", options->checkpoint);
        }
        LS_ASSERT(options->resume != NULL || jobs[i].resume[0] == 0);
        if (strcmp(jobs[i].checkpoint, jobs[i].resume) != 0 && is_there(jobs[i].checkpoint)) {
            return cli_usage_error(command, ELSEWHERE, jobs[i].checkpoint);
        }
    }
    struct stat stat;
    if (lstat(options->checkpoint, &stat) == 0 && S_ISREG(stat.st_mode)) {
        return cli_usage_error(command, "a folder after --checkpoint, not a file", options->checkpoint);
    }
    if (file_make_folder(options->checkpoint) != 0 || access(options->checkpoint, W_OK) != 0) {
        return cli_usage_error(command, "a folder that can be written to after --checkpoint",
                               options->checkpoint);
    }
    return 0;
}

int cli_place_checkpoints(const struct cli_options *options, const char *command, struct cli_job *jobs,
                          int count)
{
    int status = options->resume != NULL ? find_old(options, command, jobs, count) : 0;
    if (status == 0 && options->checkpoint != NULL) {
        status = place_new(options, command, jobs, count);
    }
    return status;
}
