/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "cli/cli.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SUFFIX ".scn"

struct collection {
    const struct cli_options *options;
    struct cli_job *job;
    int jobs;
    int found; /* before the filter */
    int status;
};

static void complain(struct collection *c, const char *text)
{
    fprintf(stderr, "%s\n", text);
    c->status = CLI_USAGE;
}

static bool is_wanted(const struct cli_options *options, const char *path)
{
    const char *slash = strrchr(path, '/');
    return !options->filter || fnmatch(options->filter, path, 0) == 0 ||
           fnmatch(options->filter, slash ? slash + 1 : path, 0) == 0;
}

static void add_file(struct collection *c, const char *path)
{
    struct input_error error;
    c->found++;
    if (!is_wanted(c->options, path)) {
        return;
    }
    struct cli_job *list = realloc(c->job, ((size_t)c->jobs + 1) * sizeof *list);
    if (!list) {
        complain(c, "lockstep: out of memory");
        return;
    }
    c->job = list;
    memset(&list[c->jobs], 0, sizeof *list);
    if (scenario_read(&list[c->jobs].scenario, path, &error) == 0) {
        c->jobs++;
    } else {
        complain(c, error.text);
    }
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static void add_folder(struct collection *c, const char *folder)
{
    struct dirent **entry;
    int entries = scandir(folder, &entry, is_visible, by_bytes);
    if (entries < 0) {
        struct input_error error;
        char found[160];
        snprintf(found, sizeof found, "'%s'", strerror(errno));
        input_complain_words(&error, folder, 1, 1, found, "a readable folder");
        complain(c, error.text);
        return;
    }
    for (int i = 0; i < entries; i++) {
        char path[INPUT_NAME_MAX];
        size_t length = strlen(folder), name = strlen(entry[i]->d_name);
        const char *slash = length > 0 && folder[length - 1] == '/' ? "" : "/";
        if (snprintf(path, sizeof path, "%s%s%s", folder, slash, entry[i]->d_name) < (int)sizeof path) {
            if (is_folder(path)) {
                add_folder(c, path);
            } else if (name > strlen(SUFFIX) &&
                       strcmp(entry[i]->d_name + name - strlen(SUFFIX), SUFFIX) == 0) {
                add_file(c, path);
            }
        }
        free(entry[i]);
    }
    free(entry);
}

static void add_path(struct collection *c, const char *path)
{
    int before = c->found;
    if (strcmp(path, "-") != 0 && is_folder(path)) {
        add_folder(c, path);
        if (c->found == before && c->status == 0) {
            struct input_error error;
            input_complain_words(&error, path, 1, 1, "none", "scenarios (*.scn) in this folder");
            complain(c, error.text);
        }
    } else {
        add_file(c, path);
    }
}

int cli_collect(const struct cli_options *options, const char *command, struct cli_job **jobs, int *count)
{
    static char default_path[] = "scenarios";
    char *defaults[] = {default_path};
    struct collection c = {.options = options};
    char **path = options->paths > 0 ? options->path : defaults;
    int paths = options->paths > 0 ? options->paths : 1;
    for (int i = 0; i < paths; i++) {
        add_path(&c, path[i]);
    }
    if (c.status == 0 && c.jobs == 0) {
        c.status =
            cli_usage_error(command, "a pattern for at least one scenario after --filter", options->filter);
    }
    *jobs = c.job;
    *count = c.jobs;
    return c.status;
}

void cli_free_jobs(struct cli_job *jobs, int count)
{
    for (int i = 0; i < count; i++) {
        scenario_close(&jobs[i].scenario);
    }
    free(jobs);
}
