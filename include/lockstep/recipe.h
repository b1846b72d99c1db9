/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The interface between a lock recipe and its driver, which is a simulated world (below: a world).
 *
 * A recipe is one `struct ls_recipe` of plain functions over one state per process. It calls functions of its
 * coordinator's client library, such as <zookeeper/zookeeper.h>, and functions of <lockstep/env.h>. Of the C
 * library it calls those functions whose results depend on their arguments alone.
 *
 * No function of a recipe waits: it starts requests and returns. The recipe tells their results by
 * ls_report().
 *
 * The state:
 *
 * - The driver changes no byte of a state between start() and stop(), unless it restores the whole world.
 * - A recipe keeps everything that changes in its state, or in memory that it allocates.
 * - A recipe frees what it has allocated before its stop() returns.
 * - A recipe never frees its state.
 *
 * The environment's mutex:
 *
 * - The driver does not hold the mutex when it calls a function of struct ls_recipe.
 * - A recipe takes the mutex before it calls a function of env.h that expects it.
 * - A recipe has dropped the mutex when a function of struct ls_recipe returns.
 * - A recipe has dropped the mutex when it calls ls_report().
 *
 * Threads and processes:
 *
 * - A world calls all functions, callbacks and timers of its recipe in one thread.
 * - A search forks between two steps, never within one.
 * - A recipe in a shared object cannot install a signal handler. */
#ifndef LOCKSTEP_RECIPE_H
#define LOCKSTEP_RECIPE_H

#include <lockstep/env.h>
#include <lockstep/lock_spec.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Structs of zookeeper.h, declared here so that a driver need not include it. */
struct zoo_op;
struct zoo_op_result;
struct _zhandle; /* NOLINT(bugprone-reserved-identifier): the name is ZooKeeper's */
struct String_vector;

/* The answers of query(). */
enum ls_belief {
    LS_NOT_HELD = 0,
    LS_HELD = 1,
    LS_UNKNOWN = 2, /* granted and not given back, but in doubt: for instance, the link is down */
};

/* Each kind with the fields of struct ls_report that it fills in. */
enum ls_report_kind {
    LS_REPORT_GRANTED,     /* an acquire succeeded: lock, owner, token, depth */
    LS_REPORT_FAILED,      /* an acquire ended without the lock: lock, owner, rc (negative enum ls_err) */
    LS_REPORT_FREED,       /* a release is complete: lock, owner, rc */
    LS_REPORT_CONNECTED,   /* first connection of a session: session */
    LS_REPORT_SUSPENDED,   /* end of a link whose session may live: session */
    LS_REPORT_RECONNECTED, /* another connection of the same session: session */
    LS_REPORT_LOST,        /* end of a session and of every hold under it: session */
    LS_REPORT_READ_ONLY,   /* connection to a read-only server: session */
    LS_REPORT_WARNING,     /* a warning: lock, rc (enum ls_warning) */
    LS_REPORT_IDLE,        /* end of the work in the background, such as the deletion of left nodes */
    LS_REPORT_REVOKE,      /* a request to a holder to give its lock back: lock, owner, token of the hold */
    LS_REPORT_ASKED,       /* answer to a request by revoke(): lock, rc (LS_ENOENT: no such contender) */
    LS_REPORT_HOLD_LOST,   /* end of one hold whose session goes on: lock, owner, token of the hold */
    LS_REPORT_CAPACITY, /* new capacity of a lock, which the process knows from now on: lock, rc (capacity) */
};

struct ls_report {
    enum ls_report_kind kind;
    int lock;        /* index into lock_paths of the configuration */
    int owner;       /* number of the owner in its process, from 0 to 255 */
    int rc;          /* result code of the kind, 0 if it has none */
    int depth;       /* number of levels that the owner holds now */
    int64_t token;   /* fencing token of the hold; 0 = none */
    int64_t session; /* id of the session that the report is about; 0 = none */
};

/* Tells the driver of a result; a recipe calls it in any of its functions, callbacks and timers, but not in
 * a pure function such as query(). */
void ls_report(struct ls_env *env, const struct ls_report *report);

/* The configuration of a process. It stays as it is until stop() returns, so that a recipe may keep the
 * pointer. */
