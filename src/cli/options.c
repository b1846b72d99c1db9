/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "cli/cli.h"
#include "report/report.h"

#include "base/assert.h"
#include "base/file.h"
#include "base/nearest.h"
#include "base/shared_object_path.h"
#include "plugin/plugin.h"
#include "scenario/loaded_properties.h"
#include "scenario/recipes.h"

#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define JOBS_MAX 256
#define CHECKPOINT_EVERY_S 300
#define SEEDS_MAX 1000000000000ull

static const struct {
    const char *name;
    int argument;
    uint64_t bit;
} OPTIONS[] = {
    {"help", no_argument, 0},
    {"recipe", required_argument, OPTION_RECIPE},
    {"out", required_argument, OPTION_OUT},
    {"filter", required_argument, OPTION_FILTER},
    {"junit", required_argument, OPTION_JUNIT},
    {"sarif", required_argument, OPTION_SARIF},
    {"html", required_argument, OPTION_HTML},
    {"seed", required_argument, OPTION_SEED},
    {"seeds", required_argument, OPTION_SEEDS},
    {"jobs", required_argument, OPTION_JOBS},
    {"json", no_argument, OPTION_JSON},
    {"quiet", no_argument, OPTION_QUIET},
    {"verbose", no_argument, OPTION_VERBOSE},
    {"rewrite", no_argument, OPTION_REWRITE},
    {"table", no_argument, OPTION_TABLE},
    {"no-shrink", no_argument, OPTION_NO_SHRINK},
    {"property", required_argument, OPTION_PROPERTY},
    {"max-steps", required_argument, OPTION_MAX_STEPS},
    {"strategy", required_argument, OPTION_STRATEGY},
    {"depth", required_argument, OPTION_DEPTH},
    {"no-search", no_argument, OPTION_NO_SEARCH},
    {"coverage", no_argument, OPTION_COVERAGE},
    {"max-states", required_argument, OPTION_MAX_STATES},
    {"max-memory", required_argument, OPTION_MAX_MEMORY},
    {"max-time", required_argument, OPTION_MAX_TIME},
    {"no-layers", no_argument, OPTION_NO_LAYERS},
    {"no-renaming", no_argument, OPTION_NO_RENAMING},
    {"no-memo", no_argument, OPTION_NO_MEMO},
    {"subsume", no_argument, OPTION_SUBSUME},
    {"symmetry", no_argument, OPTION_SYMMETRY},
    {"partial-order", no_argument, OPTION_PARTIAL_ORDER},
    {"trust", no_argument, OPTION_TRUST},
    {"exact", no_argument, OPTION_EXACT},
    {"workers", required_argument, OPTION_WORKERS},
    {"without", required_argument, OPTION_WITHOUT},
    {"shard", required_argument, OPTION_SHARD},
    {"checkpoint", required_argument, OPTION_CHECKPOINT},
    {"checkpoint-every", required_argument, OPTION_CHECKPOINT_EVERY},
    {"resume", required_argument, OPTION_RESUME},
    {"bitstate", required_argument, OPTION_BITSTATE},
    {"suite", no_argument, OPTION_SUITE},
    {"budget", required_argument, OPTION_BUDGET},
    {"keep-going", no_argument, OPTION_KEEP_GOING},
    {"color", required_argument, OPTION_COLOR},
    {"step", no_argument, OPTION_STEP},
    {"explain", no_argument, OPTION_EXPLAIN},
    {"function", required_argument, OPTION_FUNCTION},
    {"batch", required_argument, OPTION_BATCH},
};
#define OPTION_COUNT ((int)(sizeof OPTIONS / sizeof OPTIONS[0]))
_Static_assert(OPTION_COUNT <= CLI_OPTIONS_MAX, "each option has a place");

/* Options that do not affect the findings. */
#define OPTIONS_ASIDE                                                                                        \
    (OPTION_OUT | OPTION_FILTER | OPTION_JUNIT | OPTION_JOBS | OPTION_JSON | OPTION_QUIET | OPTION_WORKERS | \
     OPTION_SHARD | OPTION_VERBOSE | OPTION_COLOR | OPTION_SARIF | OPTION_STEP | OPTION_HTML |               \
     OPTION_EXPLAIN)

static const char *program = "lockstep";

const char *cli_program(void)
{
    return program;
}

void cli_set_program(const char *called)
{
    program = called;
}

int cli_usage_error(const char *command, const char *expected, const char *found)
{
    fprintf(stderr, "lockstep %s: expected %s, found '%s'\n", command, expected, found);
    return CLI_USAGE;
}

