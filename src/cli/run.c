/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "base/assert.h"
#include "base/file.h"
#include "cli/html.h"
#include "cli/small_worlds.h"
#include "report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char HELP[] =
    "usage: lockstep run [OPTION...] [PATH...]\n"
    "\n"
    "Runs scenario files, or all *.scn in folders (default: scenarios); - reads one from standard input. "
    "Directed ones are\n"
    "compared with their expected trace; exploring ones are searched for a minute (see --max-time; lockstep "
    "check\nhas more control). All are judged by their properties.\n"
    "The last line is N passed, N failed[, N skipped]; skipped are those that came to no verdict.\n"
    "\n"
    "  --recipe NAME   the recipe under test (default: the first that knows the locks of the file; see "
    "lockstep list recipes),\n"
    "                  or a shared object with one: FILE.so\n"
    "  --property FILE.so\n"
    "                  judge all by the property of this shared object too; up to 4 times\n"
    "  --seeds N       also N random schedules of each scenario\n"
    "  --seed N        the first of those seeds (default 1); also the seed of directed runs\n"
    "  --strategy S    how those schedules choose: uniform; pct, by random priorities that change at random "
    "steps;\n"
    "                  swarm, uniform or pct with those kinds of fault that the seed draws; mixed, odd seeds "
    "uniform\n                  and even ones pct (default)\n"
    "  --depth D       of pct: priorities change at D - 1 steps, 1 to 16 (default 3)\n"
    "  --no-search     exploring scenarios get the random schedules alone\n"
    "  --max-time SECONDS\n"
    "                  end each search after that time (default: 60)\n"
    "  --coverage      tell which events have met which states of the recipe, which marks were never "
    "reached, "
    "and how\n                  that grows with the random schedules\n"
    "  --filter GLOB   only scenarios whose path or name matches\n"
    "  --jobs N        that many at once (default: one per core)\n"
    "  --rewrite       write what was seen into the files as what is expected, unless a property is "
    "violated\n                  or a limit was met\n"
    "  --out DIR       folder for traces of failures (default: build/reports)\n"
    "  --no-shrink     look for no shorter trace of a violation\n"
    "  --json          one JSON object per scenario on standard output\n"
    "  --junit FILE    a JUnit report besides\n"
    "  --sarif FILE    a SARIF 2.1.0 log of what fails besides\n"
    "  --html DIR      pages for the browser besides: DIR/index.html with all verdicts, and a page of each "
    "run that\n"
    "                  shows a failure\n"
    "  --quiet         say nothing of what passes\n"
    "  --verbose       list each scenario, and tell each failure; otherwise what passes in a folder is "
    "counted, "
    "at most\n"
    "                  20 failing scenarios are listed, and the shortest violation is told\n"
    "  --color WHEN    auto (default: on a terminal, unless NO_COLOR is set), always or never\n"
    "  --shard I/N     do only the I-th of N parts and write what came of it into the folder for traces, "
    "for\n                  "
    "lockstep merge\n"
    "\n"
    "examples:\n"
    "  lockstep run\n"
    "  lockstep run --seeds 1000 scenarios/mutex\n"
    "  lockstep run --seeds 10000 --strategy pct --depth 4 --no-search scenarios/explore/mutex_4.scn\n"
    "  lockstep run --coverage --seeds 10000 --strategy swarm --no-search scenarios/explore/mutex_2.scn\n"
    "  lockstep run --seeds 100000 --shard 2/5 scenarios/mutex\n"
    "  lockstep run --recipe broken-no-protection --filter '*lost*'\n"
    "  lockstep run --html build/pages --coverage scenarios/mutex\n"
    "  lockstep run --max-time 600 scenarios/explore/semaphore_several_2.scn\n"
    "  lockstep run --rewrite scenarios/mutex/create_reply_lost.scn\n"
    "  printf 'mutex /locks/x\\nprocess a\\na acquire\\nsettle\\n----\\n[  100ms] a held     fence=5\\n' | "
    "lockstep run -\n";

