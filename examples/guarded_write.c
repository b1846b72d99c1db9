/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A write to ZooKeeper that the server takes only while the lock is held: whoever has lost the lock writes nothing, however
 * late it wakes up. usage: guarded_write HOST:PORT */
#include <lockstep/env_pthread.h>
#include <lockstep/mutex.h>
#include <stdio.h>

#define LOCK "/examples/guarded_write"
#define DATA "/examples/written_by" /* outside of the lock's directory */

/* The first writer creates the node. The data names the write, so that to write twice is as good as once. */
static int write_token(struct ls_mutex *mutex, int64_t token)
{
    char data[32], path[sizeof DATA];
    int zk_rc;
    int size = snprintf(data, sizeof data, "%lld", (long long)token);
    zoo_op_result_t result;
    zoo_op_t op;
    zoo_set_op_init(&op, DATA, data, size, -1, NULL);
    int err = ls_mutex_multi(mutex, 1, &op, &result, &zk_rc);
    if (err != LS_EZK || zk_rc != ZNONODE)
        return err;
    zoo_create_op_init(&op, DATA, data, size, &ZOO_OPEN_ACL_UNSAFE, 0, path, sizeof path);
    return ls_mutex_multi(mutex, 1, &op, &result, NULL);
}

static int work(struct ls_session *session, struct ls_mutex *mutex)
{
    struct ls_outcome outcome;
    int err = ls_mutex_acquire_outcome(mutex, 10000, &outcome);
    if (err)
        return err;
    /* Perhaps written: once more over the next link, behind the same check. */
    while ((err = write_token(mutex, outcome.token)) == LS_EUNSURE &&
           !ls_session_wait_connected(session, 10000)) {
    }
    if (!err)
        printf("written by the holder of token %lld\n", (long long)outcome.token);
    int release_err = ls_mutex_release(mutex);
    return err ? err : release_err;
}

static int with_session(struct ls_env *env, const char *hosts)
{
    struct ls_session session;
    struct ls_mutex mutex;
    int err = ls_session_init(&session, env, hosts, 10000, NULL);
    if (!err)
        err = ls_mutex_init(&mutex, &session, LOCK, NULL);
    if (err)
        return err;
    err = ls_session_start(&session);
    if (!err)
        err = ls_session_wait_connected(&session, 10000);
    if (!err)
        err = work(&session, &mutex);
    ls_mutex_close(&mutex);
    ls_session_close(&session);
    return err;
}

int main(int argc, char **argv)
{
    struct ls_env *env;
    if (argc != 2) {
        fprintf(stderr, "usage: guarded_write HOST:PORT\n");
        return 2;
    }
    int err = ls_env_pthread_open(&env);
    if (!err) {
        err = with_session(env, argv[1]);
        ls_env_pthread_close(env);
    }
    if (err)
        fprintf(stderr, "guarded_write: %s\n", ls_strerror(err));
    return err ? 1 : 0;
}
