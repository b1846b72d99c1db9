/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "scenario/outage_worlds.h"

#include "base/assert.h"
#include "scenario/fixed_text.h"
#include "scenario/repetition_worlds.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define PIECE_MS 500 /* the longest `advance`; behind each, recipes are asked for their belief */
#define HOP_MS 10
#define HOPS 10       /* enough for the messages of an acquire without faults */
#define QUIET_MS 1000 /* pause before a holder acts: less than half of the session timeout */
#define LATE_MS 4500  /* longer than the session timeout: a session without contact has ended */
#define TURNS 8
#define WAKE_HOPS 5        /* a waiter is woken, asks for the first contender, and gets the answer */
#define PAUSE_MS 2500      /* more than half of the session timeout, less than all of it */
#define ALMOST_MS 2500     /* a session of 4 s is still alive, whenever its last ping was */
#define JUST_BEFORE_MS 820 /* with a settle before it, shortly before a deadline of 1 s */
#define FRESH_MS 600       /* just before the first renewal of a belief, after a sixth of 4 s */

enum {
    OUTAGE_PAUSE,
    OUTAGE_PARTITION,
    OUTAGE_CUT,
    OUTAGE_EXPIRE,
    OUTAGE_SERVER,
    OUTAGE_CANCEL,
    OUTAGE_CRASH,
    OUTAGE_STOP,
    OUTAGE_FREEZE,
    OUTAGES
};

static const struct {
    const char *name, *begin, *end; /* commands; an outage with `end` NULL has no length */
} OUTAGE[OUTAGES] = {
    [OUTAGE_PAUSE] = {"pause", "pause a", "resume a"},
    [OUTAGE_PARTITION] = {"partition", "partition a", "heal a"},
    [OUTAGE_CUT] = {"cut", "cut a", NULL},
    [OUTAGE_EXPIRE] = {"expire", "expire a", NULL},
    [OUTAGE_SERVER] = {"server", "restart-server s1", NULL},
    [OUTAGE_CANCEL] = {"cancel", "a cancel", NULL},
    [OUTAGE_CRASH] = {"crash", "crash a", "restart a"},
    [OUTAGE_STOP] = {"stop", "a stop", "a start"},
    [OUTAGE_FREEZE] = {"freeze", "freeze s2", "thaw s2"},
};

/* Of the session timeout of 4 s: a moment, less than a half, less than two thirds, just less than all, just
 * more, and more than twice. */
static const int LENGTH_MS[] = {200, 1500, 2500, 3900, 4300, 9000};

#define COUNT(list) ((int)(sizeof(list) / sizeof(list)[0]))

static const char *const ASKED[] = {"acquire", "acquire timeout=1s", "acquire timeout=6s", "try"};
static const char *const DONE[] = {"acquire", "acquire timeout=1s", "write guarded", "release",
                                   "acquire owner=1"};

struct clock_world {
    int outage;
    const char *verb; /* of `a`, in CLOCK_LINE of `c`; NULL: this cast offers no choice */
    int way;          /* index into the ways of the cast */
    int at_ms;        /* time from the verb to the beginning of the outage */
    int length_ms[2]; /* of the outages; 0: the outage has no length */
};

static void put_first(struct lines *text, const struct clock_world *world);
static void put_behind(struct lines *text, const struct clock_world *world);
static void put_holder(struct lines *text, const struct clock_world *world);
static void put_during(struct lines *text, const struct clock_world *world);
static void put_again(struct lines *text, const struct clock_world *world);
static void put_life(struct lines *text, const struct clock_world *world);
static void put_line(struct lines *text, const struct clock_world *world);
static void put_fresh(struct lines *text, const struct clock_world *world);
static void put_woken(struct lines *text, const struct clock_world *world);
static void put_owners(struct lines *text, const struct clock_world *world);
static void put_awake(struct lines *text, const struct clock_world *world);
static void put_restarted(struct lines *text, const struct clock_world *world);
static void put_frozen(struct lines *text, const struct clock_world *world);

