/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A lock on registers, and two broken ones.
 *
 * An owner takes the lock by a swap of the free register. If another owner holds it, a poll reads the
 * register again, over the second connection. A timer renews the lease of a hold. If an answer is lost, the
 * swap is sent again; if the lost one was done, the register names this owner. An owner that gives up
 * meanwhile makes sure that the swap takes no effect later: it swaps the same version for a free register. */
#include "coord/register.h"
#include "scenario/recipes.h"

#include <lockstep/error.h>
#include <lockstep/recipe.h>
#include <string.h>

#define LOCKS_MAX 4
#define OWNERS_MAX 4
#define REPORTS_MAX (2 * LOCKS_MAX * OWNERS_MAX)
#define POLL_MS 100
#define RENEWAL_MS 1000

enum flaw {
    FLAW_NONE,
    FLAW_FORGETS,    /* an owner that gives up leaves a swap of unknown outcome as it is */
    FLAW_POLLS_ONCE, /* an owner does not read a register again that is still held after the first poll */
};

enum phase {
    PHASE_NONE,
    PHASE_TAKING,  /* the swap is under way, or waits for the connection */
    PHASE_LOOKING, /* a read is under way, or waits for the connection */
    PHASE_WAITING, /* the poll is armed */
    PHASE_HOLDING,
    PHASE_GIVING,   /* the hold is released; the swap that frees the register is under way, or waits */
    PHASE_CLEANING, /* the owner gave up, and the register may name it, or come to name it */
};

struct attempt {
    struct state *state;
    uint8_t phase; /* enum phase */
    uint8_t lock, owner;
    bool pending; /* an acquire has no answer */
    bool is_try;
    bool sent;     /* the request of the phase is sent, and has no answer yet */
    bool drops;    /* that request frees the register */
    bool doubt;    /* a swap without an answer may have been done, or may be done later */
    bool renewing; /* a renewal is sent, and has no answer yet */
    uint8_t reserved[3];
    int depth;       /* number of levels of the hold */
    int64_t version; /* version of the hold, or of the register when last seen free; 0 = it was held */
    struct ls_timer poll, renewal, deadline;
};

struct state {
    struct ls_env *env;
    const struct ls_recipe_config *config;
    uint8_t flaw; /* enum flaw */
    bool up[REG_CONNECTIONS];
    uint8_t reserved;
    uint32_t name;                    /* name of this life of the process */
    struct reg *reg[REG_CONNECTIONS]; /* 0: for swaps and renewals; 1: for reads */
    struct attempt attempt[LOCKS_MAX][OWNERS_MAX];
    struct ls_report report[REPORTS_MAX]; /* reports to make once the mutex is free */
    int reports;
    int reserved2;
};

/* ---- reports ---- */

static void say(struct attempt *attempt, int kind, int rc)
{
    struct state *state = attempt->state;
    if (state->reports < REPORTS_MAX) {
        state->report[state->reports++] = (struct ls_report){.kind = kind,
                                                             .lock = attempt->lock,
                                                             .owner = attempt->owner,
                                                             .rc = rc,
                                                             .depth = attempt->depth,
                                                             .token = attempt->version};
    }
}

/* Drops the mutex, and makes all reports. Called with the mutex. */
static void tell(struct state *state)
{
    struct ls_report report[REPORTS_MAX];
    int count = state->reports;
    memcpy(report, state->report, sizeof report);
    memset(state->report, 0, sizeof state->report);
    state->reports = 0;
    ls_env_unlock(state->env);
    for (int i = 0; i < count; i++) {
        ls_report(state->env, &report[i]);
    }
}

/* ---- requests ---- */

static uint32_t name_of(const struct attempt *attempt)
{
    return attempt->state->name << 8 | (uint32_t)(attempt->owner + 1);
}

static const char *path_of(const struct attempt *attempt)
{
    return attempt->state->config->lock_paths[attempt->lock];
}

static void on_swapped(int rc, const struct reg_value *now, void *ctx);
static void on_read(int rc, const struct reg_value *now, void *ctx);
static void on_renewed(int rc, const struct reg_value *now, void *ctx);
static void poll(void *ctx);
static void renew(void *ctx);
static void give_up(void *ctx);

/* Sends the next request of the phase, once there is a connection. */
static void proceed(struct attempt *attempt)
{
    struct state *state = attempt->state;
    bool reads = attempt->phase == PHASE_LOOKING;
    if (attempt->sent || !state->up[reads]) {
        return;
    }
    attempt->drops = attempt->phase == PHASE_GIVING || attempt->phase == PHASE_CLEANING;
    int rc = reads ? reg_read(state->reg[1], path_of(attempt), on_read, attempt)
                   : reg_swap(state->reg[0], path_of(attempt), attempt->version,
                              attempt->drops ? 0 : name_of(attempt), on_swapped, attempt);
    attempt->sent = rc == REG_OK;
}

