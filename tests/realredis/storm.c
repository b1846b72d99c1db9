/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The real run of the mutex on Redis, `./dev real redis`. Worker processes take one mutex in turn, and
 * count in a file that compares fencing tokens. Meanwhile the driver kills and stops workers, cuts
 * connections, and stops and restarts the server. The server syncs each write to its disk before it
 * answers, so that no acknowledged write is lost.
 *
 * Judged by effect:
 * - No acknowledged update of the file is lost (real/audit.h).
 * - No two holders believe at once (holds.h), and no two holds have one token.
 * - Each call ends by its deadline, with a code that redis_mutex.h has for it.
 * - The lock is granted until the end, and then to each worker once more.
 * - A holder that is killed leaves the key for one lease at most, and nothing else but the counter of
 *   tokens. */
#include "base/rng.h"
#include "holds.h"
#include "real/audit.h"
#include "server.h"

#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <lockstep/env_pthread.h>
#include <lockstep/redis_mutex.h>
#include <sys/stat.h>

enum { EXIT_RUN = 1, EXIT_USAGE = 2, EXIT_ENVIRONMENT = 4 };

#define WORKERS 4
#define SERVER WORKERS /* index of the server among those that are stopped */
#define SLACK_MS 1000  /* what the machine may add to a deadline */
#define STANDSTILL_MS_MAX 10000
#define NAME "storm"

/* What is broken on purpose, so that a judge has something to find. */
enum broken { NOTHING, BELIEF, TOKENS, MEMORY };

struct options {
    int seconds;
    uint64_t seed;
    uint32_t lease_ms;
    enum broken broken;
    const char *dir;
};

/* What the processes of one worker, one after another, share with the driver. */
struct slot {
    int64_t stopped_ms; /* for how long they were stopped in all */
    int grants;
    bool inside;
    bool ends; /* the worker is to end */
};

struct counts {
    int grants, timeouts, told, late, wrong;
};

struct shared {
    struct slot slot[WORKERS];
    struct counts counts;
    struct holds holds;
};

static int add(int *count)
{
    return __atomic_add_fetch(count, 1, __ATOMIC_SEQ_CST);
}

static int get(const int *count)
{
    return __atomic_load_n(count, __ATOMIC_SEQ_CST);
}

static bool flag(const bool *is)
{
    return __atomic_load_n(is, __ATOMIC_SEQ_CST);
}

/* ---- a worker ---- */

struct worker {
    const struct options *options;
    struct shared *shared;
    struct slot *slot;
    struct ls_env *env;
    struct ls_redis redis;
    struct ls_redis_mutex mutex;
    struct real_resource resource;
    struct rng rng;
    int index, incarnation, journal;
    uint64_t sections;
};

static struct shared *the_shared; /* for callbacks */

static void on_lost(struct ls_redis_mutex *mutex, uint64_t owner, int64_t token)
{
    (void)mutex, (void)owner, (void)token;
    add(&the_shared->counts.told);
}

static const struct ls_redis_mutex_ops OPS = {.on_lost = on_lost};

static void note(int journal, const struct real_line *line)
{
    if (real_journal_write(journal, line) != 0) {
        perror("the journal");
        _exit(EXIT_ENVIRONMENT);
    }
}

static void worker_note(const struct worker *worker, enum real_kind kind, struct real_line line)
{
    line.kind = kind;
    line.slot = worker->index;
    line.incarnation = worker->incarnation;
    note(worker->journal, &line);
}

/* The time without that for which this worker was stopped. */
static int64_t own_ms(const struct worker *worker)
{
    return now_ms() - __atomic_load_n(&worker->slot->stopped_ms, __ATOMIC_SEQ_CST);
}

/* Counts a call that has begun at `begun_ms` of its own time, and may take `limit_ms`. */
static void judge_call(struct worker *worker, int64_t begun_ms, int limit_ms, bool known)
{
    struct counts *counts = &worker->shared->counts;
    if (own_ms(worker) - begun_ms > limit_ms + SLACK_MS) {
        fprintf(stderr, "a call took %" PRId64 " ms of %d\n", own_ms(worker) - begun_ms, limit_ms);
        add(&counts->late);
    }
    if (!known) {
        add(&counts->wrong);
    }
}