/* OUTAGES_ENDURED: `a` may go on asking for the lock. OUTAGES_ENDING: the request of `a` ends. */
#define OUTAGES_ENDURED                                                                                      \
    (1u << OUTAGE_PAUSE | 1u << OUTAGE_PARTITION | 1u << OUTAGE_CUT | 1u << OUTAGE_EXPIRE |                  \
     1u << OUTAGE_SERVER)
#define OUTAGES_ENDING (1u << OUTAGE_EXPIRE | 1u << OUTAGE_CANCEL | 1u << OUTAGE_CRASH | 1u << OUTAGE_STOP)
#define LONG_OUTAGES (1u << OUTAGE_PAUSE | 1u << OUTAGE_PARTITION)

static const struct {
    const char *name, *processes;
    const char *const *verbs; /* NULL: no choice */
    int verb_count;
    uint32_t kinds; /* of outage, a bit each */
    int outages;    /* number of outages whose lengths are chosen */
    int moments;    /* number of moments at which the outage begins */
    int ways;
    const char *way[3]; /* suffix of the world's name for each way */
    void (*put)(struct lines *text, const struct clock_world *world);
    const char *options; /* further words of the line `world`, after a blank; NULL: none */
    const char *links;   /* lines that choose a server for each client; NULL: none */
} CAST[CLOCK_CASTS] = {
    [CLOCK_FIRST] = {.name = "clock-first",
                     .processes = "a b",
                     .verbs = ASKED,
                     .verb_count = COUNT(ASKED),
                     .kinds = OUTAGES_ENDURED,
                     .outages = 1,
                     .moments = HOPS,
                     .ways = 2,
                     .way = {"", "/released-late"},
                     .put = put_first},
    [CLOCK_BEHIND] = {.name = "clock-behind",
                      .processes = "a b c",
                      .verbs = ASKED,
                      .verb_count = COUNT(ASKED),
                      .kinds = OUTAGES_ENDURED,
                      .outages = 1,
                      .moments = HOPS,
                      .ways = 3,
                      .way = {"", "/released-after", "/released-late"},
                      .put = put_behind},
    [CLOCK_HOLDER] = {.name = "clock-holder",
                      .processes = "a b",
                      .verbs = DONE,
                      .verb_count = COUNT(DONE),
                      .kinds = OUTAGES_ENDURED,
                      .outages = 1,
                      .moments = HOPS,
                      .ways = 2,
                      .way = {"", "/released-late"},
                      .put = put_holder},
    [CLOCK_DURING] = {.name = "clock-during",
                      .processes = "a b",
                      .verbs = DONE,
                      .verb_count = COUNT(DONE),
                      .kinds = 1u << OUTAGE_PARTITION,
                      .outages = 1,
                      .moments = 1,
                      .ways = 2,
                      .way = {"", "/released-late"},
                      .put = put_during},
    [CLOCK_AGAIN] = {.name = "clock-again",
                     .processes = "a b",
                     .verb_count = 1,
                     .kinds = LONG_OUTAGES | 1u << OUTAGE_CUT,
                     .outages = 2,
                     .moments = 1,
                     .ways = 2,
                     .way = {"", "/acquired-between"},
                     .put = put_again},
    [CLOCK_LIFE] = {.name = "clock-life",
                    .processes = "a b",
                    .verb_count = 1,
                    .kinds = OUTAGES_ENDURED,
                    .outages = 1,
                    .moments = HOPS,
                    .ways = 2,
                    .way = {"", "/with-a-rival"},
                    .put = put_life},
    [CLOCK_LINE] = {.name = "clock-line",
                    .processes = "a b c",
                    .verbs = ASKED,
                    .verb_count = COUNT(ASKED),
                    .kinds = OUTAGES_ENDING,
                    .outages = 1,
                    .moments = 2,
                    .ways = 2,
                    .way = {"", "/released-late"},
                    .put = put_line},
    [CLOCK_LESS] = {.name = "clock-less",
                    .processes = "a b",
                    .verbs = DONE,
                    .verb_count = COUNT(DONE),
                    .kinds = LONG_OUTAGES,
                    .outages = 1,
                    .moments = 1,
                    .ways = 2,
                    .way = {"", "/released-late"},
                    .put = put_holder,
                    .options = " session-timeout=30s"},
    [CLOCK_FRESH] = {.name = "clock-fresh",
                     .processes = "a b",
                     .verb_count = 1,
                     .kinds = LONG_OUTAGES,
                     .outages = 1,
                     .moments = HOPS,
                     .ways = 2,
                     .way = {"", "/released-late"},
                     .put = put_fresh,
                     .options = " keep-fresh"},
    [CLOCK_TIMERS] = {.name = "clock-timers",
                      .processes = "a b",
                      .verb_count = 1,
                      .kinds = LONG_OUTAGES,
                      .outages = 1,
                      .moments = HOPS,
                      .ways = 2,
                      .way = {"", "/released-late"},
                      .put = put_fresh,
                      .options = " keep-fresh timers-first"},
    [CLOCK_WOKEN] = {.name = "clock-woken",
                     .processes = "a b",
                     .verbs = ASKED,
                     .verb_count = COUNT(ASKED) - 1, /* a try does not wait */
                     .kinds = OUTAGES_ENDURED | 1u << OUTAGE_CANCEL,
                     .outages = 1,
                     .moments = WAKE_HOPS,
                     .ways = 1,
                     .way = {""},
                     .put = put_woken},
    [CLOCK_OWNERS] = {.name = "clock-owners",
                      .processes = "a b",
                      .verbs = ASKED,
                      .verb_count = COUNT(ASKED),
                      .kinds = OUTAGES_ENDURED,
                      .outages = 1,
                      .moments = 1,
                      .ways = 3,
                      .way = {"/beside-acquire", "/beside-timeout=2s", "/beside-try"},
                      .put = put_owners},
    [CLOCK_AWAKE] = {.name = "clock-awake",
                     .processes = "a b",
                     .verbs = DONE,
                     .verb_count = COUNT(DONE),
                     .kinds = LONG_OUTAGES,
                     .outages = 1,
                     .moments = 1,
                     .ways = 2,
                     .way = {"", "/released-late"},
                     .put = put_awake},
    [CLOCK_RESTART] = {.name = "clock-restart",
                       .processes = "a b",
                       .verb_count = 1,
                       .kinds = LONG_OUTAGES,
                       .outages = 1,
                       .moments = 1,
                       .ways = 2,
                       .way = {"", "/acquired-again"},
                       .put = put_restarted},
    [CLOCK_FROZEN] = {.name = "clock-frozen",
                      .processes = "a b",
                      .verb_count = 1,
                      .kinds = 1u << OUTAGE_FREEZE,
                      .outages = 1,
                      .moments = HOPS,
                      .ways = 3,
                      .way = {"", "/paused", "/asked-again"},
                      .put = put_frozen,
                      .options = " servers=3",
                      .links = "after connect a s2\nafter connect b s1\n"},
    [CLOCK_LONG] = {.name = "clock-long"},
};

