/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "explore/work_sharing.h"

#include "base/assert.h"
#include "explore/checkpoint.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PIECES_MAX 16
#define PATH_MAX_ACTIONS 262144u
#define LOOK_EVERY_US 20000
#define LOOK_AGAIN_US 500 /* while workers are to stand still */

struct member {
    _Alignas(64) struct search_counts counts;
    struct check_stats stats;
    struct tried tried;
    size_t stack_bytes; /* bytes of its stack in its file; 0 = no work is left */
    bool stack_lost;
};

struct share {
    struct member member[EXPLORE_WORKERS_MAX];
    int stack_file[EXPLORE_WORKERS_MAX]; /* by worker: a file in memory, open in all workers; -1 = none */
    pthread_mutex_t mutex;
    pthread_cond_t wake;
    int workers;
    int waiting;
    int still; /* workers that stand still for a checkpoint */
    int pieces;
    atomic_int hungry; /* waiting workers for which there is no piece; read without the mutex */
    atomic_int held;
    atomic_int over;
    uint64_t earlier_transitions, earlier_depth; /* of the layer, from the checkpoint that is continued */
    uint64_t earlier_unrenamed;
    pid_t pid[EXPLORE_WORKERS_MAX];
    /* The members from `violated` to `path_length`, and `path`, say how the search ended: a failed check
     * counts before a violation, the first violation before a limit. `limit` is a copy, "" for none: the text
     * of a limit may lie in memory that each worker has for itself. */
    bool fresh; /* no checkpoint is continued; set before the workers begin */
    bool violated, path_rests;
    char limit[sizeof((struct search *)0)->limit_text];
    char wrong[sizeof((struct search *)0)->wrong];
    uint64_t wrong_step;
    uint64_t path_length;
    struct share_piece piece[PIECES_MAX];
    struct action path[PATH_MAX_ACTIONS];
};

static void note_hunger(struct share *share)
{
    LS_ASSERT(share->pieces >= 0 && share->pieces <= PIECES_MAX);
    LS_ASSERT(share->waiting >= 0 && share->waiting <= share->workers);
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
    LS_ASSERT(from->length + from->untried <= sizeof from->action / sizeof from->action[0]);
    memcpy(to, from,
           offsetof(struct share_piece, action) + (from->length + from->untried) * sizeof from->action[0]);
}

