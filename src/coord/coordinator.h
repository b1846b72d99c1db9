/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A coordinator: the service that grants locks, with the client library by which processes reach it.
 *
 * The world (src/sim) and the drivers know a coordinator by this header alone. An adapter (for ZooKeeper
 * src/coordzk) fills in one `struct coordinator` for its fake, and registers it when the adapter is linked.
 * One coordinator is open at a time. How to write one: docs/adding-a-coordinator.md.
 *
 * State. A coordinator keeps all data on which later steps depend in blocks of the world's arena
 * (base/arena.h), unless they are constant in a run. It calls arena_read() before it reads a block, and
 * arena_mark() before it writes to one. The world saves, restores and compares these blocks itself.
 *
 * Numbers. A client is the index of its process. A lock is an index of world_options.lock. A token is the
 * fencing token that a recipe reports; its position is the number that events and traces show for it.
 * Sessions have numbers from 1 on; the process of a session is (number - 1) % options->processes. */
#ifndef COORD_COORDINATOR_H
#define COORD_COORDINATOR_H

#include "trace/event_names.h"

#include <lockstep/sim.h>

#define COORD_NOBODY 255u    /* client of a step that belongs to no process */
#define COORD_EVERYBODY 254u /* for COORD_STEPS of list(): all steps, of clients and of COORD_NOBODY */

struct arena;
struct canon;

/* ---- lists of actions ---- */

struct action_list {
    struct action *out;
    int count, room;
    bool full;       /* an action did not fit */
    unsigned faults; /* set of enum world_fault for which budget is left, a bit each */
};

/* Appends an action with this kind and process and with zeros in its other fields. Returns it for the caller
 * to fill in. Without room, sets `full` and returns an action that is in no list. */
struct action *action_list_add(struct action_list *list, enum action_kind kind, int process);

/* Appends the cuts of a link that the budgets pay for: one for each number of replies (0 .. `replies`) that
 * still arrive, combined with each number of requests (0 .. `requests`) that are still done. If at least one
 * request is done, there is a second cut, in which the last request is done late. */
void action_list_add_cuts(struct action_list *list, int process, int link, int replies, int requests, int rc);

static inline bool action_list_buys(const struct action_list *list, enum world_fault fault)
{
    return (list->faults >> fault & 1u) != 0;
}

/* Sections of the list of enabled actions. The order within each follows from the state alone. Faults are
 * listed only if the budgets (action_list.faults) pay for them; COORD_ENDS and COORD_SESSIONS ignore
 * budgets. */
enum coord_place {
    COORD_STEPS,    /* steps (TRAIT_STEP), and expiries with the price COORD_DUE */
    COORD_FAULTS,   /* faults on a client, listed before its pause and crash; no expiry of COORD_STEPS */
    COORD_REFUSALS, /* faults on a client, listed behind its pause and crash */
    COORD_SERVICE,  /* faults with TRAIT_ON_SERVICE, and the ends of such faults */
    COORD_ENDS,     /* ends of faults on a client, of the coordinator's own kinds; asked if it has `kinds` */
    COORD_SESSIONS, /* expiries of all live sessions of a client, COORD_SESSIONS_MAX at most */
};

#define COORD_SESSIONS_MAX 16

/* ---- the world around the coordinator ---- */

/* Services of the world to the coordinator. Valid and unchanged from open() to the next open(). */
struct coord_host {
    struct arena *arena;
    const struct world_options *options;
    const struct ls_recipe_config *config;
    const char *const *lock_path; /* whole path of each lock, chroot included */
    bool programmed;              /* a process has a program; then all verbs come from programs */
    bool sets_no_data;            /* neither the recipe nor a program sets the data of a node */

    void (*event)(const struct event *event);       /* shows an event to the judges */
    struct event (*event_of)(int kind, int client); /* returns an event at the present time, of no lock */
    int32_t (*now_ms)(void); /* returns the time of the clock in ms; 0 in a world without a clock */
    void (*offence)(int client, enum event_offence offence, const char *where);
    void (*trouble)(const char *format, ...) __attribute__((format(printf, 1, 2)));
    const char *(*text)(int slot); /* returns a text of world_text(), NULL for an unknown slot */