static int digit(int *number, int base)
{
    LS_ASSERT(base > 0 && *number >= 0);
    int result = *number % base;
    *number /= base;
    return result;
}

/* Returns the number of choices of lengths for all outages of a cast. */
static int lengths_of(enum clock_cast cast, int outage)
{
    LS_ASSERT(outage >= 0 && outage < OUTAGES);
    int lengths = 1;
    for (int i = 0; OUTAGE[outage].end != NULL && i < CAST[cast].outages; i++) {
        lengths *= COUNT(LENGTH_MS);
    }
    return lengths;
}

static int count_of(enum clock_cast cast, int outage)
{
    LS_ASSERT(cast < CLOCK_CASTS && outage >= 0 && outage < OUTAGES);
    int choices = CAST[cast].verb_count * CAST[cast].moments * CAST[cast].ways;
    return (CAST[cast].kinds >> outage & 1u) != 0 ? lengths_of(cast, outage) * choices : 0;
}

int clock_worlds_count(enum clock_cast cast)
{
    LS_ASSERT(cast < CLOCK_CASTS);
    int count = cast == CLOCK_LONG ? long_runs_count() : 0;
    for (int outage = 0; outage < OUTAGES; outage++) {
        count += count_of(cast, outage);
    }
    return count;
}

static struct clock_world world_of(enum clock_cast cast, int index)
{
    LS_ASSERT(index >= 0 && index < clock_worlds_count(cast));
    struct clock_world world = {.outage = 0};
    while (index >= count_of(cast, world.outage)) {
        index -= count_of(cast, world.outage++);
        LS_ASSERT(world.outage < OUTAGES);
    }
    for (int i = 0; OUTAGE[world.outage].end != NULL && i < CAST[cast].outages; i++) {
        world.length_ms[i] = LENGTH_MS[digit(&index, COUNT(LENGTH_MS))];
    }
    int verb = digit(&index, CAST[cast].verb_count);
    world.verb = CAST[cast].verbs != NULL ? CAST[cast].verbs[verb] : NULL;
    world.at_ms = digit(&index, CAST[cast].moments) * HOP_MS;
    world.way = index;
    LS_ASSERT(world.way < CAST[cast].ways && world.at_ms < CAST[cast].moments * HOP_MS);
    return world;
}

