/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "scenario/small_worlds.h"

#include "base/assert.h"
#include "scenario/fixed_text.h"
#include "scenario/outage_worlds.h"
#include "scenario/random_worlds.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    const char *open[2], *close[2]; /* a verb each; its options follow its lock and are behind a '|' */
} TURNS[] = {
    {"acquire", {"acquire"}, {"release"}},
    {"deadline", {"acquire| timeout=1s"}, {"release"}},
    {"try", {"try"}, {"release"}},
    {"twice", {"acquire", "acquire"}, {"release", "release"}},
    {"write", {"acquire", "write"}, {"release"}},
    {"anyway", {"acquire| timeout=1s"}, {"release| anyway"}},
    {"stop", {"acquire"}, {"stop", "start"}},
    {"leave", {"acquire| nowait"}, {"stop", "start"}},
    {"deeper", {"acquire", "acquire| timeout=1s"}, {"release", "release"}},
    {"guarded", {"acquire", "write| guarded"}, {"release"}},
    {"close", {"acquire"}, {"close", "open"}},
    {"quit", {"acquire| nowait"}, {"close", "open"}},
    {"return", {"acquire", "release"}, {"close", "open"}},
    {"report", {"acquire| on granted: release"}, {NULL}},
    {"deepen", {"acquire| on granted: acquire"}, {"release", "release"}},
};
enum { TURN_DEADLINE = 1, TURN_TRY = 2, TURNS_PLAIN = 4, TURNS_ALL = sizeof TURNS / sizeof TURNS[0] };

#define BIT(fault) (1u << WORLD_FAULT_##fault)
#define KINDS_USUAL                                                                                          \
    (BIT(LOSS) | BIT(EXPIRE) | BIT(PAUSE) | BIT(REFUSE) | BIT(CANCEL) | BIT(ALLOC) | BIT(RMDIR) |            \
     BIT(SERVER) | BIT(EVICT) | BIT(TOUCH) | BIT(CALL) | BIT(RESTRICT))
#define KINDS_FOLLOWER (BIT(LAG) | BIT(LATE)) /* they need a second server */

static uint32_t kinds_of_place(int place)
{
    LS_ASSERT(place >= 0 && place < WORLD_PLACES);
    return KINDS_USUAL | BIT(CRASH) | (place == WORLD_PLACE_FOLLOWER ? KINDS_FOLLOWER : 0);
}

/* Returns the index-th set of kinds of a class, or 0 behind the last. At WORLD_PLACE_FOLLOWER each set has a
 * kind that needs the follower. */
static uint32_t kinds_of(const struct world_class *class, int index)
{
    LS_ASSERT(index >= 0);
    uint32_t all = kinds_of_place(class->place);
    uint32_t needed = class->place == WORLD_PLACE_FOLLOWER ? KINDS_FOLLOWER : all;
    if (class->kinds == WORLD_KINDS_ALL) {
        return index == 0 ? all : 0;
    }
    for (int a = 0; a < WORLD_FAULTS; a++) {
        for (int b = 0; b < WORLD_FAULTS; b++) {
            uint32_t set = 1u << a | 1u << b;
            bool crash = class->kinds == WORLD_KINDS_CRASH;
            bool ordered = crash ? a == WORLD_FAULT_CRASH && b != a : a < b && (set & BIT(CRASH)) == 0;
            if (ordered && (set & ~all) == 0 && (set & needed) != 0 && index-- == 0) {
                return set;
            }
        }
    }
    return 0;
}

static int count_kinds(const struct world_class *class)
{
    int count = 0;
    while (kinds_of(class, count) != 0) {
        count++;
    }
    return count;
}

/* Returns whether client `i` comes before the next client or equals it; worlds have sorted clients. */
static bool in_order(const struct world_spec *spec, int i)
{
    LS_ASSERT(i + 1 < spec->clients);
    if (spec->turns[i] != spec->turns[i + 1]) {
        return spec->turns[i] < spec->turns[i + 1];
    }
    return memcmp(spec->turn[i], spec->turn[i + 1], spec->turns[i]) <= 0;
}