static const uint64_t ALLOWED = OPTION_RECIPE | OPTION_PROPERTY | OPTION_OUT | OPTION_FILTER | OPTION_JUNIT |
                                OPTION_SEED | OPTION_SEEDS | OPTION_JOBS | OPTION_JSON | OPTION_QUIET |
                                OPTION_REWRITE | OPTION_NO_SHRINK | OPTION_STRATEGY | OPTION_DEPTH |
                                OPTION_NO_SEARCH | OPTION_COVERAGE | OPTION_SHARD | OPTION_VERBOSE |
                                OPTION_COLOR | OPTION_SARIF | OPTION_HTML | OPTION_MAX_TIME;

#define RUN_SEARCH_SECONDS 60

struct summary {
    const struct cli_options *options;
    int verdicts[VERDICT_ERROR + 1];
    int violating; /* violating scenarios reported so far */
    bool broken;   /* the environment failed: a report or worker is missing */
};

static struct report_context context_of(const struct cli_options *options)
{
    return (struct report_context){.without = options->search.without,
                                   .one_constant = options->seed_given,
                                   .quiet = options->quiet,
                                   .verbose = options->verbose,
                                   .program = cli_program()};
}

/* Returns whether the user named this scenario by its path, or gave a filter. */
static bool is_named(const struct cli_options *options, const char *name)
{
    bool named = options->filter != NULL;
    for (int i = 0; i < options->paths && !named; i++) {
        const char *path = strcmp(options->path[i], "-") == 0 ? INPUT_STANDARD : options->path[i];
        named = strcmp(path, name) == 0;
    }
    return named;
}

static struct report_item item_of(const struct cli_options *options, const struct cli_job *job)
{
    return (struct report_item){.scenario = &job->scenario,
                                .recipe = cli_recipe(options, &job->scenario),
                                .outcome = job->outcome,
                                .coverage = job->coverage,
                                .seconds = job->seconds,
                                .finished = job->finished,
                                .named = is_named(options, job->scenario.input.name),
                                .tried = job->outcome != NULL && cli_suite_tried(options, job)};
}

static void report_job(void *ctx, const struct cli_job *job)
{
    struct summary *summary = ctx;
    struct report_context context = context_of(summary->options);
    struct report_item item = item_of(summary->options, job);
    LS_ASSERT(job->finished);
    summary->verdicts[item.tried ? VERDICT_HOLDS : item.outcome->verdict]++;
    if (!summary->options->json) {
        report_text(stdout, &context, &item, &summary->violating);
    } else if (report_json(stdout, &context, &item) != 0) {
        summary->broken = true;
    }
}

static int exit_status(const struct summary *summary)
{
    const int *verdicts = summary->verdicts;
    if (verdicts[VERDICT_VIOLATED] + verdicts[VERDICT_DIFFERS] > 0) {
        return CLI_VIOLATED;
    }
    if (verdicts[VERDICT_ERROR] > 0 || summary->broken) {
        return CLI_ENVIRONMENT;
    }
    return verdicts[VERDICT_LIMIT] > 0 || cli_interrupted() ? CLI_LIMIT : CLI_OK;
}

/* With --json, standard output must be JSON alone. */
static void closing_line(const struct summary *summary, int missing)
{
    const int *verdicts = summary->verdicts;
    FILE *out = summary->options->json ? stderr : stdout;
    int failed = verdicts[VERDICT_VIOLATED] + verdicts[VERDICT_DIFFERS] + verdicts[VERDICT_ERROR];
    int skipped = verdicts[VERDICT_LIMIT] + missing;
    LS_ASSERT(missing >= 0);
    if (cli_interrupted()) {
        fputs("interrupted\n", out);
    }
    fprintf(out, "%d passed, %d failed", verdicts[VERDICT_HOLDS], failed);
    if (skipped > 0) {
        fprintf(out, ", %d skipped", skipped);
    }
    fputc('\n', out);
}

