/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#ifndef TESTS_CHECK_REFERENCE_RELEASE_MATCHES_ACQUIRE_H
#define TESTS_CHECK_REFERENCE_RELEASE_MATCHES_ACQUIRE_H

#include "check/reference/questions.h"

/* Returns how many levels an owner holds before event i, by the last grant or release of its hold. */
static int depth_before(const struct trace_list *list, int i, int process, int owner)
{
    for (int k = i - 1; k >= 0 && holding(list, i, 0, process, owner) >= 0; k--) {
        const struct event *event = &list->event[k];
        if ((event->kind == EVENT_GRANTED || event->kind == EVENT_RELEASED) &&
            is_of(event, 0, process, owner))
            return event->code > 0 ? event->code : 1;
    }
    return 0;
}

/* A release that ended a hold which was not lost. */
struct release_told {
    int64_t czxid;
    int owner;
    bool stood, freed;
};

/* Writes the releases of a process that are not over before event i; of several by one node only the last.
 * A FREED counts for its owner's release with the oldest node. Returns their number. */
static int releases_of(const struct trace_list *list, int i, int process, struct release_told release[])
{
    int count = 0;
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        if (event->process != process)
            continue;
        bool last = event->kind == EVENT_RELEASED && event->code == 0;
        int grant = last ? holding(list, k, 0, process, event->owner) : -1;
        if (ends_process(event, process) || event->kind == EVENT_LOST || event->kind == EVENT_EXPIRED)
            count = 0;
        if (grant >= 0) {
            int64_t czxid = node_of(list, grant);
            int same = 0;
            while (same < count && (release[same].owner != event->owner || release[same].czxid != czxid))
                same++;
            release[same] = (struct release_told){
                .czxid = czxid, .owner = event->owner, .stood = stands(list, k, 0, czxid)};
            count += same == count;
        }
        int oldest = -1;
        for (int r = 0; r < count && event->kind == EVENT_FREED; r++)
            if (release[r].owner == event->owner && !release[r].freed &&
                (oldest < 0 || release[r].czxid < release[oldest].czxid))
                oldest = r;
        if (oldest >= 0)
            release[oldest].freed = true;
    }
    return count;
}

static bool has_unfreed_release(const struct trace_list *list, int i, int process, int owner)
{
    struct release_told release[EVENTS_MAX];
    int count = releases_of(list, i, process, release);
    for (int r = 0; r < count; r++)
        if ((owner < 0 || release[r].owner == owner) && !release[r].freed)
            return true;
    return false;
}

/* Returns whether a process that acts has a release that was not reported, or whose node still stands. */
static bool leaves_a_release(const struct trace_list *list, int i, int process)
{
    struct release_told release[EVENTS_MAX];
    int count = acts(list, i, process) ? releases_of(list, i, process, release) : 0;
    for (int r = 0; r < count; r++)
        if (!release[r].freed || (release[r].stood && stands(list, i, 0, release[r].czxid)))
            return true;
    return false;
}

/* Returns whether event i reports a release as done, outside of stop() and close(), although its node
 * stands. Of several releases the event is about the one with the oldest node. */
static bool is_freed_early(const struct trace_list *list, int i)
{
    const struct event *event = &list->event[i];
    struct release_told release[EVENTS_MAX];
    int count = releases_of(list, i, event->process, release), oldest = -1;
    for (int r = 0; r < count; r++)
        if (release[r].owner == event->owner && !release[r].freed &&
            (oldest < 0 || release[r].czxid < release[oldest].czxid))
            oldest = r;
    return event->code == 0 && event->cause == 0 && oldest >= 0 && release[oldest].stood &&
           stands(list, i, 0, release[oldest].czxid);
}

static bool is_of_claims(const struct event *event)
{
    static const uint8_t kinds[] = {EVENT_FAILED, EVENT_GRANTED,      EVENT_RELEASED,   EVENT_REFUSED,
                                    EVENT_FREED,  EVENT_REVOKE_ASKED, EVENT_LOCK_CLOSED};
    return memchr(kinds, event->kind, sizeof kinds) != NULL;
}

static bool is_unbalanced(const struct trace_list *list, int i)
{
    const struct event *event = &list->event[i];
    int process = event->process, owner = event->owner;
    if (event->kind == EVENT_REST)
        return leaves_a_release(list, i, 0) || leaves_a_release(list, i, 1) || leaves_a_release(list, i, 2);
    if (process >= PROCESSES || owner >= OWNERS)
        return false;
    if (!is_of_claims(event))
        return false;
    int grant = holding(list, i, 0, process, owner);
    bool waiting = pending(list, i, 0, process, owner) >= 0;
    switch (event->kind) {
    case EVENT_FAILED:
        return !waiting;
    case EVENT_GRANTED:
        return !waiting || (event->code != depth_before(list, i, process, owner) + 1 &&
                            !(event->code == 1 && (grant >= 0 && !holds_standing(list, i, process, owner))));
    case EVENT_RELEASED:
        return grant >= 0 ? event->code != depth_before(list, i, process, owner) - 1
                          : !has_lost_hold(list, i, 0, process, owner);
    case EVENT_REFUSED:
        return event->code != CODE_NOTHING_PENDING && grant >= 0 &&
               !((event->code == CODE_LOST || (event->code == CODE_NOT_OWNER && waiting)) &&
                 (grant >= 0 && !holds_standing(list, i, process, owner)));
    case EVENT_FREED:
        return is_freed_early(list, i) || (grant >= 0 && !has_unfreed_release(list, i, process, owner));
    case EVENT_REVOKE_ASKED:
        return grant < 0 || node_of(list, grant) != event->zxid;
    case EVENT_LOCK_CLOSED:
        return event->code == 0 && (waits(list, i, 0, process) || has_unfreed_release(list, i, process, -1));
    default:
        return false;
    }
}

#endif
