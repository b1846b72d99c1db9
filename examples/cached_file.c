/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Five clients share a file, each for 20 rounds. Each client has a session of its own, as if it were a
 * process on another machine. In round N a client wants version N of the file, or a later one:
 * - It reads the file under the read lock, beside other readers.
 * - If the version is too old, it gives the read lock back, takes the write lock, and looks again. If no
 *   other client has written the file meanwhile, it does.
 * - It goes from the write lock to the read lock, so that no other client writes before it has read the
 *   file.
 *
 * usage: cached_file HOST:PORT FILE [--no-lock]
 *   --no-lock   no client takes a lock: clients find half a file, or write a version twice */
#include "clients.h"

#include <lockstep/rwlock.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { CLIENTS = 5, ROUNDS = 20, WRITE_MS = 3, PATIENCE_MS = 20000 };

static const char *hosts, *file_name;
static bool locking = true;
static atomic_int reads, writes, halves;

/* ---- the file: the version at its begin and at its end ---- */

/* Returns the version, 0 if there is no file yet, or -1 for half a file. */
static int read_version(void)
{
    int begin = 0, end = 0;
    FILE *file = fopen(file_name, "r");
    if (!file)
        return 0;
    int found = fscanf(file, "begin %d end %d", &begin, &end);
    fclose(file);
    return found == 2 && begin == end ? begin : -1;
}

static bool write_version(int version)
{
    struct timespec pause = {.tv_nsec = WRITE_MS * 1000000L};
    FILE *file = fopen(file_name, "w");
    if (!file)
        return false;
    bool written = fprintf(file, "begin %d\n", version) > 0 && fflush(file) == 0;
    nanosleep(&pause, NULL);
    written = fprintf(file, "end %d\n", version) > 0 && written;
    atomic_fetch_add(&writes, 1);
    return fclose(file) == 0 && written;
}

/* ---- the clients ---- */

struct user {
    struct client client; /* first: run() finds the user by it */
    struct ls_rwlock lock;
};

static int acquire(struct ls_mutex *half)
{
    return locking ? ls_mutex_acquire(half, PATIENCE_MS) : 0;
}

static int release(struct ls_mutex *half)
{
    return locking ? ls_mutex_release(half) : 0;
}

/* Counts what the client sees. */
static bool is_fresh(int wanted)
{
    int version = read_version();
    atomic_fetch_add(&reads, 1);
    atomic_fetch_add(&halves, version < 0);
    return version >= wanted;
}

/* Returns with the read lock. */
static int refresh(struct user *user, int version)
{
    int err = acquire(&user->lock.write);
    if (err)
        return err;
    if (!is_fresh(version) && !write_version(version))
        perror(file_name);
    err = acquire(&user->lock.read);
    int release_err = release(&user->lock.write);
    return err ? err : release_err;
}

static int one_round(struct user *user, int version)
{
    int err = acquire(&user->lock.read);
    if (!err && !is_fresh(version)) {
        err = release(&user->lock.read);
        if (!err)
            err = refresh(user, version);
        if (!err && !is_fresh(version))
            printf("client %d: version %d was not there\n", user->client.number, version);
    }
    return err ? err : release(&user->lock.read);
}

static int run(struct client *client)
{
    struct user *user = (struct user *)client;
    int err = ls_rwlock_init(&user->lock, &client->session, "/examples/cached_file", NULL);
    if (err)
        return err;
    for (int version = 1; !err && version <= ROUNDS; version++)
        err = one_round(user, version);
    ls_rwlock_close(&user->lock);
    return err;
}

/* ---- all of it ---- */

static bool parse(int argc, char **argv)
{
    locking = argc != 4;
    if (argc < 3 || argc > 4 || argv[1][0] == '-' || (argc == 4 && strcmp(argv[3], "--no-lock") != 0))
        return false;
    hosts = argv[1];
    file_name = argv[2];
    return true;
}

int main(int argc, char **argv)
{
    static struct user users[CLIENTS];
    int failed = 0;
    if (!parse(argc, argv)) {
        fprintf(stderr, "usage: cached_file HOST:PORT FILE [--no-lock]\n");
        return 2;
    }
    remove(file_name);
    for (int i = 0; i < CLIENTS; i++) {
        users[i].client = (struct client){.kind = "client", .number = i + 1, .hosts = hosts, .run = run};
        if (!client_start(&users[i].client))
            return 1;
    }
    for (int i = 0; i < CLIENTS; i++)
        failed += client_join(&users[i].client) != 0;
    printf("%d versions written %d times, read %d times, %d times half a file\n", ROUNDS, writes, reads,
           halves);
    return failed || halves || writes != ROUNDS ? 1 : 0;
}
