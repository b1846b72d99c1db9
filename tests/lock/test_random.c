/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Thousands of random runs with faults of every kind. After each all faults are healed and everything that is held is
 * given back; then every acquire has its answer, nothing is left over on the servers or in the clients, and each grant
 * rested on a node that was the first contender of the committed log. After each step the invariants of all sessions hold
 * (src/recipes/recipe_invariants.h). */
#include "base/hash.h"
#include "base/rng.h"
#include "recipes/recipe_invariants.h"
#include "sim/world.h"
#include "trace/event_names.h"

#include <lockstep/error.h>
#include <lockstep/fakezk.h>
#include <lockstep/sim.h>

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

extern const struct ls_recipe ls_recipe_mutex;

enum { RUNS = 3000, NODES_MAX = 1024, OWNERS = 2, LOCKS = 2, PROCESSES = 4, SETTLE_MAX = 20000 };

/* ---- the checker: what the committed log and the callers say ---- */

struct node {
    int64_t czxid;
    int64_t session;
    uint8_t process;
    uint8_t lock;
    bool alive;
    bool was_first;
    bool granted;
};

struct caller {
    bool asked;
    bool asked_while_lost;
    int64_t czxid; /* of the node of the hold */
    bool lost;     /* what it holds went with its session: a release says so, and an acquire begins anew */
    int depth;
};

struct checker {
    struct node node[NODES_MAX];
    int nodes;
    struct caller caller[PROCESSES][LOCKS][OWNERS];
    int grants;
    char complaint[256];
};

static struct checker checker;
static bool verbose;
static char abort_line[64];
static size_t abort_line_size;

/* A failed assertion inside ends the program: the seed must not be lost with it. The line is made before each run,
 * because a signal handler may not format. */
static void prepare_abort_line(uint64_t seed)
{
    int size = snprintf(abort_line, sizeof abort_line, "seed %llu: aborted\n", (unsigned long long)seed);
    abort_line_size = (size_t)size;
}

static void on_abort(int number)
{
    (void)number;
    ssize_t written = write(STDOUT_FILENO, abort_line, abort_line_size);
    (void)written;
}

static void complain(const char *text, const struct event *event)
{
    if (checker.complaint[0] == 0) {
        snprintf(checker.complaint, sizeof checker.complaint,
                 "%s: %s p=%d lock=%d owner=%d code=%d zxid=%lld", text,
                 event_name((enum event_kind)event->kind), event->process, event->lock, event->owner,
                 event->code, (long long)event->zxid);
    }
}

/* Marks the first contender of each lock: creation order is the order of czxids. */
static void mark_first(void)
{
    for (int lock = 0; lock < LOCKS; lock++) {
        for (int i = 0; i < checker.nodes; i++) {
            if (checker.node[i].alive && checker.node[i].lock == lock) {
                checker.node[i].was_first = true;
                break;
            }
        }
    }
}

static void on_node(const struct event *event)
{
    if (event->code != 1) {
        return;
    }
    if (event->kind == EVENT_NODE_CREATED) {
        if (checker.nodes == NODES_MAX) {
            complain("too many nodes", event);
            return;
        }
        checker.node[checker.nodes++] = (struct node){.czxid = event->zxid,
                                                      .session = event->session,
                                                      .process = event->process,
                                                      .lock = event->lock,
                                                      .alive = true};
    } else {
        for (int i = 0; i < checker.nodes; i++) {
            if (checker.node[i].czxid == event->zxid && checker.node[i].lock == event->lock) {
                checker.node[i].alive = false;
            }
        }
    }
    mark_first();
}

static void on_granted(const struct event *event, struct caller *caller)
{
    if (!caller->asked) {
        complain("granted what was not asked", event);
    }
    caller->asked = false;
    if (caller->asked_while_lost) {
        caller->depth = 0;
        caller->lost = false;
    }
    if (event->code > 1 && caller->depth == event->code - 1) {
        caller->depth = event->code;
        return;
    }
    if (event->code != 1 || caller->depth != 0) {
        complain("wrong depth", event);
    }
    caller->depth = 1;
    caller->czxid = event->zxid;
    checker.grants++;
    for (int i = 0; i < checker.nodes; i++) {
        struct node *node = &checker.node[i];
        if (node->czxid != event->zxid) {
            continue;
        }
        if (!node->was_first || node->granted || node->process != event->process ||
            node->lock != event->lock || node->session != event->session) {
            complain("a grant without right", event);
        }
        node->granted = true;
        return;
    }
    complain("a grant without node", event);
}

