/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A contender of the interop example, in C: takes the lock over and over, and is in a room that holds one at
 * a time while it has it. CuratorContender.java and kazoo_contender.py do the same on the same path; run.sh
 * lets them loose together. With a read-write lock the room holds one writer, or any number of readers; a
 * writer sometimes stays as a reader. With a semaphore the room holds as many as the capacity says. In an
 * election the leader is in the room. With several locks whoever has both of them, or the second alone, is in
 * the room. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <lockstep/election.h>
#include <lockstep/env_pthread.h>
#include <lockstep/multi.h>
#include <lockstep/mutex.h>
#include <lockstep/rwlock.h>
#include <lockstep/semaphore.h>
#include <lockstep/session.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SESSION_MS 2000
#define CAPACITY 3 /* leases of the semaphore */

static struct ls_session session;
static struct ls_mutex mutex;
static struct ls_rwlock rwlock;
static struct ls_semaphore semaphore;
static struct ls_election latch, selector;
static struct ls_multi both;
static struct ls_multi_member members[2];
static struct ls_mutex second;

static int fail(const char *what, int rc)
{
    fprintf(stderr, "contender: %s: %s\n", what, ls_strerror(rc));
    return 1;
}

/* ---- the room: a file that is there while a contender is inside, with its process id ---- */

static const char *room;

static void path_in_room(char path[512], const char *name)
{
    snprintf(path, 512, "%s/%s", room, name);
}

static int open_in_room(const char *name, int flags)
{
    char path[512];
    path_in_room(path, name);
    return open(path, flags, 0644);
}

static void add_line(const char *name, const char *line)
{
    int fd = open_in_room(name, O_WRONLY | O_CREAT | O_APPEND);
    if (fd < 0 || write(fd, line, strlen(line)) < 0) {
        perror(name);
        exit(1);
    }
    close(fd);
}

/* Alive, and no zombie. */
static bool is_alive(long pid)
{
    char path[64], stat[256] = "";
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    int fd = open(path, O_RDONLY);
    if (fd < 0) {
        return false;
    }
    ssize_t size = read(fd, stat, sizeof stat - 1);
    close(fd);
    const char *behind_name = size > 0 ? strrchr(stat, ')') : NULL;
    return behind_name != NULL && strncmp(behind_name, ") Z", 3) != 0;
}

static long age_ms(struct timespec since)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (now.tv_sec - since.tv_sec) * 1000 + (now.tv_nsec - since.tv_nsec) / 1000000;
}

/* A contender that was killed inside has left the file "busy". Linking set the file's ctime: since then it is inside. */
static void look_who_is_inside(const char *name)
{
    char text[32] = "", line[160];
    struct stat status;
    int fd = open_in_room("busy", O_RDONLY);
    if (fd < 0) {
        return;
    }
    ssize_t size = fstat(fd, &status) == 0 ? read(fd, text, sizeof text - 1) : 0;
    close(fd);
    if (size > 0 && is_alive(strtol(text, NULL, 10))) {
        snprintf(line, sizeof line, "%s met %s, inside for %ld ms\n", name, text, age_ms(status.st_ctim));
        add_line("overlaps", line);
    }
}

/* Makes the file with this process id that is linked to "busy". A reader of "busy" finds it whole: a contender that is
 * killed while it writes has not come in yet. */
static void prepare_entry(char path[512])
{
    char text[32];
    snprintf(text, sizeof text, "entry-%ld", (long)getpid());
    path_in_room(path, text);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);
    snprintf(text, sizeof text, "%ld", (long)getpid());
    if (fd >= 0 && write(fd, text, strlen(text)) < 0) {
        perror(path);
        exit(1);
    }
    if (fd >= 0) {
        close(fd);
    }
}