static void arm_renewal(struct attempt *attempt)
{
    ls_env_timer_start(attempt->state->env, &attempt->renewal, "renewal", RENEWAL_MS, renew, attempt);
}

static void wait_for_change(struct attempt *attempt)
{
    attempt->phase = PHASE_WAITING;
    ls_env_timer_start(attempt->state->env, &attempt->poll, "poll", POLL_MS, poll, attempt);
}

static void begin(struct attempt *attempt)
{
    attempt->phase = PHASE_TAKING;
    attempt->doubt = false;
    proceed(attempt);
}

/* Ends an attempt of which nothing is left at the register. An acquire that came meanwhile begins. */
static void end(struct attempt *attempt)
{
    attempt->phase = PHASE_NONE;
    attempt->doubt = false;
    if (attempt->pending) {
        begin(attempt);
    }
}

static void answer(struct attempt *attempt, int kind, int rc)
{
    attempt->pending = false;
    ls_env_timer_stop(attempt->state->env, &attempt->deadline);
    say(attempt, kind, rc);
}

static void hold(struct attempt *attempt)
{
    attempt->phase = PHASE_HOLDING;
    attempt->doubt = false;
    attempt->depth = 1;
    answer(attempt, LS_REPORT_GRANTED, 0);
    arm_renewal(attempt);
}

/* ---- answers ---- */

/* Notes the version for the next swap, unless another owner holds: a swap with that version would take the
 * register away. Version 0 is that of a register that was never held, so a swap with it of any other
 * register is a conflict. */
static void learn(struct attempt *attempt, const struct reg_value *now)
{
    bool usable = now->holder == 0 || now->holder == name_of(attempt);
    attempt->version = usable ? now->version : 0;
}

static void taken(struct attempt *attempt, int rc, const struct reg_value *now)
{
    if (rc == REG_LOST) {
        attempt->doubt = true;
        return;
    }
    learn(attempt, now);
    if (now->holder == name_of(attempt)) {
        hold(attempt);
    } else if (now->holder == 0) {
        proceed(attempt);
    } else if (attempt->is_try) {
        attempt->phase = PHASE_NONE;
        answer(attempt, LS_REPORT_FAILED, LS_EBUSY);
    } else {
        attempt->doubt = false;
        wait_for_change(attempt);
    }
}

/* Handles the answer to a swap that frees the register. If the register still names this owner, swaps
 * again. */
static void dropped(struct attempt *attempt, int rc, const struct reg_value *now)
{
    if (rc == REG_LOST) {
        return;
    }
    learn(attempt, now);
    if (rc == REG_CONFLICT && now->holder == name_of(attempt)) {
        proceed(attempt);
        return;
    }
    if (attempt->phase == PHASE_GIVING) {
        say(attempt, LS_REPORT_FREED, 0);
    }
    end(attempt);
}

/* Handles the answer to a swap whose owner gave up while it was under way. */
static void abandoned(struct attempt *attempt, int rc, const struct reg_value *now)
{
    if (rc != REG_LOST) {
        learn(attempt, now);
        if (now->holder != name_of(attempt)) {
            end(attempt);
            return;
        }
    }
    proceed(attempt);
}

static void on_swapped(int rc, const struct reg_value *now, void *ctx)
{
    struct attempt *attempt = ctx;
    struct state *state = attempt->state;
    ls_env_lock(state->env);
    attempt->sent = false;
    if (attempt->drops) {
        dropped(attempt, rc, now);
    } else if (attempt->phase == PHASE_CLEANING) {
        abandoned(attempt, rc, now);
    } else {
        taken(attempt, rc, now);
    }
    tell(state);
}

static void on_read(int rc, const struct reg_value *now, void *ctx)
{
    struct attempt *attempt = ctx;
    struct state *state = attempt->state;
    ls_env_lock(state->env);
    attempt->sent = false;
    if (attempt->phase == PHASE_CLEANING) {
        end(attempt);
    } else if (rc == REG_OK) {
        learn(attempt, now);
        if (now->holder == 0) {
            begin(attempt);
        } else if (state->flaw != FLAW_POLLS_ONCE) {
            wait_for_change(attempt);
        }
    }
    tell(state);
}

static void on_renewed(int rc, const struct reg_value *now, void *ctx)
{
    (void)now;
    struct attempt *attempt = ctx;
    struct state *state = attempt->state;
    ls_env_lock(state->env);
    attempt->renewing = false;
    if (attempt->phase == PHASE_HOLDING && rc == REG_CONFLICT) {
        say(attempt, LS_REPORT_HOLD_LOST, 0);
        attempt->depth = 0;
        learn(attempt, now);
        end(attempt);
    } else if (attempt->phase == PHASE_HOLDING && rc == REG_OK) {
        arm_renewal(attempt);
    }
    tell(state);
}