/* The operator may have deleted the node of a hold. */
static bool has_node(const struct caller *caller)
{
    for (int i = 0; i < checker.nodes; i++) {
        if (checker.node[i].czxid == caller->czxid) {
            return checker.node[i].alive;
        }
    }
    return false;
}

static void on_caller(const struct event *event)
{
    if (event->process >= PROCESSES || event->lock >= LOCKS || event->owner >= OWNERS) {
        return;
    }
    struct caller *caller = &checker.caller[event->process][event->lock][event->owner];
    switch (event->kind) {
    case EVENT_ASKED:
        caller->asked = true;
        caller->asked_while_lost = caller->lost;
        break;
    case EVENT_GRANTED:
        on_granted(event, caller);
        break;
    case EVENT_FAILED:
        if (!caller->asked) {
            complain("failed what was not asked", event);
        }
        caller->asked = false;
        break;
    case EVENT_RELEASED:
        if (caller->depth == 0 || caller->lost || event->code != caller->depth - 1) {
            complain("released what was not held", event);
        }
        caller->depth = event->code;
        break;
    case EVENT_REFUSED:
        if (event->code == LS_ELOST && (caller->lost || !has_node(caller))) {
            caller->depth = 0;
            caller->lost = false;
        } else if (event->code != LS_ENOENT) {
            complain("a refusal", event);
        }
        break;
    default:
        break;
    }
}

static void on_lost(int process)
{
    for (int lock = 0; lock < LOCKS; lock++) {
        for (int owner = 0; owner < OWNERS; owner++) {
            struct caller *caller = &checker.caller[process][lock][owner];
            caller->lost = caller->depth > 0;
        }
    }
}

static void on_event(void *ctx, const struct event *event)
{
    (void)ctx;
    if (verbose) {
        printf("      %-16s p=%d lock=%d owner=%d code=%d zxid=%lld session=%lld %s\n",
               event_name((enum event_kind)event->kind), event->process, event->lock, event->owner,
               event->code, (long long)event->zxid, (long long)event->session,
               event->path != NULL ? event->path : "");
    }
    if (event->kind == EVENT_NODE_CREATED || event->kind == EVENT_NODE_DELETED) {
        on_node(event);
    } else if (event->kind == EVENT_CRASHED) {
        memset(checker.caller[event->process], 0, sizeof checker.caller[0]);
    } else if (event->kind == EVENT_LOST) {
        on_lost(event->process);
    } else {
        on_caller(event);
    }
}

/* ---- requests that the client refuses: its memory is short, and later it is not ---- */

static uint32_t refused_of_16; /* that many of sixteen */
static uint64_t calls;

static bool is_refused(void)
{
    return refused_of_16 > 0 && hash_mix(++calls) % 16 < refused_of_16;
}

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
int __real_zoo_acreate(zhandle_t *zh, const char *path, const char *value, int size,
                       const struct ACL_vector *acl, int mode, string_completion_t completion,
                       const void *data);
int __wrap_zoo_acreate(zhandle_t *zh, const char *path, const char *value, int size,
                       const struct ACL_vector *acl, int mode, string_completion_t completion,
                       const void *data);
int __wrap_zoo_acreate(zhandle_t *zh, const char *path, const char *value, int size,
                       const struct ACL_vector *acl, int mode, string_completion_t completion,
                       const void *data)
{
    return is_refused() ? ZSYSTEMERROR
                        : __real_zoo_acreate(zh, path, value, size, acl, mode, completion, data);
}

int __real_zoo_acreate2(zhandle_t *zh, const char *path, const char *value, int size,
                        const struct ACL_vector *acl, int mode, string_stat_completion_t completion,
                        const void *data);
int __wrap_zoo_acreate2(zhandle_t *zh, const char *path, const char *value, int size,
                        const struct ACL_vector *acl, int mode, string_stat_completion_t completion,
                        const void *data);
int __wrap_zoo_acreate2(zhandle_t *zh, const char *path, const char *value, int size,
                        const struct ACL_vector *acl, int mode, string_stat_completion_t completion,
                        const void *data)
{
    return is_refused() ? ZSYSTEMERROR
                        : __real_zoo_acreate2(zh, path, value, size, acl, mode, completion, data);
}

