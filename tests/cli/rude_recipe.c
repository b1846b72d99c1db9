/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A recipe that does what no recipe may, for tests/cli/plugin.sh and workers.sh: RUDE says what, at the second acquire of a
 * process. Without it the recipe grants everything at once, and asks nobody. */
#include <lockstep/recipe.h>
#include <lockstep/sometimes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <zookeeper/zookeeper.h>

enum {
    QUIET,
    CRASH,
    ABORT,
    RECURSE,
    LOOP,
    GLOBAL,
    STATIC,
    FREE,
    LOCK,
    KEEP,
    SLEEP,
    CLEAN,
    CRASH_AT_REST,
    CANON_CRASH,
    CANON_LOOP,
    CANON_COPY
};

#ifndef RUDE
#define RUDE QUIET
#endif

struct rude {
    struct ls_env *env;
    zhandle_t *zh;
    char *text;
    int held[2][8];
    int acquired;
};

int a_public_variable;
static volatile int a_hidden_variable;

int pthread_create(void *thread, const void *attributes, void *fn, void *ctx);
int zoo_there_is_no_such_function(zhandle_t *zh);
#ifdef CALL_WEAK
extern __typeof(system) system __attribute__((weak));
#endif

static void on_event(zhandle_t *zh, int type, int state, const char *path, void *ctx)
{
    (void)zh, (void)type, (void)state, (void)path, (void)ctx;
}

#ifdef DIES
__attribute__((constructor)) static void die(void)
{
    abort();
}
#endif

static int start(void *state, struct ls_env *env, const struct ls_recipe_config *config)
{
    struct rude *rude = state;
    rude->env = env;
    rude->zh = zookeeper_init(config->hosts, on_event, config->session_timeout_ms, NULL, rude, 0);
    rude->text = strdup("text");
    return 0;
}

static void stop(void *state)
{
    struct rude *rude = state;
    free(rude->text);
    zookeeper_close(rude->zh);
    memset(rude, 0, sizeof *rude);
}

static volatile int always = 1;

static int go_deeper(int depth)
{
    volatile char much[512];
    much[0] = (char)depth;
    return always ? go_deeper(depth + 1) + much[0] : 0;
}

static void crash(struct rude *rude)
{
    volatile int *nowhere = (int *)(uintptr_t)(rude->acquired > 100 ? 4096 : 8);
    *nowhere = 1;
}

static void spin(void)
{
    while (always) {
    }
}

static void misbehave(struct rude *rude)
{
    struct ls_waiter waiter;
    char outside;
    switch (RUDE) {
    case CRASH:
        crash(rude);
        break;
    case ABORT:
        abort();
    case RECURSE:
        go_deeper(0);
        break;
    case LOOP:
        spin();
        break;
    case GLOBAL:
        a_public_variable++;
        break;
    case STATIC:
        a_hidden_variable = 7;
        break;
    case FREE:
        ls_env_lock(rude->env);
        ls_env_free(rude->env, &outside);
        ls_env_unlock(rude->env);
        break;
    case LOCK:
        ls_env_unlock(rude->env);
        break;
    case KEEP:
        ls_env_lock(rude->env);
        break;
    case SLEEP:
        ls_env_lock(rude->env);
        ls_env_waiter_init(rude->env, &waiter);
        ls_env_wait(rude->env, &waiter);
        ls_env_unlock(rude->env);
        break;
    default:
        break;
    }
    if (rude->acquired > 100) {
        LS_SOMETIMES("hundredth-acquire");
    }
#if defined CALL_CLOCK
    rude->acquired = (int)time(NULL);
#elif defined CALL_WAITING
    zoo_get(rude->zh, "/", 0, NULL, NULL, NULL);
#elif defined CALL_MISSING
    zoo_there_is_no_such_function(rude->zh);
#elif defined CALL_WEAK
    system("true");
#elif defined FILL_THE_HEAP
    rude->text = malloc(1 << 20);
#elif defined THREAD_VARIABLE
    static __thread int calls;
    rude->acquired += calls++ > 100;
#elif defined CALL_SIGNAL
    signal(SIGTERM, SIG_IGN);
#elif defined CALL_THREAD
    pthread_create(NULL, NULL, NULL, NULL);
#endif
}

static int acquire(void *state, int lock, int owner, int timeout_ms)
{
    struct rude *rude = state;
    (void)timeout_ms;
    if (++rude->acquired == 2) {
        LS_SOMETIMES("second-acquire");
        misbehave(rude);
    }
    char *more = realloc(rude->text, 100); /* memory works as it should */
    if (more == NULL || strcmp(more, "text") != 0 || (uintptr_t)more % 16 != 0) {
        return -1;
    }
    rude->text = realloc(more, 5);
    if (realloc(malloc(4), 0) != NULL) { /* frees the block */
        return -1;
    }
    rude->held[lock][owner]++;
    ls_report(
        rude->env,
        &(struct ls_report){.kind = LS_REPORT_GRANTED, .lock = lock, .owner = owner, .depth = 1, .token = 1});
    return 0;
}

static int cancel(void *state, int lock, int owner)
{
    (void)state, (void)lock, (void)owner;
    return -6;
}

static int release(void *state, int lock, int owner)
{
    struct rude *rude = state;
    if (rude->held[lock][owner] == 0) {
        return -7;
    }
    rude->held[lock][owner]--;
    ls_report(rude->env, &(struct ls_report){.kind = LS_REPORT_FREED, .lock = lock, .owner = owner});
    return 0;
}

static enum ls_belief query(const void *state, int lock, int owner)
{
    const struct rude *rude = state;
    return rude->held[lock][owner] > 0 ? LS_HELD : LS_NOT_HELD;
}

static bool idle(const void *state)
{
    const struct rude *rude = state;
    if (RUDE == CRASH_AT_REST && rude->acquired >= 2) {
        crash((struct rude *)state);
    }
    return RUDE != CLEAN || rude->acquired < 2;
}

/* Shows the count of acquires as a token. */
static void canon(const void *state, struct ls_rename *rename)
{
    const struct rude *rude = state;
    int64_t copy = rude->acquired;
    if (RUDE == CANON_COPY && copy >= 2) {
        rename->zxid(rename, &copy);
    } else if (RUDE == CANON_CRASH && copy >= 2) {
        crash((struct rude *)state);
    } else if (RUDE == CANON_LOOP && copy >= 2) {
        spin();
    }
}

#ifdef MANY_DIRECTORIES
static const char *const many[] = {"a", "b", "c", "d", NULL};
#define DIRECTORIES many
#else
#define DIRECTORIES NULL
#endif

static const struct ls_recipe rude = {
    .name = "rude",
    .summary = "does what no recipe may",
    .breaks = "contract_is_kept",
    .state_size = sizeof(struct rude),
    .start = start,
    .stop = stop,
    .acquire = acquire,
    .cancel = cancel,
    .release = release,
    .query = query,
    .idle = idle,
    .directories = DIRECTORIES,
    .canon = RUDE >= CANON_CRASH ? canon : NULL,
};

#ifndef NO_MODULE
LS_RECIPE_MODULE(rude);
#endif