bool share_put(struct share *share, const struct share_piece *piece)
{
    LS_ASSERT(piece->untried > 0);
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

/* Waits for a piece. Returns false when the search is over. If all workers wait and no piece is left, ends
 * the search. While workers stand still for a checkpoint, pieces may be left that no worker may take yet. */
static bool take_piece(struct share *share, struct share_piece *out)
{
    pthread_mutex_lock(&share->mutex);
    share->waiting++;
    note_hunger(share);
    while ((share->pieces == 0 || share_is_held(share)) && !share_is_over(share)) {
        if (share->waiting == share->workers && share->pieces == 0) {
            end_search(share);
        } else {
            pthread_cond_wait(&share->wake, &share->mutex);
        }
    }
    bool taken = !share_is_over(share);
    if (taken) {
        LS_ASSERT(share->pieces > 0 && share->waiting > 0);
        copy_piece(out, &share->piece[--share->pieces]);
        share->waiting--;
        note_hunger(share);
    }
    pthread_mutex_unlock(&share->mutex);
    return taken;
}

/* ---- checkpoints ---- */

bool share_is_held(const struct share *share)
{
    return atomic_load_explicit(&share->held, memory_order_relaxed) != 0;
}

static bool write_stack(int file, const struct stack *stack)
{
    size_t done = 0;
    while (done < stack->size) {
        ssize_t written = pwrite(file, stack->bytes + done, stack->size - done, (off_t)done);
        if (written <= 0) {
            return false;
        }
        done += (size_t)written;
    }
    LS_ASSERT(done == stack->size);
    return true;
}

static bool read_stack(int file, struct stack *stack, size_t size)
{
    stack->bytes = malloc(size + 1);
    while (stack->bytes != NULL && stack->size < size) {
        ssize_t got = pread(file, stack->bytes + stack->size, size - stack->size, (off_t)stack->size);
        if (got <= 0) {
            return false;
        }
        stack->size += (size_t)got;
    }
    return stack->bytes != NULL;
}

void share_leave(struct search *search, const struct stack *stack)
{
    struct share *share = search->share;
    struct member *member = &share->member[search->worker];
    LS_ASSERT(search->worker >= 0 && search->worker < share->workers);
    member->stack_lost = stack == NULL || !write_stack(share->stack_file[search->worker], stack);
    member->stack_bytes = stack != NULL ? stack->size : 0;
    member->stats = search->run->stats;
    member->tried = search->run->tried;
}

void share_hold(struct search *search, const struct stack *stack)
{
    struct share *share = search->share;
    share_leave(search, stack);
    visited_rest(search->visited);
    pthread_mutex_lock(&share->mutex);
    share->still++;
    LS_ASSERT(share->still + share->waiting <= share->workers);
    while (share_is_held(share) && !share_is_over(share)) {
        pthread_cond_wait(&share->wake, &share->mutex);
    }
    LS_ASSERT(share->still > 0);
    share->still--;
    share->member[search->worker].stack_bytes = 0;
    pthread_mutex_unlock(&share->mutex);
    visited_resume(search->visited);
}

static void free_stacks(struct stack *stacks, int count)
{
    for (int i = 0; i < count; i++) {
        stack_free(&stacks[i]);
    }
}

static bool stack_of_piece(struct stack *stack, const struct share_piece *piece)
{
    bool well = stack_add(stack, &(struct action){0}, STACK_PATH);
    for (uint32_t i = 0; well && i < piece->length + piece->untried; i++) {
        well = stack_add(stack, &piece->action[i], i < piece->length ? STACK_PATH : STACK_WAITS);
    }
    return well;
}

/* Collects the work that is left, of workers and in pieces. Returns false if some is lost, or cannot be
 * read. */
static bool collect_stacks(const struct share *share, struct stack *stacks, int *count)
{
    bool well = true;
    for (int i = 0; well && i < share->workers; i++) {
        const struct member *member = &share->member[i];
        well = !member->stack_lost;
        if (well && member->stack_bytes > 0) {
            well = read_stack(share->stack_file[i], &stacks[(*count)++], member->stack_bytes);
        }
    }
    for (int i = 0; well && i < share->pieces; i++) {
        well = stack_of_piece(&stacks[(*count)++], &share->piece[i]);
    }
    LS_ASSERT(*count <= EXPLORE_WORKERS_MAX + PIECES_MAX);
    return well;
}

static void collect_tried(struct search *search)
{
    for (int i = 0; i < search->share->workers; i++) {
        tried_merge(&search->run->tried, &search->share->member[i].tried);
    }
}

static struct check_stats stats_of_all(const struct search *search)
{
    struct check_stats stats = search->run->stats;
    for (int i = 0; i < search->share->workers; i++) {
        search_merge_stats(&stats, &search->share->member[i].stats);
    }
    return stats;
}

static void sum_up(struct search *search);

static void keep(struct search *search)
{
    struct stack stacks[EXPLORE_WORKERS_MAX + PIECES_MAX] = {{0}};
    int count = 0;
    sum_up(search);
    if (collect_stacks(search->share, stacks, &count)) {
        struct check_stats stats = stats_of_all(search);
        collect_tried(search);
        checkpoint_save(search, &stats, stacks, count);
    }
    free_stacks(stacks, count);
}

static void hold_all(struct share *share, bool hold)
{
    pthread_mutex_lock(&share->mutex);
    atomic_store(&share->held, hold);
    pthread_cond_broadcast(&share->wake);
    pthread_mutex_unlock(&share->mutex);
}

static bool all_stand_still(struct share *share)
{
    pthread_mutex_lock(&share->mutex);
    LS_ASSERT(share->still + share->waiting <= share->workers);
    bool still = share->still + share->waiting == share->workers;
    pthread_mutex_unlock(&share->mutex);
    return still;
}

static void keep_now_and_then(struct search *search)
{
    struct share *share = search->share;
    if (!share_is_held(share)) {
        if (!share_is_over(share) && checkpoint_is_due(search)) {
            hold_all(share, true);
        }
    } else if (share_is_over(share)) {
        hold_all(share, false);
    } else if (all_stand_still(share)) {
        keep(search);
        hold_all(share, false);
    }
}

/* ---- a worker ---- */

static void note_limit(struct share *share, const char *limit)
{
    snprintf(share->limit, sizeof share->limit, "%s", limit);
}

/* Returns whether the search has found a violation, and its path fits into memory. */
static bool has_path(const struct search *search)
{
    bool is_there = search->path != NULL || search->path_length == 0;
    return search->violated && is_there && search->path_length <= PATH_MAX_ACTIONS;
}

static void tell_end(struct share *share, const struct search *search)
{
    if (!search->violated && search->limit == NULL && search->wrong[0] == 0) {
        return;
    }
    pthread_mutex_lock(&share->mutex);
    if (search->wrong[0] != 0) {
        memcpy(share->wrong, search->wrong, sizeof share->wrong);
        share->wrong_step = search->wrong_step;
    } else if (has_path(search) && !share->violated) {
        share->violated = true;
        share->path_rests = search->path_rests;
        share->path_length = search->path_length;
        if (search->path_length > 0) {
            memcpy(share->path, search->path, search->path_length * sizeof *search->path);
        }
    } else if (!share->violated) {
        note_limit(share,
                   search->limit != NULL ? search->limit : "a path is too long for the memory there is");
    }
    end_search(share);
    pthread_mutex_unlock(&share->mutex);
}

static bool goes_on(const struct search *search)
{
    return !search->violated && search->limit == NULL && search->wrong[0] == 0 &&
           !share_is_over(search->share);
}

static void work(struct search *search, int worker)
{
    static struct share_piece piece;
    struct share *share = search->share;
    LS_ASSERT(worker >= 0 && worker < share->workers);
    const struct stack *stack;
    bool more = true;
    search->worker = worker;
    search->counts = &share->member[worker].counts;
    memset(&search->run->stats, 0, sizeof search->run->stats); /* the leader has the earlier findings */
    visited_join(search->visited, worker);
    if (worker == 0 && share->fresh) {
        search_depth_first(search, NULL);
    }
    while (goes_on(search) && (stack = checkpoint_take(search)) != NULL) {
        world_restore(search->run->world, search->start);
        search_depth_first_again(search, stack);
    }
    while (more && goes_on(search)) {
        share->member[worker].stats = search->run->stats;
        share->member[worker].tried = search->run->tried;
        visited_rest(search->visited);
        more = take_piece(share, &piece);
        visited_resume(search->visited);
        if (more) {
            world_restore(search->run->world, search->start);
            search_depth_first(search, &piece);
        }
    }
    visited_rest(search->visited);
    share->member[worker].stats = search->run->stats;
    share->member[worker].tried = search->run->tried;
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

/* Ends the leader as the dead worker ended: without that worker the search has no result. */
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
    sum.transitions = share->earlier_transitions;
    sum.unrenamed = share->earlier_unrenamed;
    sum.depth = share->earlier_depth;
    sum.frontier = sum.waiting_bytes = 0;
    for (int i = 0; i < share->workers; i++) {
        const struct search_counts *counts = &share->member[i].counts;
        sum.transitions += counts->transitions;
        sum.unrenamed += counts->unrenamed;
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
        usleep(share_is_held(share) ? LOOK_AGAIN_US : LOOK_EVERY_US);
        run_beat();
        sum_up(search);
        keep_now_and_then(search);
        if (search->options->stop != NULL && *search->options->stop != 0 && !share_is_over(share)) {
            pthread_mutex_lock(&share->mutex);
            if (share->limit[0] == 0) {
                note_limit(share, "interrupted");
            }
            end_search(share);
            pthread_mutex_unlock(&share->mutex);
        }
    }
    sum_up(search);
    if (share->limit[0] != 0 && !share->violated && share->wrong[0] == 0 && checkpoint_is_wanted(search)) {
        keep(search);
    }
}

static void conclude(struct search *search)
{
    const struct share *share = search->share;
    LS_ASSERT(!share->violated || share->path_length <= PATH_MAX_ACTIONS);
    collect_tried(search);
    search->violated = share->violated;
    search->path_rests = share->path_rests;
    memcpy(search->wrong, share->wrong, sizeof search->wrong);
    search->wrong_step = share->wrong_step;
    memcpy(search->limit_text, share->limit, sizeof search->limit_text);
    search->limit = share->violated || share->limit[0] == 0 ? NULL : search->limit_text;
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

static void close_share(struct share *share)
{
    for (int i = 0; i < share->workers; i++) {
        if (share->stack_file[i] >= 0) {
            close(share->stack_file[i]);
        }
    }
    munmap(share, sizeof *share);
}

static bool open_stack_files(struct share *share)
{
    bool well = true;
    for (int i = 0; i < share->workers; i++) {
        share->stack_file[i] = memfd_create("stack", MFD_CLOEXEC);
        well = well && share->stack_file[i] >= 0;
    }
    return well;
}

static struct share *open_share(const struct search *search)
{
    int workers = search->options->workers;
    LS_ASSERT(workers >= 1 && workers <= EXPLORE_WORKERS_MAX);
    pthread_mutexattr_t mutex;
    pthread_condattr_t cond;
    struct share *share =
        mmap(NULL, sizeof *share, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (share == MAP_FAILED) {
        return NULL;
    }
    share->workers = workers;
    memset(share->stack_file, 0xff, sizeof share->stack_file);
    if (checkpoint_is_wanted(search) && !open_stack_files(share)) {
        close_share(share);
        return NULL;
    }
    share->earlier_transitions = search->counts->transitions;
    share->earlier_unrenamed = search->counts->unrenamed;
    share->earlier_depth = search->counts->depth;
    share->fresh = !search->continues;
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
    LS_ASSERT(search->share == NULL);
    struct share *share = open_share(search);
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
    close_share(share);
}