/* ---- texts ---- */

static void put_time(struct lines *text, int ms)
{
    LS_ASSERT(ms >= 0);
    for (; ms > PIECE_MS; ms -= PIECE_MS) {
        lines_put(text, "advance %dms\n", PIECE_MS);
    }
    if (ms > 0) {
        lines_put(text, "advance %dms\n", ms);
    }
}

/* Puts time with a command of a client in its middle; verb NULL: no command. */
static void put_halves(struct lines *text, int ms, const char *client, const char *verb)
{
    LS_ASSERT(verb == NULL || client != NULL);
    put_time(text, ms / 2);
    if (verb != NULL) {
        lines_put(text, "%s %s\n", client, verb);
    }
    put_time(text, ms - ms / 2);
}

static void begin_outage(struct lines *text, const struct clock_world *world)
{
    LS_ASSERT(world->outage >= 0 && world->outage < OUTAGES);
    lines_put(text, "%s\n", OUTAGE[world->outage].begin);
}

/* Puts the lines that end the outage, then `a VERB` before `a` receives anything, then `settle`. Verb NULL:
 * no command of `a`. */
static void end_outage(struct lines *text, const struct clock_world *world, const char *verb)
{
    if (OUTAGE[world->outage].end != NULL) {
        lines_put(text, "%s\n", OUTAGE[world->outage].end);
    }
    if (verb != NULL) {
        lines_put(text, "a %s\n", verb);
    }
    lines_put(text, "settle\n");
}

static void put_outage(struct lines *text, const struct clock_world *world, int which, const char *client,
                       const char *verb)
{
    LS_ASSERT((world->length_ms[which] > 0) == (OUTAGE[world->outage].end != NULL));
    LS_ASSERT(which >= 0 && which < 2);
    begin_outage(text, world);
    put_halves(text, world->length_ms[which], client, verb);
    end_outage(text, world, NULL);
}

static void put_client(struct lines *text, const char *client, const char *verb)
{
    lines_put(text, "%s %s\nsettle\n", client, verb);
}

static void put_late(struct lines *text, bool late)
{
    if (late) {
        put_time(text, LATE_MS);
        lines_put(text, "settle\n");
    }
}

/* Each client releases at the end; a release by a client that does not hold changes nothing. */
static void put_first(struct lines *text, const struct clock_world *world)
{
    LS_ASSERT(world->verb != NULL);
    lines_put(text, "a %s\n", world->verb);
    put_time(text, world->at_ms);
    lines_put(text, "b acquire\n");
    put_outage(text, world, 0, NULL, NULL);
    put_late(text, world->way > 0);
    put_client(text, "a", "release");
    put_client(text, "b", "release");
    put_client(text, "a", "release");
}

