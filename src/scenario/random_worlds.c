/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "scenario/random_worlds.h"

#include "base/assert.h"
#include "base/rng.h"
#include "coord/coordinator.h"
#include "scenario/fixed_text.h"

#include <lockstep/sim.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define COUNT(list) ((int)(sizeof(list) / sizeof(list)[0]))
#define CLIENTS_MAX 4
#define LOCKS_MAX 2
#define OWNERS_MAX 8
#define OPERATIONS_MAX 16 /* of a program, at most */
#define NODE_PATH_MAX 95  /* bytes; less than the limit of a line `node`, because a chroot may be added */
#define SEEDS 64          /* the seed of the run constants is drawn below it */

/* No call has two arguments that draw a number: C leaves the order of their evaluation open. */

/* One owner's use of one lock, as it follows from the text so far. */
struct use {
    uint8_t depth; /* acquires minus releases */
    bool waits;    /* a program has not waited for the answer to its last acquire */
};

struct client {
    struct use use[LOCKS_MAX][OWNERS_MAX];
    bool closed[LOCKS_MAX];
    bool stopped;
    const char *healing; /* the command that ends the present fault of the client; NULL: none */
    int operations;
};

struct drawing {
    struct rng rng;
    struct lines *text;
    int clients, locks, owners, servers;
    bool reenters, guards, revokes, closes; /* abilities that the recipe needs */
    bool containers, frozen;
    struct client client[CLIENTS_MAX];
};

static int below(struct drawing *d, int count)
{
    LS_ASSERT(count > 0);
    return (int)rng_below(&d->rng, (uint32_t)count);
}

static bool percent(struct drawing *d, int chance)
{
    return below(d, 100) < chance;
}

/* Draws an index with probability proportional to its weight. */
static int weighted(struct drawing *d, const int *weight, int count)
{
    int sum = 0;
    for (int i = 0; i < count; i++) {
        sum += weight[i];
    }
    int at = below(d, sum);
    for (int i = 0; i < count; i++) {
        at -= weight[i];
        if (at < 0) {
            return i;
        }
    }
    LS_ASSERT(false && "the weights have been added up");
    return 0;
}

static const char *lock_name(int lock)
{
    LS_ASSERT(lock >= 0 && lock < LOCKS_MAX);
    return lock == 0 ? "x" : "y";
}

static char client_name(int client)
{
    LS_ASSERT(client >= 0 && client < CLIENTS_MAX);
    return (char)('a' + client);
}

static void draw_abilities(struct drawing *d)
{
    d->clients = 1 + below(d, CLIENTS_MAX);
    d->locks = percent(d, 35) ? 2 : 1;
    d->owners = percent(d, 50) ? 1 : 2 + below(d, percent(d, 80) ? 2 : OWNERS_MAX - 1);
    d->servers = percent(d, 60) ? 1 : 2 + below(d, 2);
    d->reenters = percent(d, 40);
    d->guards = percent(d, 35);
    d->revokes = percent(d, 20);
    d->closes = percent(d, 25);
    d->containers = !percent(d, 15);
    LS_ASSERT(d->clients <= CLIENTS_MAX && d->locks <= LOCKS_MAX && d->owners <= OWNERS_MAX);
}

static void put_world(struct drawing *d, bool timed)
{
    static const char *const BEGINNING[] = {" used",
                                            " used",
                                            " used",
                                            "",
                                            "",
                                            " preset=9",
                                            " preset=99999",
                                            " preset=32766",
                                            " preset=16777214",
                                            " preset=999999998",
                                            " crowd=3",
                                            " crowd=40"};
    static const char *const TIMES[] = {
        "", "", "", " session-timeout=30s", " latency=1ms..30ms", " latency=10ms..300ms"};
    lines_put(d->text, "world servers=%d seed=%d", d->servers, below(d, SEEDS));
    lines_put(d->text, "%s", BEGINNING[below(d, COUNT(BEGINNING))]);
    lines_put(d->text, "%s", d->containers ? "" : " containers=no");
    lines_put(d->text, "%s", percent(d, 25) ? " rc=-7" : "");
    lines_put(d->text, "%s", percent(d, 15) ? " callbacks-in-init" : "");
    lines_put(d->text, "%s", percent(d, 25) ? " keep-fresh" : "");
    if (timed) {
        lines_put(d->text, " timed%s", TIMES[below(d, COUNT(TIMES))]);
        lines_put(d->text, "%s", percent(d, 20) ? " timers-first" : "");
    }
    lines_put(d->text, "\n");
}

