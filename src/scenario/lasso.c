/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "scenario/lasso.h"

#include "base/assert.h"
#include "sim/waiters.h"
#include "state/canon.h"

#include <stdio.h>
#include <string.h>

void lasso_init(struct lasso *lasso)
{
    memset(lasso, 0, sizeof *lasso);
    lasso->hopeless = -1;
}

void lasso_close(struct lasso *lasso)
{
    canon_close(lasso->canon);
    lasso->canon = NULL;
}

check_mask lasso_properties(void)
{
    return CHECK_BIT(check_position(LASSO_ALWAYS)) | CHECK_BIT(check_position(LASSO_FAIR));
}

uint32_t lasso_waiting(const struct run *run)
{
    struct waiter list[WAITERS_MAX];
    return waiters_waiting(list, waiters_list(world_get_options(run->world), list));
}

static int channel_of(const struct lasso *lasso, const char *text)
{
    for (int i = 0; i < lasso->channels; i++) {
        if (strcmp(lasso->channel[i], text) == 0) {
            return i;
        }
    }
    return -1;
}

static void add_channel(struct lasso *lasso, const char *text)
{
    if (channel_of(lasso, text) < 0) {
        LS_ALWAYS(lasso->channels < LASSO_CHANNELS_MAX);
        lasso->taken[lasso->channels] = false;
        snprintf(lasso->channel[lasso->channels++], WORLD_LABEL_MAX, "%s", text);
    }
}

/* Drops the channels that are not possible now. */
static void keep_channels(struct lasso *lasso, const bool *possible)
{
    int kept = 0;
    for (int i = 0; i < lasso->channels; i++) {
        if (possible[i]) {
            memmove(lasso->channel[kept], lasso->channel[i], WORLD_LABEL_MAX);
            lasso->taken[kept++] = lasso->taken[i];
        }
    }
    lasso->channels = kept;
    LS_ASSERT(kept <= LASSO_CHANNELS_MAX);
}

static void note_possible(struct lasso *lasso, struct run *run, bool first)
{
    static struct action action[WORLD_ACTIONS_MAX];
    bool possible[LASSO_CHANNELS_MAX] = {false};
    char text[WORLD_LABEL_MAX];
    int count = world_actions(run->world, action);
    LS_ASSERT(count >= 0 && count <= WORLD_ACTIONS_MAX);
    for (int i = 0; i < count; i++) {
        if (!world_channel(run->world, &action[i], text)) {
            continue;
        }
        if (first) {
            add_channel(lasso, text);
        }
        int channel = channel_of(lasso, text);
        if (channel >= 0) {
            possible[channel] = true;
        }
    }
    keep_channels(lasso, possible);
}

void lasso_note(struct lasso *lasso, struct run *run, const struct action *action)
{
    LS_ASSERT(lasso->channels <= LASSO_CHANNELS_MAX && lasso->canon != NULL);
    char text[WORLD_LABEL_MAX];
    note_possible(lasso, run, lasso->steps == 0);
    lasso->waiting &= lasso_waiting(run);
    if (action == NULL) {
        return;
    }
    lasso->steps++;
    int channel = world_channel(run->world, action, text) ? channel_of(lasso, text) : -1;
    if (channel >= 0) {
        lasso->taken[channel] = true;
    }
}

bool lasso_begin(struct lasso *lasso, struct run *run)
{
    lasso_close(lasso);
    lasso->canon = world_canon(run->world);
    if (lasso->canon == NULL) {
        return false;
    }
    world_end_faults(run->world);
    lasso->fingerprint = canon_fingerprint(lasso->canon);
    lasso->begin = run->steps;
    lasso->steps = 0;
    lasso->channels = 0;
    lasso->waiting = lasso_waiting(run);
    return true;
}