/* Returns whether the second turn of each client may lie within its first. At WORLD_PLACE_OWNERS an owner
 * inside the client's own hold must not wait without a deadline. */
static bool may_lie_within(const struct world_spec *spec)
{
    for (int i = 0; i < spec->clients; i++) {
        int inner = spec->turns[i] > 1 ? spec->turn[i][1] : TURN_TRY;
        if (spec->place == WORLD_PLACE_OWNERS && inner != TURN_TRY && inner != TURN_DEADLINE) {
            return false;
        }
    }
    return true;
}

static bool is_wanted(const struct world_spec *spec)
{
    bool longer = false, extended = false, ordered = true;
    for (int i = 0; i < spec->clients; i++) {
        longer = longer || spec->turns[i] > 1;
        ordered = ordered && (i + 1 == spec->clients || in_order(spec, i));
        for (int t = 0; t < spec->turns[i]; t++) {
            extended = extended || spec->turn[i][t] >= TURNS_PLAIN;
        }
    }
    switch (spec->place) {
    case WORLD_PLACE_LOCKS:
    case WORLD_PLACE_OWNERS:
        return ordered && longer && (!spec->within || may_lie_within(spec));
    case WORLD_PLACE_VERBS:
        return ordered && extended;
    default:
        return ordered;
    }
}

/* Sets the kinds of the turns from the digits of a number. Returns false behind the last number. */
static bool set_turns(struct world_spec *spec, int total, int number)
{
    int base = spec->place == WORLD_PLACE_VERBS ? TURNS_ALL : TURNS_PLAIN;
    int client = spec->clients - 1, turn = spec->turns[client] - 1;
    for (int i = 0; i < total; i++) {
        LS_ASSERT(client >= 0 && turn >= 0);
        spec->turn[client][turn] = (uint8_t)(number % base);
        number /= base;
        if (--turn < 0 && --client >= 0) {
            turn = spec->turns[client] - 1;
        }
    }
    return number == 0;
}

/* Gives clients turns in the index-th way, none more than the next one. Returns false behind the last. */
static bool share_out(struct world_spec *spec, int total, int index)
{
    LS_ASSERT(spec->clients >= 1 && spec->clients <= 3 && total >= 0);
    int first_max = spec->clients == 1 ? total : total / spec->clients;
    for (int first = spec->clients == 1 ? total : 1; first <= first_max; first++) {
        int left = total - first;
        int second_max = spec->clients == 3 ? left / 2 : left;
        for (int second = spec->clients == 3 ? first : left; second <= second_max; second++) {
            if (index-- == 0) {
                spec->turns[0] = (uint8_t)first;
                spec->turns[1] = (uint8_t)(spec->clients > 1 ? second : 0);
                spec->turns[2] = (uint8_t)(spec->clients > 2 ? left - second : 0);
                LS_ASSERT(spec->turns[0] + spec->turns[1] + spec->turns[2] == total);
                return true;
            }
        }
    }
    return false;
}

/* A position in the list of all programs of a class. */
struct cursor {
    const struct world_class *class;
    int within, way, number; /* the programs at this position */
    int found;               /* number of wanted programs before it */
};

/* Moves to the index-th wanted programs, which must not lie before the cursor, and returns -1. If there are
 * none, as for index -1, returns the number of wanted programs of the class. */
static int set_programs(struct cursor *at, struct world_spec *spec, int index)
{
    const struct world_class *class = at->class;
    LS_ASSERT(index < 0 || at->found <= index);
    bool nests = class->place == WORLD_PLACE_LOCKS || class->place == WORLD_PLACE_OWNERS;
    *spec = (struct world_spec){.place = class->place, .depth = class->depth, .clients = class->clients};
    for (; at->within <= (int)nests; at->within++, at->way = 0) {
        spec->within = at->within != 0;
        for (; share_out(spec, class->turns, at->way); at->way++, at->number = 0) {
            for (; set_turns(spec, class->turns, at->number); at->number++) {
                bool wanted = is_wanted(spec);
                if (wanted && at->found == index) {
                    return -1;
                }
                at->found += wanted;
            }
        }
    }
    return at->found;
}

