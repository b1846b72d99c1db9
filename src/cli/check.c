/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "cli/cli.h"

#include "base/assert.h"

static const char HELP[] =
    "usage: lockstep check [OPTION...] PATH... | --suite\n"
    "\n"
    "Searches all runs of exploring scenarios (files, or all *.scn in folders that are exploring; - is "
    "standard input):\n"
    "every order of steps and every place for every fault that a file's budgets allow. What holds then holds "
    "in all runs\n"
    "within these bounds; what is violated comes with a run that shows it. By default first without faults, "
    "then with\n"
    "one, and so on: when a limit is reached, what was found for fewer faults stands.\n"
    "The last line is N passed, N failed[, N skipped]; skipped are those that reached a limit first.\n"
    "\n"
    "  --recipe NAME       the recipe under test (default: the first that knows the locks of the file; see "
    "lockstep list recipes),\n"
    "                      or a shared object with one: FILE.so\n"
    "  --property FILE.so  judge all by the property of this shared object too; up to 4 times\n"
    "  --suite             the standard suite in place of PATH: situations for each kind of lock, each "
    "searched "
    "up to 400000\n"
    "                      states and, where there are more, tried with random schedules\n"
    "                      then small worlds, all of them in the order of their expected cost, as far as the "
    "budget goes\n"
    "  --budget B          of these worlds: a number of states (0: none), or a time: 45s (default), 3m, 1h\n"
    "  --keep-going        of these worlds: also behind one that fails, and behind failing situations\n"
    "  --strategy dfs|bfs  depth first: fast (default); breadth first: the shortest violation\n"
    "  --workers N         that many processes search together, depth first (default: 1)\n"
    "  --no-layers         with all faults of the budget at once\n"
    "  --no-renaming       states that differ only by numbers that grow (zxids, sequences, ids) are "
    "different ones\n"
    "  --subsume           a state that differs from a known one only in having fewer faults left is known: "
    "fewer states,\n"
    "                      how many depends on the order of search\n"
    "  --symmetry          states that differ only in which process is which are one, if programs are equal "
    "and "
    "the recipe\n"
    "                      makes no difference between processes; tells if it cannot\n"
    "  --partial-order     where a message may be delivered before all else, because nobody can tell and no "
    "fault "
    "is left, only\n"
    "                      that is done: fewer states, and the same verdicts; tells if it cannot\n"
    "  --no-memo           does every step, also one that has been done in the same surroundings: slower, to "
    "compare\n"
    "  --exact             compares whole states, compressed, in place of fingerprints: shows that none is "
    "left out\n"
    "  --without LETTERS   a world that lacks these choice points, to see what they find: a order between "
    "sessions, b instant\n"
    "                      of a loss, c applied but the reply lost, d -4 or -7, e which server and when, f "
    "instant of an\n"
    "                      expiry, g orders that are no promise, i a client that stands still, j "
    "completions at close,\n"
    "                      k sweep and rmdir, l callbacks inside init\n"
    "  --bitstate SIZE     for what does not fit: states are three bits each in a table of that size. Finds "
    "what is violated,\n"
    "                      and never that nothing is: it ends as a limit, with the expected omissions\n"
    "  --trust             does not do some steps twice and reach some states again to see that all is well\n"
    "  --coverage          tell which events have met which states of the recipe, and which marks were "
    "never reached\n";

