/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What a lock recipe looks like to a driver: the simulated world or the runner on a real server.
 *
 * A recipe is one `struct ls_recipe` of plain functions over one state per process, written to
 * <zookeeper/zookeeper.h> and <lockstep/env.h>. Everything is asynchronous: the functions start something and return;
 * results come back through ls_report(). The driver never looks into the state.
 *
 * The driver calls these functions WITHOUT the environment's mutex; a recipe that needs it takes it itself. It must be
 * dropped around ls_report().
 *
 * A driver calls the functions of one state from one thread at a time, and ls_report() comes from whichever
 * thread runs the recipe's callbacks: in a world the only one there is. The state is the driver's, what the
 * recipe allocates for it the recipe's. A world forks its searching processes between steps, never within one;
 * recipes know nothing of signals. */
#ifndef LOCKSTEP_RECIPE_H
#define LOCKSTEP_RECIPE_H

#include <lockstep/env.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* zoo_op_t and zhandle_t of zookeeper.h, which a driver need not include. */
struct zoo_op;
struct _zhandle; /* NOLINT(bugprone-reserved-identifier): the name is ZooKeeper's */
struct String_vector;

/* What the recipe says when it is asked whether it holds the lock. */
enum ls_belief {
    LS_NOT_HELD = 0,
    LS_HELD = 1,
    LS_UNKNOWN = 2, /* held when last heard, but the margin since then is used up or the link is down */
};

enum ls_report_kind {
    LS_REPORT_GRANTED,     /* acquire succeeded: lock, owner, token (czxid of the contender node), depth */
    LS_REPORT_FAILED,      /* acquire ended without the lock: lock, owner, rc (negative enum ls_err) */
    LS_REPORT_FREED,       /* the release is complete, the node is gone or the janitor's: lock, owner, rc */
    LS_REPORT_CONNECTED,   /* the session's first connection: session */
    LS_REPORT_SUSPENDED,   /* the link is gone, the session may live: session */
    LS_REPORT_RECONNECTED, /* the link is back, same session: session */
    LS_REPORT_LOST,        /* the session is dead; everything held under it is lost: session */
    LS_REPORT_READ_ONLY,   /* connected to a read-only server: session */
    LS_REPORT_WARNING,     /* rc is the warning's code; lock */
    LS_REPORT_IDLE,        /* nothing is left to do in the background (the janitor is idle) */
    LS_REPORT_REVOKE,      /* a holder is asked to give its lock back: lock, owner, token of the hold */
    LS_REPORT_ASKED, /* what became of a request to give back: lock, rc (LS_ENOENT: there is no such contender) */
};

struct ls_report {
    enum ls_report_kind kind;
    int lock;        /* index into config->lock_paths */
    int owner;       /* who asked: a thread of the process, 0 .. 255 */
    int rc;          /* see kind */
    int depth;       /* how often the owner holds it now */
    int64_t token;   /* the fencing token; 0 = none */
    int64_t session; /* the session id that this is about */
};

/* Provided by the driver; called by the recipe with the environment's mutex dropped. */
void ls_report(struct ls_env *env, const struct ls_report *report);

/* What a process starts with. Lives at least as long as the state; the recipe may keep the pointer. */
struct ls_recipe_config {
    const char *hosts;             /* connect string, with chroot if any */
    const char *const *lock_paths; /* absolute paths below the chroot */
    int lock_count;                /* number of lock_paths */
    int session_timeout_ms;        /* requested */
    const char *contents;          /* contents of contender nodes; NULL = none */
    int contents_size;             /* bytes in contents */
    bool keep_fresh;               /* a holder is to renew its belief by syncs, if the recipe knows how */
};

/* Where a recipe keeps numbers that only grow, in its state or in memory from ls_env_alloc(): what `canon` below calls.
 * Zero (an attempt id of zeros, a sequence of -1) is no number. */