const char *lasso_flaw(struct lasso *lasso, struct run *run, char *text, size_t size)
{
    if (lasso->canon == NULL) {
        return "no circle was begun";
    }
    lasso_note(lasso, run, NULL);
    if (canon_fingerprint(lasso->canon) != lasso->fingerprint) {
        return "the circle does not close";
    }
    if (lasso->waiting == 0) {
        return "nobody waits all the time";
    }
    for (int i = 0; i < lasso->channels; i++) {
        if (!lasso->taken[i]) {
            snprintf(text, size, "it is not fair: '%s' is possible all the time and never done",
                     lasso->channel[i]);
            return text;
        }
    }
    return NULL;
}

static void name_of(const struct run *run, int waiter, char text[WORLD_LABEL_MAX])
{
    const struct world_options *options = world_get_options(run->world);
    struct waiter list[WAITERS_MAX];
    LS_ALWAYS(waiter >= 0 && waiter < waiters_list(options, list));
    waiter_name(options, &list[waiter], text);
}

static void find(struct run *run, const char *property, uint64_t step, const char *why)
{
    int position = check_position(property);
    LS_ASSERT(position >= 0 && position < CHECK_PROPERTIES_MAX);
    struct check_finding *finding = &run->stats.finding[position];
    run->stats.violated |= CHECK_BIT(position);
    finding->violated = true;
    finding->step = step;
    snprintf(finding->why, sizeof finding->why, "%s", why);
}

/* Writes "a waits" or "a and b wait". */
static void tell_waiting(const struct run *run, uint32_t waiting, char *text, size_t size)
{
    LS_ASSERT(waiting != 0);
    char name[WORLD_LABEL_MAX];
    int count = 0;
    text[0] = 0;
    for (; waiting != 0; waiting &= waiting - 1) {
        size_t used = strlen(text);
        name_of(run, __builtin_ctz(waiting), name);
        snprintf(text + used, size - used, "%s%s", count++ > 0 ? " and " : "", name);
    }
    size_t used = strlen(text);
    snprintf(text + used, size - used, count == 1 ? " waits" : " wait");
}

void lasso_conclude(const struct lasso *lasso, struct run *run)
{
    LS_ASSERT(lasso->begin <= run->steps);
    char why[CHECK_WHY_MAX], who[CHECK_WHY_MAX / 2];
    tell_waiting(run, lasso->waiting, who, sizeof who);
    if (lasso->steps == 0) {
        snprintf(why, sizeof why, "%s for ever: after step %llu nothing has to happen any more", who,
                 (unsigned long long)lasso->begin);
    } else {
        snprintf(why, sizeof why, "%s for ever: after step %llu the same %llu step%s can go round and round",
                 who, (unsigned long long)lasso->begin, (unsigned long long)lasso->steps,
                 lasso->steps == 1 ? "" : "s");
    }
    find(run, LASSO_FAIR, lasso->begin, why);
    if (lasso->hopeless >= 0) {
        tell_waiting(run, 1u << lasso->hopeless, who, sizeof who);
        snprintf(why, sizeof why, "%s, and after step %llu nothing that can happen serves it any more", who,
                 (unsigned long long)lasso->stuck_at);
        find(run, LASSO_ALWAYS, lasso->stuck_at, why);
    }
}

void lasso_mark(const struct run *run, int waiter, char text[WORLD_LABEL_MAX])
{
    char name[WORLD_LABEL_MAX];
    int room = WORLD_LABEL_MAX - (int)sizeof TRACE_HOPELESS;
    name_of(run, waiter, name);
    snprintf(text, WORLD_LABEL_MAX, TRACE_HOPELESS "%.*s", room, name);
}

int lasso_read_mark(const struct run *run, const char *label)
{
    struct waiter list[WAITERS_MAX];
    char mark[WORLD_LABEL_MAX];
    int count = waiters_list(world_get_options(run->world), list);
    for (int i = 0; i < count; i++) {
        lasso_mark(run, i, mark);
        if (strcmp(label, mark) == 0) {
            return i;
        }
    }
    return -1;
}