/* Asks whether the lock is held, and notes a yes for the moment before the question. */
static bool believes(const struct worker *worker, struct hold *hold)
{
    int64_t now = now_ns();
    bool yes = worker->options->broken == BELIEF || ls_redis_mutex_query_by_me(&worker->mutex) == LS_HELD;
    if (yes) {
        hold_note(hold, now);
    }
    return yes;
}

static enum real_access write_counter(const struct worker *worker, struct real_line line)
{
    struct real_record record = {.value = line.value, .writer = line.id};
    worker_note(worker, REAL_WRITES, line);
    enum real_access access = real_resource_write(&worker->resource, line.token, &record);
    worker_note(worker, access == REAL_ACCESS_OK ? REAL_WROTE : REAL_REFUSED, line);
    return access;
}

/* Reads, dawdles, and writes without another question: tokens alone can help there. */
static enum real_access count_up(struct worker *worker, int64_t token)
{
    struct real_record record;
    struct real_line line = {.token = token};
    enum real_access access = real_resource_read(&worker->resource, token, &record);
    if (access != REAL_ACCESS_OK) {
        worker_note(worker, REAL_REFUSED, line);
        return access;
    }
    sleep_ms(rng_below(&worker->rng, 20));
    line.id = (uint64_t)worker->incarnation << 40 | (uint64_t)worker->index << 32 | ++worker->sections;
    line.basis = record.writer;
    line.value = record.value + 1;
    return write_counter(worker, line);
}

static void section(struct worker *worker)
{
    int64_t token = ls_redis_mutex_token_by_me(&worker->mutex);
    struct hold *hold = holds_begin(&worker->shared->holds, token);
    int steps = 1 + (int)rng_below(&worker->rng, 8);
    enum real_access access = REAL_ACCESS_OK;
    for (int i = 0; i < steps && access == REAL_ACCESS_OK; i++) {
        if (!believes(worker, hold)) {
            worker_note(worker, REAL_DOUBTED, (struct real_line){.token = token});
            return;
        }
        access = count_up(worker, token);
    }
    (void)believes(worker, hold);
    if (access == REAL_ACCESS_FAILED) {
        perror("the counter");
        _exit(EXIT_ENVIRONMENT);
    }
}

static void inside(struct worker *worker)
{
    add(&worker->shared->counts.grants);
    add(&worker->slot->grants);
    __atomic_store_n(&worker->slot->inside, true, __ATOMIC_SEQ_CST);
    section(worker);
    __atomic_store_n(&worker->slot->inside, false, __ATOMIC_SEQ_CST);
}

static void take_once(struct worker *worker)
{
    int timeout_ms = 100 + (int)rng_below(&worker->rng, 2000);
    int64_t begun_ms = own_ms(worker);
    int rc = ls_redis_mutex_acquire(&worker->mutex, timeout_ms);
    judge_call(worker, begun_ms, timeout_ms, rc == LS_OK || rc == LS_ETIMEDOUT);
    if (rc != LS_OK) {
        add(&worker->shared->counts.timeouts);
        return;
    }
    inside(worker);
    begun_ms = own_ms(worker);
    rc = ls_redis_mutex_release(&worker->mutex);
    judge_call(worker, begun_ms, (int)worker->options->lease_ms,
               rc == LS_OK || rc == LS_ELOST || rc == LS_EUNSURE);
}

static bool open_worker(struct worker *worker, const char *hosts, const struct ls_redis_options *redis)
{
    return ls_env_pthread_open(&worker->env) == LS_OK &&
           ls_redis_init(&worker->redis, worker->env, hosts, redis) == LS_OK &&
           ls_redis_mutex_init(&worker->mutex, &worker->redis, NAME, &OPS) == LS_OK &&
           ls_redis_start(&worker->redis) == LS_OK &&
           real_resource_open(&worker->resource, worker->options->dir, worker->options->broken != TOKENS) ==
               0;
}