struct ls_rename {
    void (*zxid)(struct ls_rename *rename, const int64_t *where);    /* czxid, mzxid, pzxid, fencing token */
    void (*session)(struct ls_rename *rename, const int64_t *where); /* a session's id */
    void (*sequence)(struct ls_rename *rename,
                     const int32_t *where); /* the number that a server put behind a name */
    void (*attempt)(struct ls_rename *rename, const uint8_t where[16]); /* from ls_env_unique_id() */
    void (*text)(struct ls_rename *rename, const char *text); /* names and paths that hold such numbers */

    /* Not a number that grows: `size` bytes that say no more than how long a timer will run, such as a count of failures
     * that a back-off goes by. Where there is no clock they make no difference. */
    void (*delay)(struct ls_rename *rename, const void *where, size_t size);
};

#define LS_RECIPE_STATES_MAX 32

struct ls_recipe {
    const char *name;    /* "mutex", "broken-no-sort" */
    const char *summary; /* one sentence */
    const char *breaks;  /* the property that a broken recipe violates; NULL for a correct one */
    size_t state_size;   /* bytes of state for one process; given zeroed, aligned to 8 */

    /* Starts the process: opens a session. 0 or a negative enum ls_err. */
    int (*start)(void *state, struct ls_env *env, const struct ls_recipe_config *config);

    /* Ends it in an orderly way: closes the session. Nothing is reported afterwards. */
    void (*stop)(void *state);

    /* Asks for a lock. timeout_ms < 0: wait for ever; 0: only if it is free now (LS_EBUSY otherwise). Exactly one
     * GRANTED or FAILED report follows when it returns 0 (possibly before it returns); none when negative. */
    int (*acquire)(void *state, int lock, int owner, int timeout_ms);

    /* Gives a pending acquire up: FAILED with LS_ECANCELED follows at once. LS_ENOENT if none is pending. */
    int (*cancel)(void *state, int lock, int owner);

    /* Gives the lock back (one level). 0: no longer held after the last level, FREED follows then (not for inner
     * levels); LS_ENOTOWNER if the owner does not hold it. */
    int (*release)(void *state, int lock, int owner);

    /* Pure: no side effect, no call of ZooKeeper. */
    enum ls_belief (*query)(const void *state, int lock, int owner);

    /* Pure: true when no clean-up is left over (no janitor work). NULL = always idle. A world asks at rest: a recipe that is not
     * idle with nothing under way never will be (contract_is_kept). */
    bool (*idle)(const void *state);

    /* Both or none; NULL = the recipe cannot guard writes. guard() makes `op` the check that the owner's hold of the lock
     * still stands in the coordinator, to be the first operation of a multi: 0, LS_ENOTOWNER, LS_ELOST, or
     * LS_EOVERFLOW if `path`, the caller's buffer that lives as long as `op`, is too small. handle() is the present
     * handle, NULL if there is none. */
    int (*guard)(const void *state, int lock, int owner, struct zoo_op *op, char *path, size_t size);
    struct _zhandle *(*handle)(const void *state);

    /* Both or none; NULL = the recipe knows no revocation. revocable() makes the locks of this process listen to requests
     * to give them back; LS_REPORT_REVOKE tells of each. revoke() asks the contender that stands at `place` in line, 1
     * for the first; 0: LS_REPORT_ASKED follows once; negative: nothing follows. */
    int (*revocable)(void *state, int lock);
    int (*revoke)(void *state, int lock, int place);

    /* Shows all numbers that grow, always in the same order: a search then takes states for one that differ only by an
     * order-preserving renaming of them. A recipe that has this compares such numbers only with each other (session ids
     * only for equality), and looks at no other number that follows from them (Stat's cversion). NULL = they are
     * compared as they are: as sound, and slower. */
    void (*canon)(const void *state, struct ls_rename *rename);