/* ---- timers, which come with the mutex ---- */

static void poll(void *ctx)
{
    struct attempt *attempt = ctx;
    attempt->phase = PHASE_LOOKING;
    proceed(attempt);
}

static void renew(void *ctx)
{
    struct attempt *attempt = ctx;
    struct state *state = attempt->state;
    if (state->up[0] && !attempt->renewing) {
        attempt->renewing =
            reg_renew(state->reg[0], path_of(attempt), attempt->version, on_renewed, attempt) == 0;
    }
}

/* Answers the acquire with `rc`, and frees the register if the acquire's swap may have taken it. */
static void abandon(struct attempt *attempt, int rc)
{
    struct state *state = attempt->state;
    bool under_way = attempt->sent || attempt->doubt;
    answer(attempt, LS_REPORT_FAILED, rc);
    ls_env_timer_stop(state->env, &attempt->poll);
    if (attempt->phase == PHASE_GIVING || attempt->phase == PHASE_CLEANING) {
        return; /* the acquire has not begun: an earlier attempt still ends */
    }
    attempt->phase = under_way && state->flaw != FLAW_FORGETS ? PHASE_CLEANING : PHASE_NONE;
    if (attempt->phase == PHASE_CLEANING) {
        proceed(attempt);
    }
}

static void give_up(void *ctx)
{
    struct attempt *attempt = ctx;
    struct state *state = attempt->state;
    if (attempt->pending) {
        abandon(attempt, LS_ETIMEDOUT);
    }
    tell(state);
    ls_env_lock(state->env);
}

/* ---- connections ---- */

static void on_connection(struct reg *reg, bool up, void *ctx)
{
    struct state *state = ctx;
    ls_env_lock(state->env);
    state->up[reg == state->reg[1]] = up;
    for (int i = 0; up && i < LOCKS_MAX * OWNERS_MAX; i++) {
        struct attempt *attempt = &state->attempt[i / OWNERS_MAX][i % OWNERS_MAX];
        bool swaps = attempt->phase == PHASE_TAKING || attempt->phase == PHASE_GIVING ||
                     attempt->phase == PHASE_CLEANING;
        if (swaps || attempt->phase == PHASE_LOOKING) {
            proceed(attempt);
        } else if (attempt->phase == PHASE_HOLDING && !attempt->renewing && attempt->renewal.armed == 0) {
            arm_renewal(attempt);
        }
    }
    tell(state);
}

/* ---- what the driver calls ---- */

static int start(void *memory, struct ls_env *env, const struct ls_recipe_config *config, enum flaw flaw)
{
    struct state *state = memory;
    uint8_t id[16];
    ls_env_lock(env);
    state->env = env;
    state->config = config;
    state->flaw = (uint8_t)flaw;
    ls_env_unique_id(env, id);
    state->name = (uint32_t)id[3] << 16 | (uint32_t)id[14] << 8 | id[15];
    for (int i = 0; i < LOCKS_MAX * OWNERS_MAX; i++) {
        struct attempt *attempt = &state->attempt[i / OWNERS_MAX][i % OWNERS_MAX];
        attempt->state = state;
        attempt->lock = (uint8_t)(i / OWNERS_MAX);
        attempt->owner = (uint8_t)(i % OWNERS_MAX);
    }
    for (int i = 0; i < REG_CONNECTIONS; i++) {
        state->reg[i] = reg_open(i, on_connection, state);
    }
    ls_env_unlock(env);
    return LS_OK;
}

static int start_right(void *memory, struct ls_env *env, const struct ls_recipe_config *config)
{
    return start(memory, env, config, FLAW_NONE);
}

static int start_forgetful(void *memory, struct ls_env *env, const struct ls_recipe_config *config)
{
    return start(memory, env, config, FLAW_FORGETS);
}

static int start_polling_once(void *memory, struct ls_env *env, const struct ls_recipe_config *config)
{
    return start(memory, env, config, FLAW_POLLS_ONCE);
}

static void stop(void *memory)
{
    struct state *state = memory;
    ls_env_lock(state->env);
    for (int i = 0; i < REG_CONNECTIONS; i++) {
        reg_close(state->reg[i]);
    }
    for (int i = 0; i < LOCKS_MAX * OWNERS_MAX; i++) {
        struct attempt *attempt = &state->attempt[i / OWNERS_MAX][i % OWNERS_MAX];
        ls_env_timer_stop(state->env, &attempt->poll);
        ls_env_timer_stop(state->env, &attempt->renewal);
        bool gives = attempt->phase == PHASE_GIVING;
        if (attempt->pending) {
            answer(attempt, LS_REPORT_FAILED, LS_ECLOSED);
        }
        if (gives) {
            say(attempt, LS_REPORT_FREED, 0);
        }
    }
    tell(state);
}