static const char LIMITS[] =
    "  --max-states N      end after that many states\n"
    "  --max-memory SIZE   end when that is full: 500M, 8G (default: three quarters of the machine's)\n"
    "  --max-time SECONDS  end after that time\n"
    "  --checkpoint DIR    keep each search in a file there now and then, and when it ends at a limit or is "
    "interrupted\n"
    "  --checkpoint-every SECONDS\n"
    "                      so often (default: 300)\n"
    "  --resume DIR        go on with what is kept there, with the same build, options and files; limits and "
    "workers may\n"
    "                      differ. It is kept there again\n"
    "  --seed N            the seed of the run constants (default: as the file says)\n"
    "  --filter GLOB       only scenarios whose path or name matches\n"
    "  --jobs N            that many scenarios at once (default: one per core)\n"
    "  --rewrite           write the counts of states and transitions into the files, as what is expected\n"
    "  --out DIR           folder for traces of violations (default: build/reports)\n"
    "  --no-shrink         look for no shorter run of a violation\n"
    "  --json              one JSON object per scenario on standard output\n"
    "  --junit FILE        a JUnit report besides\n"
    "  --sarif FILE        a SARIF 2.1.0 log of what fails besides\n"
    "  --html DIR          pages for the browser besides: DIR/index.html with all verdicts, and a page of "
    "each run that\n"
    "                      shows a failure\n"
    "  --quiet             say nothing of what passes\n"
    "  --verbose           list each scenario, and tell each failure; otherwise what passes in a folder is "
    "counted, at\n"
    "                      most 20 failing scenarios are listed, and the shortest violation is told\n"
    "  --color WHEN        auto (default: on a terminal, unless NO_COLOR is set), always or never\n"
    "  --shard I/N         do only the I-th of N parts and write what came of it into the folder for traces, "
    "for\n"
    "                      lockstep merge\n";

static const char EXAMPLES[] =
    "\n"
    "examples:\n"
    "  lockstep check scenarios/explore\n"
    "  lockstep check --recipe build/release/recipes/naive_herd.so --suite --filter 'three*'\n"
    "  lockstep check --suite --filter 'worlds/*' --budget 200000\n"
    "  lockstep check --recipe broken-no-sort --strategy bfs scenarios/explore/mutex_2.scn\n"
    "  lockstep check --html build/pages --coverage scenarios/explore/mutex_2.scn\n"
    "  lockstep check --shard 2/5 scenarios/explore\n"
    "  lockstep check --max-time 60 --max-memory 4G scenarios/explore/mutex_3.scn\n"
    "  lockstep check --workers 2 --checkpoint build/kept --max-time 3600 scenarios/explore/mutex_3.scn\n"
    "  lockstep check --workers 2 --resume build/kept --max-time 3600 scenarios/explore/mutex_3.scn\n"
    "  printf 'mutex /locks/x\\nprocess a b: acquire release\\nexplore loss<=1\\n----\\n' | lockstep check "
    "-\n";

static const uint64_t ALLOWED =
    OPTION_RECIPE | OPTION_PROPERTY | OPTION_OUT | OPTION_FILTER | OPTION_JUNIT | OPTION_SEED | OPTION_JOBS |
    OPTION_JSON | OPTION_QUIET | OPTION_STRATEGY | OPTION_MAX_STATES | OPTION_MAX_MEMORY | OPTION_MAX_TIME |
    OPTION_NO_LAYERS | OPTION_NO_RENAMING | OPTION_WORKERS | OPTION_EXACT | OPTION_TRUST | OPTION_NO_MEMO |
    OPTION_SUBSUME | OPTION_REWRITE | OPTION_NO_SHRINK | OPTION_WITHOUT | OPTION_SYMMETRY |
    OPTION_PARTIAL_ORDER | OPTION_COVERAGE | OPTION_SUITE | OPTION_SHARD | OPTION_BITSTATE |
    OPTION_CHECKPOINT | OPTION_CHECKPOINT_EVERY | OPTION_RESUME | OPTION_BUDGET | OPTION_KEEP_GOING |
    OPTION_VERBOSE | OPTION_COLOR | OPTION_SARIF | OPTION_HTML;

