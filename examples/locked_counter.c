/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Several processes guard a counter in a file with the mutex of liblockstep, while they are killed and
 * stopped at random. docs/real-run.md says what the runs show; src/real/worker.c is how a program takes and
 * gives back the lock. */
#include "real/storm.h"

#include <errno.h>
#include <getopt.h>
#include <lockstep/mutex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXIT_VIOLATED = 1, EXIT_USAGE = 2, EXIT_INCONCLUSIVE = 3, EXIT_ENVIRONMENT = 4 };

static const char usage[] =
    "usage: locked_counter --zk HOST:PORT [OPTIONS]\n"
    "\n"
    "N processes count M rounds each in one file, guarded by a mutex on a ZooKeeper server, while they are "
    "killed and\n"
    "stopped at random. Every update must be in the counter at the end.\n"
    "\n"
    "  --zk HOST:PORT          the server, or several with commas; a chroot may follow\n"
    "  --processes N           how many workers (default 4, at most 64)\n"
    "  --rounds M              rounds of each worker (default 60, with --long-stops 150)\n"
    "  --path P                path of the mutex (default /lockstep/locked_counter)\n"
    "  --seed S                decides who is hit and for how long (default 1)\n"
    "  --strict                stops are shorter than the margin that a believer has left (the default): "
    "nothing may be\n"
    "                          lost, and no two workers may be inside at once\n"
    "  --long-stops            stops are longer than the session timeout: two may be inside, and the "
    "counter's own\n"
    "                          check of the fencing token must refuse the older one; nothing may be lost\n"
    "  --no-lock               nobody takes the lock: updates are lost\n"
    "  --session-timeout MS    to ask for (default 2000, with --long-stops 1000)\n"
    "  --out DIR               keep the counter and the journal in this folder\n"
    "  --json                  one JSON object on standard output and nothing else\n"
    "  --help                  this text\n"
    "\n"
    "exit status: 0 all holds, 1 violated, 2 usage, 3 inconclusive (interrupted, or the machine stood "
    "still), 4 no server\n"
    "\n"
    "examples:\n"
    "  locked_counter --zk 127.0.0.1:2181\n"
    "  locked_counter --zk 127.0.0.1:2181 --long-stops --processes 6 --seed 7\n"
    "  locked_counter --zk 127.0.0.1:2181 --no-lock          exits 1\n";

static const char *const mode_names[REAL_MODES] = {"strict", "long-stops", "no-lock"};

struct options {
    struct real_plan plan;
    const char *out;
    bool json;
};

/* ---- options ---- */

static _Noreturn void usage_error(const char *option, const char *expected, const char *found)
{
    fprintf(stderr, "locked_counter: %s: expected %s, found '%s'\n", option, expected, found);
    exit(EXIT_USAGE);
}

static uint64_t parse_number(const char *option, const char *text, uint64_t min, uint64_t max)
{
    char expected[80];
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || number < min || number > max) {
        snprintf(expected, sizeof expected, "a number from %llu to %llu", (unsigned long long)min,
                 (unsigned long long)max);
        usage_error(option, expected, text);
    }
    return number;
}

/* host:port[,host:port...][/chroot]; a host may be in brackets and hold colons. */
static void check_hosts(const char *hosts)
{
    const char *at = hosts;
    do {
        size_t size = strcspn(at, ",/");
        const char *colon = memrchr(at, ':', size);
        char *end = NULL;
        unsigned long port = colon ? strtoul(colon + 1, &end, 10) : 0;
        if (!colon || colon == at || colon[1] < '0' || colon[1] > '9' || end != at + size || !port ||
            port > 65535)
            usage_error("--zk", "HOST:PORT", hosts);
        at += size;
    } while (*at++ == ',');
}

static void check_path(const char *path)
{
    size_t size = strlen(path);
    if (path[0] != '/' || size < 2 || path[size - 1] == '/' || strstr(path, "//") ||
        size > LS_MUTEX_PATH_SIZE_MAX)
        usage_error("--path", "an absolute path such as /locks/x", path);
}

static void set_mode(struct options *options, bool *chosen, enum real_mode mode)
{
    if (*chosen && options->plan.mode != mode)
        usage_error("mode", "one of --strict, --long-stops and --no-lock", mode_names[mode]);
    *chosen = true;
    options->plan.mode = mode;
}

enum {
    OPTION_ZK = 256,
    OPTION_PROCESSES,
    OPTION_ROUNDS,
    OPTION_PATH,
    OPTION_SEED,
    OPTION_TIMEOUT,
    OPTION_OUT,
    OPTION_JSON,
    OPTION_HELP,
    OPTION_MODE
};