int __real_zoo_adelete(zhandle_t *zh, const char *path, int version, void_completion_t completion,
                       const void *data);
int __wrap_zoo_adelete(zhandle_t *zh, const char *path, int version, void_completion_t completion,
                       const void *data);
int __wrap_zoo_adelete(zhandle_t *zh, const char *path, int version, void_completion_t completion,
                       const void *data)
{
    return is_refused() ? ZSYSTEMERROR : __real_zoo_adelete(zh, path, version, completion, data);
}

int __real_zoo_async(zhandle_t *zh, const char *path, string_completion_t completion, const void *data);
int __wrap_zoo_async(zhandle_t *zh, const char *path, string_completion_t completion, const void *data);
int __wrap_zoo_async(zhandle_t *zh, const char *path, string_completion_t completion, const void *data)
{
    return is_refused() ? ZSYSTEMERROR : __real_zoo_async(zh, path, completion, data);
}

int __real_zoo_aget_children(zhandle_t *zh, const char *path, int watch, strings_completion_t completion,
                             const void *data);
int __wrap_zoo_aget_children(zhandle_t *zh, const char *path, int watch, strings_completion_t completion,
                             const void *data);
int __wrap_zoo_aget_children(zhandle_t *zh, const char *path, int watch, strings_completion_t completion,
                             const void *data)
{
    return is_refused() ? ZSYSTEMERROR : __real_zoo_aget_children(zh, path, watch, completion, data);
}

int __real_zoo_awget(zhandle_t *zh, const char *path, watcher_fn watcher, void *context,
                     data_completion_t completion, const void *data);
int __wrap_zoo_awget(zhandle_t *zh, const char *path, watcher_fn watcher, void *context,
                     data_completion_t completion, const void *data);
int __wrap_zoo_awget(zhandle_t *zh, const char *path, watcher_fn watcher, void *context,
                     data_completion_t completion, const void *data)
{
    return is_refused() ? ZSYSTEMERROR : __real_zoo_awget(zh, path, watcher, context, completion, data);
}

int __real_zoo_aexists(zhandle_t *zh, const char *path, int watch, stat_completion_t completion,
                       const void *data);
int __wrap_zoo_aexists(zhandle_t *zh, const char *path, int watch, stat_completion_t completion,
                       const void *data);
int __wrap_zoo_aexists(zhandle_t *zh, const char *path, int watch, stat_completion_t completion,
                       const void *data)
{
    return is_refused() ? ZSYSTEMERROR : __real_zoo_aexists(zh, path, watch, completion, data);
}

int __real_zoo_aremove_all_watches(zhandle_t *zh, const char *path, ZooWatcherType type, int local,
                                   void_completion_t *completion, const void *data);
int __wrap_zoo_aremove_all_watches(zhandle_t *zh, const char *path, ZooWatcherType type, int local,
                                   void_completion_t *completion, const void *data);
int __wrap_zoo_aremove_all_watches(zhandle_t *zh, const char *path, ZooWatcherType type, int local,
                                   void_completion_t *completion, const void *data)
{
    return is_refused() ? ZSYSTEMERROR
                        : __real_zoo_aremove_all_watches(zh, path, type, local, completion, data);
}

/* NOLINTEND(bugprone-reserved-identifier) */

/* ---- one run ---- */

static void program_for(struct world_program *program, struct rng *rng, int locks, bool several)
{
    static const int32_t timeouts[] = {-1, -1, -1, 0, 3000};
    int rounds = 1 + (int)rng_below(rng, 3);
    if (rng_below(rng, 4) == 0) {
        program->ops[program->count++] = (struct action){.kind = ACTION_REVOCABLE};
    }
    for (int i = 0; i < rounds; i++) {
        uint8_t lock = (uint8_t)rng_below(rng, (uint32_t)locks);
        uint8_t owner = (uint8_t)(several ? rng_below(rng, OWNERS) : 0);
        int32_t timeout_ms = timeouts[rng_below(rng, 5)];
        bool twice = rng_below(rng, 5) == 0;
        struct action *op = &program->ops[program->count];
        *op++ = (struct action){.kind = ACTION_ACQUIRE, .a = owner, .b = lock, .c = timeout_ms};
        if (twice) {
            *op++ = (struct action){.kind = ACTION_ACQUIRE, .a = owner, .b = lock, .c = timeout_ms};
            *op++ = (struct action){.kind = ACTION_RELEASE, .a = owner, .b = lock};
        }
        *op++ = (struct action){.kind = ACTION_RELEASE, .a = owner, .b = lock};
        if (rng_below(rng, 6) == 0) {
            *op++ = (struct action){.kind = ACTION_REVOKE, .b = lock, .c = 1 + (int32_t)rng_below(rng, 2)};
        }
        program->count = (int)(op - program->ops);
    }
    program->endless = rng_below(rng, 2) == 0;
}