static void enter_room(const char *name, int64_t token)
{
    char line[160], entry[512], busy[512], next[540];
    path_in_room(busy, "busy");
    prepare_entry(entry);
    if (link(entry, busy) < 0) {
        look_who_is_inside(name);
        snprintf(next, sizeof next, "%s-next", entry);
        if (link(entry, next) < 0 || rename(next, busy) < 0) {
            perror("busy");
            exit(1);
        }
    }
    snprintf(line, sizeof line, "%s %" PRId64 "\n", name, token);
    add_line("log", line);
}

static void leave_room(void)
{
    char path[512];
    path_in_room(path, "busy");
    unlink(path);
}

/* ---- the same room with readers in it: a file for each of them, "reader-" and its process id ---- */

static void name_of_reader(char name[32])
{
    snprintf(name, 32, "reader-%ld", (long)getpid());
}

static void enter_as_reader(const char *name)
{
    char file[32], line[128];
    name_of_reader(file);
    close(open_in_room(file, O_WRONLY | O_CREAT));
    look_who_is_inside(name);
    snprintf(line, sizeof line, "%s\n", name);
    add_line("readers", line);
}

static void leave_as_reader(void)
{
    char file[32], path[512];
    name_of_reader(file);
    path_in_room(path, file);
    unlink(path);
}

/* Counts the files in the room whose names are this word and the id of a process that is alive. */
static int count_inside(const char *word)
{
    int inside = 0;
    size_t size = strlen(word);
    DIR *folder = opendir(room);
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
        long pid = strncmp(entry->d_name, word, size) == 0 ? strtol(entry->d_name + size, NULL, 10) : 0;
        inside += pid != 0 && is_alive(pid);
    }
    if (folder != NULL) {
        closedir(folder);
    }
    return inside;
}

static void look_for_readers(void)
{
    for (int readers = count_inside("reader-"); readers > 0; readers--) {
        add_line("overlaps", "reader\n");
    }
}

/* ---- the room of a semaphore: a file "lease-PID-NUMBER" for each lease that somebody has ---- */

static void path_of_lease(char path[512], int number)
{
    snprintf(path, 512, "%s/lease-%ld-%d", room, (long)getpid(), number);
}

static void look_for_leases(void)
{
    if (count_inside("lease-") > CAPACITY) {
        add_line("overlaps", "leases\n");
    }
}

static void enter_with_leases(const char *name, int count)
{
    char path[512], line[128];
    for (int i = 0; i < count; i++) {
        path_of_lease(path, i);
        close(open(path, O_WRONLY | O_CREAT, 0644));
    }
    look_for_leases();
    snprintf(line, sizeof line, "%s\n", name);
    add_line("readers", line);
}

static void leave_with_leases(int count)
{
    char path[512];
    for (int i = 0; i < count; i++) {
        path_of_lease(path, i);
        unlink(path);
    }
}

/* ---- what it does ---- */

static void sleep_ms(int ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000L};
    nanosleep(&time, NULL);
}

static int contend(const char *name, int seconds)
{
    time_t end = time(NULL) + seconds;
    while (time(NULL) < end) {
        int rc = ls_mutex_acquire(&mutex, -1);
        if (rc == LS_OK) {
            enter_room(name, ls_mutex_token(&mutex, ls_env_self(session.env)));
            sleep_ms(2);
            leave_room();
            rc = ls_mutex_release(&mutex);
        }
        if (rc != LS_OK && rc != LS_ELOST && rc != LS_EUNSURE) {
            return fail("the lock", rc);
        }
    }
    return 0;
}

/* What became of a call. A hold that was lost is no mistake: somebody has killed a server, or this process
 * was asleep. */
static bool goes_on(int rc)
{
    return rc == LS_OK || rc == LS_ELOST || rc == LS_EUNSURE;
}

static int read_once(const char *name)
{
    int rc = ls_mutex_acquire(&rwlock.read, -1);
    if (rc == LS_OK) {
        enter_as_reader(name);
        sleep_ms(2);
        leave_as_reader();
        rc = ls_mutex_release(&rwlock.read);
    }
    return rc;
}

