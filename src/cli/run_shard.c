/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* One shard of a call of run or check. Each of its parts is a job of its own. Claims of a scenario file about
 * all its layers or seeds are judged by lockstep merge, which has all parts. */
#include "cli/shard_file.h"

#include "base/assert.h"
#include "base/file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void say_part(FILE *out, const struct cli_part *part)
{
    if (part->kind == CLI_PART_SEEDS) {
        LS_ASSERT(part->seeds > 0);
        fprintf(out, "seeds %llu to %llu", (unsigned long long)part->first_seed,
                (unsigned long long)(part->first_seed + part->seeds - 1));
    } else if (part->kind == CLI_PART_LAYER) {
        fprintf(out, "faults %d, set %d", part->faults, part->set);
    } else {
        fputs("without seeds", out);
    }
}

static void report(void *ctx, const struct cli_job *job)
{
    const struct cli_options *options = ctx;
    if (!options->quiet) {
        printf("%-8s  %s  (", verdict_name(job->outcome->verdict), job->scenario.input.name);
        say_part(stdout, &job->part);
        fputs(")\n", stdout);
        fflush(stdout);
    }
}

/* Makes a job, with its own scenario, for each part of this shard. Returns their number, or -1 if memory is
 * short. */
static int make_jobs(const struct cli_options *options, const struct cli_job *scenarios,
                     const struct parts_list *list, struct cli_job **jobs)
{
    int made = 0;
    *jobs = calloc((size_t)list->count + 1, sizeof **jobs);
    for (int i = 0; *jobs && i < list->count; i++) {
        const struct cli_part *part = &list->part[i];
        const struct input *input = &scenarios[part->scenario].scenario.input;
        struct input_error error;
        LS_ASSERT(part->shard >= 1 && part->shard <= options->shards);
        if (part->shard != options->shard) {
            continue;
        }
        (*jobs)[made].part = *part;
        if (scenario_read_bytes(&(*jobs)[made].scenario, input->name, input->text, input->size, &error) !=
            0) {
            return -1;
        }
        made++;
    }
    return *jobs ? made : -1;
}

static int broken(const char *command, const char *what)
{
    fprintf(stderr, "lockstep %s: %s: %s\n", command, what, strerror(errno));
    return CLI_ENVIRONMENT;
}

static int write_file(const struct cli_options *options, const char *command, const struct cli_job *scenarios,
                      int count, const struct cli_job *jobs, int parts)
{
    char path[OUTCOME_TRACE_MAX + 64];
    snprintf(path, sizeof path, "%.1000s/shard-%d-of-%d.json", options->out, options->shard, options->shards);
    if (file_make_folder(options->out) != 0 ||
        shard_write(path, options, command, scenarios, count, jobs, parts) != 0) {
        return broken(command, "no file of the shard can be written");
    }
    printf("merge: lockstep merge %s ...\n", path);
    return fflush(stdout) == 0 ? CLI_OK : broken(command, "standard output cannot be written");
}

static int run_parts(const struct cli_options *options, const char *command, const struct cli_job *scenarios,
                     int count, struct cli_job *jobs, int parts)
{
    int finished = parts > 0 ? cli_run_jobs(options, jobs, parts, report, (void *)options) : 0;
    if (finished < 0) {
        return broken(command, "no worker can be started");
    }
    LS_ASSERT(finished <= parts);
    int status = write_file(options, command, scenarios, count, jobs, parts);
    if (cli_interrupted()) {
        puts("interrupted");
    }
    printf("%d of %d parts done\n", finished, parts);
    return status == CLI_OK && (finished < parts || cli_interrupted()) ? CLI_LIMIT : status;
}

int cli_shard(const struct cli_options *options, const char *command, struct cli_job *jobs, int count)
{
    struct parts_list list;
    struct cli_job *mine = NULL;
    LS_ASSERT(options->shard >= 1 && options->shard <= options->shards);
    int parts = parts_list(options, jobs, count, options->shards, &list) == 0
                    ? make_jobs(options, jobs, &list, &mine)
                    : -1;
    errno = ENOMEM;
    int status = parts < 0 ? broken(command, "the parts cannot be listed")
                           : run_parts(options, command, jobs, count, mine, parts);
    if (mine) {
        cli_free_jobs(mine, parts > 0 ? parts : 0);
    }
    parts_close(&list);
    return status;
}
