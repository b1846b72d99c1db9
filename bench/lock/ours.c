/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Our side of `./dev bench lock`: a lock of liblockstep by its blocking calls. Each contender has an
 * environment and a session of its own, as if it were a process of its own. */
#include "rounds.h"

#include <lockstep/election.h>
#include <lockstep/env_pthread.h>
#include <lockstep/multi.h>
#include <lockstep/mutex.h>
#include <lockstep/rwlock.h>
#include <lockstep/semaphore.h>
#include <lockstep/session.h>
#include <semaphore.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

enum { SESSION_TIMEOUT_MS = 30000, CONNECT_TIMEOUT_MS = 20000, LEASES = 3, LEASE = 1 };

struct ours {
    struct ls_env *env;
    struct ls_session session;
    union {
        struct ls_mutex mutex;
        struct ls_rwlock rwlock;
        struct ls_semaphore semaphore;
        struct ls_election election;
        struct ls_multi multi;
    } lock;
    struct ls_multi_member members[2]; /* of the multi */
    struct ls_mutex *taken;            /* the mutex, or a half of the read-write lock */
    sem_t resigned;                    /* posted when a resignation is answered */
    bool opened;                       /* the lock is initialised */
};

/* A kind of lock, by the word behind the number of contenders. */
struct kind {
    const char *word;
    const char *path;
    int (*init)(struct ours *ours);
    int (*take)(struct ours *ours, int timeout_ms);
    int (*give)(struct ours *ours);
    int (*close)(struct ours *ours);
};

static const struct kind *kind;
static int writers; /* that are open */

/* ---- the mutex and the read-write lock ---- */

static int init_mutex(struct ours *ours)
{
    ours->taken = &ours->lock.mutex;
    return ls_mutex_init(&ours->lock.mutex, &ours->session, kind->path, NULL);
}

static int init_reader(struct ours *ours)
{
    ours->taken = &ours->lock.rwlock.read;
    return ls_rwlock_init(&ours->lock.rwlock, &ours->session, kind->path, NULL);
}

static int init_writer(struct ours *ours)
{
    int rc = init_reader(ours);
    ours->taken = &ours->lock.rwlock.write;
    return rc;
}

/* The first contender writes, the others read. */
static int init_mixed(struct ours *ours)
{
    return writers++ ? init_reader(ours) : init_writer(ours);
}

static int take_mutex(struct ours *ours, int timeout_ms)
{
    return ls_mutex_acquire(ours->taken, timeout_ms);
}

static int give_mutex(struct ours *ours)
{
    return ls_mutex_release(ours->taken);
}

static int close_mutex(struct ours *ours)
{
    return ls_mutex_close(&ours->lock.mutex);
}

static int close_rwlock(struct ours *ours)
{
    return ls_rwlock_close(&ours->lock.rwlock);
}

/* ---- the semaphore ---- */

static int init_lease(struct ours *ours)
{
    return ls_semaphore_init(&ours->lock.semaphore, &ours->session, kind->path, 1, NULL);
}

static int init_leases(struct ours *ours)
{
    return ls_semaphore_init(&ours->lock.semaphore, &ours->session, kind->path, LEASES, NULL);
}

static int take_lease(struct ours *ours, int timeout_ms)
{
    return ls_semaphore_acquire(&ours->lock.semaphore, LEASE, 1, timeout_ms);
}

static int give_lease(struct ours *ours)
{
    return ls_semaphore_release(&ours->lock.semaphore, LEASE);
}

static int close_semaphore(struct ours *ours)
{
    return ls_semaphore_close(&ours->lock.semaphore);
}

/* ---- two mutexes at once ---- */

static int init_several(struct ours *ours)
{
    int rc = ls_multi_init(&ours->lock.multi, ours->members, 2, NULL);
    for (int i = 0; i < 2 && rc >= 0; i++) {
        char path[64];
        snprintf(path, sizeof path, "%s/%d", kind->path, i);
        rc = ls_multi_add_mutex(&ours->lock.multi, &ours->session, path);
    }
    return rc < 0 ? rc : LS_OK;
}

static int take_several(struct ours *ours, int timeout_ms)
{
    return ls_multi_acquire(&ours->lock.multi, timeout_ms);
}

static int give_several(struct ours *ours)
{
    return ls_multi_release(&ours->lock.multi);
}

static int close_several(struct ours *ours)
{
    return ls_multi_close(&ours->lock.multi);
}

/* ---- the election ---- */