/* Stays as a reader, or not. */
static int write_once(const char *name, bool stays)
{
    int rc = ls_mutex_acquire(&rwlock.write, -1);
    if (rc != LS_OK) {
        return rc;
    }
    enter_room(name, ls_mutex_token_by_me(&rwlock.write));
    look_for_readers();
    sleep_ms(2);
    if (stays && ls_mutex_acquire(&rwlock.read, -1) == LS_OK) {
        leave_room();
        enter_as_reader(name);
        rc = ls_mutex_release(&rwlock.write);
        sleep_ms(2);
        look_who_is_inside(name);
        leave_as_reader();
        return goes_on(rc) ? ls_mutex_release(&rwlock.read) : rc;
    }
    leave_room();
    return ls_mutex_release(&rwlock.write);
}

static int share(const char *name, int seconds)
{
    time_t end = time(NULL) + seconds;
    srand((unsigned)getpid());
    while (time(NULL) < end) {
        int what = rand() % 10;
        int rc = what < 5 ? read_once(name) : write_once(name, what < 7);
        if (!goes_on(rc)) {
            return fail("the lock", rc);
        }
    }
    return 0;
}

static int lease_once(const char *name, int count)
{
    int rc = ls_semaphore_acquire(&semaphore, 1, (uint32_t)count, -1);
    if (rc != LS_OK) {
        return rc;
    }
    enter_with_leases(name, count);
    sleep_ms(2);
    leave_with_leases(count);
    for (int i = 0; i < count && goes_on(rc); i++) {
        rc = ls_semaphore_release(&semaphore, (uint64_t)i + 1);
    }
    return rc;
}

/* One lease, or two at once. */
static int lease(const char *name, int seconds)
{
    time_t end = time(NULL) + seconds;
    srand((unsigned)getpid());
    while (time(NULL) < end) {
        int rc = lease_once(name, 1 + rand() % 2);
        if (!goes_on(rc)) {
            return fail("the semaphore", rc);
        }
    }
    return 0;
}

static int take_both(const char *name)
{
    int rc = ls_multi_acquire(&both, -1);
    if (rc != LS_OK) {
        return rc;
    }
    enter_room(name, ls_multi_token(&both, ls_env_self(session.env), 1));
    sleep_ms(2);
    leave_room();
    return ls_multi_release(&both);
}

static int take_second(const char *name)
{
    int rc = ls_mutex_acquire(&second, -1);
    if (rc != LS_OK) {
        return rc;
    }
    enter_room(name, ls_mutex_token_by_me(&second));
    sleep_ms(2);
    leave_room();
    return ls_mutex_release(&second);
}

/* Both locks, or the second one alone. */
static int several(const char *name, int seconds)
{
    time_t end = time(NULL) + seconds;
    srand((unsigned)getpid());
    while (time(NULL) < end) {
        int rc = rand() % 3 ? take_both(name) : take_second(name);
        if (!goes_on(rc)) {
            return fail("the locks", rc);
        }
    }
    return 0;
}

/* The locks of `several` are at PATH/x and PATH/y. */
static int init_several(const char *path)
{
    char first[LS_MUTEX_PATH_SIZE_MAX + 1], last[LS_MUTEX_PATH_SIZE_MAX + 1];
    snprintf(first, sizeof first, "%s/x", path);
    snprintf(last, sizeof last, "%s/y", path);
    int rc = ls_multi_init(&both, members, 2, NULL);
    rc = rc < 0 ? rc : ls_multi_add_mutex(&both, &session, first);
    rc = rc < 0 ? rc : ls_multi_add_mutex(&both, &session, last);
    return rc < 0 ? rc : ls_mutex_init(&second, &session, last, NULL);
}

struct term {
    const char *name;
    time_t end;
};

