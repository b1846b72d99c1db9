/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "cli/small_worlds.h"

#include "base/array.h"
#include "base/assert.h"
#include "base/file.h"
#include "base/hash.h"
#include "explore/build_id.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BATCH_MAX 64
#define KEPT_NAME "worlds.kept"
#define KEPT_MAGIC "lockstep worlds 2"
#define IDENTITY_MAX (CLI_IDENTITY_MAX + BUILD_ID_MAX + 32)
#define REDUCE_STATES_MAX 200000 /* for each smaller world that is tried */

/* ---- the list of all worlds ---- */

static bool is_matched(const struct cli_options *options, const char *name)
{
    return options->filter == NULL || fnmatch(options->filter, name, 0) == 0;
}

/* Returns false if no world of the class can match: names differ from the filter before its first
 * wildcard. */
static bool class_may_match(const struct cli_options *options, const struct world_class *class)
{
    char name[WORLDS_NAME_MAX], start[WORLDS_NAME_MAX + 8];
    worlds_class_name(class, name);
    int size = snprintf(start, sizeof start, "worlds/%.*s/", (int)strcspn(name, "/"), name);
    LS_ASSERT(size > 0 && (size_t)size < sizeof start);
    size_t literal = options->filter != NULL ? strcspn(options->filter, "*?[\\") : 0;
    return strncmp(start, options->filter != NULL ? options->filter : "",
                   literal < (size_t)size ? literal : (size_t)size) == 0;
}

/* Reads a world as a scenario. Returns false, with nothing to close, if filter or recipe exclude it. */
static bool read_world(const struct cli_options *options, const struct world_spec *spec, struct cli_job *job)
{
    char name[WORLDS_NAME_MAX], text[WORLDS_TEXT_MAX];
    struct input_error error;
    memset(job, 0, sizeof *job);
    if (!is_matched(options, worlds_name(spec, name))) {
        return false;
    }
    worlds_text(spec, text);
    if (scenario_read_bytes(&job->scenario, name, text, strlen(text), &error) != 0) {
        fprintf(stderr, "%s\n", error.text); /* worlds_text() wrote a text that the parser refuses */
        abort();
    }
    if (cli_suite_leaves_out(&job->scenario, cli_recipe(options, &job->scenario)) != NULL) {
        scenario_close(&job->scenario);
        return false;
    }
    int schedules = worlds_schedules(spec);
    LS_ASSERT(schedules >= 0);
    if (schedules > 0) {
        uint64_t first = 1 + (uint64_t)spec->number * (uint64_t)schedules;
        job->part =
            (struct cli_part){.kind = CLI_PART_SEEDS, .first_seed = first, .seeds = (uint64_t)schedules};
    }
    return true;
}

struct place {
    int class, world;
};

static bool is_end(struct place at)
{
    return at.class >= worlds_classes();
}

static struct place behind(struct place at)
{
    LS_ASSERT(!is_end(at) && at.world >= 0);
    at.world++;
    if (at.world >= worlds_count(worlds_class(at.class))) {
        at = (struct place){at.class + 1, 0};
    }
    return at;
}

/* ---- one batch ---- */

struct batch {
    const struct cli_options *options;
    struct enumeration *worlds;
    struct cli_budget *budget;
    struct cli_job job[BATCH_MAX];
    struct place place[BATCH_MAX];
    int count;
    int next;    /* index of the first job that is not yet reported */
    int failing; /* index of the first failing job, -1 = none */
};

/* Returns whether a world fails. VERDICT_DIFFERS of a directed world is no failure: such a world is about
 * properties alone, and differs if the recipe has no use for a command. */
static bool has_failed(const struct cli_job *job)
{
    enum verdict verdict = job->outcome->verdict;
    bool differs = verdict == VERDICT_DIFFERS && job->scenario.exploring;
    return verdict == VERDICT_VIOLATED || verdict == VERDICT_ERROR || differs;
}

/* Returns the cost of a world to the budget: its states, or its steps if no states were counted. */
static uint64_t states_of(const struct outcome *outcome)
{
    return outcome->search.states > 0 ? outcome->search.states : outcome->steps;
}