    /* It makes no difference between processes: it compares attempt ids only for equality, takes nothing from the order of
     * a list of names or of session events at several watchers, and keeps pointers only at addresses that are multiples of 8. With `canon`, a search can then take
     * states for one that differ only in which process is which. */
    bool symmetric;

    /* An owner who holds a lock may acquire it again, and holds it until it was released as often. */
    bool reentrant;

    /* Both or none, for reports of what was covered; NULL = all is one state. `states` names the abstract states of an
     * attempt to get a lock, ended by NULL and at most LS_RECIPE_STATES_MAX; the first is that nobody asks and nothing is left
     * over. states_now() is pure: a bit for each state that some attempt of this process is in, bit 0 if there is none. */
    const char *const *states;
    uint32_t (*states_now)(const void *state);

    /* Its marks (<lockstep/sometimes.h>) are those of source files whose path contains this; NULL = it has none. Of a recipe in a
     * shared object all marks of that object are. */
    const char *marks;

    /* It sets no watch on the children of a node, and looks at no Stat's pzxid. With `canon`, states then are one that
     * differ only in when children changed last. Such a watch all the same is reported and ends the run. */
    bool ignores_children;

    /* Pure; NULL = it may look at every name. A list of children is on its way to `completion`: sets `unread` for each name
     * that makes no difference to what the recipe will do, whatever its state is by then; nor may the number of names. `id` is
     * an attempt id of the process, whose ids differ in their last 4 bytes only. With `canon`, states then are one that
     * differ only in such names. Searches deliver some lists without them and compare. */
    void (*unread)(void (*completion)(void), const struct String_vector *names, const uint8_t id[16],
                   bool *unread);

    /* It sets the data of no node, but for `revoke`. With `canon` and `ignores_children`, states then are one that differ only
     * in which transaction a client has seen last. A set all the same is reported and ends the run. */
    bool sets_no_data;

    /* Both or none; NULL = locks of this process cannot be closed. All of them are open after start(). close() ends the use of
     * one lock: before it returns, a FAILED report with LS_ECLOSED answers each pending acquire, and a FREED report each release
     * under way; what is held is given back, without a report. The driver asks nothing more of a closed lock but query(), which
     * answers LS_NOT_HELD, and open(). Negative: refused, and nothing has changed (LS_EDEADLK within a report). open() makes a
     * closed lock as it was after start(): 0, or negative if it stays closed. */
    int (*close)(void *state, int lock);
    int (*open)(void *state, int lock);

    /* acquire(), cancel(), release() and close() may be called from within the report of a grant, as an application's callback
     * may call them. Where this is false, programs leave out what they have behind `on granted:`. */
    bool in_reports;
};

/* ---- recipes in shared objects: --recipe FILE.so ---- */

/* Raised when something above changes its meaning; what is added at the end of struct ls_recipe leaves it as it is. */
#define LS_RECIPE_INTERFACE 1

/* What a shared object exports under the name ls_recipe_module. */
struct ls_recipe_module {
    uint32_t interface;   /* LS_RECIPE_INTERFACE of the header that it was compiled with */
    uint32_t recipe_size; /* sizeof(struct ls_recipe) there; what a newer one has besides is zero */
    const struct ls_recipe *recipe;
};

#ifdef __cplusplus
#define LS_RECIPE_EXPORT_ extern "C" __attribute__((visibility("default")))
#else
#define LS_RECIPE_EXPORT_ __attribute__((visibility("default")))
#endif

/* At the end of a source file, once in a shared object: this recipe is what the file is about. */
#define LS_RECIPE_MODULE(the_recipe)                                                                         \
    LS_RECIPE_EXPORT_ extern const struct ls_recipe_module ls_recipe_module;                                 \
    LS_RECIPE_EXPORT_ const struct ls_recipe_module ls_recipe_module = {                                     \
        LS_RECIPE_INTERFACE, sizeof(struct ls_recipe), &(the_recipe)}

#ifdef __cplusplus
}
#endif

#endif