struct ls_recipe_config {
    const char *hosts;             /* connect string, with the chroot if there is one */
    const char *const *lock_paths; /* absolute paths of the locks, below the chroot */
    int lock_count;                /* number of lock_paths */
    int session_timeout_ms;        /* session timeout to ask for, in milliseconds */
    const char *contents;          /* data of contender nodes; NULL = none */
    int contents_size;             /* bytes in contents */
    bool keep_fresh;               /* order to renew the belief of a holder by syncs, if the recipe can */
    bool read_only;                /* order to accept read-only servers (ZOO_READONLY), if the recipe can */
    const struct ls_lock_spec *locks; /* lock_count of them; NULL = mutexes. A driver hands over only kinds of
                                         which the recipe says that it knows them */
};

/* The classes of nodes below the path of a lock. */
enum ls_node_class {
    LS_NODE_OTHER,     /* nothing that a lock's line consists of */
    LS_NODE_CONTENDER, /* it stands in line until it goes, also while its owner holds */
    LS_NODE_QUEUED,    /* it stands while its owner waits, and goes when its owner has its contenders */
};

/* The roles of timers. Without a clock, a poll or renewal that has fired fires again only after a change for
 * its process. Once a timer of LS_TIMER_WORK has fired, timers of that role wait for such a change, too.
 * While a timer is armed, a world is not at rest. These timers do not count:
 *
 * - deadlines and upkeep,
 * - polls and renewals that have fired since the last change,
 * - LS_TIMER_LEASE and LS_TIMER_PATIENCE, while they may not fire. */
enum ls_timer_role {
    LS_TIMER_WORK,     /* goes on with something, such as a retry */
    LS_TIMER_DEADLINE, /* ends the wait of a caller. A fault refuses the start of no other role than this */
    LS_TIMER_UPKEEP,   /* keeps a hold fresh, as long as it lasts */
    LS_TIMER_POLL,     /* looks whether the lock is free */
    /* Renews leases. While it is armed, without a clock, no lease of the process ends by itself before more
     * renewals in a row than `lease_misses` have failed. */
    LS_TIMER_RENEWAL,
    LS_TIMER_STEP, /* gives a thread of the process its next turn. It fires again without any change */
    /* Ends a belief before the end of the lease on which that belief rests. Without a clock: while this timer
     * is armed and the process is not paused, no lease of the process ends by itself. The timer fires only
     * while the process is cut off, or has neither a renewal armed nor a request without an answer. */
    LS_TIMER_LEASE,
    /* Gives up on an answer. Without a clock it fires only while a fault, such as a cut-off, holds back all
     * answers that the process awaits. */
    LS_TIMER_PATIENCE,
};

/* The role of all timers that are started under one name. */
struct ls_timer_row {
    const char *name; /* name for ls_env_timer_start(); NULL = end of the table */
    enum ls_timer_role role;
};

/* The functions by which canon() shows numbers that only grow. `where` points into the state, or into
 * memory from ls_env_alloc(). A zero, an attempt id of zeros, and a sequence of -1 count as no number. */
struct ls_rename {
    /* Shows a czxid, mzxid, pzxid or fencing token. */
    void (*zxid)(struct ls_rename *rename, const int64_t *where);

    /* Shows a session id. */
    void (*session)(struct ls_rename *rename, const int64_t *where);

    /* Shows a number that a server put behind a name. */
    void (*sequence)(struct ls_rename *rename, const int32_t *where);

    /* Shows an id from ls_env_unique_id(). */
    void (*attempt)(struct ls_rename *rename, const uint8_t where[16]);

    /* Shows a name or a path that holds such numbers. */
    void (*text)(struct ls_rename *rename, const char *text);

    /* Shows `size` bytes that decide only how long a timer will run, such as the count of failures of a
     * back-off. They make no difference between states of a world without a clock. */
    void (*delay)(struct ls_rename *rename, const void *where, size_t size);

    /* Most faults in a run of this search. A count of failures that has an effect only from a bound on makes
     * no difference either, if `faults_max` is below that bound. */
    int faults_max;
};

#define LS_RECIPE_STATES_MAX 32
#define LS_RECIPE_DIRECTORIES_MAX 3

/* Largest capacity that stands in a node. */
#define LS_RECIPE_COUNT_MAX 10000

/* NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): members are appended */
struct ls_recipe {
    const char *name;    /* name for --recipe, such as "mutex" */
    const char *summary; /* one sentence for lockstep list recipes */
    const char *breaks;  /* property that a broken recipe violates; NULL for a correct one */