static bool is_late(const struct cli_budget *budget)
{
    return budget->deadline_s > 0 && cli_now_s() >= budget->deadline_s;
}

static bool is_spent(const struct batch *batch, const struct outcome *outcome)
{
    const struct cli_budget *budget = batch->budget;
    bool late = outcome->verdict == VERDICT_LIMIT && is_late(budget);
    return late || cli_interrupted() || states_of(outcome) > budget->states;
}

/* Takes the report of a job. Reports come in the order of the list; the first gap ends the batch. */
static void on_world(void *ctx, const struct cli_job *job)
{
    struct batch *batch = ctx;
    struct cli_budget *budget = batch->budget;
    const struct outcome *outcome = job->outcome;
    int index = (int)(job - batch->job);
    LS_ASSERT(index >= 0 && index < batch->count);
    if (budget->over || index != batch->next || is_spent(batch, outcome)) {
        budget->over = true;
        return;
    }
    struct place at = batch->place[index];
    struct enumerate_sum *sum = &batch->worlds->sum[at.class];
    sum->states += states_of(outcome);
    sum->limited += outcome->verdict == VERDICT_LIMIT;
    sum->done += outcome->verdict != VERDICT_LIMIT;
    budget->states -= budget->states < UINT64_MAX ? states_of(outcome) : 0;
    batch->next++;
    at = behind(at);
    batch->worlds->class = at.class;
    batch->worlds->world = at.world;
    if (has_failed(job)) {
        batch->failing = index;
        budget->over = true;
    }
}

/* Fills the batch with the next worlds of one class. Excluded worlds before the first of them are counted at
 * once, with the position moved behind them. */
static void fill(struct batch *batch)
{
    struct enumeration *worlds = batch->worlds;
    struct place at = {worlds->class, worlds->world};
    int class = at.class;
    batch->count = batch->next = 0;
    batch->failing = -1;
    while (!is_end(at) && !is_late(batch->budget) && batch->count < BATCH_MAX &&
           (batch->count == 0 || at.class == class)) {
        struct world_spec spec;
        const struct world_class *of = worlds_class(at.class);
        if (batch->count == 0 && at.world == 0 && !class_may_match(batch->options, of)) {
            worlds->sum[at.class].left_out = worlds_count(of);
            at = (struct place){at.class + 1, 0};
            worlds->class = at.class;
            worlds->world = 0;
            continue;
        }
        worlds_spec(of, at.world, &spec);
        if (read_world(batch->options, &spec, &batch->job[batch->count])) {
            batch->job[batch->count].states_max = worlds_states_max(worlds_class(at.class));
            batch->place[batch->count++] = at;
            class = at.class;
        } else if (batch->count == 0) {
            struct place next = behind(at);
            worlds->sum[at.class].left_out++;
            worlds->class = next.class;
            worlds->world = next.world;
        } else {
            break; /* the next batch begins with this world */
        }
        at = behind(at);
    }
    LS_ASSERT(batch->count <= BATCH_MAX);
    LS_ASSERT(batch->count == 0 ||
              (batch->place[0].class == worlds->class && batch->place[0].world == worlds->world));
}

static void empty(struct batch *batch)
{
    LS_ASSERT(batch->next <= batch->count);
    cli_forget_jobs(batch->job, batch->count);
    for (int i = 0; i < batch->count; i++) {
        scenario_close(&batch->job[i].scenario);
    }
}

/* ---- what fails ---- */

/* A round of smaller worlds. */
struct attempt {
    struct cli_budget *budget;
    check_mask violated; /* a smaller world fails if it violates one of these properties */
    struct cli_job job[BATCH_MAX];
    struct world_spec spec[BATCH_MAX];
    int count, next, found;
};

static void on_attempt(void *ctx, const struct cli_job *job)
{
    struct attempt *attempt = ctx;
    int index = (int)(job - attempt->job);
    LS_ASSERT(index >= 0 && index < attempt->count);
    if (attempt->found >= 0 || index != attempt->next) {
        return;
    }
    attempt->next++;
    if (job->outcome->verdict == VERDICT_VIOLATED &&
        (job->outcome->stats.violated & attempt->violated) != 0) {
        attempt->found = index;
        attempt->budget->over = true;
    }
}