static const struct option long_options[] = {
    {"zk", required_argument, NULL, OPTION_ZK},
    {"processes", required_argument, NULL, OPTION_PROCESSES},
    {"rounds", required_argument, NULL, OPTION_ROUNDS},
    {"path", required_argument, NULL, OPTION_PATH},
    {"seed", required_argument, NULL, OPTION_SEED},
    {"session-timeout", required_argument, NULL, OPTION_TIMEOUT},
    {"out", required_argument, NULL, OPTION_OUT},
    {"json", no_argument, NULL, OPTION_JSON},
    {"help", no_argument, NULL, OPTION_HELP},
    {"strict", no_argument, NULL, OPTION_MODE + REAL_STRICT},
    {"long-stops", no_argument, NULL, OPTION_MODE + REAL_LONG_STOPS},
    {"no-lock", no_argument, NULL, OPTION_MODE + REAL_NO_LOCK},
    {NULL, 0, NULL, 0},
};

/* `name` is the option as it was given. */
static void take_option(struct options *options, bool *mode_chosen, int option, const char *name)
{
    struct real_plan *plan = &options->plan;
    switch (option) {
    case OPTION_ZK:
        check_hosts(optarg);
        plan->hosts = optarg;
        break;
    case OPTION_PROCESSES:
        plan->processes = (int)parse_number("--processes", optarg, 1, REAL_WORKERS_MAX);
        break;
    case OPTION_ROUNDS:
        plan->rounds = (int)parse_number("--rounds", optarg, 1, 1000000);
        break;
    case OPTION_PATH:
        check_path(optarg);
        plan->path = optarg;
        break;
    case OPTION_SEED:
        plan->seed = parse_number("--seed", optarg, 0, UINT64_MAX);
        break;
    case OPTION_TIMEOUT:
        plan->session_timeout_ms = (int)parse_number("--session-timeout", optarg, 100, 600000);
        break;
    case OPTION_OUT:
        options->out = optarg;
        break;
    case OPTION_JSON:
        options->json = true;
        break;
    case OPTION_HELP:
        fputs(usage, stdout);
        exit(0);
    case ':':
        usage_error(name, "a value", "nothing");
    case '?':
        usage_error("arguments", "an option that --help lists", name);
    default:
        set_mode(options, mode_chosen, (enum real_mode)(option - OPTION_MODE));
        break;
    }
}

static void parse_options(struct options *options, int argc, char **argv)
{
    struct real_plan *plan = &options->plan;
    bool mode_chosen = false;
    int option;
    while ((option = getopt_long(argc, argv, ":", long_options, NULL)) != -1)
        take_option(options, &mode_chosen, option, argv[optind - 1]);
    if (optind < argc)
        usage_error("arguments", "options only", argv[optind]);
    if (!plan->hosts)
        usage_error("--zk", "HOST:PORT of a server", "nothing");
    if (plan->mode != REAL_STRICT && plan->processes < 2)
        usage_error("--processes", "at least 2 in this mode", "1");
    if (!plan->rounds)
        plan->rounds = plan->mode == REAL_LONG_STOPS ? 150 : 60;
    if (!plan->session_timeout_ms)
        plan->session_timeout_ms = plan->mode == REAL_LONG_STOPS ? 1000 : 2000;
}

/* ---- the verdict ---- */

enum verdict { HOLDS, VIOLATED, NOT_JUDGED };

static const char *const verdict_names[] = {"holds", "violated", "not-judged"};

enum { CHECKS_MAX = 8 };

struct verdicts {
    struct {
        const char *name;
        enum verdict verdict;
    } list[CHECKS_MAX];
    int count;
    int number[3]; /* by verdict */
};

static void judge(struct verdicts *verdicts, const char *name, bool premise, bool holds)
{
    enum verdict verdict = !premise ? NOT_JUDGED : holds ? HOLDS : VIOLATED;
    verdicts->list[verdicts->count].name = name;
    verdicts->list[verdicts->count++].verdict = verdict;
    verdicts->number[verdict]++;
}

/* Overlaps are excused, and a plain file is not to be blamed, when a worker stood still between check and
 * write for longer than its session: then the machine has broken what a strict run rests on. */