static void on_resigned(struct ls_election *election, int rc)
{
    const struct ours *ours = (void *)((char *)election - offsetof(struct ours, lock));
    (void)rc;
    sem_post((sem_t *)&ours->resigned);
}

static const struct ls_election_ops election_ops = {.on_resigned = on_resigned};
static const struct ls_election_options as_latch = {.ops = &election_ops, .style = LS_ELECTION_LATCH};
static const struct ls_election_options as_selector = {.ops = &election_ops, .style = LS_ELECTION_SELECTOR};

static int init_election(struct ours *ours, const struct ls_election_options *options)
{
    sem_init(&ours->resigned, 0, 0);
    return ls_election_init(&ours->lock.election, &ours->session, kind->path, options);
}

static int init_latch(struct ours *ours)
{
    return init_election(ours, &as_latch);
}

static int init_selector(struct ours *ours)
{
    return init_election(ours, &as_selector);
}

static int take_term(struct ours *ours, int timeout_ms)
{
    int rc = ls_election_start(&ours->lock.election);
    return rc ? rc : ls_election_await(&ours->lock.election, timeout_ms);
}

static int give_term(struct ours *ours)
{
    int rc = ls_election_resign(&ours->lock.election);
    while (!rc && sem_wait(&ours->resigned)) {
    }
    return rc;
}

static int close_election(struct ours *ours)
{
    int rc = ls_election_close(&ours->lock.election);
    sem_destroy(&ours->resigned);
    return rc;
}

/* ---- all kinds ---- */

static const struct kind kinds[] = {
    {"mutex", "/bench/ours", init_mutex, take_mutex, give_mutex, close_mutex},
    {"read", "/bench/ours-read", init_reader, take_mutex, give_mutex, close_rwlock},
    {"write", "/bench/ours-write", init_writer, take_mutex, give_mutex, close_rwlock},
    {"mixed", "/bench/ours-mixed", init_mixed, take_mutex, give_mutex, close_rwlock},
    {"lease", "/bench/ours-lease", init_lease, take_lease, give_lease, close_semaphore},
    {"leases", "/bench/ours-leases", init_leases, take_lease, give_lease, close_semaphore},
    {"several", "/bench/ours-several", init_several, take_several, give_several, close_several},
    {"latch", "/bench/ours-latch", init_latch, take_term, give_term, close_election},
    {"selector", "/bench/ours-selector", init_selector, take_term, give_term, close_election},
};

static const struct kind *find_kind(const char *word)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (!strcmp(word, kinds[i].word)) {
            return &kinds[i];
        }
    }
    return NULL;
}

static int take(void *contender)
{
    return kind->take(contender, -1);
}

static int give(void *contender)
{
    return kind->give(contender);
}

static void close_ours(void *contender)
{
    struct ours *ours = contender;
    if (ours->env) {
        ls_session_close(&ours->session);
        if (ours->opened) {
            kind->close(ours);
        }
        ls_env_pthread_close(ours->env);
    }
    free(ours);
}

/* The first lock also creates the parent. */
static int connect_ours(struct ours *ours, const char *hosts)
{
    int rc = ls_env_pthread_open(&ours->env);
    if (!rc) {
        rc = ls_session_init(&ours->session, ours->env, hosts, SESSION_TIMEOUT_MS, NULL);
    }
    if (!rc) {
        rc = ls_session_start(&ours->session);
    }
    if (!rc) {
        rc = kind->init(ours);
        ours->opened = !rc;
    }
    if (!rc) {
        rc = kind->take(ours, CONNECT_TIMEOUT_MS);
    }
    return rc ? rc : give(ours);
}

static void *open_ours(const char *hosts)
{
    struct ours *ours = calloc(1, sizeof *ours);
    int rc = ours ? connect_ours(ours, hosts) : LS_ENOMEM;
    if (!rc) {
        return ours;
    }
    fprintf(stderr, "ours: %s\n", ls_strerror(rc));
    if (ours) {
        close_ours(ours);
    }
    return NULL;
}

static const struct rounds_side side = {.open = open_ours, .take = take, .give = give, .close = close_ours};

int main(int argc, char **argv)
{
    kind = find_kind(argc == 4 ? argv[3] : "mutex");
    if (argc < 3 || argc > 4 || !kind) {
        fputs("usage: ours HOST:PORT CONTENDERS [mutex | read | write | mixed | lease | leases | several | "
              "latch | selector]\n",
              stderr);
        return 2;
    }
    zoo_set_debug_level((ZooLogLevel)0);
    return rounds_serve(argv[1], argv[2], &side);
}