static void put_behind(struct lines *text, const struct clock_world *world)
{
    LS_ASSERT(world->verb != NULL && world->way < 3);
    put_client(text, "b", "acquire");
    lines_put(text, "a %s\n", world->verb);
    put_time(text, world->at_ms);
    lines_put(text, "c acquire\n");
    put_outage(text, world, 0, "b", world->way == 0 ? "release" : NULL);
    if (world->way > 0) {
        put_late(text, world->way > 1);
        put_client(text, "b", "release");
    }
    put_client(text, "a", "release");
    put_client(text, "c", "release");
    put_client(text, "a", "release");
}

static void put_held(struct lines *text)
{
    put_client(text, "a", "acquire");
    put_client(text, "b", "acquire");
    put_time(text, QUIET_MS);
}

static void put_given_back(struct lines *text)
{
    put_client(text, "a", "release");
    put_client(text, "a", "release");
    put_client(text, "b", "release");
    put_client(text, "a", "release");
}

static void put_holder(struct lines *text, const struct clock_world *world)
{
    LS_ASSERT(world->verb != NULL);
    put_held(text);
    lines_put(text, "a %s\n", world->verb);
    put_time(text, world->at_ms);
    put_outage(text, world, 0, NULL, NULL);
    put_late(text, world->way > 0);
    put_given_back(text);
}

static void put_during(struct lines *text, const struct clock_world *world)
{
    LS_ASSERT(world->length_ms[0] > 0);
    put_held(text);
    put_outage(text, world, 0, "a", world->verb);
    put_late(text, world->way > 0);
    put_given_back(text);
}

static void put_again(struct lines *text, const struct clock_world *world)
{
    put_held(text);
    put_outage(text, world, 0, NULL, NULL);
    if (world->way > 0) {
        put_client(text, "a", "acquire");
    }
    put_outage(text, world, 1, NULL, NULL);
    put_given_back(text);
}

static void put_life(struct lines *text, const struct clock_world *world)
{
    for (int i = 0; i < TURNS; i++) {
        lines_put(text, "a acquire\n");
        lines_put(text, world->way > 0 ? "b acquire\n" : "");
        put_time(text, world->at_ms);
        put_outage(text, world, 0, NULL, NULL);
        put_late(text, true); /* grants a client that waits for its own old session to end */
        put_client(text, "a", "release");
        if (world->way > 0) {
            put_client(text, "b", "release");
            put_client(text, "a", "release");
        }
    }
}

static void put_line(struct lines *text, const struct clock_world *world)
{
    LS_ASSERT(world->verb != NULL);
    put_client(text, "b", "acquire");
    put_client(text, "a", "acquire");
    lines_put(text, "c %s\n", world->verb);
    put_time(text, world->at_ms * 6);
    put_outage(text, world, 0, "b", world->way == 0 ? "release" : NULL);
    if (world->way > 0) {
        put_late(text, true);
        put_time(text, 2 * QUIET_MS);
        put_client(text, "b", "release");
    }
    put_client(text, "a", "release");
    put_client(text, "c", "release");
    put_client(text, "a", "release");
}

static void put_fresh(struct lines *text, const struct clock_world *world)
{
    put_client(text, "b", "try");
    put_client(text, "b", "release");
    lines_put(text, "a acquire\nsettle\nb acquire\n");
    put_time(text, FRESH_MS + world->at_ms);
    put_outage(text, world, 0, NULL, NULL);
    put_late(text, world->way > 0);
    put_given_back(text);
}

/* `b` releases JUST_BEFORE_MS after the world has settled, shortly before a deadline of 1 s. The outage
 * begins while `a` is being woken. */
static void put_woken(struct lines *text, const struct clock_world *world)
{
    put_client(text, "b", "acquire");
    put_client(text, "a", world->verb);
    put_time(text, JUST_BEFORE_MS);
    lines_put(text, "b release\n");
    put_time(text, world->at_ms);
    put_outage(text, world, 0, NULL, NULL);
    put_late(text, true);
    put_client(text, "a", "release");
}