static void options_for(struct world_options *options, struct rng *rng, uint64_t seed)
{
    world_options_default(options);
    options->recipe = &ls_recipe_mutex;
    options->processes = 2 + (int)rng_below(rng, PROCESSES - 1);
    options->servers = 1 + (int)rng_below(rng, 3);
    options->locks = 1 + (int)rng_below(rng, LOCKS);
    options->lock_path[1] = "/locks/y";
    options->chroot = rng_below(rng, 4) == 0 ? "/app" : NULL;
    options->contents = rng_below(rng, 2) == 0 ? "who" : NULL;
    options->used_directory = rng_below(rng, 2) == 0;
    options->no_containers = rng_below(rng, 4) == 0;
    options->timed = rng_below(rng, 3) == 0;
    options->latency_max_ms = 10 + 10 * (int)rng_below(rng, 3);
    options->loss_rc = rng_below(rng, 3) == 0 ? -7 : -4;
    options->keep_fresh = rng_below(rng, 4) == 0;
    options->seed = seed;
    options->defects = rng_below(rng, 4) == 0 ? WORLD_DEFECT_DROP_AT_CLOSE : 0;
    options->callbacks_in_init = rng_below(rng, 4) == 0;
    bool several = rng_below(rng, 3) == 0;
    for (int p = 0; p < options->processes; p++) {
        options->name[p][0] = (char)('a' + p);
        options->autostart[p] = true;
        program_for(&options->program[p], rng, options->locks, several);
    }
    for (int f = 0; f < WORLD_FAULTS; f++) {
        if (world_fault_name((enum world_fault)f) != NULL) {
            options->budget[f] = (uint8_t)rng_below(rng, 5);
        }
    }
    options->budget_total = (uint8_t)rng_below(rng, 14);
}

static void show(struct world *world, const struct action *action)
{
    char label[WORLD_LABEL_MAX];
    if (verbose) {
        world_label(world, action, label);
        printf("    %s\n", label);
    }
}

/* Its link and its session stand, and it has heard all that was sent to it. */
static bool is_live(int p, const struct ls_session *session)
{
    int handle = process_at(p)->started && !fakezk_is_paused(p) ? fakezk_linked(p, 0) : -1;
    return handle >= 0 && fakezk_queued(p, handle) == 0 && session->id != 0 &&
           fakezk_session_live((int32_t)session->id);
}

static void check_sessions(struct world *world)
{
    for (int p = 0; p < world_get_options(world)->processes; p++) {
        const struct ls_session *session = process_state(p); /* the recipe's state begins with it */
        const char *wrong = process_at(p)->started ? lock_invariants_broken(session) : NULL;
        if (wrong == NULL && is_live(p, session)) {
            wrong = lock_invariants_stuck(session);
        }
        if (wrong != NULL && checker.complaint[0] == 0) {
            snprintf(checker.complaint, sizeof checker.complaint, "process %d: this does not hold: %s", p,
                     wrong);
        }
    }
}

static void step(void *ctx, const struct action *action)
{
    show(ctx, action);
    check_sessions(ctx);
}

static bool take(struct world *world, const struct action *action)
{
    show(world, action);
    bool taken = world_apply(world, action) == 0;
    check_sessions(world);
    return taken;
}

/* Faults are rarer than in a uniform choice: most of the list of actions may be cuts. */
static void wander(struct world *world, struct rng *rng, int steps)
{
    static struct action actions[WORLD_ACTIONS_MAX];
    for (int i = 0; i < steps && world_trouble(world) == NULL; i++) {
        int count = world_actions(world, actions);
        if (count == 0) {
            return;
        }
        struct action action = actions[rng_below(rng, (uint32_t)count)];
        for (int again = 0; again < 1 && world_is_fault(&action); again++) {
            action = actions[rng_below(rng, (uint32_t)count)];
        }
        if (!take(world, &action)) {
            snprintf(checker.complaint, sizeof checker.complaint, "an action of the list cannot be applied");
            return;
        }
    }
}