static void judge_all(struct verdicts *verdicts, const struct options *options, enum real_outcome outcome,
                      const struct real_result *result)
{
    const struct real_plan *plan = &options->plan;
    const struct real_audit *audit = &result->audit;
    bool ended = outcome == REAL_RUN_ENDED;
    bool in_time = !audit->late;
    judge(verdicts, "no lost update", audit->wrote && (in_time || !audit->lost), !audit->lost);
    judge(verdicts, "counter equals its writes", in_time || audit->sound, audit->sound);
    if (plan->mode == REAL_LONG_STOPS) {
        judge(verdicts, "stale tokens are refused", ended || audit->refused, audit->refused > 0);
        judge(verdicts, "overlaps are seen", ended || audit->overlaps, audit->overlaps > 0);
    } else {
        judge(verdicts, "no overlap", audit->sections && (in_time || !audit->overlaps), !audit->overlaps);
    }
    judge(verdicts, "every round is done", outcome != REAL_RUN_INTERRUPTED,
          ended && audit->wrote >= (uint32_t)(plan->processes * plan->rounds));
    if (plan->mode != REAL_NO_LOCK)
        judge(verdicts, "workers were killed and stopped", result->kills && result->stops, true);
}

static int status_of(const struct verdicts *verdicts, enum real_outcome outcome,
                     const struct real_result *result)
{
    const struct real_audit *audit = &result->audit;
    bool excused = audit->late && (audit->lost || audit->overlaps || !audit->sound);
    if (verdicts->number[VIOLATED])
        return EXIT_VIOLATED;
    return outcome == REAL_RUN_INTERRUPTED || excused ? EXIT_INCONCLUSIVE : 0;
}

/* ---- output ---- */

/* Locks per second, times ten. */
static int64_t rate_x10(const struct real_result *result)
{
    return result->elapsed_ms > 0 ? (int64_t)result->audit.sections * 10000 / result->elapsed_ms : 0;
}

static void show_progress(void *ctx, const struct real_result *result)
{
    const struct options *options = ctx;
    fprintf(stderr, "\r%u of %d rounds  %u kills  %u stops  %u overlaps  %u refused  %lld s ",
            result->audit.wrote, options->plan.processes * options->plan.rounds, result->kills, result->stops,
            result->audit.overlaps, result->audit.refused, (long long)result->elapsed_ms / 1000);
}

static void clear_progress(void)
{
    fprintf(stderr, "\r%79s\r", "");
}

static void print_figure(const char *name, int64_t value, const char *meaning)
{
    printf("  %-18s %8lld%s%s\n", name, (long long)value, *meaning ? "  " : "", meaning);
}

static void print_figures(const struct real_result *result)
{
    const struct real_audit *audit = &result->audit;
    int64_t rate = rate_x10(result);
    print_figure("rounds", audit->wrote, "acknowledged updates");
    print_figure("unheard updates", audit->unheard,
                 "made by workers that were killed before they heard of it");
    print_figure("counter", result->counter.value, "at the end");
    print_figure("kills", result->kills, "");
    print_figure("stops", result->stops, "");
    print_figure("halts", result->halts, "stops between the last check and the write");
    print_figure("doubts", audit->doubted, "sections left without a write, because belief had run out");
    print_figure("late", audit->late, "sections that the machine stretched beyond the session");
    print_figure("overlaps", audit->overlaps, "entered while another one was inside");
    print_figure("refused", audit->refused, "accesses with a stale fencing token");
    print_figure("lost updates", audit->lost, "acknowledged, but not in the counter");
    printf("  %-18s %6lld.%lld  over %lld.%lld s\n", "locks/s", (long long)rate / 10, (long long)rate % 10,
           (long long)result->elapsed_ms / 1000, (long long)result->elapsed_ms % 1000 / 100);
}

static void print_text(const struct options *options, const struct real_result *result,
                       const struct verdicts *verdicts)
{
    const struct real_plan *plan = &options->plan;
    printf("locked_counter %s: %d processes x %d rounds, session timeout %d ms, seed %llu\n",
           mode_names[plan->mode], plan->processes, plan->rounds, result->session_timeout_ms,
           (unsigned long long)plan->seed);
    print_figures(result);
    if (result->why)
        printf("  the run did not end by itself: %s\n", result->why);
    for (int i = 0; i < verdicts->count; i++)
        printf("%-10s %s\n", verdict_names[verdicts->list[i].verdict], verdicts->list[i].name);
}

static void print_json_figures(const struct real_result *result)
{
    const struct real_audit *audit = &result->audit;
    int64_t rate = rate_x10(result);
    printf(
        "\"rounds\":%u,\"unheard\":%u,\"counter\":%lld,\"kills\":%u,\"stops\":%u,\"halts\":%u,\"doubts\":%u,"
        "\"late\":%u,\"overlaps\":%u,\"refused\":%u,\"lost_updates\":%u,\"locks_per_second\":%lld.%lld,"
        "\"seconds\":%lld.%03lld",
        audit->wrote, audit->unheard, (long long)result->counter.value, result->kills, result->stops,
        result->halts, audit->doubted, audit->late, audit->overlaps, audit->refused, audit->lost,
        (long long)rate / 10, (long long)rate % 10, (long long)result->elapsed_ms / 1000,
        (long long)result->elapsed_ms % 1000);
}