    void *(*state)(int client);        /* returns the state that the functions of the process's recipe take */
    bool (*says_idle)(int client);     /* calls the recipe's idle(); false if idle() cannot be called now */
    bool (*renews)(int client);        /* true: the process runs, and a timer of LS_TIMER_RENEWAL is armed */
    bool (*trusts_leases)(int client); /* true: the process runs, and a timer of LS_TIMER_LEASE is armed */
    void (*wake)(int client);          /* lets retries (D8), polls and renewals of the process fire again */
    void (*aborted)(int client);       /* says that the client library has ended the process */
    bool (*stopping)(void);            /* returns true while a recipe's stop() is running */
    void *(*alloc)(int client, size_t size); /* returns zeroed memory of the process, NULL if it is full */
    void (*free)(int client, void *memory);
    void *(*kept)(int client);                  /* returns the pointer stored by keep(), at first NULL */
    void (*keep)(int client, void *pointer);    /* while the pointer is not NULL, states are not renamed */
    void (*effect)(int lock, int64_t position); /* says that a write reached the resource of a lock */
    void (*attempt_id)(int client, uint8_t id[16]); /* writes an id as of ls_env_unique_id(), with number 0 */
    void (*before_callback)(void); /* the adapter calls it before each callback of a recipe; may be NULL */
};

/* ---- the coordinator ---- */

/* Timers that have fired and wait for a change: step() says which may fire again. All fields are false when
 * step() is called. Each fault, and each verb of the process, lets them fire again too. */
struct coord_news {
    bool answer;   /* retries of the process (D8): a callback ran, not about the failure of a request */
    bool client;   /* all timers of the process: its link or session changed, or a notice was delivered */
    bool everyone; /* all timers of all processes: the store changed */
};

/* The price of an expiry, as bits. 0 = one fault of WORLD_FAULT_EXPIRE. */
enum {
    COORD_DUE = 1,       /* free, and no fault: the session ends anyway */
    COORD_ABANDONED = 2, /* free: no open handle has the session */
};

/* Memory that a client library lends to callbacks, for recipes from shared objects (src/sim/twice.c). */
struct coord_lending {
    void (*keep)(int place);     /* saves the library's state that is outside of the arena, in place 0 or 1 */
    void (*put_back)(int place); /* restores what keep() saved in that place */
    void (*lend)(int area);      /* from now on lends from area 0, as in ordinary steps, or from area 1 */
    bool (*is_whole)(void); /* returns true if lent memory has not changed after the end of its callback */
    bool (*is_same)(uint64_t from_0, uint64_t from_1); /* compares pointers into area 0 and into area 1 */
    uint32_t (*kind)(const struct action *delivery);   /* returns equal numbers for deliveries of one kind */
};

/* The message between a client and a server that a step handles, for the page of a run. */
enum coord_carries {
    COORD_NOTHING,
    COORD_REQUEST, /* the server does a request */
    COORD_REPLY,   /* the client gets the answer to the oldest request of the connection */
    COORD_NOTICE,  /* the client gets a message that answers no request, such as the event of a watch */
    COORD_LINK,    /* the client gets news of its connection or session */
};

#define COORD_DETAIL_MAX 200

/* A step in detail, for people. */
struct coord_detail {
    uint8_t carries;             /* enum coord_carries */
    bool lost;                   /* of a reply: no server's answer, but the news that there is none */
    int16_t server;              /* index of the server at which the step happens; -1 = none */
    char text[COORD_DETAIL_MAX]; /* the request, or the answer; empty = nothing to say */
};

/* A word of `defects=` or `settings=` in a scenario, and its bit in the options. */
struct coord_word {
    const char *word; /* NULL = end of the table */
    unsigned bit;
};

/* ---- what one coordinator has of its own ---- */

/* A kind or a fault has the same number in all programs, so that traces, seeds and fuzzer inputs keep their
 * meaning. Coordinators from outside of this repository take numbers from these on. */
#define COORD_KIND_OUTSIDE (ACTION_OWN + 48)
#define COORD_FAULT_OUTSIDE (WORLD_FAULT_OWN + 6)

struct coord_kind {
    uint8_t kind;   /* from ACTION_OWN to ACTION_KINDS - 1; 0 = end of the table */
    bool at_server; /* of a fault on a process: the action's field `server` counts too */
    /* The traits make it a step (TRAIT_SYSTEM and TRAIT_STEP), a fault, or the end of a fault. A fault is on
     * a process, a server, the directory of a lock, or (TRAIT_ON_SERVICE without TRAIT_SERVER and
     * TRAIT_DIRECTORY) the whole service. Verbs of callers and deliveries cannot be own kinds. */
    struct action_info info;
    const char *usage, *help; /* for `lockstep list verbs`: "stall s1", half a sentence; a step: NULL */
};

/* A fault with a budget. */
struct coord_fault {
    uint8_t fault;     /* from WORLD_FAULT_OWN to WORLD_FAULTS - 1; 0 = end of the table */
    const char *name;  /* as in "explore NAME<=1" */
    const char *never; /* the clause for reports that a run never had the fault: "the server was stalled" */
};

