/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "recipes/recipe_session.h"
#include "lock/claim.h"

const struct ls_session_options *recipe_session_options(const struct ls_recipe_config *config)
{
    static const struct ls_session_options by_order[2][2] = {
        {{.no_refresh = true}, {.no_refresh = true, .read_only = true}}, {{0}, {.read_only = true}}};
    return &by_order[config->keep_fresh][config->read_only];
}

static enum ls_report_kind kind_of(enum ls_session_event event)
{
    switch (event) {
    case LS_SESSION_CONNECTED:
        return LS_REPORT_CONNECTED;
    case LS_SESSION_SUSPENDED:
        return LS_REPORT_SUSPENDED;
    case LS_SESSION_RECONNECTED:
        return LS_REPORT_RECONNECTED;
    case LS_SESSION_READ_ONLY:
        return LS_REPORT_READ_ONLY;
    case LS_SESSION_IDLE:
        return LS_REPORT_IDLE;
    case LS_SESSION_LOST:
    case LS_SESSION_AUTH_FAILED:
    case LS_SESSION_GAVE_UP:
    default:
        return LS_REPORT_LOST;
    }
}

bool recipe_event(enum ls_session_event event, int64_t session_id, struct ls_report *what)
{
    *what = (struct ls_report){.kind = kind_of(event), .session = session_id};
    return what->kind != LS_REPORT_LOST || session_id;
}

int recipe_init_session(struct ls_session *session, struct ls_session_listener *listener,
                        const struct ls_session_ops *ops, struct ls_env *env,
                        const struct ls_recipe_config *config, const struct ls_session_options *options)
{
    int err = ls_session_init(session, env, config->hosts, config->session_timeout_ms, options);
    if (err)
        return err;
    ls_session_listener_init(listener, ops);
    ls_session_listener_add(session, listener);
    return LS_OK;
}

void *recipe_alloc_locks(struct ls_env *env, int count, size_t size)
{
    ls_env_lock(env);
    void *locks = ls_env_alloc(env, (size_t)count * size);
    ls_env_unlock(env);
    return locks;
}

void recipe_free_locks(struct ls_env *env, void *locks)
{
    ls_env_lock(env);
    ls_env_free(env, locks);
    ls_env_unlock(env);
}

const struct ls_timer_row recipe_timers[] = {
    {"deadline-timer", LS_TIMER_DEADLINE}, {"fresh-timer", LS_TIMER_UPKEEP}, {NULL, LS_TIMER_WORK}};

bool recipe_idle(const void *memory)
{
    return ls_session_idle(memory);
}

zhandle_t *recipe_handle(const void *memory)
{
    const struct ls_session *session = memory;
    ls_env_lock(session->env);
    zhandle_t *zh = session->zh;
    ls_env_unlock(session->env);
    return zh;
}

int recipe_multi(void *memory, int count, const zoo_op_t *ops, zoo_op_result_t *results,
                 void_completion_t completion, const void *data)
{
    return ls_session_multi(memory, count, ops, results, completion, data);
}

void recipe_canon(const void *memory, struct ls_rename *rename)
{
    const struct ls_session *session = memory;
    rename->session(rename, &session->id);
    rename->session(rename, &session->told_id);
    rename->delay(rename, &session->sweeps, sizeof session->sweeps);
    rename->delay(rename, &session->retries, sizeof session->retries);
    rename->delay(rename, &session->failing, sizeof session->failing);
    for (const struct lock_claim *claim = session->claims; claim; claim = claim->next) {
        rename->zxid(rename, &claim->czxid);
        rename->attempt(rename, claim->attempt);
        /* Each lost create takes a fault. If a run has too few faults for LOCK_LOST_SUSPECT of them, the
         * count has no effect. */
        if (rename->faults_max < LOCK_LOST_SUSPECT)
            rename->delay(rename, &claim->lost, sizeof claim->lost);
        if (claim->named)
            rename->sequence(rename, &claim->sequence);
        if (claim->ahead)
            rename->text(rename, claim->ahead);
    }
    lock_participants_canon(session, rename);
}

/* In the order of enum lock_state. */
#define STATES_OF_A_WAIT                                                                                     \
    "none", "claiming", "preparing", "searching", "identifying", "listing", "arming", "waiting"
#define STATES_BEHIND_IT "held", "tomb", "releasing", "leftover", "done", NULL

const char *const recipe_states[] = {STATES_OF_A_WAIT, STATES_BEHIND_IT};
const char *const recipe_states_with_taking[] = {STATES_OF_A_WAIT, "taking", STATES_BEHIND_IT};
_Static_assert(sizeof recipe_states_with_taking / sizeof *recipe_states_with_taking == LOCK_DONE + 2,
               "one name per state");
_Static_assert(LOCK_TAKING == LOCK_WAITING + 1, "the states behind it are one less without it");

uint32_t recipe_states_now_with_taking(const void *memory)
{
    const struct ls_session *session = memory;
    uint32_t states = 0;
    for (const struct lock_claim *claim = session->claims; claim; claim = claim->next)
        states |= 1u << claim->state;
    return states ? states : 1;
}

uint32_t recipe_states_now(const void *memory)
{
    uint32_t states = recipe_states_now_with_taking(memory);
    uint32_t of_a_wait = (1u << LOCK_TAKING) - 1;
    return (states & of_a_wait) | (states >> 1 & ~of_a_wait);
}
