/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* lockstep merge: the report of a whole call, from the files of its shards. */
#include "base/assert.h"
#include "cli/shard_file.h"
#include "explore/merge_parts.h"
#include "explore/search.h"
#include "scenario/random.h"

#include <cjson/cJSON.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char HELP[] =
    "usage: lockstep merge [OPTION...] FILE...\n"
    "\n"
    "Puts together what the shards of one call of run or check have done (--shard I/N), and says what the "
    "call without\n"
    "--shard would have said, with its exit status. The order of the files does not matter. A shard that is "
    "missing is named,\n"
    "and what stands without it is told: exit status 3, or 1 if a property is violated. Shards of different "
    "calls, the same\n"
    "one twice, and files that cannot be read are refused.\n"
    "\n"
    "  --json          one JSON object per scenario on standard output\n"
    "  --junit FILE    a JUnit report besides\n"
    "  --sarif FILE    a SARIF 2.1.0 log of what fails besides\n"
    "  --quiet         say nothing of what passes\n"
    "  --verbose       list each scenario, and tell each failure\n"
    "  --color WHEN    auto (default: on a terminal, unless NO_COLOR is set), always or never\n"
    "\n"
    "examples:\n"
    "  lockstep check --shard 1/2 --out build/one scenarios/explore/mutex_2.scn\n"
    "  lockstep check --shard 2/2 --out build/two scenarios/explore/mutex_2.scn\n"
    "  lockstep merge build/one/shard-1-of-2.json build/two/shard-2-of-2.json\n";

struct merge {
    struct shard_file *file; /* sorted by shard */
    int files;
    const char *command;        /* command of the shards: run or check */
    struct cli_options options; /* options of the shards; those of reports are of this call */
    struct cli_job *job;
    int jobs;
    struct parts_list list;
    struct outcome **outcome; /* of each part of `list`; NULL = missing */
    double *seconds;          /* of each part of `list` */
    bool missing;             /* a shard is missing */
};

static int complain(const struct input_error *error)
{
    fprintf(stderr, "%s\n", error->text);
    return CLI_USAGE;
}

static int no_memory(void)
{
    fprintf(stderr, "lockstep merge: out of memory\n");
    return CLI_ENVIRONMENT;
}

/* ---- the files ---- */

static int by_shard(const void *a, const void *b)
{
    const struct shard_file *left = a, *right = b;
    return left->shard - right->shard;
}

static int read_files(struct merge *m, const struct cli_options *options)
{
    struct input_error error;
    m->file = calloc((size_t)options->paths, sizeof *m->file);
    if (!m->file) {
        return no_memory();
    }
    for (; m->files < options->paths; m->files++) {
        if (shard_read(&m->file[m->files], options->path[m->files], &error) != 0) {
            return complain(&error);
        }
    }
    LS_ASSERT(m->files > 0 && m->files == options->paths);
    qsort(m->file, (size_t)m->files, sizeof *m->file, by_shard);
    m->command = m->file[0].command;
    return 0;
}

static int differs(const struct shard_file *file, const char *expected, const char *found)
{
    struct input_error error;
    input_complain_words(&error, file->name, 1, 1, found, expected);
    return complain(&error);
}

static int compare_options(const struct shard_file *first, const struct shard_file *file)
{
    char expected[INPUT_NAME_MAX + 200], found[200];
    int count = cJSON_GetArraySize(first->options), more = cJSON_GetArraySize(file->options);
    for (int i = 0; i < count || i < more; i++) {
        const char *a = cJSON_GetStringValue(cJSON_GetArrayItem(first->options, i));
        const char *b = cJSON_GetStringValue(cJSON_GetArrayItem(file->options, i));
        if (!a || !b || strcmp(a, b) != 0) {
            snprintf(expected, sizeof expected, "the options of %s: %.160s", first->name,
                     a ? a : "no further one");
            snprintf(found, sizeof found, "%.160s", b ? b : "no further one");
            return differs(file, expected, found);
        }
    }
    return 0;
}

static int compare_scenarios(const struct shard_file *first, const struct shard_file *file)
{
    char expected[INPUT_NAME_MAX + 64];
    snprintf(expected, sizeof expected, "the scenarios of %s", first->name);
    return cJSON_Compare(first->scenarios, file->scenarios, true) ? 0 : differs(file, expected, "others");
}