static int take_term(struct ls_election *election, int64_t token, void *context)
{
    const struct term *term = context;
    (void)election;
    enter_room(term->name, token);
    sleep_ms(2);
    leave_room();
    return time(NULL) < term->end ? 0 : 1;
}

/* Leads over and over. */
static int stand(struct ls_election *election, const char *name, int seconds)
{
    struct term term = {name, time(NULL) + seconds};
    int rc = ls_election_lead(election, take_term, &term, LS_ELECTION_REQUEUE);
    return rc < 0 ? fail("the election", rc) : 0;
}

static int lead_latch(const char *name, int seconds)
{
    return stand(&latch, name, seconds);
}

static int lead_selector(const char *name, int seconds)
{
    return stand(&selector, name, seconds);
}

/* Written on the threads of callbacks, read in the main one. */
static atomic_int listed, asked;
static char first[LS_MUTEX_PATH_SIZE_MAX + 64]; /* the path of the first in the queue */

static void on_participants(struct ls_mutex *of, void *user, int rc, const struct ls_participant *list,
                            int count)
{
    (void)user;
    for (int i = 0; rc == LS_OK && room == NULL && i < count; i++) {
        printf("%s\n", list[i].name);
    }
    fflush(stdout);
    if (rc == LS_OK && count > 0) {
        rc = ls_mutex_contender_path(of, list[0].name, first, sizeof first);
    }
    listed = rc == LS_OK ? 1 : -1;
}

static int list_participants(void)
{
    for (int tries = 0; tries < 100 && listed <= 0; tries++) {
        listed = 0;
        int rc = ls_mutex_participants_start(&mutex, NULL);
        for (int i = 0; rc == LS_OK && listed == 0 && i < 500; i++) {
            sleep_ms(10);
        }
        sleep_ms(listed > 0 ? 0 : 50);
    }
    return listed > 0 ? 0 : fail("the participants", LS_EZK);
}

/* Holds the lock until somebody asks for it. */
static int yield(void)
{
    int rc = ls_mutex_make_revocable(&mutex);
    rc = rc != LS_OK ? rc : ls_mutex_acquire(&mutex, -1);
    if (rc != LS_OK) {
        return fail("the lock", rc);
    }
    puts("held");
    fflush(stdout);
    while (!asked) {
        sleep_ms(10);
    }
    rc = ls_mutex_release(&mutex);
    puts("given back");
    return rc == LS_OK ? 0 : fail("the release", rc);
}

/* Asks the holder for the lock, and takes it. */
static int ask(void)
{
    room = ""; /* nothing is printed */
    if (list_participants() != 0 || first[0] == 0) {
        return fail("the holder", LS_ENOENT);
    }
    int rc = ls_mutex_request_revoke(&session, first);
    rc = rc != LS_OK ? rc : ls_mutex_acquire(&mutex, 20000);
    if (rc != LS_OK) {
        return fail("the request", rc);
    }
    puts("got it");
    return ls_mutex_release(&mutex) == LS_OK ? 0 : 1;
}

/* Leads until its input ends. */
static int hold_term(struct ls_election *election)
{
    int rc = ls_election_set_id(election, "ours", 4);
    rc = rc != LS_OK ? rc : ls_election_start(election);
    rc = rc != LS_OK ? rc : ls_election_await(election, -1);
    if (rc != LS_OK) {
        return fail("the election", rc);
    }
    puts("leads");
    fflush(stdout);
    while (getchar() != EOF) {
    }
    return 0;
}

static int hold_latch(void)
{
    return hold_term(&latch);
}

static int hold_selector(void)
{
    return hold_term(&selector);
}