static void put_places(struct drawing *d)
{
    static const char *const FIRST[] = {
        "/locks/x",
        "/locks/x",
        "/locks/x",
        "/x",
        "/services/eu/billing/locks/x",
        "/services/europe-west/billing/production/invoices/customers/locks/x"};
    static const char *const SECOND[] = {"/locks/y", "/locks/y", "/other/deep/y"};
    static const char *const FOREIGN[] = {
        "content",
        "zzz",
        "backup-0000000001",
        "backup-",
        "backup--7",
        "backup-00000000000000000000",
        "notes_of_the_operations_team_about_this_lock_and_about_who_may_use_it_and_since_when-2"};
    bool chroot = percent(d, 15);
    const char *first = FIRST[below(d, COUNT(FIRST))];
    const char *second = SECOND[below(d, COUNT(SECOND))];
    lines_put(d->text, "%smutex %s\n", chroot ? "chroot /app\n" : "", first);
    if (d->locks > 1) {
        lines_put(d->text, "mutex %s\n", second);
    }
    if (percent(d, 20)) {
        lines_put(d->text, "contents \"%0*d\"\n", 1 + below(d, 64), 7);
    }
    const char *foreign = FOREIGN[below(d, COUNT(FOREIGN))];
    if (percent(d, 20) && strlen(first) + strlen(foreign) < NODE_PATH_MAX) {
        lines_put(d->text, "node %s%s/%s\n", chroot ? "/app" : "", first, foreign);
    }
}

struct about {
    int client, lock, owner;
};

static struct client *client_of(struct drawing *d, struct about about)
{
    LS_ASSERT(about.client >= 0 && about.client < d->clients);
    return &d->client[about.client];
}

static struct use *use_of(struct drawing *d, struct about about)
{
    LS_ASSERT(about.lock < d->locks && about.owner < d->owners);
    return &client_of(d, about)->use[about.lock][about.owner];
}

static void put_operation(struct drawing *d, struct about about, const char *verb, const char *more)
{
    lines_put(d->text, " %s", verb);
    if (d->locks > 1) {
        lines_put(d->text, " %s", lock_name(about.lock));
    }
    if (about.owner > 0) {
        lines_put(d->text, " owner=%d", about.owner);
    }
    lines_put(d->text, "%s", more);
    client_of(d, about)->operations++;
}

/* Returns whether another owner of the client may hold the lock, or any of its owners a later lock. A wait
 * for the lock could then block the client itself, or two clients each other. */
static bool may_block_itself(struct drawing *d, struct about about)
{
    const struct client *client = client_of(d, about);
    for (int lock = about.lock; lock < d->locks; lock++) {
        for (int owner = 0; owner < d->owners; owner++) {
            bool own = lock == about.lock && owner == about.owner;
            if (!own && client->use[lock][owner].depth > 0) {
                return true;
            }
        }
    }
    return false;
}

static const char *draw_deadline(struct drawing *d)
{
    static const char *const DEADLINE[] = {" timeout=1s", " timeout=1s", " timeout=6s", " timeout=333ms",
                                           " timeout=1ms"};
    return DEADLINE[below(d, COUNT(DEADLINE))];
}

static void put_first_acquire(struct drawing *d, struct about about, bool program)
{
    static const char *const REPORT[] = {" on granted: release", " on granted: cancel", " on granted: close",
                                         " on granted: acquire"};
    enum { WAIT, DEADLINE, TRY, NOWAIT, IN_REPORT };
    bool blocks = may_block_itself(d, about);
    int weight[] = {[WAIT] = program && blocks ? 0 : 40,
                    [DEADLINE] = 20,
                    [TRY] = 15,
                    [NOWAIT] = program ? (blocks ? 35 : 12) : 0,
                    [IN_REPORT] = program && !blocks ? 6 : 0};
    struct use *use = use_of(d, about);
    LS_ASSERT(use->depth == 0);
    use->depth = 1;
    use->waits = false;
    switch (weighted(d, weight, COUNT(weight))) {
    case DEADLINE:
        put_operation(d, about, "acquire", draw_deadline(d));
        break;
    case TRY:
        put_operation(d, about, "try", "");
        break;
    case NOWAIT:
        put_operation(d, about, "acquire", " nowait");
        use->waits = true;
        break;
    case IN_REPORT: {
        int which = below(d, COUNT(REPORT) - !d->reenters);
        put_operation(d, about, "acquire", REPORT[which]);
        use->depth = (uint8_t)(which == 0 ? 0 : which == 3 ? 2 : 1);
        break;
    }
    default:
        put_operation(d, about, "acquire", "");
    }
}