/* Tries worlds that are one step smaller than *spec, BATCH_MAX at most. The first that violates a property of
 * the set `violated` replaces *spec. Returns 1 if there is one, 0 if not, -1 on an error. */
static int try_smaller(const struct cli_options *options, struct world_spec *spec, check_mask violated)
{
    static struct attempt attempt;
    struct world_spec smaller;
    int result = 0;
    attempt = (struct attempt){.budget = options->budget, .violated = violated, .found = -1};
    *options->budget = (struct cli_budget){.states = REDUCE_STATES_MAX};
    for (int i = 0; attempt.count < BATCH_MAX && worlds_smaller(spec, i, &smaller); i++) {
        attempt.spec[attempt.count] = smaller;
        attempt.count += read_world(options, &smaller, &attempt.job[attempt.count]);
    }
    if (attempt.count > 0) {
        result = cli_run_jobs(options, attempt.job, attempt.count, on_attempt, &attempt) < 0 ? -1 : 0;
    }
    if (result == 0 && attempt.found >= 0) {
        LS_ASSERT(attempt.found < attempt.count);
        *spec = attempt.spec[attempt.found];
        result = 1;
    }
    cli_forget_jobs(attempt.job, attempt.count);
    for (int i = 0; i < attempt.count; i++) {
        scenario_close(&attempt.job[i].scenario);
    }
    return result;
}

static void ignore(void *ctx, const struct cli_job *job)
{
    (void)ctx;
    (void)job;
}

static int keep_job(const struct cli_job *job, struct cli_job **jobs, int *count)
{
    bool room = array_resize(jobs, (size_t)*count + 1, sizeof **jobs);
    struct outcome *outcome = room ? malloc(sizeof *outcome) : NULL;
    LS_ASSERT(job->finished);
    if (outcome == NULL) {
        return -1;
    }
    *outcome = *job->outcome;
    (*jobs)[*count] = *job;
    (*jobs)[(*count)++].outcome = outcome;
    return 0;
}

/* Writes the world's text as NAME.scn beside its trace NAME.trace. */
static void write_scenario(struct cli_job *job)
{
    char path[OUTCOME_TRACE_MAX + 8];
    struct outcome *outcome = job->outcome;
    size_t length = strlen(outcome->trace);
    if (length <= strlen(".trace")) {
        return;
    }
    snprintf(path, sizeof path, "%.*s.scn", (int)(length - strlen(".trace")), outcome->trace);
    if (file_replace(path, job->scenario.input.text, job->scenario.input.size) == 0) {
        outcome_say(outcome, "  this world is written as %s\n", path);
    } else {
        outcome_say(outcome, "  this world cannot be written as %s: %s\n", path, strerror(errno));
    }
}

/* Searches the smallest failing world once more, now with the user's --no-shrink, and adds it to the list. */
static int show(const struct cli_options *options, const struct world_spec *spec, struct cli_job **jobs,
                int *count)
{
    struct cli_job job;
    *options->budget = (struct cli_budget){.states = UINT64_MAX};
    if (!read_world(options, spec, &job)) {
        return 0;
    }
    int finished = cli_run_jobs(options, &job, 1, ignore, NULL);
    LS_ASSERT(finished <= 1);
    int result = finished < 0 ? -1 : 0;
    if (finished > 0) {
        write_scenario(&job);
        result = keep_job(&job, jobs, count);
    }
    cli_forget_jobs(&job, 1);
    if (finished <= 0 || result != 0) {
        scenario_close(&job.scenario);
    }
    return result;
}

/* Returns whether the list has this world already, because several worlds may be reduced to one. */
static bool is_known(const struct world_spec *spec, const struct cli_job *jobs, int count)
{
    char name[WORLDS_NAME_MAX];
    worlds_name(spec, name);
    for (int i = 0; i < count; i++) {
        if (strcmp(jobs[i].scenario.input.name, name) == 0) {
            return true;
        }
    }
    return false;
}