/* A number NAME=N in the line `world` of scenarios. A coordinator has WORLD_OWN_OPTIONS_MAX at most. */
struct coord_option {
    const char *name; /* NULL = end of the table */
    int32_t least, most, usual;
};

/* ---- the table ---- */

/* A function may be NULL only if a comment says so. */
struct coordinator {
    const char *name;           /* for the line `coordinator NAME` of scenarios */
    const char *const *symbols; /* patterns of fnmatch(): functions that recipes may call; NULL at the end */
    const struct coord_word *defects, *settings; /* not NULL; a table may consist of its end */
    const struct coord_kind *kinds;              /* NULL = none */
    const struct coord_fault *faults;            /* NULL = none */
    const struct coord_option *options;          /* values are in world_options.own; NULL = none */
    /* Words of scenarios that are refused, because they would change nothing: options of the line `world`,
     * and first words of lines. NULL = end of the table; no table = none. */
    const char *const *refused_words;
    /* Contenders have leases. If no process renews a contender, it ends. `owner` of the EVENT_NODE_DELETED is
     * then EVENT_BY_TIME, unless a fault or a pause excuses the end. The session of a contender is a life of
     * its process. Without a clock, quiet() is false while a contender of an earlier life may end by
     * itself. */
    bool leases;
    const char *(*lacking)(const struct world_options *options, enum world_fault fault);

    /* Returns the addresses of the servers as recipes get them (ls_recipe_config.hosts), without a chroot.
     * Valid until the next call. NULL = the client library needs no address. */
    const char *(*hosts)(const struct world_options *options);

    /* ---- life ---- */
    void (*open)(const struct coord_host *host); /* adds the blocks to the arena */
    void (*prepare)(void);                       /* makes all that exists before a run; optional */
    const char *(*trouble)(void); /* returns the first limit or unsupported call that the run met, or NULL */
    void (*enter)(int client);    /* from now until leave(), calls of the client library are this client's */
    void (*leave)(void);
    void (*pause)(int client, bool on);   /* stops a process, or lets it go on */
    void (*crash)(int client);            /* drops a process with its handles; its sessions live on */
    void (*fail_call)(int client, int n); /* lets the n-th call from now on find no memory; 0 = none */
    int (*failing_call)(int client); /* returns the n of fail_call(), less the calls since then; 0 = none */

    /* ---- actions ---- */
    void (*list)(struct action_list *list, int client, enum coord_place place);
    bool (*enabled)(const struct action *action); /* for steps, and for faults other than the world's own */
    void (*step)(const struct action *action, struct coord_news *news);
    void (*fault)(const struct action *action);
    unsigned (*price)(const struct action *action); /* COORD_DUE | COORD_ABANDONED; 0 for all but expiries */
    /* Chooses the next step of the default schedule, a well-behaved system. The world asks for each client
     * from 0 on, then for COORD_NOBODY, and takes the first step. False: no step of this client is due. */
    bool (*next_by_default)(int client, struct action *out);
    bool (*last_by_default)(struct action *out); /* chooses a step if no other is due */
    /* Removes actions that are choices only with the choice points that world_options excludes (`--without`).
     * Returns how many are left. Optional. */
    int (*without)(struct action *actions, int count);
    /* Returns the next moment in ms at which an action becomes possible or due, or INT32_MAX. Lowers *limit
     * to the moment that time may not pass. */
    int32_t (*next_ms)(int32_t *limit);

    /* ---- rest ---- */
    /* Returns true if no message is under way, no expiry is due, and no fault of a server or of an own kind
     * is in force. */
    bool (*quiet)(void);
    /* Returns true while a fault lasts in which servers answer that they cannot do what clients need.
     * EVENT_OUTAGE tells judges of each change. NULL = there is no such fault. */
    bool (*outage)(void);
    bool (*busy)(void); /* a step will happen without a timeout, an expiry or the end of a fault */
    /* Returns true if, until the client is healed, no message passes between it and its servers, or it
     * reaches too few servers for a claim. */
    bool (*cut_off)(int client);
    /* Returns true if each answer that the client awaits can come only after the end of a fault.
     * NULL = cut_off() answers in its place. */
    bool (*stalled)(int client);
    bool (*linked)(int client);   /* each open handle of the client is connected */
    bool (*has_open)(int client); /* the client has an open handle */
    bool (*awaits)(int client);   /* an answer, or the news of its loss, is not yet delivered to the client */

    /* ---- numbers ---- */
    int64_t (*position)(int64_t token);
    /* Return the number of the change of the store that made the token or the position. A later change has a
     * larger number; 0 = no change made it. */
    int32_t (*number_of_token)(int64_t token);
    int32_t (*number_of_position)(int64_t position);
    /* Returns the session in which a client was granted a lock; 0 = none. Optional. */
    int32_t (*session_of_grant)(int client, int lock, int64_t position);
    bool (*has_container)(void); /* the directory of some lock is a container; optional */