static int compare(const struct shard_file *first, const struct shard_file *file)
{
    char expected[INPUT_NAME_MAX + 64], found[96];
    if (strcmp(first->command, file->command) != 0) {
        snprintf(expected, sizeof expected, "a shard of lockstep %s, as %s is", first->command, first->name);
        snprintf(found, sizeof found, "one of lockstep %s", file->command);
        return differs(file, expected, found);
    }
    if (first->shards != file->shards) {
        snprintf(expected, sizeof expected, "one of %d shards, as %s is", first->shards, first->name);
        snprintf(found, sizeof found, "one of %d", file->shards);
        return differs(file, expected, found);
    }
    int status = compare_options(first, file);
    return status != 0 ? status : compare_scenarios(first, file);
}

static int compare_all(const struct merge *m)
{
    for (int i = 1; i < m->files; i++) {
        int status = compare(&m->file[0], &m->file[i]);
        if (status != 0) {
            return status;
        }
        LS_ASSERT(m->file[i].shard >= m->file[i - 1].shard);
        if (m->file[i].shard == m->file[i - 1].shard) {
            char expected[64], found[INPUT_NAME_MAX + 64];
            snprintf(expected, sizeof expected, "shard %d of %d once", m->file[i].shard, m->file[i].shards);
            snprintf(found, sizeof found, "it again, after %s", m->file[i - 1].name);
            return differs(&m->file[i], expected, found);
        }
    }
    return 0;
}

static void note_missing(struct merge *m)
{
    int shards = m->file[0].shards, at = 0;
    LS_ASSERT(m->files <= shards && !m->missing);
    if (m->files == shards) {
        return;
    }
    fprintf(stderr, "lockstep merge: expected %d shards, found no shard", shards);
    for (int i = 1; i <= shards; i++) {
        if (at < m->files && m->file[at].shard == i) {
            at++;
        } else {
            fprintf(stderr, "%s %d", m->missing ? "," : "", i);
            m->missing = true;
        }
    }
    fputc('\n', stderr);
    LS_ASSERT(at == m->files && m->missing);
}

/* ---- what the shards were told ---- */

/* Reads the options in the first file as a command line of the shards' command, because files are not
 * trusted. */
static int read_options(struct merge *m, const struct cli_options *mine)
{
    static char path[] = "path", name[8];
    char *argv[CLI_OPTIONS_MAX + 3] = {name};
    int argc = 1;
    const cJSON *item;
    snprintf(name, sizeof name, "%s", m->command);
    cJSON_ArrayForEach(item, m->file[0].options)
    {
        char *text = item->valuestring;
        if (strncmp(text, "--", 2) != 0 || !islower((unsigned char)text[2])) {
            return differs(&m->file[0], "a shard with options of its command", text);
        }
        LS_ASSERT(argc <= CLI_OPTIONS_MAX);
        argv[argc++] = text;
    }
    argv[argc++] = path;
    bool check = strcmp(m->command, "check") == 0;
    int status =
        check ? cli_check_options(&m->options, argc, argv) : cli_run_options(&m->options, argc, argv);
    if (status == 0 && m->options.help) {
        status = differs(&m->file[0], "a shard with options of its command", "--help");
    }
    m->options.coverage = false; /* shard files have no coverage */
    m->options.path = NULL;
    m->options.paths = 0;
    m->options.json = mine->json;
    m->options.junit = mine->junit;
    m->options.sarif = mine->sarif;
    m->options.quiet = mine->quiet;
    m->options.verbose = mine->verbose;
    return status;
}

static int read_scenarios(struct merge *m)
{
    const cJSON *item;
    m->job = calloc((size_t)cJSON_GetArraySize(m->file[0].scenarios), sizeof *m->job);
    if (!m->job) {
        return no_memory();
    }
    cJSON_ArrayForEach(item, m->file[0].scenarios)
    {
        struct input_error error;
        const char *name = cJSON_GetObjectItemCaseSensitive(item, "name")->valuestring;
        const char *text = cJSON_GetObjectItemCaseSensitive(item, "text")->valuestring;
        if (scenario_read_bytes(&m->job[m->jobs].scenario, name, text, strlen(text), &error) != 0) {
            return complain(&error);
        }
        m->jobs++;
        if (m->options.check && !m->job[m->jobs - 1].scenario.exploring) {
            return differs(&m->file[0], "exploring scenarios in a shard of lockstep check", "a directed one");
        }
    }
    return 0;
}

