/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The fake's steps as actions of the world. */
#include "coordzk/internal.h"

#include "base/assert.h"

#define STEPS_MAX 512

static const uint8_t kind_of_step[] = {
    [FAKEZK_APPLY] = ACTION_APPLY,         [FAKEZK_COMMIT] = ACTION_COMMIT,
    [FAKEZK_CATCH_UP] = ACTION_CATCH_UP,   [FAKEZK_DELIVER] = ACTION_DELIVER,
    [FAKEZK_CONNECT] = ACTION_CONNECT,     [FAKEZK_BURY] = ACTION_BURY,
    [FAKEZK_HANG_UP] = ACTION_HANG_UP,     [FAKEZK_GIVE_UP] = ACTION_GIVE_UP,
    [FAKEZK_EXPIRE] = ACTION_EXPIRE,       [FAKEZK_RECEIVE] = ACTION_RECEIVE,
    [FAKEZK_HANDSHAKE] = ACTION_HANDSHAKE, [FAKEZK_REARM] = ACTION_REARM,
    [FAKEZK_LINGER] = ACTION_LINGER};

static void action_of_step(const struct fakezk_step *step, struct action *out)
{
    LS_ASSERT(step->kind < sizeof kind_of_step);
    *out = (struct action){.kind = kind_of_step[step->kind],
                           .process = step->client,
                           .handle = step->handle,
                           .server = step->server,
                           .session = step->session,
                           .refused = step->refused};
}

void step_of_action(const struct action *action, struct fakezk_step *out)
{
    static const uint8_t kind_of_action[] = {
        [ACTION_APPLY] = FAKEZK_APPLY,         [ACTION_COMMIT] = FAKEZK_COMMIT,
        [ACTION_CATCH_UP] = FAKEZK_CATCH_UP,   [ACTION_DELIVER] = FAKEZK_DELIVER,
        [ACTION_CONNECT] = FAKEZK_CONNECT,     [ACTION_BURY] = FAKEZK_BURY,
        [ACTION_HANG_UP] = FAKEZK_HANG_UP,     [ACTION_GIVE_UP] = FAKEZK_GIVE_UP,
        [ACTION_EXPIRE] = FAKEZK_EXPIRE,       [ACTION_RECEIVE] = FAKEZK_RECEIVE,
        [ACTION_HANDSHAKE] = FAKEZK_HANDSHAKE, [ACTION_REARM] = FAKEZK_REARM,
        [ACTION_LINGER] = FAKEZK_LINGER};
    *out = (struct fakezk_step){.kind = kind_of_action[action->kind],
                                .client = action->process,
                                .handle = action->handle,
                                .server = action->server,
                                .session = action->session,
                                .refused = action->refused != 0};
    LS_ASSERT(kind_of_step[out->kind] == action->kind);
}

static struct fakezk_step steps[STEPS_MAX];

void steps_list(struct action_list *list, int client)
{
    int count = client == (int)COORD_EVERYBODY ? fakezk_steps(steps, STEPS_MAX)
                                               : fakezk_steps_of(client, steps, STEPS_MAX);
    _Static_assert(COORD_NOBODY == FAKEZK_NONE, "they are the same");
    LS_ASSERT(count >= 0 && count <= STEPS_MAX);
    for (int i = 0; i < count; i++) {
        const struct fakezk_step *step = &steps[i];
        struct action *action = action_list_add(list, kind_of_step[step->kind], step->client);
        action->handle = step->handle;
        action->server = step->server;
        action->session = step->session;
        action->refused = step->refused;
    }
}

bool steps_enabled(const struct action *action)
{
    struct fakezk_step step;
    step_of_action(action, &step);
    return fakezk_can_step(&step);
}

/* Returns true if a well-behaved system takes the step. It takes no refused request, no catch-up of a lagging
 * follower, and no late commit. Without a clock it takes no expiry and no give-up: with a clock these two are
 * due. */
static bool well_behaved(const struct fakezk_step *step)
{
    switch ((enum fakezk_step_kind)step->kind) {
    case FAKEZK_APPLY:
        return !step->refused;
    case FAKEZK_CATCH_UP:
        return !step->lagging;
    case FAKEZK_COMMIT:
        return false;
    case FAKEZK_EXPIRE:
    case FAKEZK_GIVE_UP:
        return the_host->options->timed;
    default:
        return true;
    }
}

bool steps_next_by_default(int client, struct action *out)
{
    int count = fakezk_steps_in_turn(client, steps, STEPS_MAX);
    for (int i = 0; i < count; i++) {
        if (well_behaved(&steps[i])) {
            action_of_step(&steps[i], out);
            return true;
        }
    }
    return false;
}

/* Chooses the commit of a late write. The world asks for it when the default schedule has no other step. */
bool steps_last_by_default(struct action *out)
{
    int count = fakezk_steps_in_turn((int)FAKEZK_NONE, steps, STEPS_MAX);
    for (int i = 0; i < count; i++) {
        if (steps[i].kind == FAKEZK_COMMIT) {
            action_of_step(&steps[i], out);
            return true;
        }
    }
    return false;
}

/* Notes for which processes a step is news. A request or a late write that commits is news for all, and so
 * is a catch-up, an expiry and the end of a session. A change of a link is news for its process. For a
 * delivery, steps_do() notes the news. */
static void note_news(const struct fakezk_step *step, int32_t zxid, struct coord_news *news)
{
    LS_ASSERT(step->kind != FAKEZK_APPLY || fakezk_last_zxid() >= zxid);
    switch ((enum fakezk_step_kind)step->kind) {
    case FAKEZK_DELIVER:
    case FAKEZK_RECEIVE:
    case FAKEZK_REARM:
        break;
    case FAKEZK_APPLY:
        news->everyone = fakezk_last_zxid() != zxid;
        break;
    case FAKEZK_CONNECT:
    case FAKEZK_HANDSHAKE:
    case FAKEZK_HANG_UP:
    case FAKEZK_GIVE_UP:
        news->client = true;
        break;
    default:
        news->everyone = true;
        break;
    }
}

void steps_do(const struct action *action, struct coord_news *news)
{
    LS_ASSERT(action_has(action, TRAIT_STEP) || action->kind == ACTION_EXPIRE);
    struct fakezk_step step;
    step_of_action(action, &step);
    bool runs = step.kind == FAKEZK_DELIVER && step.client != FAKEZK_NONE;
    int32_t zxid = step.kind == FAKEZK_APPLY ? fakezk_last_zxid() : 0;
    *news = (struct coord_news){.answer = runs && fakezk_brings_news(step.client, step.handle),
                                .client = runs && fakezk_delivery_is_watch(step.client, step.handle)};
    fakezk_step(&step);
    note_news(&step, zxid, news);
}
