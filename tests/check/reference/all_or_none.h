/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#ifndef TESTS_CHECK_REFERENCE_ALL_OR_NONE_H
#define TESTS_CHECK_REFERENCE_ALL_OR_NONE_H

#include "check/reference/questions.h"

static bool is_news(const struct event *event)
{
    return event->kind == EVENT_GRANTED || event->kind == EVENT_FAILED || event->kind == EVENT_RELEASED ||
           event->kind == EVENT_HOLD_LOST || (event->kind == EVENT_REFUSED && event->code == CODE_LOST);
}

/* News that an owner has before event i about the locks of one call. */
struct call_news {
    unsigned call; /* locks of the call, a bit each; 0 = there is no call */
    unsigned told; /* locks with news that the other locks of the call still lack */
    int kind;      /* kind of event of these news */
};

static struct call_news news_before(const struct trace_list *list, int i, int process, int owner)
{
    struct call_news news = {0};
    for (int k = 0; k < i; k++) {
        const struct event *event = &list->event[k];
        bool mine = event->process == process && event->owner == owner;
        if (ends_process(event, process))
            news = (struct call_news){0};
        else if (mine && event->kind == EVENT_ASKED)
            news = (struct call_news){.call = (unsigned)event->cause};
        else if (mine && is_news(event) && (news.call >> event->lock & 1))
            news.kind = event->kind, news.told |= 1u << event->lock;
        else
            continue;
        if (news.told == news.call) {
            news.told = 0;
            bool holds = event->kind == EVENT_GRANTED || event->kind == EVENT_HOLD_LOST ||
                         event->kind == EVENT_ASKED || (event->kind == EVENT_RELEASED && event->code > 0);
            news.call = holds ? news.call : 0;
        }
    }
    return news;
}

static bool tells_a_part(const struct trace_list *list, int i)
{
    const struct event *event = &list->event[i];
    bool looks = event->kind == EVENT_REST || event->kind == EVENT_BELIEVES || event->kind == EVENT_DOUBTS ||
                 event->kind == EVENT_SETTLED;
    for (int process = 0; process < PROCESSES; process++)
        for (int owner = 0; owner < OWNERS; owner++) {
            const struct call_news news = news_before(list, i, process, owner);
            bool about = event->kind == EVENT_REST || event->process == process;
            bool asks = event->kind == EVENT_ASKED && event->owner == owner;
            bool other = is_news(event) && event->owner == owner && (news.call >> event->lock & 1) &&
                         event->kind != news.kind;
            if (news.told && about && (looks || asks || other))
                return true;
        }
    return false;
}

#endif