static void work(struct worker *worker, const char *hosts)
{
    struct ls_redis_options redis = {.lease_ms = worker->options->lease_ms};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    rng_seed(&worker->rng,
             worker->options->seed * 1000 + (uint64_t)(worker->incarnation * WORKERS + worker->index));
    if (!open_worker(worker, hosts, &redis)) {
        _exit(EXIT_RUN);
    }
    while (!flag(&worker->slot->ends)) {
        take_once(worker);
        sleep_ms(rng_below(&worker->rng, 10));
    }
    ls_redis_mutex_close(&worker->mutex);
    ls_redis_close(&worker->redis);
    ls_env_pthread_close(worker->env);
    _exit(0);
}

/* ---- the driver ---- */

struct storm {
    const struct options *options;
    struct shared *shared;
    struct server server;
    struct rng rng;
    pid_t worker[WORKERS];
    int incarnation[WORKERS];
    int64_t stopped_at_ms[WORKERS + 1];
    int64_t continue_ms[WORKERS + 1]; /* when what is stopped goes on; 0 = it is not stopped */
    int64_t moved_ms;                 /* when the number of grants was seen to grow */
    int moved_grants;
    int kills, stops, cuts, restarts, stalls, standstills, left_over;
    int journal;
    int actions;
};

static uint32_t draw(struct storm *storm, uint32_t below)
{
    return rng_below(&storm->rng, below);
}

static void start_worker(struct storm *storm, int index)
{
    struct worker worker = {.options = storm->options,
                            .shared = storm->shared,
                            .slot = &storm->shared->slot[index],
                            .index = index,
                            .incarnation = ++storm->incarnation[index],
                            .journal = storm->journal};
    fflush(NULL);
    storm->worker[index] = fork();
    if (storm->worker[index] == 0) {
        work(&worker, storm->server.hosts);
    }
}

static void start_server(struct storm *storm)
{
    bool keeps = storm->options->broken != MEMORY;
    server_start_on(&storm->server, "--appendonly", keeps ? "yes" : "no", "--appendfsync", "always", "--dir",
                    storm->options->dir, NULL);
}

/* ---- stops ---- */

static void stop(struct storm *storm, int index)
{
    if (storm->continue_ms[index] == 0) {
        kill(index == SERVER ? storm->server.pid : storm->worker[index], SIGSTOP);
        storm->stopped_at_ms[index] = now_ms();
        storm->continue_ms[index] = now_ms() + 1 + draw(storm, 2 * storm->options->lease_ms);
        *(index == SERVER ? &storm->stalls : &storm->stops) += 1;
    }
}

static void go_on(struct storm *storm, int index)
{
    if (index < WORKERS) {
        __atomic_add_fetch(&storm->shared->slot[index].stopped_ms, now_ms() - storm->stopped_at_ms[index],
                           __ATOMIC_SEQ_CST);
    }
    kill(index == SERVER ? storm->server.pid : storm->worker[index], SIGCONT);
    storm->continue_ms[index] = 0;
}

static void go_on_if_due(struct storm *storm, bool all)
{
    for (int i = 0; i <= WORKERS; i++) {
        if (storm->continue_ms[i] != 0 && (all || now_ms() >= storm->continue_ms[i])) {
            go_on(storm, i);
        }
    }
}

/* ---- kills, cuts, restarts ---- */

static void kill_worker(struct storm *storm, int index)
{
    struct real_line line = {.kind = REAL_KILLED, .slot = index, .incarnation = storm->incarnation[index]};
    kill(storm->worker[index], SIGKILL);
    waitpid(storm->worker[index], NULL, 0);
    storm->continue_ms[index] = 0;
    storm->shared->slot[index].inside = false;
    storm->kills++;
    note(storm->journal, &line);
}