/* ---- the parts ---- */

static int read_parts_of(struct merge *m, const struct shard_file *file)
{
    struct input_error error;
    for (int i = 0; i < cJSON_GetArraySize(file->parts); i++) {
        double seconds;
        struct outcome *outcome = calloc(1, sizeof *outcome);
        int at = outcome ? shard_part(file, i, &m->list, outcome, &seconds, &error) : -1;
        LS_ASSERT(at < m->list.count);
        if (at < 0 || m->outcome[at]) {
            free(outcome);
            return !outcome ? no_memory()
                   : at < 0 ? complain(&error)
                            : differs(file, "each part once", "one twice");
        }
        m->outcome[at] = outcome;
        m->seconds[at] = seconds;
    }
    return 0;
}

static int read_parts(struct merge *m)
{
    if (parts_list(&m->options, m->job, m->jobs, m->file[0].shards, &m->list) != 0) {
        return no_memory();
    }
    m->outcome = calloc((size_t)m->list.count, sizeof(struct outcome *));
    m->seconds = calloc((size_t)m->list.count, sizeof *m->seconds);
    if (!m->outcome || !m->seconds) {
        return no_memory();
    }
    for (int i = 0; i < m->files; i++) {
        int status = read_parts_of(m, &m->file[i]);
        if (status != 0) {
            return status;
        }
    }
    return 0;
}

/* ---- putting together ---- */

static void nothing_done(struct outcome *outcome, const char *what)
{
    outcome->verdict = VERDICT_LIMIT;
    outcome_say(outcome, "  %s was not done\n", what);
}

/* Adds the parts with seeds, in order, up to the first with another verdict than VERDICT_HOLDS: there a
 * single process would have stopped. Returns whether there was any part. Sets *missing to whether one of
 * those before that end is missing. */
static bool add_seeds(struct outcome *const *part, int count, struct outcome *outcome, bool *missing)
{
    bool any = false, end = false;
    *missing = false;
    for (int i = 0; i < count && !end; i++) {
        const struct outcome *next = part[i];
        if (!next) {
            *missing = true;
            continue;
        }
        struct check_stats stats = outcome->stats;
        uint64_t runs = outcome->runs, steps = outcome->steps, skipped = outcome->skipped,
                 depth = outcome->depth;
        *outcome = *next;
        outcome->stats = stats;
        search_merge_stats(&outcome->stats, &next->stats);
        outcome->runs += runs;
        outcome->steps += steps;
        outcome->skipped += skipped;
        outcome->depth = depth > outcome->depth ? depth : outcome->depth;
        end = next->verdict != VERDICT_HOLDS;
        any = true;
    }
    return any;
}

/* Merges part[0], a directed run or a search, with the random schedules after it. These do not count if the
 * first part is a violation or an error. */
static void put_run_together(const struct merge *m, const struct scenario *scenario,
                             struct outcome *const *part, int count, struct outcome *outcome)
{
    struct run_setup setup;
    const struct outcome *first = part[0];
    static struct outcome nobody;
    bool missing;
    LS_ASSERT(count >= 1);
    parts_setup(&m->options, scenario, &setup);
    if (!first) {
        nobody = (struct outcome){.schedule = scenario->exploring ? SCHEDULE_SEARCH : SCHEDULE_DIRECTED};
        nothing_done(&nobody, scenario->exploring ? "the search" : "the directed run");
        first = &nobody;
    }
    bool goes_on = first->verdict != VERDICT_VIOLATED && first->verdict != VERDICT_ERROR;
    if (count == 1 || !goes_on || !add_seeds(part + 1, count - 1, outcome, &missing)) {
        missing = count > 1 && goes_on;
        *outcome = *first;
    } else if (outcome->verdict != VERDICT_ERROR) {
        char text[sizeof outcome->text];
        enum verdict limit =
            outcome->verdict == VERDICT_LIMIT || missing || first == &nobody ? VERDICT_LIMIT : VERDICT_HOLDS;
        memcpy(text, outcome->text, sizeof text);
        outcome_clear_text(outcome);
        outcome_judge_again(outcome, &setup, true);
        outcome_say(outcome, "%s", text);
        outcome->verdict = outcome->verdict == VERDICT_HOLDS ? limit : outcome->verdict;
        if (scenario->exploring && m->options.no_search) {
            random_judge_exploring(scenario, outcome);
        }
        cli_add_random(&m->options, scenario, first, outcome);
        if (first == &nobody && !scenario->exploring) {
            outcome_say(outcome, "%s", nobody.text);
        }
    }
    if (missing && outcome->verdict != VERDICT_VIOLATED) {
        outcome_say(outcome, "  not all seeds were done\n");
        outcome->verdict = outcome->verdict == VERDICT_HOLDS ? VERDICT_LIMIT : outcome->verdict;
    }
}