/* Returns whether another file makes the worlds of a place, and identifies them by a number. */
static bool is_numbered(int place)
{
    return place == WORLD_PLACE_CLOCK || place == WORLD_PLACE_RANDOM;
}

int worlds_count(const struct world_class *class)
{
    struct world_spec spec;
    if (is_numbered(class->place)) {
        return class->place == WORLD_PLACE_CLOCK ? clock_worlds_count((enum clock_cast) class->cast)
                                                 : class->worlds;
    }
    struct cursor start = {.class = class};
    return set_programs(&start, &spec, -1) * count_kinds(class);
}

void worlds_spec(const struct world_class *class, int index, struct world_spec *spec)
{
    if (is_numbered(class->place)) {
        LS_ASSERT(index >= 0 && index < worlds_count(class));
        *spec = (struct world_spec){
            .place = class->place, .cast = class->cast, .number = (uint16_t)(class->first + index)};
        return;
    }
    static struct cursor last; /* worlds are usually asked for in order */
    int kinds = count_kinds(class);
    LS_ASSERT(index >= 0 && kinds > 0);
    if (last.class != class || index / kinds < last.found) {
        last = (struct cursor){.class = class};
    }
    int end = set_programs(&last, spec, index / kinds);
    LS_ASSERT(end < 0);
    spec->kinds = kinds_of(class, index % kinds);
    LS_ASSERT(spec->kinds != 0);
}

/* ---- classes ---- */

#define STATES_MAX_LEAST 500000
#define RANDOM_WORLDS_FIRST 200
#define RANDOM_WORLDS_LAST 12800

static struct world_class classes[WORLDS_CLIENTS_MAX * WORLDS_TURNS_MAX * WORLD_KINDS * 3 * WORLD_PLACES];
static int class_count;

#define COST_OF_A_RUN 168            /* a run takes as long as a search of 1,500 states */
#define COST_OF_RANDOM_SCHEDULES 220 /* of one world: as long as a search of 14,000 states */

static bool has_schedules(int place, int cast)
{
    return place == WORLD_PLACE_RANDOM && cast == RANDOM_ORDERS;
}

int worlds_schedules(const struct world_spec *spec)
{
    return has_schedules(spec->place, spec->cast) ? RANDOM_WORLDS_SCHEDULES : 0;
}

/* Returns the expected log2 of the states of one world, in sixteenths. The formula was fitted to the built-in
 * mutex. */
static uint32_t cost_of_world(const struct world_class *class)
{
    if (is_numbered(class->place)) {
        return has_schedules(class->place, class->cast) ? COST_OF_RANDOM_SCHEDULES : COST_OF_A_RUN;
    }
    LS_ASSERT(class->kinds < WORLD_KINDS && class->clients >= 1);
    static const uint8_t PER_FAULT[WORLD_KINDS] = {
        [WORLD_KINDS_PAIR] = 32, [WORLD_KINDS_CRASH] = 52, [WORLD_KINDS_ALL] = 84};
    static const uint8_t OF_PLACE[WORLD_PLACES] = {[WORLD_PLACE_FRESH] = 16,
                                                   [WORLD_PLACE_LOCKS] = 12,
                                                   [WORLD_PLACE_VERBS] = 3,
                                                   [WORLD_PLACE_FOLLOWER] = 40};
    uint32_t others = class->clients - 1u;
    uint32_t start = 48 + 32u * class->turns + 48 * others;
    return start + OF_PLACE[class->place] + class->depth * (PER_FAULT[class->kinds] + 8 * others);
}

uint64_t worlds_states_max(const struct world_class *class)
{
    uint32_t bits = cost_of_world(class) / 16 + 6;
    uint64_t most = bits < 63 ? 1ull << bits : UINT64_MAX / 4;
    return most > STATES_MAX_LEAST ? most : STATES_MAX_LEAST;
}