static int read_number(const char *command, const char *name, const char *text, uint64_t min, uint64_t max,
                       uint64_t *out)
{
    char *end = NULL;
    LS_ASSERT(min <= max);
    errno = 0;
    unsigned long long value = text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : 0;
    if (!end || *end || errno || value < min || value > max) {
        char expected[96];
        snprintf(expected, sizeof expected, "a number from %llu to %llu after --%s", (unsigned long long)min,
                 (unsigned long long)max, name);
        return cli_usage_error(command, expected, text);
    }
    *out = value;
    return 0;
}

static int read_random_strategy(struct cli_options *options, const char *command, const char *text)
{
    int strategy = strategy_find(text);
    if (strategy < 0) {
        return cli_usage_error(command, "uniform, pct, swarm or mixed after --strategy", text);
    }
    options->plan.strategy = (enum strategy)strategy;
    return 0;
}

static int read_strategy(struct cli_options *options, const char *command, const char *text)
{
    if (strcmp(command, "run") == 0 || strcmp(command, "report") == 0) {
        return read_random_strategy(options, command, text);
    }
    if (strcmp(text, "dfs") != 0 && strcmp(text, "bfs") != 0) {
        return cli_usage_error(command, "dfs or bfs after --strategy", text);
    }
    options->search.any_order = false;
    options->search.order = text[0] == 'b' ? EXPLORE_BREADTH_FIRST : EXPLORE_DEPTH_FIRST;
    return 0;
}

/* Reads a size such as 500M or 8G, of at least 1 << min_shift bytes. */
static int read_size(const char *command, const char *name, int min_shift, const char *text, size_t *out)
{
    char expected[96];
    char *end = NULL;
    LS_ASSERT(min_shift == 10 || min_shift == 20);
    errno = 0;
    unsigned long long value = text[0] >= '1' && text[0] <= '9' ? strtoull(text, &end, 10) : 0;
    int shift = !end ? 0 : *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (shift == 0 || end[1] != 0 || errno || value > (1ull << 40) >> shift ||
        value << shift < 1ull << min_shift) {
        snprintf(expected, sizeof expected, "a size from 1%c to 1024G (K, M or G behind a number) after --%s",
                 min_shift == 10 ? 'K' : 'M', name);
        return cli_usage_error(command, expected, text);
    }
    *out = (size_t)(value << shift);
    return 0;
}

/* Reads a number of states (5000000), or a duration: 45s, 3m, 1h. */
static int read_budget(struct cli_options *options, const char *command, const char *text)
{
    char *end = NULL;
    errno = 0;
    unsigned long long value = text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : 0;
    int unit = !end ? 0 : *end == 's' ? 1 : *end == 'm' ? 60 : *end == 'h' ? 3600 : 0;
    bool states = end && *end == 0 && !errno && value < UINT64_MAX / 2;
    if (!states && (unit == 0 || end[1] != 0 || errno || value < 1 || value > 10000000)) {
        return cli_usage_error(command, "a number of states, or a duration (45s, 3m, 1h) after --budget",
                               text);
    }
    options->budget_given = true;
    options->budget_s = states ? 0 : (double)value * unit;
    options->budget_states = states ? value : 0;
    return 0;
}

static int read_shard(struct cli_options *options, const char *command, const char *text)
{
    char *slash = NULL, *end = NULL;
    bool digits = text[strspn(text, "0123456789/")] == 0 && text[0] != '/';
    unsigned long shard = digits ? strtoul(text, &slash, 10) : 0;
    unsigned long shards = slash && *slash == '/' && slash[1] != '/' ? strtoul(slash + 1, &end, 10) : 0;
    if (!end || *end || shard < 1 || shard > shards || shards > CLI_SHARDS_MAX) {
        char expected[80];
        snprintf(expected, sizeof expected, "I/N after --shard, 1/1 to %d/%d", CLI_SHARDS_MAX,
                 CLI_SHARDS_MAX);
        return cli_usage_error(command, expected, text);
    }
    options->shard = (int)shard;
    options->shards = (int)shards;
    return 0;
}

/* Loads the shared object of a property; for shrink and explain, `text` may also be the name of a
 * property. */