/* Half of the victims are inside. */
static int victim(struct storm *storm)
{
    int first = (int)draw(storm, WORKERS);
    bool wants_inside = draw(storm, 2) == 0;
    for (int i = 0; wants_inside && i < WORKERS; i++) {
        if (flag(&storm->shared->slot[(first + i) % WORKERS].inside)) {
            return (first + i) % WORKERS;
        }
    }
    return first;
}

/* Number of a connection that is drawn from CLIENT LIST, or 0. */
static long long draw_connection(struct storm *storm, redisContext *context)
{
    redisReply *reply = redisCommand(context, "CLIENT LIST");
    long long id = 0;
    uint32_t seen = 0;
    const char *line = reply != NULL && reply->type == REDIS_REPLY_STRING ? reply->str : NULL;
    while (line != NULL) {
        id = draw(storm, ++seen) == 0 ? strtoll(line + strlen("id="), NULL, 10) : id;
        line = strchr(line, '\n');
        line = line != NULL && line[1] != 0 ? line + 1 : NULL;
    }
    freeReplyObject(reply);
    return id;
}

/* Cuts one connection, or all for commands, or all for messages. */
static void cut(struct storm *storm)
{
    static const char *const COMMANDS[] = {"CLIENT KILL TYPE normal SKIPME yes", "CLIENT KILL TYPE pubsub"};
    redisContext *context = redisConnect("127.0.0.1", storm->server.port);
    uint32_t which = draw(storm, 6);
    redisReply *reply =
        which < 2 ? redisCommand(context, COMMANDS[which])
                  : redisCommand(context, "CLIENT KILL ID %lld SKIPME yes", draw_connection(storm, context));
    storm->cuts += reply != NULL && reply->type == REDIS_REPLY_INTEGER ? (int)reply->integer : 0;
    freeReplyObject(reply);
    redisFree(context);
}

static void restart(struct storm *storm)
{
    server_kill(&storm->server);
    storm->continue_ms[SERVER] = 0;
    sleep_ms(draw(storm, storm->options->lease_ms));
    start_server(storm);
    storm->restarts++;
}

/* The first actions are one of each kind. */
static void act(struct storm *storm)
{
    static const char KINDS[] = "skcrtssssssssssssskkccccct";
    size_t kinds = sizeof KINDS - 1;
    int action = storm->actions++;
    int index;
    switch (KINDS[action < 5 ? (size_t)action : draw(storm, (uint32_t)kinds)]) {
    case 's':
        stop(storm, victim(storm));
        break;
    case 'k':
        index = victim(storm);
        kill_worker(storm, index);
        start_worker(storm, index);
        break;
    case 'c':
        if (storm->continue_ms[SERVER] == 0) {
            cut(storm);
        }
        break;
    case 't':
        stop(storm, SERVER);
        break;
    default:
        restart(storm);
    }
}

/* ---- the run ---- */

/* False: the lock was not granted for so long that it stands still. */
static bool moves(struct storm *storm)
{
    int grants = get(&storm->shared->counts.grants);
    if (grants != storm->moved_grants) {
        storm->moved_grants = grants;
        storm->moved_ms = now_ms();
    }
    storm->standstills = now_ms() - storm->moved_ms > STANDSTILL_MS_MAX;
    return storm->standstills == 0;
}

static void rage(struct storm *storm)
{
    int64_t end_ms = now_ms() + storm->options->seconds * 1000L, next_ms = 0;
    storm->moved_ms = now_ms();
    while (now_ms() < end_ms && moves(storm)) {
        go_on_if_due(storm, false);
        if (now_ms() >= next_ms) {
            act(storm);
            next_ms = now_ms() + 1 + draw(storm, storm->options->lease_ms * 2 / 5);
        }
        sleep_ms(2);
    }
    go_on_if_due(storm, true);
}