/* Returns log2 in sixteenths, rounded down. Only integers are used, so that every machine rounds alike. */
static uint32_t log2_sixteenths(uint64_t number)
{
    LS_ASSERT(number > 0);
    uint32_t bits = 0;
    while (number >> (bits + 1) != 0) {
        bits++;
    }
    uint32_t result = bits << 4;
    uint64_t rest = bits >= 31 ? number >> (bits - 31) : number << (31 - bits); /* 1.31 fixed point */
    for (int i = 3; i >= 0; i--) {
        rest = rest * rest >> 31;
        if (rest >> 32 != 0) {
            result += 1u << i;
            rest >>= 1;
        }
    }
    return result;
}

/* Added to the rank of other places: they come together with classes of WORLD_PLACE_USED that cost eight
 * times as much. */
#define RANK_OF_OTHER_PLACES 48

static void add_class(struct world_class class)
{
    int worlds = worlds_count(&class);
    LS_ASSERT(class_count < (int)(sizeof classes / sizeof classes[0]));
    if (worlds > 0) {
        class.cost = cost_of_world(&class) + log2_sixteenths((uint64_t)worlds);
        bool first = class.place == WORLD_PLACE_USED || is_numbered(class.place);
        class.rank = class.cost + (first ? 0 : RANK_OF_OTHER_PLACES);
        classes[class_count++] = class;
    }
}

static void add_depths(struct world_class class)
{
    static const uint8_t DEPTHS[WORLD_KINDS][3] = {
        [WORLD_KINDS_PAIR] = {3, 5, 7}, [WORLD_KINDS_CRASH] = {3, 5, 7}, [WORLD_KINDS_ALL] = {1, 2, 3}};
    for (int kinds = 0; kinds < WORLD_KINDS; kinds++) {
        for (int i = 0; i < 3; i++) {
            class.kinds = (uint8_t)kinds;
            class.depth = DEPTHS[kinds][i];
            add_class(class);
        }
    }
}

static int by_rank(const void *a, const void *b)
{
    const struct world_class *one = a, *other = b;
    if (one->rank != other->rank) {
        return one->rank < other->rank ? -1 : 1;
    }
    char name[WORLDS_NAME_MAX], other_name[WORLDS_NAME_MAX];
    return strcmp(worlds_class_name(one, name), worlds_class_name(other, other_name));
}

/* Adds the classes of a kind of random worlds. Each class has four times as many worlds as the class before
 * it. */
static void add_random(enum random_worlds kind)
{
    uint16_t first = 0;
    for (uint16_t count = RANDOM_WORLDS_FIRST; count <= RANDOM_WORLDS_LAST; count *= 4) {
        add_class((struct world_class){
            .place = WORLD_PLACE_RANDOM, .cast = (uint8_t)kind, .first = first, .worlds = count});
        LS_ASSERT(first + count <= UINT16_MAX);
        first = (uint16_t)(first + count);
    }
}

static void make_classes(void)
{
    LS_ASSERT(class_count == 0);
    add_random(RANDOM_ORDERS);
    add_random(RANDOM_TIMES);
    for (int cast = 0; cast < CLOCK_CASTS; cast++) {
        add_class((struct world_class){
            .clients = 2, .turns = 2, .depth = 1, .place = WORLD_PLACE_CLOCK, .cast = (uint8_t)cast});
    }
    for (int place = 0; place < WORLD_PLACE_CLOCK; place++) {
        int clients_max = place == WORLD_PLACE_LOCKS ? 2 : WORLDS_CLIENTS_MAX;
        int turns_max = place == WORLD_PLACE_VERBS ? 3 : WORLDS_TURNS_MAX;
        for (int clients = 1; clients <= clients_max; clients++) {
            for (int turns = clients; turns <= turns_max; turns++) {
                add_depths((struct world_class){
                    .clients = (uint8_t)clients, .turns = (uint8_t)turns, .place = (uint8_t)place});
            }
        }
    }
    qsort(classes, (size_t)class_count, sizeof classes[0], by_rank);
}