/* Returns whether a file can be written. Does not open an existing file: if it is a pipe, its reader would
 * see the end. Removes a new file again. */
static bool can_write(const char *path)
{
    if (access(path, F_OK) == 0) {
        return access(path, W_OK) == 0;
    }
    FILE *file = fopen(path, "w");
    return file != NULL && fclose(file) == 0 && unlink(path) == 0;
}

static int cannot_write(const char *command, const char *what, const char *option, const char *path)
{
    fprintf(stderr, "lockstep %s: expected a %s that can be written after %s, found '%s': %s\n", command,
            what, option, path, strerror(errno));
    return CLI_ENVIRONMENT;
}

static void report_all(struct summary *summary, const char *command, struct report_item *items, int count,
                       int finished, const struct enumeration *worlds)
{
    const struct cli_options *options = summary->options;
    struct report_context context = context_of(options);
    bool any = count > 0 && items[0].outcome != NULL;
    if (options->junit && any && report_junit(options->junit, &context, items, count) != 0) {
        cannot_write(command, "file", "--junit", options->junit);
        summary->broken = true;
    }
    if (options->sarif && any && report_sarif(options->sarif, &context, items, count) != 0) {
        cannot_write(command, "file", "--sarif", options->sarif);
        summary->broken = true;
    }
    if (options->html && cli_write_html(options, command, &context, items, count, worlds) != 0) {
        summary->broken = true;
    }
    if (options->coverage && !options->json && finished > 0) {
        report_text_coverage(stdout, items, count);
    }
    if (worlds != NULL) {
        enumerate_tell(stdout, options, worlds);
    }
    if (!options->json && finished > 0) {
        report_text_closing(stdout, &context, items, count);
        report_text_not_tried(stdout, &context, items, count);
    }
}

/* Writes all that follows the reports of single scenarios. Returns an exit status. */
static int end_report(struct summary *summary, const char *command, const struct cli_job *jobs, int count,
                      int finished, const struct enumeration *worlds)
{
    const struct cli_options *options = summary->options;
    struct report_item *items = calloc((size_t)count + 1, sizeof *items);
    LS_ASSERT(finished >= 0 && finished <= count);
    for (int i = 0; items != NULL && i < count; i++) {
        items[i] = item_of(options, &jobs[i]);
    }
    if (items != NULL) {
        report_all(summary, command, items, count, finished, worlds);
    }
    summary->broken = summary->broken || items == NULL;
    free(items);
    closing_line(summary, count - finished);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        fprintf(stderr, "lockstep %s: standard output cannot be written\n", command);
        summary->broken = true;
    }
    return exit_status(summary);
}

int cli_tell(const struct cli_options *options, const char *command, const struct cli_job *jobs, int count)
{
    struct summary summary = {.options = options};
    int finished = 0;
    for (int i = 0; i < count; i++) {
        if (jobs[i].finished) {
            report_job(&summary, &jobs[i]);
            finished++;
        }
    }
    return end_report(&summary, command, jobs, count, finished, NULL);
}

/* Runs the worlds after the suite's situations. Runs none if a situation fails without --keep-going. Adds the
 * failing worlds as jobs, and reports them. Returns their number, or -1 with errno set. */
static int run_worlds(struct summary *summary, struct enumeration *worlds, struct cli_job **jobs, int *count)
{
    const struct cli_options *options = summary->options;
    int before = *count, status = exit_status(summary);
    if (!worlds->asked || cli_interrupted()) {
        worlds->asked = false;
        return 0;
    }
    if (!options->keep_going && (status == CLI_VIOLATED || status == CLI_ENVIRONMENT)) {
        worlds->skipped = true;
        return 0;
    }
    int result = enumerate_run(options, worlds, jobs, count);
    LS_ASSERT(*count >= before);
    for (int i = before; i < *count; i++) {
        report_job(summary, &(*jobs)[i]);
    }
    return result < 0 ? -1 : *count - before;
}

