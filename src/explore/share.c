/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "explore/share.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PIECES_MAX 16
#define PATH_MAX_ACTIONS 262144u /* of a violation */
#define LOOK_EVERY_US 20000

struct member {
    _Alignas(64) struct search_counts counts;
    struct check_stats stats;
};

struct share {
    struct member member[EXPLORE_WORKERS_MAX];
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    int workers;
    int waiting;
    int pieces;
    atomic_int hungry; /* waiting workers without a piece: a copy for those who only look */
    atomic_int over;
    pid_t pid[EXPLORE_WORKERS_MAX];
    /* How it ended; set by the first that has something to say. Texts are the program's own, at one place in all workers. */
    bool violated, path_rests;
    const char *limit;
    char wrong[sizeof((struct search *)0)->wrong];
    uint64_t path_length;
    struct share_piece piece[PIECES_MAX];
    struct action path[PATH_MAX_ACTIONS];
};

/* ---- work ---- */

static void note_hunger(struct share *share)
{
    int hungry = share->waiting - share->pieces;
    atomic_store(&share->hungry, hungry > 0 ? hungry : 0);
}

bool share_is_hungry(const struct share *share)
{
    return atomic_load_explicit(&share->hungry, memory_order_relaxed) > 0;
}

bool share_is_over(const struct share *share)
{
    return atomic_load_explicit(&share->over, memory_order_relaxed) != 0;
}

static void copy_piece(struct share_piece *to, const struct share_piece *from)
{
    memcpy(to, from,
           offsetof(struct share_piece, action) + (from->length + from->untried) * sizeof from->action[0]);
}

bool share_put(struct share *share, const struct share_piece *piece)
{
    pthread_mutex_lock(&share->mutex);
    bool room = share->pieces < PIECES_MAX;
    if (room) {
        copy_piece(&share->piece[share->pieces++], piece);
        note_hunger(share);
        pthread_cond_signal(&share->wake);
    }
    pthread_mutex_unlock(&share->mutex);
    return room;
}

static void end_search(struct share *share)
{
    atomic_store(&share->over, 1);
    pthread_cond_broadcast(&share->wake);
}

/* Waits for a piece. False when the search is over: also when all wait, because then nobody has anything left. */
static bool take_piece(struct share *share, struct share_piece *out)
{
    pthread_mutex_lock(&share->mutex);
    share->waiting++;
    note_hunger(share);
    while (share->pieces == 0 && !share_is_over(share)) {
        if (share->waiting == share->workers) {
            end_search(share);
        } else {
            pthread_cond_wait(&share->wake, &share->mutex);
        }
    }
    bool taken = !share_is_over(share);
    if (taken) {
        copy_piece(out, &share->piece[--share->pieces]);
        share->waiting--;
        note_hunger(share);
    }
    pthread_mutex_unlock(&share->mutex);
    return taken;
}

/* ---- a worker ---- */

static void tell_end(struct share *share, const struct search *search)
{
    if (!search->violated && search->limit == NULL && search->wrong[0] == 0) {
        return;
    }
    pthread_mutex_lock(&share->mutex);
    if (search->wrong[0] != 0) {
        memcpy(share->wrong, search->wrong, sizeof share->wrong);
    } else if (search->violated && !share->violated && search->path_length <= PATH_MAX_ACTIONS) {
        share->violated = true;
        share->path_rests = search->path_rests;
        share->path_length = search->path_length;
        if (search->path != NULL) {
            memcpy(share->path, search->path, search->path_length * sizeof *search->path);
        }
    } else if (!share->violated) {
        share->limit = search->limit != NULL ? search->limit : "a path is too long to be told";
    }
    end_search(share);
    pthread_mutex_unlock(&share->mutex);
}

static void work(struct search *search, int worker)
{
    static struct share_piece piece;
    struct share *share = search->share;
    bool goes_on = true;
    search->counts = &share->member[worker].counts;
    memset(&search->run->stats, 0, sizeof search->run->stats); /* what was seen before is the leader's */
    visited_join(search->visited, worker);
    if (worker == 0) {
        search_depth_first(search, NULL);
    }
    while (goes_on && !search->violated && search->limit == NULL && search->wrong[0] == 0 &&
           !share_is_over(share)) {
        visited_rest(search->visited);
        goes_on = take_piece(share, &piece);
        visited_resume(search->visited);
        if (goes_on) {
            world_restore(search->run->world, search->start);
            search_depth_first(search, &piece);
        }
    }
    visited_rest(search->visited);
    share->member[worker].stats = search->run->stats;
    tell_end(share, search);
}