int worlds_classes(void)
{
    if (class_count == 0) {
        make_classes();
    }
    return class_count;
}

const struct world_class *worlds_class(int index)
{
    LS_ASSERT(index >= 0 && index < worlds_classes());
    return &classes[index];
}

static void put(struct lines *text, const char *before, const char *word)
{
    lines_put(text, "%s%s", before, word);
}

static void put_number(struct lines *text, const char *before, int number)
{
    char digits[16];
    snprintf(digits, sizeof digits, "%d", number);
    put(text, before, digits);
}

static void put_shape(struct lines *text, int clients, int turns, int place)
{
    static const char *const NUMBERS[] = {"no", "one", "two", "three", "four"};
    static const char *const OF_PLACE[WORLD_PLACES] = {"",        "-fresh", "-locks",
                                                       "-owners", "-verbs", "-follower"};
    LS_ASSERT(clients <= WORLDS_CLIENTS_MAX && turns <= WORLDS_TURNS_MAX && place < WORLD_PLACE_CLOCK);
    put(text, NUMBERS[clients], clients == 1 ? "-client-" : "-clients-");
    put(text, NUMBERS[turns], turns == 1 ? "-turn" : "-turns");
    put(text, OF_PLACE[place], "");
}

const char *worlds_class_name(const struct world_class *class, char name[WORLDS_NAME_MAX])
{
    static const char *const KINDS[WORLD_KINDS] = {"/pairs", "/crash", "/all"};
    struct lines text = {name, WORLDS_NAME_MAX, 0};
    if (class->place == WORLD_PLACE_CLOCK) {
        put(&text, clock_cast_name((enum clock_cast) class->cast), "");
        return name;
    }
    if (class->place == WORLD_PLACE_RANDOM) {
        put(&text, random_worlds_name((enum random_worlds) class->cast), "");
        put_number(&text, "/", class->first);
        put_number(&text, "-to-", class->first + class->worlds - 1);
        return name;
    }
    LS_ASSERT(class->kinds < WORLD_KINDS);
    put_shape(&text, class->clients, class->turns, class->place);
    put_number(&text, KINDS[class->kinds], -class->depth); /* the minus sign is the dash */
    return name;
}

const char *worlds_name(const struct world_spec *spec, char name[WORLDS_NAME_MAX])
{
    struct lines text = {name, WORLDS_NAME_MAX, 0};
    const char *before = "/";
    int turns = 0;
    for (int i = 0; i < spec->clients; i++) {
        turns += spec->turns[i];
    }
    put(&text, "worlds/", "");
    if (spec->place == WORLD_PLACE_CLOCK) {
        clock_worlds_name((enum clock_cast)spec->cast, spec->number, name + text.used, text.size - text.used);
        return name;
    }
    if (spec->place == WORLD_PLACE_RANDOM) {
        put(&text, random_worlds_name((enum random_worlds)spec->cast), "");
        put_number(&text, "/", spec->number);
        return name;
    }
    put_shape(&text, spec->clients, turns, spec->place);
    bool all = spec->kinds == kinds_of_place(spec->place);
    if (all || spec->kinds == 0) {
        put(&text, before, all ? "all" : "none");
    }
    for (int f = 0; !all && f < WORLD_FAULTS; f++) {
        if ((spec->kinds >> f & 1u) != 0) {
            put(&text, before, world_fault_name((enum world_fault)f));
            before = "+";
        }
    }
    put_number(&text, "-", spec->depth);
    for (int i = 0; i < spec->clients; i++) {
        before = i == 0 ? "/" : ",";
        for (int t = 0; t < spec->turns[i]; t++) {
            put(&text, before, TURNS[spec->turn[i][t]].name);
            before = spec->within && t == 0 ? "-around-" : "+";
        }
    }
    return name;
}