    /* Bytes of state for one process. The driver gives them zeroed. The driver aligns them to 8. */
    size_t state_size;

    /* Starts a process: opens a session. A return of 0 says that it runs. A negative enum ls_err ends the
     * run. */
    int (*start)(void *state, struct ls_env *env, const struct ls_recipe_config *config);

    /* Stops a process in an orderly way: closes its session. After stop() has returned, the driver calls
     * no function, callback or timer of that state. */
    void (*stop)(void *state);

    /* Asks for a lock.
     *
     * - A negative timeout_ms waits for ever.
     * - A timeout_ms of 0 asks for the lock only if it is free now, and fails with LS_EBUSY otherwise.
     * - A positive timeout_ms fails with LS_ETIMEDOUT after so many milliseconds.
     *
     * If acquire() returns 0, exactly one GRANTED or FAILED report follows. That report may come before
     * acquire() returns. If acquire() returns a negative code, no report follows. */
    int (*acquire)(void *state, int lock, int owner, int timeout_ms);

    /* Gives a pending acquire up: a FAILED report with LS_ECANCELED follows. Returns LS_ENOENT if no
     * acquire of the owner is pending. */
    int (*cancel)(void *state, int lock, int owner);

    /* Gives one level of a hold back. If release() returns 0 for the last level, the owner no longer holds
     * the lock. A FREED report then follows. If its code is 0, the nodes of the hold are gone. No FREED
     * report follows an inner level. Returns LS_ENOTOWNER if the owner does not hold the lock, or a code such
     * as LS_ELOST if it has lost its hold. */
    int (*release)(void *state, int lock, int owner);

    /* Answers whether the owner holds the lock. query() is pure: it changes nothing and calls no function of
     * the client library. */
    enum ls_belief (*query)(const void *state, int lock, int owner);

    /* Answers whether no clean-up is left over, such as a node to delete. A create that is under way for an
     * ended acquire is clean-up too. idle() is pure like query(). NULL = it is not asked. A world asks idle()
     * at rest, where nothing is under way: a recipe that is not idle there violates contract_is_kept. */
    bool (*idle)(const void *state);

    /* Both or none; NULL = the recipe cannot guard writes.
     *
     * guard() makes `op` the check that the owner's hold of the lock still stands in the coordinator. The
     * driver makes it the first operation of a multi. guard() returns 0, LS_ENOTOWNER, LS_ELOST or
     * LS_EOVERFLOW. LS_EOVERFLOW says that the `size` bytes of `path` are too few. `path` is a buffer of
     * the driver that lives as long as `op`.
     *
     * handle() returns the present handle, or NULL if there is none. The driver sends no write while it is
     * NULL. */
    int (*guard)(const void *state, int lock, int owner, struct zoo_op *op, char *path, size_t size);
    struct _zhandle *(*handle)(const void *state);

    /* Both or none; NULL = the recipe knows no revocation.
     *
     * revocable() makes a lock of this process listen to requests to give it back. A REVOKE report tells
     * of each request.
     *
     * revoke() asks the contender that stands at `place` in line; 1 is the first. If it returns 0, one
     * ASKED report follows. If it returns a negative code, no report follows. */
    int (*revocable)(void *state, int lock);
    int (*revoke)(void *state, int lock, int place);

    /* Shows each number of the state that only grows, by a function of `rename`. Equal states show their
     * numbers in the same order. With canon(), a search counts states as one that differ only by an
     * order-preserving renaming of these numbers. NULL = numbers are compared as they are, which is as sound,
     * and slower.
     *
     * A recipe with canon():
     *
     * - compares such numbers only with each other,
     * - compares session ids only for equality,
     * - looks at no other number that follows from them, such as the cversion of a Stat. */
    void (*canon)(const void *state, struct ls_rename *rename);

    /* The recipe makes no difference between processes. With canon(), a search with --symmetry then counts
     * states as one that differ only in which process is which.
     *
     * A symmetric recipe:
     *
     * - compares attempt ids only for equality,
     * - takes nothing from the order of a list of names,
     * - takes nothing from the order of session events at several watchers,
     * - keeps pointers only at addresses that are multiples of 8. */
    bool symmetric;

    /* An owner that holds a lock may acquire it again. It holds the lock until it has released the lock as
     * often as it has acquired it. The standard suite leaves out scenarios that acquire a held lock again,
     * unless the recipe says `reentrant`. */
    bool reentrant;