static bool any_done(struct outcome *const *part, int count)
{
    for (int i = 0; i < count; i++) {
        if (part[i]) {
            return true;
        }
    }
    return false;
}

static void put_together(const struct merge *m, struct cli_job *job, int from, int count)
{
    struct run_setup setup;
    struct explore_options explore = m->options.search;
    struct outcome *const *part = m->outcome + from;
    LS_ASSERT(count >= 0 && from + count <= m->list.count && !job->finished);
    for (int i = 0; i < count; i++) {
        job->seconds += m->seconds[from + i];
    }
    job->finished = true;
    if (!any_done(part, count)) {
        nothing_done(job->outcome, "this scenario");
    } else if (m->options.check) {
        parts_setup(&m->options, &job->scenario, &setup);
        explore.compare = cli_counts_compare(&m->options, &job->scenario);
        explore_put_together(&setup, &explore, (const struct outcome *const *)part, job->outcome);
    } else {
        put_run_together(m, &job->scenario, part, count, job->outcome);
    }
}

/* The parts of a scenario are consecutive in the list. */
static int put_all_together(struct merge *m)
{
    int from = 0;
    for (int i = 0; i < m->jobs; i++) {
        int count = 0;
        while (from + count < m->list.count && m->list.part[from + count].scenario == i) {
            count++;
        }
        m->job[i].outcome = calloc(1, sizeof *m->job[i].outcome);
        if (!m->job[i].outcome) {
            return no_memory();
        }
        put_together(m, &m->job[i], from, count);
        from += count;
    }
    LS_ASSERT(from == m->list.count);
    return 0;
}

/* ---- the command ---- */

static void close_merge(struct merge *m)
{
    for (int i = 0; i < m->files; i++) {
        shard_close(&m->file[i]);
    }
    for (int i = 0; m->outcome && i < m->list.count; i++) {
        free(m->outcome[i]);
    }
    for (int i = 0; i < m->jobs; i++) {
        free(m->job[i].outcome);
    }
    free(m->outcome);
    free(m->seconds);
    free(m->file);
    cli_free_jobs(m->job, m->jobs);
    parts_close(&m->list);
}

static int merge(struct merge *m, const struct cli_options *options)
{
    int status = read_files(m, options);
    status = status != 0 ? status : compare_all(m);
    status = status != 0 ? status : read_options(m, options);
    status = status != 0 ? status : read_scenarios(m);
    status = status != 0 ? status : read_parts(m);
    if (status != 0) {
        return status;
    }
    note_missing(m);
    status = put_all_together(m);
    status = status != 0 ? status : cli_tell(&m->options, "merge", m->job, m->jobs);
    return status == CLI_OK && m->missing ? CLI_LIMIT : status;
}

int cli_merge(int argc, char **argv)
{
    static struct merge m;
    struct cli_options options;
    int status = cli_options(
        &options, "merge",
        OPTION_JSON | OPTION_JUNIT | OPTION_QUIET | OPTION_VERBOSE | OPTION_COLOR | OPTION_SARIF, argc, argv);
    if (status != 0) {
        return status;
    }
    if (options.help) {
        fputs(HELP, stdout);
        return CLI_OK;
    }
    if (options.paths == 0) {
        return cli_usage_error("merge", "the files of the shards", "");
    }
    status = merge(&m, &options);
    close_merge(&m);
    return status;
}