/* ---- texts ---- */

static void put_verb(struct lines *text, const struct world_spec *spec, const char *verb, int client,
                     int turn)
{
    const char *bar = strchr(verb, '|');
    char word[32];
    LS_ASSERT(strcspn(verb, "|") < sizeof word);
    snprintf(word, sizeof word, "%.*s", bar != NULL ? (int)(bar - verb) : (int)strlen(verb), verb);
    put(text, " ", word);
    bool session = strcmp(word, "stop") == 0 || strcmp(word, "start") == 0;
    if (spec->place == WORLD_PLACE_LOCKS && !session) {
        put(text, " ", ((client + turn) & 1) != 0 ? "y" : "x");
    }
    if (spec->place == WORLD_PLACE_OWNERS && !session && (turn & 1) != 0) {
        put(text, " ", "owner=1");
    }
    put(text, bar != NULL ? bar + 1 : "", "");
}

static void put_verbs(struct lines *text, const struct world_spec *spec, const char *const verbs[2],
                      int client, int turn)
{
    for (int i = 0; i < 2 && verbs[i] != NULL; i++) {
        put_verb(text, spec, verbs[i], client, turn);
    }
}

static void put_program(struct lines *text, const struct world_spec *spec, int client)
{
    for (int t = 0; t < spec->turns[client]; t++) {
        bool outer = spec->within && t == 0, inner = spec->within && t == 1;
        int kind = spec->turn[client][t];
        LS_ASSERT(kind < TURNS_ALL);
        put_verbs(text, spec, TURNS[kind].open, client, t);
        if (!outer || spec->turns[client] == 1) {
            put_verbs(text, spec, TURNS[kind].close, client, t);
        }
        if (inner) {
            put_verbs(text, spec, TURNS[spec->turn[client][0]].close, client, 0);
        }
    }
}

const char *worlds_text(const struct world_spec *spec, char out[WORLDS_TEXT_MAX])
{
    struct lines text = {out, WORLDS_TEXT_MAX, 0};
    char name[WORLDS_NAME_MAX];
    put(&text, "# ", worlds_name(spec, name));
    put(&text, "\n\n", "");
    if (spec->place == WORLD_PLACE_CLOCK) {
        clock_worlds_text((enum clock_cast)spec->cast, spec->number, out + text.used, text.size - text.used);
        return out;
    }
    if (spec->place == WORLD_PLACE_RANDOM) {
        random_worlds_text((enum random_worlds)spec->cast, spec->number, out + text.used,
                           text.size - text.used);
        return out;
    }
    put(&text, "world servers=", spec->place == WORLD_PLACE_FOLLOWER ? "2" : "1");
    put(&text, spec->place == WORLD_PLACE_FRESH ? "" : " used", "\nmutex /locks/x\n");
    if (spec->place == WORLD_PLACE_LOCKS) {
        put(&text, "mutex /locks/y\n", "");
    }
    LS_ASSERT(spec->clients <= WORLDS_CLIENTS_MAX);
    for (int i = 0; i < spec->clients; i++) {
        static const char *const NAMES[WORLDS_CLIENTS_MAX] = {"a", "b", "c"};
        put(&text, "process ", NAMES[i]);
        put(&text, ":", "");
        put_program(&text, spec, i);
        put(&text, "\n", "");
    }
    put(&text, "explore", "");
    for (int f = 0; f < WORLD_FAULTS; f++) {
        if ((spec->kinds >> f & 1u) != 0) {
            put(&text, " ", world_fault_name((enum world_fault)f));
            put_number(&text, "<=", spec->depth);
        }
    }
    put_number(&text, " total<=", spec->depth);
    put(&text, "\n----\n", "");
    return out;
}

/* Sorts clients as the enumeration does. At WORLD_PLACE_LOCKS leaves their order, because a client's index
 * decides at which lock it begins. */