static int read_property(struct cli_options *options, const char *command, const char *text)
{
    char why[PROPERTY_WHY_MAX];
    bool names = strcmp(command, "shrink") == 0 || strcmp(command, "explain") == 0;
    if (!shared_is_path(text)) {
        options->property = text;
        return names ? 0
                     : cli_usage_error(command, "a shared object (FILE.so) with a property after --property",
                                       text);
    }
    if (options->help || property_load(text, why) != NULL) {
        return 0;
    }
    fprintf(stderr,
            "lockstep %s: expected a shared object with a property after --property, found '%s': %s\n",
            command, text, why);
    return CLI_USAGE;
}

static void switch_on(struct cli_options *options, uint64_t bit)
{
    switch (bit) {
    case OPTION_JSON:
        options->json = true;
        break;
    case OPTION_QUIET:
        options->quiet = true;
        break;
    case OPTION_STEP:
        options->step = true;
        break;
    case OPTION_EXPLAIN:
        options->explain = true;
        break;
    case OPTION_VERBOSE:
        options->verbose = true;
        break;
    case OPTION_REWRITE:
        options->rewrite = true;
        break;
    case OPTION_TABLE:
        options->table = true;
        break;
    case OPTION_NO_SHRINK:
        options->no_shrink = true;
        break;
    case OPTION_COVERAGE:
        options->coverage = true;
        break;
    case OPTION_NO_SEARCH:
        options->no_search = true;
        break;
    case OPTION_KEEP_GOING:
        options->keep_going = true;
        break;
    case OPTION_SUITE:
        options->suite = true;
        break;
    case OPTION_NO_LAYERS:
        options->search.layers = false;
        break;
    case OPTION_SYMMETRY:
        options->search.symmetry = true;
        break;
    case OPTION_PARTIAL_ORDER:
        options->search.partial_order = true;
        break;
    case OPTION_SUBSUME:
        options->search.subsume = true;
        break;
    case OPTION_NO_MEMO:
        options->search.every_step = true;
        break;
    case OPTION_TRUST:
        options->search.distrust = false;
        break;
    case OPTION_EXACT:
        options->search.exact = true;
        break;
    case OPTION_NO_RENAMING:
        options->search.renaming = false;
        break;
    default:
        LS_ASSERT(bit == 0); /* --help has no bit */
        options->help = true;
        break;
    }
}

static int read_argument(struct cli_options *options, const char *command, int index, const char *text)
{
    const char *name = OPTIONS[index].name;
    uint64_t number;
    LS_ASSERT(index >= 0 && index < OPTION_COUNT);
    if (OPTIONS[index].argument == required_argument && text[0] == 0) {
        char expected[64];
        snprintf(expected, sizeof expected, "a value after --%s", name);
        return cli_usage_error(command, expected, "");
    }
    switch (OPTIONS[index].bit) {
    case OPTION_RECIPE:
        options->recipe_given = true;
        options->recipe = text;
        break;
    case OPTION_OUT:
        options->out = text;
        options->out_given = true;
        break;
    case OPTION_FILTER:
        options->filter = text;
        break;
    case OPTION_JUNIT:
        options->junit = text;
        break;
    case OPTION_SARIF:
        options->sarif = text;
        break;
    case OPTION_HTML:
        options->html = text;
        break;
    case OPTION_COLOR:
        if (!report_set_color(text)) {
            return cli_usage_error(command, "auto, always or never after --color", text);
        }
        break;
    case OPTION_SEED:
        options->seed_given = true;
        return read_number(command, name, text, 0, INT64_MAX, &options->seed);
    case OPTION_SEEDS:
        return read_number(command, name, text, 1, SEEDS_MAX, &options->seeds);
    case OPTION_JOBS:
        if (read_number(command, name, text, 1, JOBS_MAX, &number) != 0) {
            return CLI_USAGE;
        }
        options->jobs = (int)number;
        break;
    case OPTION_PROPERTY:
        return read_property(options, command, text);
    case OPTION_MAX_STEPS:
        return read_number(command, name, text, 1, UINT64_MAX / 2, &options->max_steps);
    case OPTION_STRATEGY:
        return read_strategy(options, command, text);
    case OPTION_DEPTH:
        if (read_number(command, name, text, 1, STRATEGY_DEPTH_MAX, &number) != 0) {
            return CLI_USAGE;
        }
        options->plan.depth = (int)number;
        break;
    case OPTION_MAX_STATES:
        return read_number(command, name, text, 1, UINT64_MAX / 2, &options->search.states_max);
    case OPTION_MAX_MEMORY:
        return read_size(command, name, 20, text, &options->search.bytes_max);
    case OPTION_MAX_TIME:
        if (read_number(command, name, text, 1, 10000000, &number) != 0) {
            return CLI_USAGE;
        }
        options->search.seconds_max = (double)number;
        break;
    case OPTION_WORKERS:
        if (read_number(command, name, text, 1, EXPLORE_WORKERS_MAX, &number) != 0) {
            return CLI_USAGE;
        }
        options->search.workers = (int)number;
        break;
    case OPTION_WITHOUT:
        if (!world_without(text, &options->search.without)) {
            return cli_usage_error(command, "letters of choice points (a to g, i to l) after --without",
                                   text);
        }
        break;
    case OPTION_SHARD:
        return read_shard(options, command, text);
    case OPTION_CHECKPOINT:
        options->checkpoint = text;
        break;
    case OPTION_CHECKPOINT_EVERY:
        options->checkpoint_every_given = true;
        if (read_number(command, name, text, 0, 10000000, &number) != 0) {
            return CLI_USAGE;
        }
        options->search.checkpoint_every_s = (double)number;
        break;
    case OPTION_BITSTATE:
        return read_size(command, name, 10, text, &options->search.bitstate_bytes);
    case OPTION_BUDGET:
        return read_budget(options, command, text);
    case OPTION_RESUME:
        options->resume = text;
        break;
    case OPTION_FUNCTION:
        options->function = text;
        break;
    case OPTION_BATCH:
        options->batch = text;
        break;
    default:
        LS_ASSERT(OPTIONS[index].argument == no_argument);
        switch_on(options, OPTIONS[index].bit);
        break;
    }
    return 0;
}