static void close_lock(struct drawing *d, struct about about, bool open)
{
    struct client *client = client_of(d, about);
    put_operation(d, (struct about){about.client, about.lock, 0}, "close", "");
    if (open) {
        put_operation(d, (struct about){about.client, about.lock, 0}, "open", "");
    }
    client->closed[about.lock] = !open;
    memset(client->use[about.lock], 0, sizeof client->use[about.lock]);
}

static void stop_client(struct drawing *d, struct about about)
{
    struct client *client = client_of(d, about);
    lines_put(d->text, " stop");
    client->operations++;
    memset(client->use, 0, sizeof client->use);
    memset(client->closed, 0, sizeof client->closed);
}

static void start_client(struct drawing *d, struct about about)
{
    lines_put(d->text, " start");
    client_of(d, about)->operations++;
}

static void put_release(struct drawing *d, struct about about)
{
    struct use *use = use_of(d, about);
    LS_ASSERT(use->depth > 0);
    put_operation(d, about, "release", "");
    use->depth--;
    use->waits = use->waits && use->depth > 0;
}

/* Puts an operation on a lock that this owner holds or waits for. */
static void put_next(struct drawing *d, struct about about, bool program)
{
    enum { RELEASE, WRITE, GUARDED, DEEPER, STOP, CLOSE, REVOCABLE, REVOKE, CANCEL };
    struct use *use = use_of(d, about);
    LS_ASSERT(use->depth > 0 && use->depth <= 4);
    bool deeper = d->reenters && !use->waits && use->depth < 4;
    bool writes = about.owner == 0;
    int weight[] = {[RELEASE] = 45,
                    [WRITE] = writes ? 8 : 0,
                    [GUARDED] = writes && d->guards ? 18 : 0,
                    [DEEPER] = deeper ? 15 : 0,
                    [STOP] = program ? 5 : 0,
                    [CLOSE] = program && d->closes ? 8 : 0,
                    [REVOCABLE] = d->revokes ? 8 : 0,
                    [REVOKE] = d->revokes ? 8 : 0,
                    [CANCEL] = program ? 0 : 10};
    switch (weighted(d, weight, COUNT(weight))) {
    case WRITE:
        put_operation(d, about, "write", "");
        break;
    case GUARDED:
        put_operation(d, about, "write", program && percent(d, 50) ? " guarded nowait" : " guarded");
        break;
    case DEEPER:
        put_operation(d, about, "acquire", percent(d, 30) ? " timeout=1s" : "");
        use->depth++;
        break;
    case STOP:
        stop_client(d, about);
        start_client(d, about);
        break;
    case CLOSE:
        close_lock(d, about, true);
        break;
    case REVOCABLE:
        put_operation(d, (struct about){about.client, about.lock, 0}, "revocable", "");
        break;
    case REVOKE:
        put_operation(d, (struct about){about.client, about.lock, 0}, "revoke",
                      percent(d, 20) ? " place=2" : "");
        break;
    case CANCEL:
        put_operation(d, about, "cancel", "");
        use->depth = 0;
        break;
    default:
        put_release(d, about);
    }
}

static struct about draw_about(struct drawing *d, int client)
{
    struct about about = {.client = client};
    about.lock = below(d, d->locks);
    about.owner = percent(d, 60) ? 0 : below(d, d->owners);
    return about;
}

static void put_releases(struct drawing *d, int client, int room)
{
    for (int lock = 0; lock < d->locks; lock++) {
        for (int owner = 0; owner < d->owners; owner++) {
            struct about about = {client, lock, owner};
            while (use_of(d, about)->depth > 0 && d->client[client].operations < room) {
                put_release(d, about);
            }
        }
    }
}

static void put_program(struct drawing *d, int client)
{
    int operations = 2 + below(d, OPERATIONS_MAX - 8);
    lines_put(d->text, "process %c:", client_name(client));
    while (d->client[client].operations < operations) {
        struct about about = draw_about(d, client);
        if (use_of(d, about)->depth > 0) {
            put_next(d, about, true);
        } else if (percent(d, 4)) {
            put_operation(d, about, "release", " anyway");
        } else {
            put_first_acquire(d, about, true);
        }
    }
    put_releases(d, client, OPERATIONS_MAX - 1);
    if (percent(d, 25)) {
        stop_client(d, (struct about){client, 0, 0});
    }
    LS_ASSERT(d->client[client].operations <= OPERATIONS_MAX);
    lines_put(d->text, "\n");
}

static bool can_happen(const struct drawing *d, enum world_fault fault)
{
    switch (fault) {
    case WORLD_FAULT_LAG:
    case WORLD_FAULT_LATE:
        return d->servers > 1;
    case WORLD_FAULT_SWEEP:
        return d->containers;
    default:
        return coordinator_has_fault(coordinator_find(NULL), fault);
    }
}