/* Prints the id of the leader, and in the next lines the ids of all candidates. */
static int print_candidates(struct ls_election *election)
{
    char id[64];
    struct ls_participants list = {0};
    for (int i = 0; i < 500 && ls_session_state(&session) != LS_STATE_CONNECTED; i++) {
        sleep_ms(10);
    }
    int rc = ls_election_leader(election, id, sizeof id);
    rc = rc < 0 ? rc : ls_election_candidates(election, &list);
    if (rc < 0) {
        return fail("the candidates", rc);
    }
    puts(id);
    for (int i = 0; i < list.count; i++) {
        printf("%.*s\n", list.list[i].size, list.list[i].contents);
    }
    ls_participants_free(&list);
    return 0;
}

static int who_latch(void)
{
    return print_candidates(&latch);
}

static int who_selector(void)
{
    return print_candidates(&selector);
}

static void on_revoke(struct ls_mutex *of, uint64_t owner, int64_t token)
{
    (void)of;
    (void)owner;
    (void)token;
    asked = 1;
}

static const struct ls_mutex_ops ops = {.on_participants = on_participants, .on_revoke = on_revoke};
static const struct ls_mutex_options options = {.ops = &ops};
static const struct ls_election_options as_selector = {.style = LS_ELECTION_SELECTOR};

static int usage(void)
{
    fprintf(stderr,
            "usage: contender HOSTS PATH contend|share|lease|several|latch|selector ROOM NAME SECONDS\n"
            "       contender HOSTS PATH list|yield|ask\n"
            "       contender HOSTS PATH hold-latch|hold-selector|who-latch|who-selector\n");
    return 2;
}

/* Takes a lock over and over, or does one thing. */
struct mode {
    const char *name;
    int (*takes)(const char *name, int seconds);
    int (*does)(void);
};

static const struct mode *find_mode(const char *name, bool takes)
{
    static const struct mode modes[] = {{"contend", contend, NULL},
                                        {"share", share, NULL},
                                        {"lease", lease, NULL},
                                        {"several", several, NULL},
                                        {"latch", lead_latch, NULL},
                                        {"selector", lead_selector, NULL},
                                        {"list", NULL, list_participants},
                                        {"yield", NULL, yield},
                                        {"ask", NULL, ask},
                                        {"hold-latch", NULL, hold_latch},
                                        {"hold-selector", NULL, hold_selector},
                                        {"who-latch", NULL, who_latch},
                                        {"who-selector", NULL, who_selector}};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        if (strcmp(name, modes[i].name) == 0 && takes == (modes[i].takes != NULL)) {
            return &modes[i];
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    struct ls_env *env;
    const struct mode *mode = argc == 7 || argc == 4 ? find_mode(argv[3], argc == 7) : NULL;
    if (mode == NULL) {
        return usage();
    }
    zoo_set_debug_level(ZOO_LOG_LEVEL_ERROR);
    int rc = ls_env_pthread_open(&env);
    rc = rc ? rc : ls_session_init(&session, env, argv[1], SESSION_MS, NULL);
    rc = rc ? rc : ls_mutex_init(&mutex, &session, argv[2], &options);
    rc = rc ? rc : ls_rwlock_init(&rwlock, &session, argv[2], &options);
    rc = rc ? rc : ls_semaphore_init(&semaphore, &session, argv[2], CAPACITY, NULL);
    rc = rc ? rc : ls_election_init(&latch, &session, argv[2], NULL);
    rc = rc ? rc : ls_election_init(&selector, &session, argv[2], &as_selector);
    rc = rc ? rc : init_several(argv[2]);
    rc = rc ? rc : ls_session_start(&session);
    if (rc) {
        return fail("the session", rc);
    }
    room = mode->takes != NULL ? argv[4] : NULL;
    int status = mode->takes != NULL ? mode->takes(argv[5], atoi(argv[6])) : mode->does();
    ls_mutex_close(&mutex);
    ls_rwlock_close(&rwlock);
    ls_semaphore_close(&semaphore);
    ls_election_close(&latch);
    ls_election_close(&selector);
    ls_multi_close(&both);
    ls_mutex_close(&second);
    ls_session_close(&session);
    ls_env_pthread_close(env);
    return status;
}