static int reduce(const struct cli_options *options, const struct batch *batch, struct cli_job **jobs,
                  int *count)
{
    struct cli_options quick = *options, whole = *options;
    struct cli_budget budget;
    struct world_spec spec;
    LS_ASSERT(batch->failing >= 0 && batch->failing < batch->count);
    struct place at = batch->place[batch->failing];
    const struct outcome *outcome = batch->job[batch->failing].outcome;
    int result = outcome->verdict == VERDICT_VIOLATED ? 1 : 0;
    quick.budget = whole.budget = &budget;
    quick.filter = whole.filter = NULL;
    quick.no_shrink = quick.search.first_only = true;
    worlds_spec(worlds_class(at.class), at.world, &spec);
    while (result > 0 && !cli_interrupted()) {
        result = try_smaller(&quick, &spec, outcome->stats.violated);
    }
    if (result < 0 || is_known(&spec, *jobs, *count)) {
        return result < 0 ? -1 : 0;
    }
    return show(&whole, &spec, jobs, count);
}

/* ---- kept, and gone on with ---- */

static bool kept_path(const char *folder, char path[CLI_CHECKPOINT_MAX])
{
    return snprintf(path, CLI_CHECKPOINT_MAX, "%s/" KEPT_NAME, folder) < CLI_CHECKPOINT_MAX;
}

/* Writes what a saved enumeration belongs to: the build, the options of the search, and a hash of the filter,
 * which leaves out worlds before the saved position. */
static void identity_of(const struct cli_options *options, char text[IDENTITY_MAX])
{
    char build[BUILD_ID_MAX];
    const char *filter = options->filter != NULL ? options->filter : "";
    build_id(build);
    int size = snprintf(text, IDENTITY_MAX, "%s %s (filter %016llx)", build, options->search.identity,
                        (unsigned long long)hash_text(filter, strlen(filter), 0));
    LS_ASSERT(size > 0 && size < IDENTITY_MAX);
    for (char *at = text; *at != 0; at++) {
        *at = *at == '\n' ? ' ' : *at;
    }
}

static int keep(const struct cli_options *options, const struct enumeration *worlds)
{
    char path[CLI_CHECKPOINT_MAX], identity[IDENTITY_MAX], *bytes = NULL;
    size_t size = 0;
    FILE *file = kept_path(options->checkpoint, path) ? open_memstream(&bytes, &size) : NULL;
    if (file == NULL) {
        return -1;
    }
    identity_of(options, identity);
    fprintf(file, "%s\n%s\n%d %d %d\n", KEPT_MAGIC, identity, worlds->class, worlds->world, worlds_classes());
    for (int i = 0; i < worlds_classes(); i++) {
        const struct enumerate_sum *sum = &worlds->sum[i];
        fprintf(file, "%d %d %d %llu\n", sum->done, sum->limited, sum->left_out,
                (unsigned long long)sum->states);
    }
    int result = fclose(file) == 0 ? file_replace(path, bytes, size) : -1;
    free(bytes);
    return result;
}

static bool read_line(FILE *file, char *line, size_t size)
{
    if (fgets(line, (int)size, file) == NULL) {
        return false;
    }
    line[strcspn(line, "\n")] = 0;
    return true;
}

/* Reads a saved enumeration. Returns false with *why if the file is damaged or of another enumeration. */
static bool take(FILE *file, const char *identity, struct enumeration *worlds, const char **why)
{
    char line[IDENTITY_MAX + 1];
    int classes = 0;
    *why = "one that is damaged";
    if (!read_line(file, line, sizeof line) || strcmp(line, KEPT_MAGIC) != 0 ||
        !read_line(file, line, sizeof line)) {
        return false;
    }
    if (strcmp(line, identity) != 0) {
        *why = "one of another build or with other options";
        return false;
    }
    if (!read_line(file, line, sizeof line) ||
        sscanf(line, "%d %d %d", &worlds->class, &worlds->world, &classes) != 3 ||
        classes != worlds_classes() || worlds->class < 0 || worlds->class > classes || worlds->world < 0 ||
        (worlds->class < classes && worlds->world >= worlds_count(worlds_class(worlds->class)))) {
        return false;
    }
    for (int i = 0; i < classes; i++) {
        struct enumerate_sum *sum = &worlds->sum[i];
        unsigned long long states;
        if (!read_line(file, line, sizeof line) ||
            sscanf(line, "%d %d %d %llu", &sum->done, &sum->limited, &sum->left_out, &states) != 4) {
            return false;
        }
        sum->states = states;
    }
    return true;
}