static void sort_clients(struct world_spec *spec)
{
    for (int pass = 0; pass < spec->clients && spec->place != WORLD_PLACE_LOCKS; pass++) {
        for (int i = 0; i + 1 < spec->clients; i++) {
            if (!in_order(spec, i)) {
                uint8_t turns = spec->turns[i], turn[WORLDS_TURNS_MAX];
                memcpy(turn, spec->turn[i], sizeof turn);
                spec->turns[i] = spec->turns[i + 1];
                memcpy(spec->turn[i], spec->turn[i + 1], sizeof turn);
                spec->turns[i + 1] = turns;
                memcpy(spec->turn[i + 1], turn, sizeof turn);
            }
        }
    }
}

static void drop_client(struct world_spec *spec, int client)
{
    LS_ASSERT(spec->clients > 1 && client < spec->clients);
    for (int i = client; i + 1 < spec->clients; i++) {
        spec->turns[i] = spec->turns[i + 1];
        memcpy(spec->turn[i], spec->turn[i + 1], sizeof spec->turn[i]);
    }
    spec->turns[--spec->clients] = 0;
}

static void drop_turn(struct world_spec *spec, int client, int turn)
{
    LS_ASSERT(spec->turns[client] > 1 && turn < spec->turns[client]);
    for (int t = turn; t + 1 < spec->turns[client]; t++) {
        spec->turn[client][t] = spec->turn[client][t + 1];
    }
    spec->turns[client]--;
    spec->within = spec->within && turn > 1;
}

static bool has_extended_turn(const struct world_spec *spec)
{
    for (int i = 0; i < spec->clients; i++) {
        for (int t = 0; t < spec->turns[i]; t++) {
            if (spec->turn[i][t] >= TURNS_PLAIN) {
                return true;
            }
        }
    }
    return false;
}

static bool smaller_clients(struct world_spec *s, int *index)
{
    for (int i = 0; s->clients > 1 && i < s->clients; i++) {
        if ((*index)-- == 0) {
            drop_client(s, i);
            return true;
        }
    }
    for (int i = 0; i < s->clients; i++) {
        for (int t = 0; s->turns[i] > 1 && t < s->turns[i]; t++) {
            if ((*index)-- == 0) {
                drop_turn(s, i, t);
                return true;
            }
        }
    }
    return false;
}

static bool smaller_faults(struct world_spec *s, int *index)
{
    for (int f = 0; f < WORLD_FAULTS; f++) {
        if ((s->kinds >> f & 1u) != 0 && (*index)-- == 0) {
            s->kinds &= ~(1u << f);
            s->depth = s->kinds != 0 ? s->depth : 0;
            return true;
        }
    }
    if (s->depth > (s->kinds != 0) && (*index)-- == 0) {
        s->depth--;
        return true;
    }
    return false;
}

static bool smaller_place(struct world_spec *s, int *index)
{
    if (s->within && (*index)-- == 0) {
        s->within = false;
        return true;
    }
    bool needs = s->place == WORLD_PLACE_VERBS && has_extended_turn(s);
    needs = needs || (s->kinds & ~kinds_of_place(WORLD_PLACE_USED)) != 0;
    if (s->place != WORLD_PLACE_USED && !needs && (*index)-- == 0) {
        s->place = WORLD_PLACE_USED;
        s->within = false;
        return true;
    }
    for (int i = 0; i < s->clients; i++) {
        for (int t = 0; t < s->turns[i]; t++) {
            bool inner = s->within && s->place == WORLD_PLACE_OWNERS && t == 1;
            if (s->turn[i][t] > 0 && !inner && (*index)-- == 0) {
                s->turn[i][t] = 0;
                return true;
            }
        }
    }
    return false;
}

bool worlds_smaller(const struct world_spec *spec, int index, struct world_spec *smaller)
{
    *smaller = *spec;
    if (is_numbered(spec->place)) {
        return false;
    }
    bool found =
        smaller_clients(smaller, &index) || smaller_faults(smaller, &index) || smaller_place(smaller, &index);
    sort_clients(smaller);
    return found;
}