/* Gives back everything that is held; false when nobody holds anything. */
static bool release_all(struct world *world)
{
    bool any = false;
    for (int p = 0; p < PROCESSES; p++) {
        for (int lock = 0; lock < LOCKS; lock++) {
            for (int owner = 0; owner < OWNERS; owner++) {
                struct action release = {
                    .kind = ACTION_RELEASE, .process = (uint8_t)p, .a = (uint8_t)owner, .b = (uint8_t)lock};
                while (checker.caller[p][lock][owner].depth > 0 && take(world, &release)) {
                    any = true;
                }
            }
        }
    }
    return any;
}

static const char *unanswered(void)
{
    for (int p = 0; p < PROCESSES; p++) {
        for (int lock = 0; lock < LOCKS; lock++) {
            for (int owner = 0; owner < OWNERS; owner++) {
                if (checker.caller[p][lock][owner].asked) {
                    return "an acquire has no answer";
                }
            }
        }
    }
    return NULL;
}

static const char *leftovers(struct world *world)
{
    for (int i = 0; i < checker.nodes; i++) {
        if (checker.node[i].alive) {
            return "a contender node is left";
        }
    }
    for (int p = 0; p < world_get_options(world)->processes; p++) {
        if (fakezk_watches(p) != 0) {
            return "a watch is left";
        }
    }
    return world_at_rest(world) ? NULL : "not at rest";
}

static const char *finish(struct world *world)
{
    refused_of_16 = 0;
    process_wake_all(); /* that is news, which the world cannot know */
    world_heal(world, true, step, world);
    do {
        if (world_settle(world, SETTLE_MAX, step, world) < 0) {
            return "does not settle";
        }
    } while (release_all(world));
    return checker.complaint[0] != 0 ? checker.complaint
           : unanswered() != NULL    ? unanswered()
                                     : leftovers(world);
}

/* NULL, or what is wrong. */
static const char *run(struct world **world, uint64_t seed)
{
    struct world_options options;
    struct rng rng;
    prepare_abort_line(seed);
    rng_seed(&rng, seed);
    memset(&checker, 0, sizeof checker);
    options_for(&options, &rng, seed);
    if (*world == NULL) {
        *world = world_open(&options, on_event, NULL);
    } else {
        world_reset(*world, &options);
    }
    assert_non_null(*world);
    world_begin(*world);
    calls = seed << 20;
    refused_of_16 = rng_below(&rng, 4) == 0 ? 1 + rng_below(&rng, 6) : 0;
    wander(*world, &rng, 20 + (int)rng_below(&rng, 300));
    const char *wrong = finish(*world);
    return world_trouble(*world) != NULL ? world_trouble(*world) : wrong;
}

static void run_all(uint64_t first, uint64_t count)
{
    struct world *world = NULL;
    long grants = 0;
    int failures = 0;
    for (uint64_t seed = first; seed < first + count; seed++) {
        const char *wrong = run(&world, seed);
        grants += checker.grants;
        if (wrong != NULL && failures++ < 20) {
            printf("seed %llu: %s\n", (unsigned long long)seed, wrong);
        }
    }
    world_close(world);
    print_message("%d runs, %ld grants\n", (int)count, grants);
    assert_int_equal(failures, 0);
    assert_true(grants > (long)count / 2);
}

static void test_random_runs_end_clean(void **state)
{
    (void)state;
    run_all(0, RUNS);
}

/* Arguments: one seed, to see the run; or the first seed and a number of runs. */
int main(int count, char **argument)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_runs_end_clean)};
    signal(SIGABRT, on_abort);
    uint64_t seed = count > 1 ? strtoull(argument[1], NULL, 10) : 0;
    if (count == 2) {
        struct world *world = NULL;
        verbose = true;
        const char *wrong = run(&world, seed);
        static char text[65536];
        world_describe(world, text, sizeof text);
        printf("%s\nseed %s: %s\n", text, argument[1], wrong != NULL ? wrong : "clean");
        return wrong != NULL;
    }
    if (count == 3) {
        run_all(seed, strtoull(argument[2], NULL, 10));
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
