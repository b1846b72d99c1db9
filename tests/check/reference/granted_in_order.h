/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#ifndef TESTS_CHECK_REFERENCE_GRANTED_IN_ORDER_H
#define TESTS_CHECK_REFERENCE_GRANTED_IN_ORDER_H

#include "check/reference/questions.h"

/* The place of a process in line. */
struct place {
    bool taken;      /* the process has a place */
    bool unclean;    /* no place until the next REST, because nodes of a failed acquire may still come */
    bool sent;       /* the process has sent a delete after it got the place */
    bool overtaken;  /* a process behind it was granted the lock */
    int64_t czxid;   /* czxid of the process's first contender */
    int64_t left_by; /* zxid at which that contender was deleted; 0 = it stands */
};

/* Returns the czxid of a grant in line: that of its process's place, else of the grant's node; 0 = none. */
static int64_t czxid_of_grant(const struct trace_list *list, int i, const struct place *place)
{
    return place->taken ? place->czxid : standing_node_of(list, i);
}

/* Returns whether a grant with this czxid passes the place over: the place is before it, and stood then. */
static bool is_passed(const struct place *place, int64_t czxid)
{
    return place->taken && czxid != 0 && place->czxid <= czxid &&
           (place->left_by == 0 || czxid <= place->left_by);
}

static void leave(struct place *place, const struct event *event)
{
    bool by_operator = event->owner == EVENT_BY_OPERATOR;
    bool given_away = !by_operator && place->sent;
    place->sent &= by_operator;
    if (!place->taken || place->czxid != event->zxid)
        return;
    place->left_by = event->cause;
    place->taken = given_away;
}

/* Applies event k to the places. */
static void move(const struct trace_list *list, int k, struct place places[PROCESSES])
{
    const struct event *event = &list->event[k];
    for (int process = 0; process < PROCESSES && event->kind == EVENT_REST; process++)
        places[process].unclean = false;
    if (event->process >= PROCESSES)
        return;
    struct place *place = &places[event->process];
    switch (event->kind) {
    case EVENT_ASKED:
    case EVENT_SESSION_CLOSING:
    case EVENT_EXPIRED:
        *place = (struct place){.unclean = place->unclean};
        break;
    case EVENT_NODE_CREATED:
        if (event->code == 1 && !place->taken && !place->unclean &&
            count_claims(list, k, 0, event->process, true, false) == 1)
            *place = (struct place){.taken = true, .czxid = event->zxid};
        break;
    case EVENT_NODE_DELETED:
        leave(place, event);
        break;
    case EVENT_REQUEST:
        place->sent |=
            place->taken && (event->code == EVENT_REQUEST_DELETE || event->code == EVENT_REQUEST_MULTI);
        break;
    case EVENT_FAILED:
        *place = (struct place){.unclean = true};
        break;
    case EVENT_GRANTED:
        for (int other = 0; other < PROCESSES && !is_deeper(list, k); other++)
            places[other].overtaken |=
                other != event->process && is_passed(&places[other], czxid_of_grant(list, k, place));
        if (place->taken && !is_deeper(list, k))
            *place = (struct place){0};
        break;
    case EVENT_CRASHED:
    case EVENT_STOPPED:
        *place = (struct place){0};
        break;
    default:
        break;
    }
}

static bool is_out_of_order(const struct trace_list *list, int i)
{
    const struct event *event = &list->event[i];
    struct place places[PROCESSES] = {0};
    if (event->kind != EVENT_REST && (event->kind != EVENT_GRANTED || is_deeper(list, i)))
        return false;
    for (int k = 0; k < i; k++)
        move(list, k, places);
    bool violated = event->kind == EVENT_GRANTED && places[event->process].overtaken;
    for (int process = 0; process < PROCESSES; process++) {
        if (event->kind == EVENT_REST)
            violated |= places[process].overtaken;
        else if (process != event->process && places[process].left_by == 0)
            violated |= is_passed(&places[process], czxid_of_grant(list, i, &places[event->process]));
    }
    return violated;
}

#endif
