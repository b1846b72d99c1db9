/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "cli/cli.h"

#include "base/array.h"
#include "base/assert.h"
#include "cli/small_worlds.h"
#include "sim/abilities.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX ".scn"
#define ENTRIES_MAX 100000 /* limit of entries of folders that one call examines */

struct collection {
    const struct cli_options *options;
    struct cli_job *job;
    int jobs;
    int found;
    int wanted;   /* of `found`: those that the filter matches */
    int foreign;  /* scenarios in folders whose coordinators this program lacks */
    dev_t device; /* file system of the user's folder; the walk stays on it */
    bool full;    /* there are more than ENTRIES_MAX entries: the walk ends */
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

/* Returns whether a scenario is for this command. `check` without --suite takes only exploring scenarios
 * without a clock. It skips directed ones in folders. It complains of directed ones that the user names, and
 * of exploring ones with a clock. */
static bool is_of_use(struct collection *c, const struct scenario *scenario, bool named)
{
    struct input_error error;
    if (!c->options->check || c->options->suite || (scenario->exploring && !scenario->options.timed)) {
        return true;
    }
    if (scenario->exploring) { /* its author wants a search: do not skip it silently */
        input_complain_words(&error, scenario->input.name, scenario->mode_line, scenario->mode_column,
                             "'timed'", "an untimed world: a search goes through orders, not through times");
        complain(c, error.text);
        return false;
    }
    if (named) {
        input_complain_words(&error, scenario->input.name, 1, 1, "a directed one",
                             "an exploring scenario (process a b: acquire release)");
        complain(c, error.text);
    }
    return false;
}

/* Returns whether a scenario is for the recipe; says why not, unless quiet. A suite leaves out situations
 * that cli_suite_leaves_out() names, and says nothing if the recipe cannot run them at all. Without a suite,
 * only scenarios in folders are left out, if the recipe cannot run them at all. */
static bool is_for_recipe(const struct cli_options *options, const struct scenario *scenario, bool named)
{
    const struct ls_recipe *recipe = cli_recipe(options, scenario);
    bool can_run = recipe_can_run(recipe, &scenario->options);
    bool asked = options->suite || (!can_run && !named);
    const char *why = asked ? cli_suite_leaves_out(scenario, recipe) : NULL;
    if (why && !options->quiet && (!options->suite || can_run)) {
        fprintf(options->json ? stderr : stdout, "left out %s: %s\n", scenario->input.name, why);
    }
    return !why;
}

static void add_file(struct collection *c, const char *path, bool named)
{
    static struct input_mistakes mistakes;
    c->found++;
    if (!is_wanted(c->options, path)) {
        return;
    }
    c->wanted++;
    if (!array_resize(&c->job, (size_t)c->jobs + 1, sizeof *c->job)) {
        complain(c, "lockstep: out of memory");
        return;
    }
    LS_ASSERT(c->jobs < c->found);
    memset(&c->job[c->jobs], 0, sizeof *c->job);
    struct scenario *scenario = &c->job[c->jobs].scenario;
    if (scenario_read(scenario, path, &mistakes) != 0) {
        bool foreign = scenario->foreign && !named;
        c->foreign += foreign;
        for (int i = 0; !foreign && i < mistakes.count; i++) {
            complain(c, mistakes.mistake[i].text);
        }
    } else if (is_of_use(c, scenario, named) && is_for_recipe(c->options, scenario, named)) {
        c->jobs++;
    } else {
        scenario_close(scenario);
    }
}

/* Number of examined entries. A global variable, because scandir() gives its filter no context. */
static int looked_at;

/* Keeps visible entries, and none beyond the limit, so that a huge folder takes little memory. */
static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.' && looked_at++ < ENTRIES_MAX;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static void complain_of_folder(struct collection *c, const char *folder, const char *expected,
                               const char *found)
{
    struct input_error error;
    input_complain_words(&error, folder, 1, 1, found, expected);
    complain(c, error.text);
}

static void add_folder(struct collection *c, const char *folder);

/* Adds an entry of a folder. Does not follow symbolic links, which can form cycles and leave the tree. Does
 * not read devices and pipes, which may never end. Does not enter other file systems. */
static void add_entry(struct collection *c, const char *path)
{
    LS_ASSERT(!c->full);
    struct stat status;
    size_t length = strlen(path);
    if (lstat(path, &status) != 0) {
        return; /* the entry was removed meanwhile */
    }
    if (S_ISDIR(status.st_mode)) {
        if (status.st_dev == c->device) {
            add_folder(c, path);
        }
    } else if (S_ISREG(status.st_mode) && length > strlen(SUFFIX) &&
               strcmp(path + length - strlen(SUFFIX), SUFFIX) == 0) {
        add_file(c, path, false);
    }
}