    /* Both or none, for coverage reports; NULL = one state, called "any".
     *
     * `states` names the abstract states of an attempt to get a lock, ended by NULL. They are
     * LS_RECIPE_STATES_MAX at most. The first state says that no attempt is under way or left over.
     * states_now() is pure like query(). It returns a bit for each state of an attempt of this process,
     * and bit 0 if there is no attempt. */
    const char *const *states;
    uint32_t (*states_now)(const void *state);

    /* Marks (<lockstep/sometimes.h>) of this recipe are those in source files whose path contains this
     * text. NULL = it has no marks. A recipe in a shared object has all marks of that object. */
    const char *marks;

    /* The recipe sets no watch on the children of a node. It looks at no pzxid of a Stat. With canon(),
     * states then count as one that differ only in when children changed last. A watch on children is
     * refused, and ends the run. */
    bool ignores_children;

    /* Tells which names of a list of children the recipe will not look at; NULL = it may look at every
     * name.
     *
     * The list is on its way to `completion`. unread() sets `unread` for each name that changes nothing in
     * what the recipe will do, in any state. The number of names must make no difference either. `id` is
     * an attempt id of the process. All attempt ids of a process are equal but for their last 4 bytes.
     * unread() is pure.
     *
     * With canon(), states then count as one that differ only in such names. As a check, a search delivers a
     * sample of lists without such names as well, and ends with an error if the resulting states differ. */
    void (*unread)(void (*completion)(void), const struct String_vector *names, const uint8_t id[16],
                   bool *unread);

    /* The recipe sets the data of no node, except by revoke(). In a world of programs without revoke() and
     * guarded writes, a set of data is refused, and ends the run. With canon() and `ignores_children`, states
     * of such a world count as one that differ only in which transaction a client has seen last. */
    bool sets_no_data;

    /* Both or none; NULL = locks of this process cannot be closed. All locks are open after start().
     *
     * close() ends the use of one lock:
     *
     * - Before close() returns, a FAILED report with LS_ECLOSED answers each pending acquire.
     * - Before close() returns, a FREED report answers each release under way.
     * - A hold is given back without a report.
     * - A negative code says that the lock is open as before, such as LS_EDEADLK within a report.
     *
     * Of a closed lock the driver calls query(), guard() and open(), and nothing else. query() then answers
     * LS_NOT_HELD.
     *
     * open() makes a closed lock what it was after start(). If open() returns a negative code, the lock
     * stays closed. */
    int (*close)(void *state, int lock);
    int (*open)(void *state, int lock);

    /* The recipe takes calls of acquire(), cancel(), release() and close() within the report of a grant. The
     * recipe takes them within the report of an acquire that failed, too. If `in_reports` is false, a program
     * leaves out the steps behind `on granted:` and `on failed:`. */
    bool in_reports;

    /* Answers whether the state is one that the recipe can be in: its invariants. NULL = the recipe has none.
     *
     * wrong() returns NULL, or a text that names what does not hold. wrong() is pure like query(). A world
     * asks after start() and after each later function that is not pure, callback and timer of the process,
     * but not after stop(). A text violates contract_is_kept. */
    const char *(*wrong)(const void *state);

    /* Sends a guarded write on the present handle, as zoo_amulti() does. NULL = the driver calls
     * zoo_amulti() on the handle of handle(), unless that is NULL or dead.
     *
     * `ops[0]` is the check of guard(). If multi() returns 0, `completion` is called once with `data`. By
     * then the results are in `results`. If multi() returns a negative enum ls_err, it has sent nothing,
     * and `completion` is not called. After LS_ECLOSED the driver sends the write again at the next
     * connection. */
    int (*multi)(void *state, int count, const struct zoo_op *ops, struct zoo_op_result *results,
                 void (*completion)(int rc, const void *data), const void *data);

    /* Kinds of lock that the recipe knows: LS_LOCK_BIT() of each. 0 stands for the mutex alone. */
    uint32_t kinds;

    /* Tells the class of a node, which counts only if the node is ephemeral. `below` is the node's path,
     * relative to the path of a group of locks. If classify() is NULL, or all locks of the world are mutexes,
     * each child is a contender of the group's first lock. The function classify() is pure, and looks at its
     * arguments alone.
     *
     * `*lock` is the index of the group's first lock. classify() sets it to the lock whose contender the
     * node is. */
    enum ls_node_class (*classify)(const struct ls_recipe_config *config, const char *below, int *lock);

