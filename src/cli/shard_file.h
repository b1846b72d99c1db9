/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The file of a shard: its outcomes for a call of run or check, as JSON (docs/many-machines.md). A file is
 * untrusted input: contents that do not fit lead to a complaint. */
#ifndef CLI_SHARD_FILE_H
#define CLI_SHARD_FILE_H

#include "cli/work_plan.h"

#define SHARD_FORMAT 1
#define SHARD_BYTES_MAX (256u << 20)

struct cJSON;

/* A file that was read. Its head was checked; shard_part() checks its parts. */
struct shard_file {
    char name[INPUT_NAME_MAX]; /* as given by the user */
    struct cJSON *json;        /* owned; the pointers below point into it */
    const char *command;       /* "run" or "check" */
    int shard, shards;
    const struct cJSON *options, *scenarios, *parts; /* lists: of texts, and of objects */
};

/* Writes this shard's file, in which each finished job is a part. Returns 0, or -1 with errno set. */
int shard_write(const char *path, const struct cli_options *options, const char *command,
                const struct cli_job *scenarios, int count, const struct cli_job *jobs, int parts);

/* Reads a file. Returns 0, or -1 with the complaint in *error and nothing to close. */
int shard_read(struct shard_file *file, const char *path, struct input_error *error);
void shard_close(struct shard_file *file);

/* Reads the index-th part of a file with its outcome and its time. Returns its index in the list. Returns -1,
 * with the complaint in *error, if the list has no such part of this shard, or a field is invalid. */
int shard_part(const struct shard_file *file, int index, const struct parts_list *list,
               struct outcome *outcome, double *seconds, struct input_error *error);

#endif