static void print_json(const struct options *options, const struct real_result *result,
                       const struct verdicts *verdicts, int status)
{
    const struct real_plan *plan = &options->plan;
    printf("{\"scenario\":\"locked_counter %s\",\"verdict\":\"%s\",\"processes\":%d,\"rounds_each\":%d,"
           "\"session_timeout_ms\":%d,\"seed\":%llu,",
           mode_names[plan->mode],
           status == EXIT_VIOLATED ? "violated"
           : status                ? "limit"
                                   : "holds",
           plan->processes, plan->rounds, result->session_timeout_ms, (unsigned long long)plan->seed);
    print_json_figures(result);
    printf(",\"why\":%s%s%s,\"properties\":{", result->why ? "\"" : "", result->why ? result->why : "null",
           result->why ? "\"" : "");
    for (int i = 0; i < verdicts->count; i++)
        printf("%s\"%s\":\"%s\"", i ? "," : "", verdicts->list[i].name,
               verdict_names[verdicts->list[i].verdict]);
    printf("}}\n");
}

static void print_closing_line(FILE *to, const struct verdicts *verdicts)
{
    fprintf(to, "%d passed, %d failed", verdicts->number[HOLDS], verdicts->number[VIOLATED]);
    if (verdicts->number[NOT_JUDGED])
        fprintf(to, ", %d skipped", verdicts->number[NOT_JUDGED]);
    fprintf(to, "\n");
}

/* ---- the folder of the run ---- */

/* A folder of one's own without --out; with it, one that holds no other run. */
static const char *make_folder(const struct options *options, char *buffer, size_t size)
{
    const char *base = getenv("TMPDIR");
    if (!options->out) {
        snprintf(buffer, size, "%s/locked_counter.XXXXXX", base && *base ? base : "/tmp");
        return mkdtemp(buffer);
    }
    if (snprintf(buffer, size, "%s/journal", options->out) >= (int)size)
        return NULL;
    if (mkdir(options->out, 0755) && errno != EEXIST)
        return NULL;
    unlink(buffer);
    real_resource_remove(options->out);
    return options->out;
}

static void remove_folder(const char *dir)
{
    char journal[4096];
    snprintf(journal, sizeof journal, "%s/journal", dir);
    unlink(journal);
    real_resource_remove(dir);
    rmdir(dir);
}

/* ---- main ---- */

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    interrupted = number;
}

static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    signal(SIGPIPE, SIG_IGN); /* a reader that has gone away must not keep the workers from being ended */
}

static int report(const struct options *options, enum real_outcome outcome, const struct real_result *result)
{
    struct verdicts verdicts = {.count = 0};
    judge_all(&verdicts, options, outcome, result);
    int status = status_of(&verdicts, outcome, result);
    if (options->json)
        print_json(options, result, &verdicts, status);
    else
        print_text(options, result, &verdicts);
    fflush(stdout);
    if (status && !options->out)
        fprintf(stderr, "locked_counter: the counter and the journal are in %s\n", options->plan.dir);
    print_closing_line(options->json ? stderr : stdout, &verdicts);
    return status;
}

static int run(struct options *options)
{
    struct real_result result;
    bool terminal = isatty(STDERR_FILENO);
    enum real_outcome outcome =
        real_storm_run(&options->plan, &result, &interrupted, terminal ? show_progress : NULL, options);
    int status = EXIT_ENVIRONMENT;
    if (terminal)
        clear_progress();
    if (outcome == REAL_RUN_NO_SERVER)
        fprintf(stderr, "locked_counter: %s: %s\n", options->plan.hosts, result.why);
    else
        status = report(options, outcome, &result);
    real_audit_close(&result.audit);
    return status;
}

int main(int argc, char **argv)
{
    struct options options = {.plan = {.path = "/lockstep/locked_counter", .processes = 4, .seed = 1}};
    char folder[4096];
    parse_options(&options, argc, argv);
    options.plan.dir = make_folder(&options, folder, sizeof folder);
    if (!options.plan.dir) {
        fprintf(stderr, "locked_counter: %s: %s\n", options.out ? options.out : folder, strerror(errno));
        return EXIT_ENVIRONMENT;
    }
    catch_signals();
    int status = run(&options);
    if (!options.out && (status == 0 || status == EXIT_ENVIRONMENT))
        remove_folder(options.plan.dir);
    return status;
}