    /* Roles of the recipe's timers. A timer without a row is LS_TIMER_WORK. NULL = the name decides: a timer
     * whose name begins with "deadline" is LS_TIMER_DEADLINE, and with "fresh" LS_TIMER_UPKEEP. */
    const struct ls_timer_row *timers;

    /* Name of the coordinator that the recipe is for; NULL = "zookeeper". A world of another coordinator
     * does not take the recipe. */
    const char *coordinator;

    /* Names of the children of a lock's path below which its nodes stand, ended by NULL. There are
     * LS_RECIPE_DIRECTORIES_MAX at most. classify() gets "NAME/NODE" for a node of such a child. NULL = the
     * nodes stand below the path itself. */
    const char *const *directories;

    /* A hold of a lock with a count has one contender for each of its units. The token of the hold is the
     * czxid of the oldest contender. If false, a hold has one contender, whatever its count. */
    bool contender_per_unit;

    /* Nodes of the recipe queue: classify() says LS_NODE_QUEUED of them. The owner of the first node in
     * that line creates contenders. */
    bool queues;

    /* Both or none; NULL = locks are asked for one by one. `locks` has `count` different locks, two or
     * more.
     *
     * acquire_all() asks for several locks in one call, in any order of its choice. If it returns 0, one
     * GRANTED report for each lock follows, or one FAILED report for each. All of them are told within one
     * call, callback or timer. A cancel() of one of the locks gives the whole call up. If a loss ends a
     * hold of one of them, the others are given back, and each gets one HOLD_LOST report, unless the
     * session is lost.
     *
     * release_all() gives one level of all these locks back, as release() does. One FREED report for each
     * lock follows. */
    int (*acquire_all)(void *state, const int *locks, int count, int owner, int timeout_ms);
    int (*release_all)(void *state, const int *locks, int count, int owner);

    /* Tells the process another capacity of an open lock with units. NULL = the recipe knows the declared
     * one alone.
     *
     * - set_capacity() takes no hold away.
     * - From then on an acquire is granted by the new capacity. An acquire that waits may be granted before
     *   set_capacity() returns.
     * - A negative code says that the capacity is as before, and ends the run.
     *
     * Each process of a world is told by itself. After open(), and in the next start(), a lock has the
     * declared capacity. */
    int (*set_capacity)(void *state, int lock, int capacity);

    /* Name of the child of a lock's path whose contents are the lock's capacity: a number from 1 to
     * LS_RECIPE_COUNT_MAX in four bytes, the highest first. NULL = the capacity stands in no node. If `count`
     * is set, set_capacity() writes that node, and the other processes learn the capacity from the node. Each
     * process, the writing one too, reports CAPACITY whenever it has read another capacity. A process watches
     * the node once while it has the lock open. */
    const char *count;

    /* Number of renewals in a row that may fail before a lease of the recipe ends. Without a clock, a lease
     * may end at any time once more renewals in a row have failed, unless a timer of LS_TIMER_LEASE is
     * armed. */
    uint8_t lease_misses;
};

/* ---- recipes in shared objects: --recipe FILE.so ---- */

/* Version of this interface: raised when something above changes its meaning. A member that is added at
 * the end of struct ls_recipe leaves it as it is. A recipe of another version is refused. */
#define LS_RECIPE_INTERFACE 1

/* The object that a shared object exports under the name ls_recipe_module. */
struct ls_recipe_module {
    uint32_t interface;   /* LS_RECIPE_INTERFACE of the header that the shared object was compiled with */
    uint32_t recipe_size; /* sizeof(struct ls_recipe) in that header; members behind it count as zero */
    const struct ls_recipe *recipe;
};

#ifdef __cplusplus
#define LS_RECIPE_EXPORT_ extern "C" __attribute__((visibility("default")))
#else
#define LS_RECIPE_EXPORT_ __attribute__((visibility("default")))
#endif

/* Exports a recipe; stands at the end of a source file, once in a shared object. */
#define LS_RECIPE_MODULE(the_recipe)                                                                         \
    LS_RECIPE_EXPORT_ extern const struct ls_recipe_module ls_recipe_module;                                 \
    LS_RECIPE_EXPORT_ const struct ls_recipe_module ls_recipe_module = {                                     \
        LS_RECIPE_INTERFACE, sizeof(struct ls_recipe), &(the_recipe)}

#ifdef __cplusplus
}
#endif

#endif