/* After the last fault each worker gets the lock once more. */
static void calm(struct storm *storm)
{
    for (int i = 0; i < WORKERS; i++) {
        int before = get(&storm->shared->slot[i].grants);
        for (int64_t end_ms = now_ms() + STANDSTILL_MS_MAX; get(&storm->shared->slot[i].grants) == before;) {
            if (now_ms() > end_ms) {
                printf("worker %d: no grant within %d ms of calm\n", i, STANDSTILL_MS_MAX);
                storm->standstills++;
                break;
            }
            sleep_ms(2);
        }
    }
}

/* Asks a worker to end. One that does not, or that fails, is a wrong answer. */
static void end_worker(struct storm *storm, int index)
{
    int status = -1;
    __atomic_store_n(&storm->shared->slot[index].ends, true, __ATOMIC_SEQ_CST);
    for (int64_t end_ms = now_ms() + STANDSTILL_MS_MAX; now_ms() < end_ms; sleep_ms(2)) {
        if (waitpid(storm->worker[index], &status, WNOHANG) != 0) {
            storm->shared->counts.wrong += status != 0;
            return;
        }
    }
    storm->shared->counts.wrong++;
    kill_worker(storm, index);
}

/* The last worker is killed inside. Its key goes within its lease, and the counter of tokens is all that
 * stays. */
static void clear(struct storm *storm)
{
    int last = WORKERS - 1;
    for (int i = 0; i < last; i++) {
        end_worker(storm, i);
    }
    for (int64_t end_ms = now_ms() + STANDSTILL_MS_MAX; now_ms() < end_ms;) {
        if (flag(&storm->shared->slot[last].inside)) {
            break;
        }
    }
    kill_worker(storm, last);
    sleep_ms(storm->options->lease_ms + 100);
    storm->left_over = (int)server_command(&storm->server, "EXISTS " NAME);
    storm->left_over += server_command(&storm->server, "DBSIZE") != 1;
    storm->left_over += server_command(&storm->server, "CLIENT KILL TYPE normal SKIPME yes") != 0;
    storm->left_over += server_command(&storm->server, "CLIENT KILL TYPE pubsub") != 0;
}

/* ---- the verdict ---- */

static void read_journal(const struct storm *storm, struct real_audit *audit)
{
    static struct real_reader reader;
    struct real_resource resource;
    struct real_record counter;
    struct real_line line;
    int rc;
    reader.fd = storm->journal;
    real_audit_init(audit);
    while ((rc = real_reader_next(&reader, &line)) > 0 && (rc = real_audit_take(audit, &line)) == 0) {
    }
    if (rc != 0 || real_resource_open(&resource, storm->options->dir, false) != 0 ||
        real_resource_read(&resource, INT64_MAX, &counter) != REAL_ACCESS_OK) {
        perror("the journal or the counter");
        exit(EXIT_ENVIRONMENT);
    }
    real_audit_settle(audit, &counter);
}

/* Prints a number that has to be 0. */
static int wants_none(const char *what, long number)
{
    printf("%s %ld%s\n", what, number, number != 0 ? "   FAIL" : "");
    return number != 0;
}

static int judge(struct storm *storm)
{
    struct real_audit audit;
    const struct counts *counts = &storm->shared->counts;
    read_journal(storm, &audit);
    struct overlaps overlaps = holds_judge(&storm->shared->holds);
    printf("grants %d, acquires that timed out %d, losses told %d\n", counts->grants, counts->timeouts,
           counts->told);
    printf("writes %u, refused writes %u, doubts %u\n", audit.wrote, audit.refused, audit.doubted);
    printf("kills %d, stops %d, cuts %d, restarts %d, stalls of the server %d\n", storm->kills, storm->stops,
           storm->cuts, storm->restarts, storm->stalls);
    int failed = wants_none("lost updates", (long)audit.lost + !audit.sound);
    failed += wants_none("overlaps of belief", overlaps.count);
    failed += wants_none("longest overlap in us", (long)(overlaps.longest_ns / 1000));
    failed += wants_none("tokens given twice", overlaps.twice);
    failed += wants_none("calls that ended late", counts->late);
    failed += wants_none("wrong answers", counts->wrong);
    failed += wants_none("standstills", storm->standstills);
    failed += wants_none("left over", storm->left_over);
    real_audit_close(&audit);
    return failed;
}

