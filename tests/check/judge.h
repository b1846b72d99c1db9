/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Support for tests of judges: one property alone judges a script of events. */
#ifndef TESTS_CHECK_JUDGE_H
#define TESTS_CHECK_JUDGE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include "check/check.h"
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

enum { A, B, C, D }; /* processes */
#define SESSION(process) (0x100 + (process))

struct judge {
    struct check_set set;
    struct check_stats stats;
    struct check_finding *finding;
    int position;
    void *block;
    int64_t now_ms;
};

static inline void judge_open_in(struct judge *judge, const char *property,
                                 const struct check_context *context)
{
    memset(judge, 0, sizeof *judge);
    judge->position = check_position(property);
    assert_true(judge->position >= 0);
    check_set_init(&judge->set, CHECK_BIT(judge->position), context);
    judge->block = calloc(1, check_set_state_size(&judge->set));
    judge->finding = &judge->stats.finding[judge->position];
    assert_non_null(judge->block);
}

/* A mutex whose contenders have leases. */
static inline void judge_open_with_leases(struct judge *judge, const char *property, bool timed)
{
    const struct check_context context = {
        .processes = 4, .locks = 2, .timed = timed, .tolerance_ms = timed ? 10 : 0, .leases = true};
    judge_open_in(judge, property, &context);
}

/* Two locks with these specs; NULL = mutexes. */
static inline void judge_open_of(struct judge *judge, const char *property, bool timed,
                                 const struct ls_lock_spec *specs)
{
    const struct check_context context = {
        .processes = 4, .locks = 2, .timed = timed, .tolerance_ms = timed ? 10 : 0, .specs = specs};
    judge_open_in(judge, property, &context);
}

static inline void judge_open(struct judge *judge, const char *property, bool timed)
{
    judge_open_of(judge, property, timed, NULL);
}

/* Frees the block, after checking that its bytes behind the live ones are zero. */
static inline void judge_close(struct judge *judge)
{
    const unsigned char *bytes = judge->block;
    size_t size = check_set_state_size(&judge->set);
    for (size_t i = check_set_live_bytes(judge->block); i < size; i++)
        assert_int_equal(bytes[i], 0);
    assert_false(judge->stats.limit);
    free(judge->block);
}

static inline void show(struct judge *judge, struct event event)
{
    judge->stats.step++;
    event.now_ms = judge->now_ms;
    check_set_observe(&judge->set, judge->block, &judge->stats, &event);
}

static inline enum check_verdict verdict(const struct judge *judge)
{
    return check_verdict(&judge->set, &judge->stats, judge->position);
}

#define assert_verdict(judge, expected)                                                                      \
    assert_string_equal(check_verdict_name(verdict(judge)), check_verdict_name(expected))

/* Checks that there is a violation, that this kind of event showed it, and that its sentence has this
 * text. */
static inline void assert_violated(struct judge *judge, enum event_kind kind, const char *text)
{
    assert_verdict(judge, CHECK_VIOLATED);
    assert_int_equal(judge->finding->event_kind, kind);
    if (!strstr(judge->finding->why, text))
        fail_msg("\"%s\" does not contain \"%s\"", judge->finding->why, text);
}

/* ---- events, on lock 0 unless they say otherwise ---- */

static inline void on(struct judge *judge, enum event_kind kind, int process)
{
    show(judge, (struct event){.kind = (uint8_t)kind,
                               .process = (uint8_t)process,
                               .lock = EVENT_LOCK_NONE,
                               .session = SESSION(process)});
}

static inline void rest(struct judge *judge)
{
    on(judge, EVENT_REST, EVENT_PROCESS_NONE);
}

static inline void up(struct judge *judge, int process)
{
    on(judge, EVENT_LINK_UP, process);
}

/* Connects the first three processes. */
static inline void up_all(struct judge *judge)
{
    for (int process = A; process <= C; process++)
        up(judge, process);
}

static inline void lock_event(struct judge *judge, enum event_kind kind, int process, int owner, int32_t code)
{
    show(judge, (struct event){.kind = (uint8_t)kind,
                               .process = (uint8_t)process,
                               .owner = (uint8_t)owner,
                               .code = code,
                               .session = SESSION(process)});
}

static inline void asked(struct judge *judge, int process)
{
    lock_event(judge, EVENT_ASKED, process, 0, -1);
}

static inline void granted_to(struct judge *judge, int process, int owner, int64_t token, int depth)
{
    show(judge, (struct event){.kind = EVENT_GRANTED,
                               .process = (uint8_t)process,
                               .owner = (uint8_t)owner,
                               .zxid = token,
                               .code = depth,
                               .session = SESSION(process)});
}

static inline void granted(struct judge *judge, int process, int64_t token)
{
    granted_to(judge, process, 0, token, 1);
}

static inline void failed(struct judge *judge, int process)
{
    lock_event(judge, EVENT_FAILED, process, 0, -4);
}

static inline void released(struct judge *judge, int process)
{
    lock_event(judge, EVENT_RELEASED, process, 0, 0);
}

static inline void freed(struct judge *judge, int process)
{
    lock_event(judge, EVENT_FREED, process, 0, 0);
}

static inline void created_in(struct judge *judge, int process, int64_t czxid, int64_t session)
{
    show(judge, (struct event){.kind = EVENT_NODE_CREATED,
                               .process = (uint8_t)process,
                               .code = 1,
                               .zxid = czxid,
                               .session = session});
}

static inline void created(struct judge *judge, int process, int64_t czxid)
{
    created_in(judge, process, czxid, SESSION(process));
}

static inline void deleted(struct judge *judge, int process, int64_t czxid, int64_t cause)
{
    show(judge, (struct event){.kind = EVENT_NODE_DELETED,
                               .process = (uint8_t)process,
                               .code = 1,
                               .zxid = czxid,
                               .cause = cause,
                               .session = SESSION(process)});
}

/* `actor` is the `owner` of NODE_DELETED (event.h): a process plus 1, EVENT_BY_OPERATOR, EVENT_BY_TIME,
 * EVENT_BY_LOSS or 0. */
static inline void deleted_by(struct judge *judge, int process, int64_t czxid, int actor)
{
    show(judge, (struct event){.kind = EVENT_NODE_DELETED,
                               .process = (uint8_t)process,
                               .owner = (uint8_t)actor,
                               .code = 1,
                               .zxid = czxid,
                               .cause = 90,
                               .session = SESSION(process)});
}

static inline void watch_as(struct judge *judge, enum event_kind kind, int process, int64_t czxid,
                            enum event_watch type)
{
    show(judge, (struct event){.kind = (uint8_t)kind,
                               .process = (uint8_t)process,
                               .session = SESSION(process),
                               .zxid = czxid,
                               .code = (int32_t)type});
}

static inline void requested(struct judge *judge, int process, enum event_request request)
{
    lock_event(judge, EVENT_REQUEST, process, 0, (int32_t)request);
}

#endif
