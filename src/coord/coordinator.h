/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A coordinator: the service that grants locks, with the client library that processes reach it by.
 *
 * The world (src/sim), the drivers and the judges know a coordinator by this header alone. The adapter of a fake fills
 * in a `struct coordinator` (ZooKeeper's: src/coordzk) and registers it when it is linked. One coordinator is open at a
 * time. All of its state lies in blocks of the world's arena, which it marks and reads like everybody (base/arena.h), so
 * that saving, restoring and comparing a world needs no function of the coordinator.
 *
 * Numbers: a client is the index of a process, COORD_NOBODY stands for steps that belong to no process. A lock is an index
 * of world_options.lock. */
#ifndef COORD_COORDINATOR_H
#define COORD_COORDINATOR_H

#include "trace/event.h"

#include <lockstep/sim.h>

#define COORD_NOBODY 255u    /* the client of a step that belongs to no process */
#define COORD_EVERYBODY 254u /* in list(): the steps of all clients, and then those of nobody */

struct arena;
struct canon;

/* ---- lists of actions ---- */

struct action_list {
    struct action *out;
    int count, room;
    bool full;       /* some action found no room */
    unsigned faults; /* enum world_fault: a bit for each kind that may still be bought */
};

/* Appends an action whose other fields are 0, to be filled in where it stands. In a list without room the action goes
 * nowhere, and `full` is set. */
struct action *action_list_add(struct action_list *list, enum action_kind kind, int process);

static inline bool action_list_buys(const struct action_list *list, enum world_fault fault)
{
    return (list->faults >> fault & 1u) != 0;
}

/* What a list asks for. Each has an order of its own, which is canonical. */
enum coord_place {
    COORD_STEPS,    /* enabled actions with TRAIT_STEP */
    COORD_FAULTS,   /* of a client: those that the budgets pay, up to the world's own faults (pause, crash) */
    COORD_REFUSALS, /* of a client: those that the budgets pay, behind the world's own */
    COORD_SERVICE, /* of nobody: faults of servers and directories that the budgets pay, and the ends of such */
    COORD_SESSIONS, /* of a client: the expiry of each live session, whatever the budgets, at most COORD_SESSIONS_MAX */
};

#define COORD_SESSIONS_MAX 16

/* ---- what the world lends ---- */

/* Stays as it is from open() to the next open(). */
struct coord_host {
    struct arena *arena;
    const struct world_options *options;
    const struct ls_recipe_config *config;
    const char *const *lock_path; /* of each lock the whole path, chroot included */
    bool programmed;              /* some process has a program: nothing else will be asked of any */
    bool sets_no_data;            /* neither the recipe nor a program sets the data of a node */

    void (*event)(const struct event *event); /* tells the judges */
    int32_t (*now_ms)(void);                  /* the clock; untimed 0 */
    void (*offence)(int client, enum event_offence offence, const char *where);
    void (*trouble)(const char *format, ...) __attribute__((format(printf, 1, 2)));
    const char *(*text)(int slot); /* see world_text(); NULL: there is no such slot */

    /* Of a process. */
    void *(*state)(int client);    /* what its recipe's functions are called with */
    bool (*says_idle)(int client); /* asks its recipe; false if it cannot be asked */
    void (*wake)(int client);      /* its next attempt is another one than the last (D8) */
    void (*aborted)(int client);   /* the client library has ended it */
    bool (*stopping)(void);        /* within stop() of the recipe that runs */
    void *(*alloc)(int client,
                   size_t size); /* zeroed, in its memory; NULL if there is no more, which is noted */
    void (*free)(int client, void *memory);
    void *(*kept)(int client); /* a pointer that the coordinator keeps with the process; at first NULL */
    void (*keep)(int client, void *pointer);
    void (*effect)(int lock,
                   int64_t token); /* a write with this token has reached the resource of the lock */

    void (*attempt_id)(int client, uint8_t id[16]); /* what its ls_env_unique_id() gives, with the number 0 */
    void (*before_callback)(void);                  /* to be called before each callback; NULL = not */
};

/* ---- the coordinator ---- */

/* What a step has come to for timers of work, which wait for news (D8). */
struct coord_news {
    bool client;   /* its process may try again */
    bool everyone; /* every process may */
};

/* What an expiry costs. Both bits may be set. */
enum {
    COORD_DUE = 1,       /* it would have happened anyway: no fault */
    COORD_ABANDONED = 2, /* no open handle has the session: a fault that costs nothing */
};

/* Memory that callbacks of recipes from shared objects are lent (src/sim/twice.c). */
struct coord_lending {
    /* Keeps what is no part of the arena, and puts it back: in place 0 or 1. */
    void (*keep)(int place);
    void (*put_back)(int place);
    /* Callbacks are lent memory of this area from now on: 0, as in ordinary steps, or 1. */
    void (*lend)(int area);
    bool (*is_whole)(void);                            /* nobody has written to it after its callback */
    bool (*is_same)(uint64_t from_0, uint64_t from_1); /* pointers to one thing in area 0 and in area 1 */
    uint32_t (*kind)(const struct action *action);     /* equal for deliveries of one kind */
};

/* A word of a scenario's `defects=` or `settings=`, and its bit. */
struct coord_word {
    const char *word;
    unsigned bit;
};

struct coordinator {
    const char *name;
    const char *const *symbols; /* what recipes may call, as patterns of fnmatch(); ends with NULL */
    const struct coord_word *defects, *settings; /* each ends with a NULL word */

    /* ---- life ---- */
    void (*open)(const struct coord_host *host); /* lays its blocks out in the arena */
    void (*prepare)(void);                       /* makes what stands before a run begins */
    const char *(*trouble)(void); /* the first limit or unsupported call that was met, or NULL */
    void (*enter)(int client);    /* calls of the client library belong to this client until leave() */
    void (*leave)(void);
    void (*pause)(int client, bool on); /* the process does not run */
    void (*crash)(int client);          /* the process is gone; its sessions live on */
    void (*fail_call)(int client,
                      int n); /* the n-th next call of the client library finds no memory; 0 = none */
    int (*failing_call)(
        int client); /* how many calls there are until that one, with itself; 0 = none will fail */

    /* ---- actions ---- */
    void (*list)(struct action_list *list, int client, enum coord_place place);
    bool (*enabled)(
        const struct action *action); /* of an action with TRAIT_STEP, or of a fault that it does */
    void (*step)(const struct action *action, struct coord_news *news);
    void (*fault)(
        const struct action *action); /* any but the world's own, which end, stop or starve a process */
    /* Of an expiry: COORD_DUE and COORD_ABANDONED; of other actions 0. */
    unsigned (*price)(const struct action *action);
    /* What a well-behaved system does next for a client, or for nobody; and what it does when nothing else is left. */
    bool (*next_by_default)(int client, struct action *out);
    bool (*last_by_default)(struct action *out);
    /* Takes out of a list what is no choice in a world that lacks choice points; returns how many are left. */
    int (*without)(struct action *actions, int count);
    /* The next moment at which something becomes possible or due, or INT32_MAX; *limit: time may not go beyond it. */
    int32_t (*next_ms)(int32_t *limit);

    /* ---- rest ---- */
    bool (*quiet)(void); /* nothing is under way, and no fault of the servers is in force */
    bool (*busy)(
        void); /* something will happen by itself, without a timeout, an expiry or the end of a fault */
    bool (*cut_off)(int client);  /* nothing passes between it and the servers until healed */
    bool (*linked)(int client);   /* all handles that it has open are connected */
    bool (*has_open)(int client); /* it has a handle open */
    bool (*awaits)(int client);   /* the answer to some request has not been delivered yet */

    /* ---- numbers: a token is the recipe's fencing token, a position is the number that events show for it ---- */
    int64_t (*position)(int64_t token);
    int32_t (*number_of_token)(int64_t token); /* numbers grow by one; 0 = it is no token */
    int32_t (*number_of_position)(int64_t position);
    int32_t (*session_of_grant)(int client, int lock, int64_t position); /* 0 = none */
    bool (*has_container)(void); /* the directory of a lock is a container */

    /* ---- the value ---- */
    /* Writes the blocks that the steps of a client (or of nobody) mostly depend on, ascending; returns how many. */
    int (*scope)(int client, int *blocks);
    int (*own_block)(int client);
    void (*canon)(int block, struct canon *canon);    /* shows the numbers that grow of one of its blocks */
    bool (*drop_unread)(const struct action *action); /* see world_drop_unread() */

    /* ---- texts ---- */
    void (*label)(const struct action *action,
                  char label[WORLD_LABEL_MAX]); /* of an action with TRAIT_STEP */
    void (*stimulus)(const struct action *delivery, char text[WORLD_LABEL_MAX]);
    void (*dump)(char *text, size_t size);
    /* A bit for each result code, event type and session state that clients were given since the last call, and the name
     * of a bit, NULL behind the last. */
    uint64_t (*take_told)(void);
    const char *(*told_name)(int index);

    /* ---- independence of a delivery (src/sim/alone.c) ---- */
    bool (*creates)(int client); /* a request that may create a node has no answer yet */
    bool (*stands)(
        int client); /* its one link and session end by its own doing alone, and no fault of servers is in force */
    bool (*is_sure)(
        const struct action *delivery); /* nothing that happens before it takes it away or changes it */
    uint64_t (*uses)(int client);       /* see world_uses() */

    /* ---- writes that commit only while the hold stands (D12); with the process entered ---- */
    void (*write_start)(int client, int lock, int owner, int64_t position);
    bool (*write_waits)(int client, int owner); /* a write of this owner (any, if it is -1) has no answer */
    void (*write_resume)(int client, bool new_session);
    int (*guard)(int client, int lock, int owner); /* what the recipe's guard() answers */

    const struct coord_lending *lending;
};

/* ---- registration ---- */

/* Called by a constructor of each adapter that is linked. */
void coordinator_add(const struct coordinator *coordinator);

/* The index-th that is linked, NULL behind the last. */
const struct coordinator *coordinator_at(int index);

/* The one of this name; NULL stands for "zookeeper". NULL if none of that name is linked. */
const struct coordinator *coordinator_find(const char *name);

#endif