static int resume(const struct cli_options *options, const char *command, struct enumeration *worlds)
{
    char path[CLI_CHECKPOINT_MAX], identity[IDENTITY_MAX];
    const char *why = "";
    if (!kept_path(options->resume, path)) {
        return cli_usage_error(command, "a shorter path after --resume", options->resume);
    }
    FILE *file = fopen(path, "r");
    if (file == NULL) {
        return 0; /* the suite was saved before its worlds began */
    }
    identity_of(options, identity);
    bool taken = take(file, identity, worlds, &why);
    fclose(file);
    if (!taken) {
        char expected[CLI_CHECKPOINT_MAX + 64];
        snprintf(expected, sizeof expected, "an enumeration of this build and these options in %s", path);
        return cli_usage_error(command, expected, why);
    }
    return 0;
}

bool enumerate_has_match(const struct cli_options *options)
{
    bool found = false;
    for (int i = 0; cli_suite_asks_for_worlds(options) && i < worlds_classes() && !found; i++) {
        const struct world_class *class = worlds_class(i);
        int count = class_may_match(options, class) ? worlds_count(class) : 0;
        for (int world = 0; world < count && !found; world++) {
            char name[WORLDS_NAME_MAX];
            struct world_spec spec;
            worlds_spec(class, world, &spec);
            found = is_matched(options, worlds_name(&spec, name));
        }
    }
    return found;
}

bool enumerate_is_kept(const struct cli_options *options)
{
    char path[CLI_CHECKPOINT_MAX];
    LS_ASSERT(options->resume != NULL);
    return cli_suite_has_worlds(options) && kept_path(options->resume, path) && access(path, F_OK) == 0;
}

/* ---- all of it ---- */

int enumerate_open(const struct cli_options *options, const char *command, struct enumeration *worlds)
{
    *worlds = (struct enumeration){0};
    worlds->asked = cli_suite_has_worlds(options);
    if (!worlds->asked) {
        return 0;
    }
    worlds->sum = calloc((size_t)worlds_classes(), sizeof *worlds->sum);
    if (worlds->sum == NULL) {
        fprintf(stderr, "lockstep %s: memory is short\n", command);
        return CLI_ENVIRONMENT;
    }
    return options->resume != NULL ? resume(options, command, worlds) : 0;
}

void enumerate_close(struct enumeration *worlds)
{
    free(worlds->sum);
}

static struct cli_budget budget_of(const struct cli_options *options)
{
    struct cli_budget budget = {.states = UINT64_MAX};
    if (options->budget_given && options->budget_s <= 0) {
        budget.states = options->budget_states;
    } else {
        budget.deadline_s = cli_now_s() + (options->budget_given ? options->budget_s : CLI_BUDGET_DEFAULT_S);
    }
    LS_ASSERT(budget.states > 0);
    return budget;
}

/* Returns the options for searches of worlds: without those of the suite, of coverage and of checkpoints, and
 * without --seeds, --rewrite and --max-states. Random schedules of worlds have STRATEGY_SWARM. */
static struct cli_options plain(const struct cli_options *options, struct cli_budget *budget)
{
    struct cli_options plain = *options;
    plain.suite = plain.coverage = plain.rewrite = false;
    plain.checkpoint = plain.resume = NULL;
    plain.seeds = 0;
    plain.plan.strategy = STRATEGY_SWARM;
    plain.search.states_max = 0;
    plain.budget = budget;
    return plain;
}

