/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A recipe of a user's own, for the tests of lockstep export: our mutex under another name, or one that grants everything at
 * once and asks nobody (GRANTS_ALL), or one whose state is too large (STATE_BYTES). */
#include <lockstep/recipe.h>
#include <lockstep/replay.h>

#ifndef STATE_BYTES
#define STATE_BYTES 4096
#endif

struct mine {
    struct ls_env *env;
    _Alignas(8) char mutex[STATE_BYTES];
};

static const struct ls_recipe *mutex(void)
{
    return ls_recipe_find("mutex");
}

static int start(void *state, struct ls_env *env, const struct ls_recipe_config *config)
{
    struct mine *mine = state;
    mine->env = env;
    return mutex()->state_size <= sizeof mine->mutex ? mutex()->start(mine->mutex, env, config) : -1;
}

static void stop(void *state)
{
    mutex()->stop(((struct mine *)state)->mutex);
}

static int acquire(void *state, int lock, int owner, int timeout_ms)
{
    struct mine *mine = state;
#ifdef GRANTS_ALL
    const struct ls_report granted = {
        .kind = LS_REPORT_GRANTED, .lock = lock, .owner = owner, .depth = 1, .token = 1};
    (void)timeout_ms;
    ls_report(mine->env, &granted);
    return 0;
#else
    return mutex()->acquire(mine->mutex, lock, owner, timeout_ms);
#endif
}

static int cancel(void *state, int lock, int owner)
{
    return mutex()->cancel(((struct mine *)state)->mutex, lock, owner);
}

static int release(void *state, int lock, int owner)
{
    return mutex()->release(((struct mine *)state)->mutex, lock, owner);
}

static enum ls_belief query(const void *state, int lock, int owner)
{
    return mutex()->query(((const struct mine *)state)->mutex, lock, owner);
}

extern const struct ls_recipe my_recipe;
const struct ls_recipe my_recipe = {
    .name = "mine",
    .summary = "the mutex under another name",
    .state_size = sizeof(struct mine),
    .start = start,
    .stop = stop,
    .acquire = acquire,
    .cancel = cancel,
    .release = release,
    .query = query,
};