    /* ---- the value ---- */
    /* Writes the numbers of the blocks that the steps of a client, or of COORD_NOBODY, mostly read, in
     * ascending order. Returns how many. */
    int (*scope)(int client, int *blocks);
    int (*own_block)(int client); /* returns the block that is the client's alone */
    /* Shows each copy in this block of each number that grows, such as a session or a number of
     * number_of_position() (docs/design/renaming.md). If a copy is left out, different states may count as
     * one. The world calls canon() with each of its blocks but that of the judges. NULL = no copy is shown.
     * Then states are compared as they are, whatever the recipe shows. */
    void (*canon)(int block, struct canon *canon);
    bool (*drop_unread)(const struct action *action); /* as world_drop_unread(); optional */

    /* ---- texts ---- */
    void (*label)(const struct action *action, char label[WORLD_LABEL_MAX]); /* label of a step */
    /* Returns true if labels of steps can have this word behind the words of client and server. Works without
     * an open coordinator. NULL = labels can have any word. */
    bool (*label_word)(const char *word);
    void (*stimulus)(const struct action *delivery, char text[WORLD_LABEL_MAX]);
    /* Writes the answer that a delivery brings, for people: "ok", "lost (-4)"; "" if it brings none.
     * Optional. */
    void (*answer)(const struct action *delivery, char text[WORLD_LABEL_MAX]);
    void (*dump)(char *text, size_t size);
    /* Returns a bit for each code, event type and session state that clients were given since the last call.
     * told_name() names the bits; NULL behind the last. Both optional. */
    uint64_t (*take_told)(void);
    const char *(*told_name)(int index);

    /* ---- independence of a delivery (src/sim/independence.c) ---- */
    /* All four functions are set, or none. Without them no delivery is independent. */
    bool (*creates)(int client); /* a request of the client that may create a node has no answer yet */
    /* Returns true if no server has a fault, and without a new fault only the client ends its link and its
     * session. */
    bool (*stands)(int client);
    bool (*is_sure)(const struct action *delivery); /* no other step removes or changes the delivery */
    uint64_t (*uses)(int client);                   /* as world_uses() */

    /* ---- writes that commit only while the hold exists (D12): all four functions are set, or none ---- */
    /* write_start() and write_resume() are called between enter() and leave(). */
    void (*write_start)(int client, int lock, int owner, int64_t position);
    bool (*write_waits)(int client, int owner); /* a write of the owner has no answer; -1 = of any owner */
    void (*write_resume)(int client, bool new_session);
    int (*guard)(int client, int lock, int owner); /* returns the answer of the recipe's guard() */

    const struct coord_lending *lending; /* NULL = callbacks are lent nothing */

    /* ---- the page of a run ---- */
    /* Fills in the details of an enabled step or expiry that has no server in the action's field `server`.
     * They are zero before, but for the server, which is -1. Optional. */
    void (*detail)(const struct action *action, struct coord_detail *detail);
    /* Returns the number of notices (COORD_NOTICE) that are under way to a client. NULL = there are none. */
    int (*notices)(int client);
};

/* ---- registration ---- */

#define COORDINATORS_MAX 8

/* Registers a coordinator, its kinds and faults. A constructor of the adapter calls it. */
void coordinator_add(const struct coordinator *coordinator);

/* Returns the row in `kinds`; NULL for a kind that is not the coordinator's own. */
const struct coord_kind *coordinator_own_kind(const struct coordinator *coordinator, unsigned kind);

/* Returns at_server of the coordinator's own kind; false for all other kinds. */
bool coordinator_is_at_server(const struct coordinator *coordinator, unsigned kind);

/* Return true if the kind, or the fault, belongs to all coordinators or to this one. */
bool coordinator_has_kind(const struct coordinator *coordinator, unsigned kind);
bool coordinator_has_fault(const struct coordinator *coordinator, enum world_fault fault);

/* Returns `never` of the coordinator's own fault, NULL for all other faults. */
const char *coordinator_never(const struct coordinator *coordinator, enum world_fault fault);

/* Returns what the fault needs and a world with these options lacks, as a text behind "expected"; NULL = the
 * fault can happen. Valid until the next call. */
const char *coordinator_lacking(const struct world_options *options, enum world_fault fault);

/* Returns the index-th coordinator that is linked, NULL behind the last. */
const struct coordinator *coordinator_at(int index);

/* Returns the coordinator of this name; NULL stands for "zookeeper". Returns NULL if it is not linked. */
const struct coordinator *coordinator_find(const char *name);

#endif