static int run_batch(struct batch *batch, const struct cli_options *user, struct cli_job **jobs, int *count)
{
    struct cli_options quick = *batch->options;
    struct enumeration *worlds = batch->worlds;
    quick.no_shrink = quick.search.first_only = true;
    LS_ASSERT(batch->count > 0 && batch->next == 0);
    int result = cli_run_jobs(&quick, batch->job, batch->count, on_world, batch) < 0 ? -1 : 0;
    if (result == 0 && batch->failing >= 0) {
        struct cli_options options = *batch->options;
        options.no_shrink = user->no_shrink;
        if (!worlds->failed) {
            snprintf(worlds->first_failing, sizeof worlds->first_failing, "%.*s", WORLDS_NAME_MAX - 1,
                     batch->job[batch->failing].scenario.input.name);
        }
        worlds->failed = true;
        result = reduce(&options, batch, jobs, count);
        batch->budget->over = !user->keep_going;
    }
    return result;
}

int enumerate_run(const struct cli_options *options, struct enumeration *worlds, struct cli_job **jobs,
                  int *count)
{
    static struct batch batch;
    struct cli_budget budget = budget_of(options);
    struct cli_options searching = plain(options, &budget);
    int result = 0;
    LS_ASSERT(worlds->asked && !worlds->failed);
    batch = (struct batch){.options = &searching, .worlds = worlds, .budget = &budget};
    while (result == 0 && !budget.over && !cli_interrupted()) {
        fill(&batch);
        if (batch.count == 0) {
            break;
        }
        result = run_batch(&batch, options, jobs, count);
        budget.over = budget.over || (batch.next < batch.count && batch.failing < 0) || is_late(&budget);
        empty(&batch);
    }
    if (result == 0 && options->checkpoint != NULL) {
        result = keep(options, worlds);
    }
    return result;
}

/* ---- telling ---- */

static int seen(const struct enumerate_sum *sum)
{
    return sum->done + sum->limited + sum->left_out;
}

static bool is_exhausted(const struct cli_options *options, const struct enumeration *worlds, int class)
{
    const struct enumerate_sum *sum = &worlds->sum[class];
    bool filtered = options->filter != NULL && sum->left_out > 0;
    return !filtered && sum->limited == 0 && seen(sum) == worlds_count(worlds_class(class));
}

static bool is_random(int class)
{
    return worlds_class(class)->place == WORLD_PLACE_RANDOM;
}

static const char *name_next(const struct enumeration *worlds, char name[WORLDS_NAME_MAX])
{
    struct world_spec spec;
    if (worlds->class >= worlds_classes()) {
        return NULL;
    }
    worlds_spec(worlds_class(worlds->class), worlds->world, &spec);
    return worlds_name(&spec, name);
}

static struct enumerate_sum sum_up(const struct enumeration *worlds)
{
    struct enumerate_sum all = {0};
    for (int i = 0; i < worlds_classes(); i++) {
        all.done += worlds->sum[i].done;
        all.limited += worlds->sum[i].limited;
        all.left_out += worlds->sum[i].left_out;
        all.states += worlds->sum[i].states;
    }
    return all;
}

static void tell_class(FILE *out, const struct cli_options *options, const struct enumeration *worlds,
                       int class)
{
    const struct enumerate_sum *sum = &worlds->sum[class];
    char name[WORLDS_NAME_MAX];
    worlds_class_name(worlds_class(class), name);
    int count = worlds_count(worlds_class(class));
    bool exhausted = is_exhausted(options, worlds, class);
    bool random = is_random(class);
    const char *all = random ? "tried" : "exhausted", *some = random ? "partly tried" : "not exhausted";
    fprintf(out, "  %s: %s  (", exhausted ? all : some, name);
    if (exhausted && sum->left_out == 0) {
        fprintf(out, "%d worlds", count);
    } else {
        fprintf(out, "%d of %d worlds", sum->done, count);
    }
    fprintf(out, ", %llu states", (unsigned long long)sum->states);
    if (sum->left_out > 0) {
        fprintf(out, ", %d left out", sum->left_out);
    }
    fputs(sum->limited > 0 ? ", some reached a limit)\n" : ")\n", out);
}