static int index_of(uint64_t bit)
{
    int index = 0;
    while (OPTIONS[index].bit != bit) {
        index++;
        LS_ASSERT(index < OPTION_COUNT);
    }
    return index;
}

static int find_recipe(struct cli_options *options, const char *command)
{
    char why[RECIPE_WHY_MAX];
    struct nearest nearest;
    options->found_recipe = recipe_load(options->recipe, why);
    if (options->found_recipe) {
        return 0;
    }
    nearest_begin(&nearest, options->recipe, strlen(options->recipe));
    for (int i = 0; recipe_at(i) != NULL; i++) {
        nearest_look_at(&nearest, recipe_at(i)->name);
    }
    fprintf(stderr,
            "lockstep %s: expected a recipe (see lockstep list recipes) or a shared object with one after "
            "--recipe, "
            "found '%s'%s%s\n",
            command, options->recipe, why[0] != 0 ? ": " : "", why[0] != 0 ? why : nearest_text(&nearest));
    return CLI_USAGE;
}

const struct ls_recipe *cli_recipe(const struct cli_options *options, const struct scenario *scenario)
{
    return options->recipe_given ? options->found_recipe : recipe_for(&scenario->options);
}

bool cli_given(const struct cli_options *options, int index, char *text, size_t size)
{
    const struct loaded_property *loaded;
    LS_ASSERT(index >= 0);
    for (int i = 0; (loaded = property_loaded(i)) != NULL; i++) {
        if (index-- == 0) {
            snprintf(text, size, "--property=%s", loaded->path);
            return true;
        }
    }
    for (int i = 0; i < OPTION_COUNT; i++) {
        bool counts = options->given[i] && OPTIONS[i].bit != 0 && !(OPTIONS[i].bit & OPTIONS_ASIDE) &&
                      OPTIONS[i].bit != OPTION_PROPERTY;
        if (counts && index-- == 0) {
            bool value = OPTIONS[i].argument == required_argument;
            snprintf(text, size, "--%s%s%s", OPTIONS[i].name, value ? "=" : "", options->given[i]);
            return true;
        }
    }
    return false;
}

/* Options that note_identity() does not write as they were given. It writes recipe and properties in another
 * way. The others may change when a search is resumed, but for the strategy, which is always dfs then. */
static const uint64_t FREE_OPTIONS =
    OPTION_RECIPE | OPTION_PROPERTY | OPTION_STRATEGY | OPTION_OUT | OPTION_FILTER | OPTION_JUNIT |
    OPTION_JOBS | OPTION_JSON | OPTION_QUIET | OPTION_REWRITE | OPTION_NO_SHRINK | OPTION_MAX_STATES |
    OPTION_MAX_MEMORY | OPTION_MAX_TIME | OPTION_WORKERS | OPTION_TRUST | OPTION_NO_MEMO | OPTION_CHECKPOINT |
    OPTION_CHECKPOINT_EVERY | OPTION_RESUME | OPTION_BUDGET | OPTION_KEEP_GOING | OPTION_VERBOSE |
    OPTION_COLOR | OPTION_SARIF | OPTION_STEP | OPTION_HTML | OPTION_EXPLAIN;

