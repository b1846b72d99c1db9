/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#ifndef TESTS_CHECK_REFERENCE_EVERY_LOSS_IS_TOLD_H
#define TESTS_CHECK_REFERENCE_EVERY_LOSS_IS_TOLD_H

#include "check/reference/questions.h"

/* Reports of a process about its sessions before event i. */
struct told {
    int64_t session;   /* connected session; 0 = none, or it is lost */
    int64_t lost;      /* the session before it, if that was lost */
    bool loss;         /* the last report is a loss */
    bool loss_is_due;  /* the client library knows of a loss that was not reported */
    bool break_is_due; /* the client library knows of a broken link that was not reported */
    bool suspended;    /* the last report about the link is that it broke */
    bool back_is_due;  /* `suspended`, but the link is back with that session */
};

static void hear(struct told *told, const struct event *event)
{
    bool known = told->session != 0;
    switch (event->kind) {
    case EVENT_CONNECTED:
        *told = (struct told){.session = event->session};
        break;
    case EVENT_RECONNECTED:
    case EVENT_READ_ONLY:
        told->suspended = told->back_is_due = false;
        break;
    case EVENT_SUSPENDED:
        told->suspended = true;
        told->break_is_due = false;
        break;
    case EVENT_LOST:
        *told = (struct told){.loss = true, .lost = known ? told->session : told->lost};
        break;
    case EVENT_LINK_DOWN:
        told->break_is_due |= known;
        told->back_is_due &= !known;
        break;
    case EVENT_LINK_UP:
        told->loss_is_due |= known && event->session != told->session;
        told->back_is_due |= known && event->session == told->session && told->suspended;
        break;
    case EVENT_EXPIRED:
    case EVENT_AUTH_FAILED:
        told->loss_is_due |= known;
        told->break_is_due &= !known;
        told->back_is_due &= !known;
        break;
    default:
        break;
    }
}

static struct told told_of(const struct trace_list *list, int i, int process)
{
    struct told told = {0};
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        if (ends_process(event, process))
            told = (struct told){0};
        else if (event->process == process)
            hear(&told, event);
    }
    return told;
}

static bool hides_a_loss(const struct trace_list *list, int i)
{
    const struct event *event = &list->event[i];
    struct told told = {0};
    if (event->process < PROCESSES)
        told = told_of(list, i, event->process);
    bool other = told.session != 0 && told.session != event->session;
    switch (event->kind) {
    case EVENT_CONNECTED: /* while another session is not lost, with a lost one, or before its loss is told */
        return other || (told.lost != 0 && told.lost == event->session) || told.loss_is_due;
    case EVENT_RECONNECTED:
        return told.session == 0 || other;
    case EVENT_LOST: /* for the second time, or of another session */
        return (told.session == 0 && told.loss) || (event->session != 0 && other);
    case EVENT_GRANTED:
        return told.loss_is_due;
    case EVENT_LINK_UP:
        return told.session != 0 && (told.loss_is_due || told.break_is_due);
    case EVENT_REST:
        for (int process = 0; process < PROCESSES; process++) {
            told = told_of(list, i, process);
            if (told.loss_is_due || told.break_is_due || told.back_is_due)
                return true;
        }
        return false;
    default:
        return false;
    }
}

#endif