static void tell_text(FILE *out, const struct cli_options *options, const struct enumeration *worlds)
{
    char name[WORLDS_NAME_MAX];
    struct enumerate_sum all = sum_up(worlds);
    int further = 0;
    LS_ASSERT(!worlds->failed || worlds->first_failing[0] != 0);
    if (worlds->skipped) {
        fputs("worlds: none was searched, because a situation fails (see --keep-going)\n", out);
        return;
    }
    fprintf(out, "worlds: %d searched, %llu states, ", all.done + all.limited,
            (unsigned long long)all.states);
    fprintf(out, worlds->failed ? "%s fails first\n" : "%s\n",
            worlds->failed ? worlds->first_failing : "nothing is violated");
    for (int i = 0; i < worlds_classes(); i++) {
        if (worlds->sum[i].done + worlds->sum[i].limited > 0) {
            tell_class(out, options, worlds, i);
        } else {
            further += seen(&worlds->sum[i]) == 0;
        }
    }
    const char *next = name_next(worlds, name);
    fprintf(out, "  next: %s; %d classes are not begun\n", next != NULL ? next : "none", further);
}

static bool add_class(cJSON *list, const struct cli_options *options, const struct enumeration *worlds,
                      int class)
{
    char name[WORLDS_NAME_MAX];
    const struct enumerate_sum *sum = &worlds->sum[class];
    cJSON *object = cJSON_CreateObject();
    return cJSON_AddItemToArray(list, object) &&
           cJSON_AddStringToObject(object, "class", worlds_class_name(worlds_class(class), name)) &&
           cJSON_AddBoolToObject(object, "exhausted",
                                 !is_random(class) && is_exhausted(options, worlds, class)) &&
           cJSON_AddBoolToObject(object, "random", is_random(class)) &&
           cJSON_AddNumberToObject(object, "worlds", worlds_count(worlds_class(class))) &&
           cJSON_AddNumberToObject(object, "searched", sum->done) &&
           cJSON_AddNumberToObject(object, "limited", sum->limited) &&
           cJSON_AddNumberToObject(object, "left_out", sum->left_out) &&
           cJSON_AddNumberToObject(object, "states", (double)sum->states);
}

static bool fill_object(cJSON *object, const struct cli_options *options, const struct enumeration *worlds)
{
    char name[WORLDS_NAME_MAX];
    struct enumerate_sum all = sum_up(worlds);
    const char *next = name_next(worlds, name);
    bool added = cJSON_AddNumberToObject(object, "worlds", all.done + all.limited) &&
                 cJSON_AddNumberToObject(object, "states", (double)all.states) &&
                 cJSON_AddBoolToObject(object, "skipped", worlds->skipped);
    added = added && (worlds->failed ? cJSON_AddStringToObject(object, "first_failing", worlds->first_failing)
                                     : cJSON_AddNullToObject(object, "first_failing"));
    cJSON *list = added ? cJSON_AddArrayToObject(object, "classes") : NULL;
    for (int i = 0; list != NULL && i < worlds_classes(); i++) {
        if (worlds->sum[i].done + worlds->sum[i].limited > 0 && !add_class(list, options, worlds, i)) {
            return false;
        }
    }
    return list != NULL && (next != NULL ? cJSON_AddStringToObject(object, "next", next)
                                         : cJSON_AddNullToObject(object, "next"));
}

static void tell_json(FILE *out, const struct cli_options *options, const struct enumeration *worlds)
{
    cJSON *object = cJSON_CreateObject();
    char *text = object && fill_object(object, options, worlds) ? cJSON_PrintUnformatted(object) : NULL;
    if (text != NULL) {
        fprintf(out, "%s\n", text);
    }
    cJSON_free(text);
    cJSON_Delete(object);
}

void enumerate_tell(FILE *out, const struct cli_options *options, const struct enumeration *worlds)
{
    if (!worlds->asked) {
        return;
    }
    if (options->json) {
        tell_json(out, options, worlds);
    } else if (!options->quiet) {
        tell_text(out, options, worlds);
    }
}