static pid_t start_worker(struct search *search, int worker)
{
    pid_t leader = getpid();
    pid_t pid = fork();
    if (pid != 0) {
        return pid;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != leader) {
        _exit(1);
    }
    if (search->options->begin_worker != NULL) {
        search->options->begin_worker();
    }
    work(search, worker);
    _exit(0);
}

/* ---- the leader ---- */

static void kill_others(struct share *share)
{
    for (int i = 0; i < share->workers; i++) {
        if (share->pid[i] > 0) {
            kill(share->pid[i], SIGKILL);
            waitpid(share->pid[i], NULL, 0);
        }
    }
}

/* Without one of its workers a search knows nothing: the leader ends as the worker did, and whoever waits for it is told. */
static void die_alike(struct share *share, int status)
{
    kill_others(share);
    if (WIFSIGNALED(status)) {
        signal(WTERMSIG(status), SIG_DFL);
        kill(getpid(), WTERMSIG(status));
    }
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

static void sum_up(struct search *search)
{
    const struct share *share = search->share;
    struct search_counts sum = *search->counts;
    sum.states = visited_count(search->visited);
    sum.transitions = sum.depth = sum.frontier = sum.waiting_bytes = 0;
    for (int i = 0; i < share->workers; i++) {
        const struct search_counts *counts = &share->member[i].counts;
        sum.transitions += counts->transitions;
        sum.frontier += counts->frontier;
        sum.depth = counts->depth > sum.depth ? counts->depth : sum.depth;
        sum.waiting_bytes += counts->waiting_bytes;
    }
    sum.memory_bytes = visited_bytes(search->visited) + sum.waiting_bytes;
    *search->counts = sum;
}

static int reap(struct share *share)
{
    int alive = 0;
    for (int i = 0; i < share->workers; i++) {
        int status;
        if (share->pid[i] > 0 && waitpid(share->pid[i], &status, WNOHANG) == share->pid[i]) {
            share->pid[i] = 0;
            if (status != 0) {
                die_alike(share, status);
            }
        }
        alive += share->pid[i] > 0;
    }
    return alive;
}

static void lead(struct search *search)
{
    struct share *share = search->share;
    while (reap(share) > 0) {
        usleep(LOOK_EVERY_US);
        run_beat();
        sum_up(search);
        if (search->options->stop != NULL && *search->options->stop != 0 && !share_is_over(share)) {
            pthread_mutex_lock(&share->mutex);
            share->limit = share->limit != NULL ? share->limit : "interrupted";
            end_search(share);
            pthread_mutex_unlock(&share->mutex);
        }
    }
    sum_up(search);
}

static void conclude(struct search *search)
{
    const struct share *share = search->share;
    search->violated = share->violated;
    search->path_rests = share->path_rests;
    memcpy(search->wrong, share->wrong, sizeof search->wrong);
    search->limit = share->violated ? NULL : share->limit;
    for (int w = 0; w < share->workers; w++) {
        search_merge_stats(&search->run->stats, &share->member[w].stats);
    }
    if (share->violated) {
        struct action *path = malloc((share->path_length + 1) * sizeof *path);
        if (path != NULL) {
            memcpy(path, share->path, share->path_length * sizeof *path);
        }
        search_keep_path(search, path, share->path_length);
    }
}

static struct share *open_share(int workers)
{
    pthread_mutexattr_t mutex;
    pthread_condattr_t cond;
    struct share *share =
        mmap(NULL, sizeof *share, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (share == MAP_FAILED) {
        return NULL;
    }
    share->workers = workers;
    pthread_mutexattr_init(&mutex);
    pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&share->mutex, &mutex);
    pthread_mutexattr_destroy(&mutex);
    pthread_condattr_init(&cond);
    pthread_condattr_setpshared(&cond, PTHREAD_PROCESS_SHARED);
    pthread_cond_init(&share->wake, &cond);
    pthread_condattr_destroy(&cond);
    return share;
}

void share_search(struct search *search)
{
    struct share *share = open_share(search->options->workers);
    if (share == NULL) {
        search->limit = "memory is short";
        return;
    }
    search->share = share;
    for (int i = 0; i < share->workers; i++) {
        share->pid[i] = start_worker(search, i);
        if (share->pid[i] < 0) {
            kill_others(share);
            search->limit = "no worker can be started";
            break;
        }
    }
    if (search->limit == NULL) {
        lead(search);
        conclude(search);
    }
    search->share = NULL;
    munmap(share, sizeof *share);
}