static int run_all(const struct cli_options *options, const char *command, struct cli_job **list, int *all)
{
    struct summary summary = {.options = options};
    struct enumeration worlds;
    int status = enumerate_open(options, command, &worlds);
    if (status != 0) {
        enumerate_close(&worlds);
        return status;
    }
    int finished = cli_run_jobs(options, *list, *all, report_job, &summary);
    int more = finished < 0 ? 0 : run_worlds(&summary, &worlds, list, all);
    if (more < 0) {
        fprintf(stderr, "lockstep %s: the worlds cannot be gone through: %s\n", command, strerror(errno));
        summary.broken = true;
    }
    finished += more > 0 ? more : 0;
    struct cli_job *jobs = *list;
    int count = *all;
    if (finished < 0) {
        fprintf(stderr, "lockstep %s: no worker can be started: %s\n", command, strerror(errno));
        summary.broken = true;
        finished = 0;
    }
    status = end_report(&summary, command, jobs, count, finished, &worlds);
    enumerate_close(&worlds);
    return status;
}

/* Checks the output paths early, because the runs may take long. */
static int check_outputs(const struct cli_options *options, const char *command)
{
    if (options->out_given &&
        (file_make_folder(options->out) != 0 || access(options->out, W_OK | X_OK) != 0)) {
        return cannot_write(command, "folder", "--out", options->out);
    }
    if (options->html && (file_make_folder(options->html) != 0 || access(options->html, W_OK | X_OK) != 0)) {
        return cannot_write(command, "folder", "--html", options->html);
    }
    if (options->junit != NULL && !can_write(options->junit)) {
        return cannot_write(command, "file", "--junit", options->junit);
    }
    return options->sarif != NULL && !can_write(options->sarif)
               ? cannot_write(command, "file", "--sarif", options->sarif)
               : 0;
}

int cli_judge(const struct cli_options *options, const char *command)
{
    struct cli_job *jobs = NULL;
    int count = 0;
    if (options->shards > 0 && (options->rewrite || options->json || options->junit || options->sarif)) {
        return cli_usage_error(
            command,
            "no --rewrite, --json, --junit or --sarif with --shard (lockstep merge has the last three)",
            options->rewrite ? "--rewrite"
            : options->json  ? "--json"
            : options->junit ? "--junit"
                             : "--sarif");
    }
    if (options->shards > 0 && options->coverage) {
        return cli_usage_error(command, "no --coverage with --shard", "--coverage");
    }
    if (options->shards > 0 && options->html) {
        return cli_usage_error(command, "no --html with --shard", "--html");
    }
    for (int i = 0; i < options->paths; i++) {
        if (options->rewrite && strcmp(options->path[i], "-") == 0) {
            return cli_usage_error(command, "a file that can be rewritten with --rewrite", "-");
        }
    }
    int status = check_outputs(options, command);
    if (status == 0) {
        status = cli_collect(options, command, &jobs, &count);
    }
    if (status == 0) {
        status = cli_place_checkpoints(options, command, jobs, count);
    }
    if (status == 0) {
        status = options->shards > 0 ? cli_shard(options, command, jobs, count)
                                     : run_all(options, command, &jobs, &count);
    }
    cli_free_jobs(jobs, count);
    return status;
}

int cli_run_options(struct cli_options *options, int argc, char **argv)
{
    int status = cli_options(options, "run", ALLOWED, argc, argv);
    if (options->search.seconds_max <= 0) {
        options->search.seconds_max = RUN_SEARCH_SECONDS;
    }
    return status;
}

int cli_run(int argc, char **argv)
{
    struct cli_options options;
    int status = cli_run_options(&options, argc, argv);
    if (status != 0) {
        return status;
    }
    if (options.help) {
        fputs(HELP, stdout);
        return CLI_OK;
    }
    if (options.seeds == 0 && (options.plan.strategy || options.plan.depth || options.no_search)) {
        return cli_usage_error("run", "--seeds N with --strategy, --depth and --no-search", "no --seeds");
    }
    return cli_judge(&options, "run");
}