static struct attempt *attempt_of(void *memory, int lock, int owner)
{
    struct state *state = memory;
    bool known =
        lock >= 0 && lock < LOCKS_MAX && lock < state->config->lock_count && owner >= 0 && owner < OWNERS_MAX;
    return known ? &state->attempt[lock][owner] : NULL;
}

static int acquire(void *memory, int lock, int owner, int timeout_ms)
{
    struct state *state = memory;
    struct attempt *attempt = attempt_of(memory, lock, owner);
    if (attempt == NULL || attempt->pending) {
        return LS_EINVAL;
    }
    ls_env_lock(state->env);
    if (attempt->phase == PHASE_HOLDING) {
        attempt->depth++;
        say(attempt, LS_REPORT_GRANTED, 0);
        tell(state);
        return LS_OK;
    }
    int rc = LS_OK;
    if (timeout_ms > 0) {
        rc = ls_env_timer_start(state->env, &attempt->deadline, "deadline", (uint32_t)timeout_ms, give_up,
                                attempt);
    }
    if (rc == LS_OK) {
        attempt->pending = true;
        attempt->is_try = timeout_ms == 0;
        if (attempt->phase == PHASE_NONE) {
            begin(attempt);
        }
    }
    tell(state);
    return rc;
}

static int cancel(void *memory, int lock, int owner)
{
    struct state *state = memory;
    struct attempt *attempt = attempt_of(memory, lock, owner);
    if (attempt == NULL || !attempt->pending) {
        return LS_ENOENT;
    }
    ls_env_lock(state->env);
    abandon(attempt, LS_ECANCELED);
    tell(state);
    return LS_OK;
}

static int release(void *memory, int lock, int owner)
{
    struct state *state = memory;
    struct attempt *attempt = attempt_of(memory, lock, owner);
    if (attempt == NULL || attempt->phase != PHASE_HOLDING) {
        return LS_ENOTOWNER;
    }
    ls_env_lock(state->env);
    if (--attempt->depth == 0) {
        ls_env_timer_stop(state->env, &attempt->renewal);
        attempt->phase = PHASE_GIVING;
        proceed(attempt);
    }
    tell(state);
    return LS_OK;
}

static enum ls_belief query(const void *memory, int lock, int owner)
{
    const struct state *state = memory;
    if (lock >= LOCKS_MAX || owner >= OWNERS_MAX || state->attempt[lock][owner].phase != PHASE_HOLDING) {
        return LS_NOT_HELD;
    }
    return state->up[0] ? LS_HELD : LS_UNKNOWN;
}

static bool idle(const void *memory)
{
    const struct state *state = memory;
    for (int i = 0; i < LOCKS_MAX * OWNERS_MAX; i++) {
        const struct attempt *attempt = &state->attempt[i / OWNERS_MAX][i % OWNERS_MAX];
        if (attempt->phase == PHASE_GIVING || attempt->phase == PHASE_CLEANING) {
            return false;
        }
    }
    return true;
}

static void canon(const void *memory, struct ls_rename *rename)
{
    const struct state *state = memory;
    for (int i = 0; i < LOCKS_MAX * OWNERS_MAX; i++) {
        rename->zxid(rename, &state->attempt[i / OWNERS_MAX][i % OWNERS_MAX].version);
    }
}

/* ---- the recipes ---- */

static const struct ls_timer_row TIMERS[] = {{"poll", LS_TIMER_POLL},
                                             {"renewal", LS_TIMER_RENEWAL},
                                             {"deadline", LS_TIMER_DEADLINE},
                                             {NULL, LS_TIMER_WORK}};

#define RECIPE(NAME, SUMMARY, BREAKS, START)                                                                 \
    {                                                                                                        \
        .name = (NAME), .summary = (SUMMARY), .breaks = (BREAKS), .state_size = sizeof(struct state),        \
        .start = (START), .stop = stop, .acquire = acquire, .cancel = cancel, .release = release,            \
        .query = query, .reentrant = true, .idle = idle, .canon = canon, .timers = TIMERS,                   \
        .coordinator = "register"                                                                            \
    }

static const struct ls_recipe RECIPES[] = {
    RECIPE("register", "a lock on a register with a lease: polls, and renews", NULL, start_right),
    RECIPE("register-forgets", "who gives up leaves a swap whose answer was lost", "no_orphan_node",
           start_forgetful),
    RECIPE("register-polls-once", "a register that is held is read once", "no_lost_wakeup",
           start_polling_once),
};

__attribute__((constructor)) static void add_recipes(void)
{
    for (int i = 0; i < (int)(sizeof RECIPES / sizeof RECIPES[0]); i++) {
        recipe_add(&RECIPES[i]);
    }
}