static void put_owners(struct lines *text, const struct clock_world *world)
{
    LS_ASSERT(world->way >= 0 && world->way < 3);
    static const char *const BESIDE[] = {"acquire owner=1", "acquire owner=1 timeout=2s", "try owner=1"};
    put_client(text, "b", "acquire");
    put_client(text, "a", world->verb);
    put_client(text, "a", BESIDE[world->way]);
    put_outage(text, world, 0, "b", "release");
    put_late(text, true);
    put_client(text, "b", "release");
    put_client(text, "a", "release");
    put_late(text, true);
    put_client(text, "a", "release owner=1");
    put_client(text, "a", "release");
}

static void put_awake(struct lines *text, const struct clock_world *world)
{
    LS_ASSERT(world->length_ms[0] > 0 && world->length_ms[1] == 0);
    put_held(text);
    begin_outage(text, world);
    put_time(text, world->length_ms[0]);
    end_outage(text, world, world->verb);
    put_late(text, world->way > 0);
    put_given_back(text);
    put_client(text, "a", "release owner=1");
}

/* A restarted server counts all session timeouts from zero, so a session may survive a longer outage. */
static void put_restarted(struct lines *text, const struct clock_world *world)
{
    LS_ASSERT(world->length_ms[0] > 0 && world->length_ms[1] == 0);
    put_held(text);
    begin_outage(text, world);
    put_time(text, ALMOST_MS);
    lines_put(text, "restart-server s1\n");
    put_time(text, world->length_ms[0]);
    end_outage(text, world, NULL);
    if (world->way > 0) {
        put_client(text, "a", "acquire");
    }
    put_given_back(text);
}

static void put_frozen(struct lines *text, const struct clock_world *world)
{
    LS_ASSERT(world->length_ms[0] > 0 && world->way < 3);
    lines_put(text, "a acquire\n");
    put_time(text, world->at_ms);
    begin_outage(text, world);
    if (world->way == 1) {
        lines_put(text, "pause a\n");
        put_time(text, PAUSE_MS);
        lines_put(text, "resume a\n");
    }
    lines_put(text, "b acquire\n");
    put_halves(text, world->length_ms[0], "a", world->way == 2 ? "acquire owner=1" : NULL);
    end_outage(text, world, NULL);
    put_late(text, true);
    put_given_back(text);
    put_client(text, "a", "release owner=1");
    put_client(text, "b", "release");
}

const char *clock_cast_name(enum clock_cast cast)
{
    LS_ASSERT(cast < CLOCK_CASTS);
    return CAST[cast].name;
}

void clock_worlds_name(enum clock_cast cast, int index, char *name, size_t size)
{
    struct lines text = {name, size, 0};
    if (cast == CLOCK_LONG) {
        lines_put(&text, "%s/%s", clock_cast_name(cast), long_runs_name(index));
        return;
    }
    struct clock_world world = world_of(cast, index);
    lines_put(&text, "%s/%s-at-%dms", clock_cast_name(cast), OUTAGE[world.outage].name, world.at_ms);
    for (int i = 0; i < 2 && world.length_ms[i] > 0; i++) {
        lines_put(&text, "%s%dms", i == 0 ? "-for-" : "-and-", world.length_ms[i]);
    }
    lines_put(&text, world.verb != NULL ? "/" : "");
    for (const char *at = world.verb; at != NULL && *at != 0; at++) {
        lines_put(&text, "%c", *at == ' ' ? '-' : *at);
    }
    lines_put(&text, "%s", CAST[cast].way[world.way]);
}

void clock_worlds_text(enum clock_cast cast, int index, char *out, size_t size)
{
    if (cast == CLOCK_LONG) {
        long_runs_text(index, out, size);
        return;
    }
    struct clock_world world = world_of(cast, index);
    struct lines text = {out, size, 0};
    lines_put(&text, "world servers=1 used timed%s\nmutex /locks/x\nprocess %s\nshow nothing\n\n%ssettle\n",
              CAST[cast].options != NULL ? CAST[cast].options : "", CAST[cast].processes,
              CAST[cast].links != NULL ? CAST[cast].links : "");
    CAST[cast].put(&text, &world);
    lines_put(&text, "rest\n----\n");
}