static void put_budgets(struct drawing *d)
{
    int total = 1 + below(d, 5);
    lines_put(d->text, "explore");
    for (int fault = 0; fault < WORLD_FAULTS; fault++) {
        int most = 1 + below(d, 3);
        if (percent(d, 60) && can_happen(d, (enum world_fault)fault)) {
            lines_put(d->text, " %s<=%d", world_fault_name((enum world_fault)fault),
                      most < total ? most : total);
        }
    }
    lines_put(d->text, " total<=%d\n----\n", total);
}

static void put_orders(struct drawing *d)
{
    put_world(d, false);
    put_places(d);
    for (int client = 0; client < d->clients; client++) {
        put_program(d, client);
    }
    put_budgets(d);
}

/* ---- times ---- */

#define PIECE_MS 500 /* recipes are asked for their belief at least so often */

static void put_time(struct drawing *d, int ms)
{
    for (; ms > 0; ms -= PIECE_MS) {
        lines_put(d->text, "advance %dms\n", ms < PIECE_MS ? ms : PIECE_MS);
    }
}

/* Puts nothing, a pause of up to 120 ms in steps of 10 ms, any pause up to 1.5 s, a pause of LENGTH_MS, or
 * `settle`. */
static void put_pause(struct drawing *d)
{
    static const int LENGTH_MS[] = {200, 700, 1500, 2100, 2500, 3900, 4300, 9000};
    enum { NONE, HOPS, ODD, LONG, SETTLE };
    static const int WEIGHT[] = {[NONE] = 20, [HOPS] = 35, [ODD] = 10, [LONG] = 15, [SETTLE] = 20};
    switch (weighted(d, WEIGHT, COUNT(WEIGHT))) {
    case HOPS:
        put_time(d, 10 * (1 + below(d, 12)));
        break;
    case ODD:
        put_time(d, 1 + below(d, 1500));
        break;
    case LONG:
        put_time(d, LENGTH_MS[below(d, COUNT(LENGTH_MS))]);
        break;
    case SETTLE:
        lines_put(d->text, "settle\n");
        break;
    default:
        break;
    }
}

/* Faults of a client that last until a command ends them. */
static const struct {
    const char *begin, *end;
} LASTING[] = {{"pause", "resume"}, {"partition", "heal"}, {"crash", "restart"}};

/* Puts a fault, but none that ends a session before its timeout: a holder may believe until then
 * (at_most_one_believer). */
static void put_client_fault(struct drawing *d, int client)
{
    enum { CUT, REFUSE, LASTS, EVICT, TOUCH, ALLOC };
    static const int WEIGHT[] = {
        [CUT] = 30, [REFUSE] = 6, [LASTS] = 42, [EVICT] = 6, [TOUCH] = 4, [ALLOC] = 4};
    char name = client_name(client);
    switch (weighted(d, WEIGHT, COUNT(WEIGHT))) {
    case CUT:
        lines_put(d->text, "cut %c keep=%d", name, below(d, 2));
        lines_put(d->text, " apply=%d", below(d, 3));
        lines_put(d->text, "%s\n", percent(d, 20) ? " rc=-7" : "");
        break;
    case REFUSE:
        lines_put(d->text, "refuse %c\n", name);
        break;
    case EVICT:
        lines_put(d->text, "evict %c %s\n", name, lock_name(below(d, d->locks)));
        break;
    case TOUCH:
        lines_put(d->text, "touch %c %s\n", name, lock_name(below(d, d->locks)));
        break;
    case ALLOC: {
        int number = below(d, 6);
        lines_put(d->text, "fail-%s %c", number < 3 ? "alloc" : "call", name);
        lines_put(d->text, " n=%d\n", 1 + number % 3);
        break;
    }
    default: {
        int which = below(d, COUNT(LASTING));
        if (d->client[client].healing == NULL) {
            lines_put(d->text, "%s %c\n", LASTING[which].begin, name);
            d->client[client].healing = LASTING[which].end;
            if (which == 2) { /* the process loses its memory */
                memset(d->client[client].use, 0, sizeof d->client[client].use);
                memset(d->client[client].closed, 0, sizeof d->client[client].closed);
            }
        }
        break;
    }
    }
}