static void add_folder(struct collection *c, const char *folder)
{
    struct dirent **entry;
    size_t length = strlen(folder);
    const char *slash = length > 0 && folder[length - 1] == '/' ? "" : "/";
    int entries = scandir(folder, &entry, is_visible, by_bytes);
    if (entries < 0) {
        char found[160];
        snprintf(found, sizeof found, "'%s'", strerror(errno));
        complain_of_folder(c, folder, "a readable folder", found);
        return;
    }
    c->full = looked_at > ENTRIES_MAX;
    for (int i = 0; i < entries; i++) {
        char path[INPUT_NAME_MAX];
        if (!c->full &&
            snprintf(path, sizeof path, "%s%s%s", folder, slash, entry[i]->d_name) < (int)sizeof path) {
            add_entry(c, path);
        }
        free(entry[i]);
    }
    free(entry);
}

static void walk(struct collection *c, const char *folder, dev_t device)
{
    int before = c->found;
    c->device = device;
    add_folder(c, folder);
    LS_ASSERT(c->device == device && c->found >= before);
    if (c->full) {
        char expected[64];
        snprintf(expected, sizeof expected, "at most %d files and folders below this folder", ENTRIES_MAX);
        complain_of_folder(c, folder, expected, "more than that");
    } else if (c->found == before && c->status == 0) {
        complain_of_folder(c, folder, "scenarios (*.scn) in this folder", "none");
    }
}

static void add_path(struct collection *c, const char *path)
{
    struct stat status;
    if (strcmp(path, "-") != 0 && stat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
        walk(c, path, status.st_dev);
    } else {
        add_file(c, path, true);
    }
}

static bool reads_input_twice(char *const *path, int paths)
{
    int times = 0;
    for (int i = 0; i < paths; i++) {
        times += strcmp(path[i], "-") == 0;
    }
    return times > 1;
}

int cli_collect(const struct cli_options *options, const char *command, struct cli_job **jobs, int *count)
{
    static char default_path[] = "scenarios";
    char *defaults[] = {default_path};
    struct collection c = {.options = options};
    if (options->suite && options->paths > 0) {
        return cli_usage_error(command, "no path with --suite", options->path[0]);
    }
    if (options->suite) {
        defaults[0] = (char *)(uintptr_t)cli_suite_folder();
        if (!defaults[0]) {
            return cli_usage_error(
                command, "scenarios/suite beside the program or in this folder for --suite", "none");
        }
    }
    if (options->paths == 0 && access(defaults[0], F_OK) != 0) {
        char expected[128];
        snprintf(expected, sizeof expected, "a file or a folder of scenarios (lockstep %s FILE.scn)%s",
                 command, options->check ? ", or --suite" : "");
        return cli_usage_error(command, expected, "no path, and no folder 'scenarios' here");
    }
    char **path = options->paths > 0 ? options->path : defaults;
    int paths = options->paths > 0 ? options->paths : 1;
    if (reads_input_twice(path, paths)) {
        return cli_usage_error(command, "standard input (-) at most once", "-");
    }
    looked_at = 0;
    for (int i = 0; i < paths && !c.full; i++) {
        add_path(&c, path[i]);
    }
    if (c.foreign > 0 && !options->quiet && !options->suite) {
        fprintf(options->json ? stderr : stdout, "left out %d of other coordinators than this program has\n",
                c.foreign);
    }
    bool left_out = options->suite && options->budget_given && c.wanted > 0;
    bool worlds = c.jobs == 0 && options->filter != NULL && enumerate_has_match(options);
    if (worlds && !cli_suite_has_worlds(options) && !options->quiet) {
        fprintf(options->json ? stderr : stdout,
                "left out the small worlds: they are for recipes of a mutex on ZooKeeper\n");
    }
    if (c.status == 0 && c.jobs == 0 && !left_out && !worlds) {
        c.status = options->filter
                       ? cli_usage_error(command, "a pattern for at least one scenario after --filter",
                                         options->filter)
                       : cli_usage_error(command, "exploring scenarios", path[0]);
    }
    LS_ASSERT(c.jobs + c.foreign <= c.found && (c.status == 0 || c.status == CLI_USAGE));
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