static int run(const struct options *options)
{
    struct storm storm = {.options = options, .shared = share(sizeof(struct shared))};
    the_shared = storm.shared;
    rng_seed(&storm.rng, options->seed);
    real_resource_remove(options->dir);
    storm.journal = real_journal_open(options->dir);
    if (storm.journal < 0 || ftruncate(storm.journal, 0) != 0) {
        perror(options->dir);
        return EXIT_ENVIRONMENT;
    }
    server_name(&storm.server, free_port());
    start_server(&storm);
    (void)server_command(&storm.server, "FLUSHALL");
    for (int i = 0; i < WORKERS; i++) {
        start_worker(&storm, i);
    }
    rage(&storm);
    calm(&storm);
    clear(&storm);
    server_kill(&storm.server);
    int failed = judge(&storm);
    puts(failed == 0 ? "pass" : "FAIL");
    return failed == 0 ? 0 : EXIT_RUN;
}

/* ---- the program ---- */

static int usage(void)
{
    fprintf(stderr, "usage: storm [--seconds N | --minutes N] [--seed N] [--lease-ms N] [--break "
                    "belief|tokens|memory] DIR\n");
    return EXIT_USAGE;
}

/* Reads a number of an option into `*number`. */
static bool take_number(const char *text, long min, long max, long *number)
{
    char *end;
    errno = 0;
    *number = strtol(text, &end, 10);
    return errno == 0 && end != text && *end == 0 && *number >= min && *number <= max;
}

static bool take_broken(const char *text, enum broken *broken)
{
    static const char *const words[] = {"nothing", "belief", "tokens", "memory"};
    for (int i = 0; i <= MEMORY; i++) {
        if (strcmp(text, words[i]) == 0) {
            *broken = (enum broken)i;
            return true;
        }
    }
    return false;
}

static bool take_option(struct options *options, int option)
{
    long number = 0;
    bool good;
    switch (option) {
    case 's':
        good = take_number(optarg, 1, 86400, &number);
        options->seconds = (int)number;
        return good;
    case 'm':
        good = take_number(optarg, 1, 1440, &number);
        options->seconds = (int)number * 60;
        return good;
    case 'r':
        good = take_number(optarg, 0, LONG_MAX, &number);
        options->seed = (uint64_t)number;
        return good;
    case 'l':
        good = take_number(optarg, LS_REDIS_LEASE_MS_MIN, 60000, &number);
        options->lease_ms = (uint32_t)number;
        return good;
    case 'b':
        return take_broken(optarg, &options->broken);
    default:
        return false;
    }
}

int main(int argc, char **argv)
{
    static const struct option LONG[] = {
        {"seconds", required_argument, NULL, 's'}, {"minutes", required_argument, NULL, 'm'},
        {"seed", required_argument, NULL, 'r'},    {"lease-ms", required_argument, NULL, 'l'},
        {"break", required_argument, NULL, 'b'},   {NULL, 0, NULL, 0}};
    static char dir[PATH_MAX];
    struct options options = {.seconds = 60, .seed = (uint64_t)now_ns() % 1000000, .lease_ms = 500};
    for (int option; (option = getopt_long(argc, argv, "", LONG, NULL)) != -1;) {
        if (!take_option(&options, option)) {
            return usage();
        }
    }
    if (optind + 1 != argc || realpath(argv[optind], dir) == NULL) {
        return usage();
    }
    if (access(SERVER_BINARY, X_OK) != 0) {
        fprintf(stderr, "no %s (Debian: redis-tools)\n", SERVER_BINARY);
        return EXIT_ENVIRONMENT;
    }
    options.dir = dir;
    printf("seed %" PRIu64 ", lease %u ms, %d workers, %d s\n", options.seed, options.lease_ms, WORKERS,
           options.seconds);
    fflush(stdout);
    return run(&options);
}