/* Writes the options that define a search: the recipe, the properties, and others in the order of OPTIONS. A
 * recipe from a shared object and each property have a hash of their file beside them. */
static void note_identity(struct cli_options *options)
{
    char *text = options->identity;
    size_t size = sizeof options->identity;
    const struct loaded_property *loaded;
    snprintf(text, size, "--recipe %s", options->recipe);
    if (shared_is_path(options->recipe)) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, " (%016llx)", (unsigned long long)file_hash(options->recipe));
    }
    for (int i = 0; (loaded = property_loaded(i)) != NULL; i++) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, " --property %s (%s %016llx)", loaded->path,
                 loaded->property->name, (unsigned long long)loaded->content);
    }
    for (int i = 0; i < OPTION_COUNT; i++) {
        size_t used = strlen(text);
        LS_ASSERT(used > 0 && used < size);
        if (options->given[i] != NULL && !(OPTIONS[i].bit & FREE_OPTIONS)) {
            snprintf(text + used, size - used, " --%s%s%s", OPTIONS[i].name, options->given[i][0] ? " " : "",
                     options->given[i]);
        }
    }
    options->search.identity = text;
}

static const struct ls_recipe *load_recipe(const char *path, char why[PLUGIN_WHY_MAX])
{
    const struct ls_recipe *recipe = plugin_recipe(path, why);
    if (recipe) {
        int count;
        struct ls_mark *marks = plugin_marks(recipe, &count);
        coverage_marks_of(recipe, marks, count);
    }
    return recipe;
}

/* Complains about the option that getopt_long() has just refused: the letter `optopt`, or else `word`. A
 * letter may stand among others in a word, so `word` cannot tell it. */
static int unknown_option(const char *command, const struct option *list, int count, const char *word)
{
    struct nearest nearest;
    char letter[] = {'-', (char)optopt, 0};
    const char *found = optopt > 0 && optopt < 128 ? letter : word;
    const char *name = found + strspn(found, "-");
    nearest_begin(&nearest, name, strcspn(name, "="));
    for (int i = 0; i < count; i++) {
        nearest_look_at(&nearest, list[i].name);
    }
    fprintf(stderr, "lockstep %s: expected an option (see lockstep %s --help), found '%s'%s\n", command,
            command, found, nearest_text(&nearest));
    return CLI_USAGE;
}

int cli_options(struct cli_options *options, const char *command, uint64_t allowed, int argc, char **argv)
{
    struct option list[OPTION_COUNT + 1] = {{0}};
    int used = 0, chosen;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    *options = (struct cli_options){.recipe = RECIPE_DEFAULT, .out = "build/reports", .seed = 1};
    options->search.checkpoint_every_s = CHECKPOINT_EVERY_S;
    options->search.any_order = true;
    options->search.layers = true;
    options->search.renaming = true;
    options->search.workers = 1;
    options->search.distrust = true;
    options->jobs = cores < 1 ? 1 : cores > JOBS_MAX ? JOBS_MAX : (int)cores;
    for (int i = 0; i < OPTION_COUNT; i++) {
        if (OPTIONS[i].bit == 0 || (OPTIONS[i].bit & allowed)) {
            list[used++] = (struct option){OPTIONS[i].name, OPTIONS[i].argument, NULL, 1000 + i};
        }
    }
    LS_ASSERT(used <= OPTION_COUNT && list[used].name == NULL);
    recipe_set_loader(load_recipe);
    opterr = 0;
    optind = 0; /* restarts getopt_long(), also with glibc's permutation */
    const char *letters = allowed & OPTION_OUT ? ":ho:" : ":h";
    while ((chosen = getopt_long(argc, argv, letters, list, NULL)) != -1) {
        if (chosen == ':') {
            return cli_usage_error(command, "a value after this option", argv[optind - 1]);
        }
        if (chosen == '?') {
            return unknown_option(command, list, used, argv[optind - 1]);
        }
        if (chosen == 'h') {
            options->help = true;
            continue;
        }
        int index = chosen == 'o' ? index_of(OPTION_OUT) : chosen - 1000;
        options->given[index] = optarg ? optarg : "";
        if (read_argument(options, command, index, options->given[index]) != 0) {
            return CLI_USAGE;
        }
    }
    note_identity(options);
    LS_ASSERT(optind >= 1 && optind <= argc);
    options->path = argv + optind;
    options->paths = argc - optind;
    return options->help ? 0 : find_recipe(options, command);
}