/* Refuses options that --checkpoint and --resume exclude. With --resume alone, saves to the same folder. */
static int check_checkpoint(struct cli_options *options)
{
    bool kept = options->checkpoint != NULL || options->resume != NULL;
    if (options->checkpoint_every_given && !kept) {
        return cli_usage_error("check", "--checkpoint or --resume with --checkpoint-every", "");
    }
    if (!kept) {
        return 0;
    }
    if (options->shards > 0) {
        return cli_usage_error("check", "no --shard with --checkpoint or --resume", "--shard");
    }
    if (options->coverage || options->rewrite) {
        return cli_usage_error("check", "neither --coverage nor --rewrite with --checkpoint or --resume",
                               options->coverage ? "--coverage" : "--rewrite");
    }
    if (options->search.order != EXPLORE_DEPTH_FIRST) {
        return cli_usage_error("check", "--strategy dfs with --checkpoint or --resume", "bfs");
    }
    if (options->search.exact || options->search.subsume) {
        return cli_usage_error("check", "neither --exact nor --subsume with --checkpoint or --resume",
                               options->search.exact ? "--exact" : "--subsume");
    }
    if (options->checkpoint == NULL) {
        options->checkpoint = options->resume;
    }
    LS_ASSERT(options->checkpoint != NULL && options->shards == 0);
    return 0;
}

static int check_bitstate(const struct cli_options *options)
{
    if (options->search.bitstate_bytes == 0) {
        return 0;
    }
    if (options->search.order != EXPLORE_DEPTH_FIRST) {
        return cli_usage_error("check", "--strategy dfs with --bitstate", "bfs");
    }
    if (options->shards > 0) {
        return cli_usage_error("check", "no --shard with --bitstate", "--shard");
    }
    if (options->search.exact || options->search.subsume) {
        return cli_usage_error("check", "neither --exact nor --subsume with --bitstate",
                               options->search.exact ? "--exact" : "--subsume");
    }
    return options->checkpoint == NULL
               ? 0
               : cli_usage_error("check", "neither --checkpoint nor --resume with --bitstate",
                                 options->resume != NULL ? "--resume" : "--checkpoint");
}

static int look_through(struct cli_options *options)
{
    const struct explore_options *search = &options->search;
    if (!options->suite && (options->budget_given || options->keep_going)) {
        return cli_usage_error("check", "--suite with --budget and --keep-going", "none");
    }
    if (options->paths == 0 && !options->suite) {
        return cli_usage_error("check", "a scenario file or a folder (lockstep check FILE.scn), or --suite",
                               "no path");
    }
    if (search->workers > 1 && search->order == EXPLORE_BREADTH_FIRST) {
        return cli_usage_error("check", "--strategy dfs with several --workers", "bfs");
    }
    if (search->workers > 1 && search->exact) {
        return cli_usage_error("check", "one worker with --exact", "--workers");
    }
    if (search->subsume && search->exact) {
        return cli_usage_error("check", "no --exact with --subsume", "--exact");
    }
    if (search->symmetry && (search->exact || !search->renaming)) {
        return cli_usage_error("check", "--symmetry without --exact and --no-renaming",
                               search->exact ? "--exact" : "--no-renaming");
    }
    if (search->symmetry && search->subsume) {
        return cli_usage_error("check", "no --subsume with --symmetry", "--subsume");
    }
    if (search->symmetry && options->rewrite) {
        return cli_usage_error("check", "no --rewrite with --symmetry", "--rewrite");
    }
    if (search->partial_order && options->rewrite) {
        return cli_usage_error("check", "no --rewrite with --partial-order", "--rewrite");
    }
    if (check_checkpoint(options) != 0 || check_bitstate(options) != 0) {
        return CLI_USAGE;
    }
    if (search->subsume && options->rewrite) {
        return cli_usage_error("check", "no --rewrite with --subsume", "--rewrite");
    }
    return 0;
}

int cli_check_options(struct cli_options *options, int argc, char **argv)
{
    int status = cli_options(options, "check", ALLOWED, argc, argv);
    options->check = true;
    return status == 0 && !options->help ? look_through(options) : status;
}

int cli_check(int argc, char **argv)
{
    struct cli_options options;
    int status = cli_check_options(&options, argc, argv);
    if (status != 0) {
        return status;
    }
    if (options.help) {
        fputs(HELP, stdout);
        fputs(LIMITS, stdout);
        fputs(EXAMPLES, stdout);
        return CLI_OK;
    }
    cli_suite_limits(&options);
    LS_ASSERT(options.check && options.seeds == 0);
    return cli_judge(&options, "check");
}
