/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Worlds that lack a choice point (docs/fidelity.md): removes the actions that are no choice.
 *
 * A rule keeps at least one action of a list that is not empty, and the next rule looks at the remaining
 * ones. So the rules leave out runs, but no run ends because a rule left nothing. */
#include "coordzk/internal.h"

#include "base/assert.h"

#include <string.h>

/* A list of actions, and the facts in it that decide about other actions. */
struct look {
    const struct action *actions;
    int count;
    int mover;   /* lowest process with an APPLY, or an action of is_client_side(); -1 = none */
    bool buries; /* a closing session can end */
    bool calls;  /* a callback can run */
};

static bool is_client_side(const struct action *action)
{
    return action->kind == ACTION_DELIVER || action->kind == ACTION_CONNECT ||
           action->kind == ACTION_HANG_UP || action->kind == ACTION_RECEIVE ||
           action->kind == ACTION_HANDSHAKE;
}

static struct look look_at(const struct action *actions, int count)
{
    struct look look = {.actions = actions, .count = count, .mover = -1};
    for (int i = 0; i < count; i++) {
        const struct action *action = &actions[i];
        bool moves = action->kind == ACTION_APPLY || is_client_side(action);
        if (moves && (look.mover < 0 || action->process < look.mover)) {
            look.mover = action->process;
        }
        look.buries |= action->kind == ACTION_BURY;
        look.calls |= action->kind == ACTION_DELIVER;
    }
    return look;
}

static bool is_own(const struct action *action)
{
    bool verb = world_is_verb(action) && action->kind != ACTION_CANCEL;
    return verb || action->kind == ACTION_APPLY || is_client_side(action) || action->kind == ACTION_GIVE_UP ||
           action->kind == ACTION_FIRE;
}

/* a: sessions take turns. While there is a `mover`, actions of is_own() are possible for that process
 * alone. */
static bool is_out_of_turn(const struct look *look, const struct action *action)
{
    return look->mover >= 0 && is_own(action) && action->process != look->mover;
}

static bool in_flight(int p, int handle)
{
    LS_ASSERT(p >= 0 && p < the_host->options->processes);
    return handle >= 0 && fakezk_outstanding(p, handle) + fakezk_unreceived_messages(p, handle) > 0;
}

static bool some_in_flight(int p)
{
    int handle;
    bool some = false;
    for (int link = 0; (handle = fakezk_linked(p, link)) >= 0; link++) {
        some |= in_flight(p, handle);
    }
    return some;
}

static int cut_handle(const struct action *cut)
{
    return fakezk_linked(cut->process, action_cut_link(cut));
}

/* b: a link is cut only while it has no unanswered request and no unreceived message. A server restarts only
 * while this holds for all links of all clients. */
static bool breaks_in_flight(const struct look *look, const struct action *action)
{
    (void)look;
    bool breaks = action->kind == ACTION_CUT && in_flight(action->process, cut_handle(action));
    for (int p = 0; action->kind == ACTION_RESTART_SERVER && p < the_host->options->processes; p++) {
        breaks |= some_in_flight(p);
    }
    return breaks;
}

/* c: no cut, give-up or restart of a server hides the answer to a write that was or will be applied. */
static bool hides_write(const struct look *look, const struct action *action)
{
    int handle;
    (void)look;
    switch (action->kind) {
    case ACTION_CUT:
        return action_cut_is_late(action) ||
               fakezk_hides_write(action->process, cut_handle(action), action->keep, action->apply);
    case ACTION_GIVE_UP:
        return fakezk_hides_write(action->process, action->handle, 0, 0);
    case ACTION_RESTART_SERVER:
        for (int p = 0; p < the_host->options->processes; p++) {
            for (int link = 0; (handle = fakezk_linked(p, link)) >= 0; link++) {
                if (fakezk_hides_write(p, handle, INT32_MAX, 0)) {
                    return true;
                }
            }
        }
        return false;
    default:
        return false;
    }
}

/* Returns the handle of the process that has the session; -1 = none has. */
static int handle_of(const struct action *expire)
{
    LS_ASSERT(expire->kind == ACTION_EXPIRE);
    for (int h = 0; h < FAKEZK_HANDLES_MAX; h++) {
        if (fakezk_session(expire->process, h) == expire->session) {
            return h;
        }
    }
    return -1;
}

/* e: a handle connects to the server with the lowest number that takes it. A session does not expire while a
 * handle of its process has the session and is not connected. */
static bool connects_elsewhere(const struct look *look, const struct action *action)
{
    if (action->kind == ACTION_EXPIRE) {
        int handle = handle_of(action);
        return handle >= 0 && !fakezk_connected(action->process, handle);
    }
    for (int i = 0; action->kind == ACTION_CONNECT && i < look->count; i++) {
        const struct action *other = &look->actions[i];
        if (other->kind == ACTION_CONNECT && other->process == action->process &&
            other->handle == action->handle && other->server < action->server) {
            return true;
        }
    }
    return false;
}

/* f: a session does not expire while its handle has an unanswered request or an undelivered message. While a
 * session is closing, BURY is the only choice. */
static bool expires_in_flight(const struct look *look, const struct action *action)
{
    if (look->buries) {
        return action->kind != ACTION_BURY;
    }
    int handle = action->kind == ACTION_EXPIRE ? handle_of(action) : -1;
    return handle >= 0 &&
           fakezk_outstanding(action->process, handle) + fakezk_queued(action->process, handle) > 0;
}

/* i: a client never stands still: while a callback can run, deliveries are the only choice. */
static bool overtakes_callback(const struct look *look, const struct action *action)
{
    return look->calls && action->kind != ACTION_DELIVER;
}

static int keep_rest(struct action *actions, int count,
                     bool (*drops)(const struct look *look, const struct action *action))
{
    LS_ASSERT(count >= 0 && count <= WORLD_ACTIONS_MAX);
    static struct action all[WORLD_ACTIONS_MAX];
    memcpy(all, actions, (size_t)count * sizeof *all);
    struct look look = look_at(all, count);
    int left = 0;
    for (int i = 0; i < count; i++) {
        if (!drops(&look, &all[i])) {
            actions[left++] = all[i];
        }
    }
    LS_ASSERT(left > 0 || count == 0);
    return left;
}

int without_filter(struct action *actions, int count)
{
    static const struct {
        char letter;
        bool (*drops)(const struct look *look, const struct action *action);
    } RULES[] = {{'i', overtakes_callback}, {'f', expires_in_flight}, {'a', is_out_of_turn},
                 {'e', connects_elsewhere}, {'b', breaks_in_flight},  {'c', hides_write}};
    for (size_t i = 0; i < sizeof RULES / sizeof RULES[0]; i++) {
        if ((the_host->options->without & WORLD_CHOICE_POINT(RULES[i].letter)) != 0) {
            count = keep_rest(actions, count, RULES[i].drops);
        }
    }
    return count;
}