static void put_server_fault(struct drawing *d)
{
    enum { RESTART, FREEZE, SWEEP, RMDIR };
    const int weight[] = {
        [RESTART] = 10, [FREEZE] = d->servers > 1 ? 20 : 0, [SWEEP] = d->containers ? 10 : 0, [RMDIR] = 10};
    switch (weighted(d, weight, COUNT(weight))) {
    case RESTART:
        lines_put(d->text, "restart-server s%d\n", 1 + below(d, d->servers));
        break;
    case FREEZE:
        lines_put(d->text, d->frozen ? "thaw s2\n" : "freeze s2\n");
        d->frozen = !d->frozen;
        break;
    case SWEEP:
        lines_put(d->text, "sweep %s\n", lock_name(below(d, d->locks)));
        break;
    default:
        lines_put(d->text, "rmdir %s\n", lock_name(below(d, d->locks)));
    }
}

static void put_client_command(struct drawing *d, int client)
{
    struct client *of = &d->client[client];
    struct about about = draw_about(d, client);
    lines_put(d->text, "%c", client_name(client));
    if (of->stopped) {
        start_client(d, about);
        of->stopped = false;
    } else if (of->closed[about.lock]) {
        put_operation(d, (struct about){client, about.lock, 0}, "open", "");
        of->closed[about.lock] = false;
    } else if (percent(d, 3)) {
        stop_client(d, about);
        of->stopped = true;
    } else if (d->closes && percent(d, 8)) {
        close_lock(d, about, false);
    } else if (use_of(d, about)->depth > 0) {
        put_next(d, about, false);
    } else {
        put_first_acquire(d, about, false);
    }
    lines_put(d->text, "\n");
}

static void put_step(struct drawing *d)
{
    enum { VERB, CLIENT_FAULT, SERVER_FAULT, HEALING };
    static const int WEIGHT[] = {[VERB] = 58, [CLIENT_FAULT] = 18, [SERVER_FAULT] = 7, [HEALING] = 17};
    int client = below(d, d->clients);
    switch (weighted(d, WEIGHT, COUNT(WEIGHT))) {
    case CLIENT_FAULT:
        put_client_fault(d, client);
        break;
    case SERVER_FAULT:
        put_server_fault(d);
        break;
    case HEALING:
        if (d->client[client].healing != NULL) {
            lines_put(d->text, "%s %c\n", d->client[client].healing, client_name(client));
            d->client[client].healing = NULL;
        }
        break;
    default:
        put_client_command(d, client);
    }
    put_pause(d);
}

/* Ends all faults, and releases each lock that may be held; a release without a hold changes nothing. */
static void put_end(struct drawing *d)
{
    lines_put(d->text, "heal all\nsettle\n");
    put_time(d, 10000);
    lines_put(d->text, "settle\n");
    d->frozen = false;
    for (int client = 0; client < d->clients; client++) {
        struct client *of = &d->client[client];
        of->healing = NULL;
        for (int lock = 0; lock < d->locks && !of->stopped; lock++) {
            for (int owner = 0; owner < d->owners && !of->closed[lock]; owner++) {
                struct about about = {client, lock, owner};
                while (use_of(d, about)->depth > 0) {
                    lines_put(d->text, "%c", client_name(client));
                    put_release(d, about);
                    lines_put(d->text, "\nsettle\n");
                }
            }
        }
    }
}

#define EPISODES 3

static void put_times(struct drawing *d)
{
    put_world(d, true);
    put_places(d);
    lines_put(d->text, "process");
    for (int client = 0; client < d->clients; client++) {
        lines_put(d->text, " %c", client_name(client));
    }
    lines_put(d->text, "\nshow nothing\n\n%s", percent(d, 70) ? "settle\n" : "");
    for (int episode = 0; episode < EPISODES; episode++) {
        for (int steps = 4 + below(d, 12); steps > 0; steps--) {
            put_step(d);
        }
        put_end(d);
    }
    lines_put(d->text, "rest\n----\n");
}

static const struct {
    const char *name;
    uint64_t salt;
    void (*put)(struct drawing *d);
} KIND[RANDOM_WORLDS] = {
    [RANDOM_ORDERS] = {"random-orders", 0x6f7264657273ull, put_orders},
    [RANDOM_TIMES] = {"random-times", 0x74696d6573ull, put_times},
};

const char *random_worlds_name(enum random_worlds kind)
{
    LS_ASSERT(kind < RANDOM_WORLDS);
    return KIND[kind].name;
}

void random_worlds_text(enum random_worlds kind, int number, char *out, size_t size)
{
    LS_ASSERT(kind < RANDOM_WORLDS && number >= 0);
    struct lines text = {out, size, 0};
    struct drawing drawing = {.text = &text};
    rng_seed(&drawing.rng, KIND[kind].salt + (uint64_t)number);
    draw_abilities(&drawing);
    KIND[kind].put(&drawing);
}
