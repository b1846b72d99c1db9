/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Closing under load, on a real server: mutexes whose callbacks ask again and again are closed 10,000 times, and no lock is
 * held after it; sessions with a hundred callers who wait are closed, and their environments right behind. */
#include "lock/claim.h"
#include "stage.h"

#include <stdatomic.h>

#define CLOSES 10000
#define OWNERS 2
#define CALLERS 100
#define ROUNDS 20

static struct {
    atomic_int grants;
    atomic_int answers; /* that are still to come */
} seen;

static void ask(struct ls_mutex *mutex, uint64_t owner)
{
    int rc = ls_mutex_acquire_start(mutex, owner, -1);
    if (rc == LS_OK)
        atomic_fetch_add(&seen.answers, 1);
    else if (rc != LS_ECLOSED)
        abort();
}

static void on_done(struct ls_mutex *mutex, uint64_t owner, const struct ls_outcome *outcome)
{
    atomic_fetch_sub(&seen.answers, 1);
    if (outcome->rc == LS_OK) {
        atomic_fetch_add(&seen.grants, 1);
        if (ls_mutex_release_start(mutex, owner) == LS_OK)
            atomic_fetch_add(&seen.answers, 1);
    } else {
        ask(mutex, owner);
    }
}

static void on_freed(struct ls_mutex *mutex, uint64_t owner, int rc)
{
    (void)rc;
    atomic_fetch_sub(&seen.answers, 1);
    ask(mutex, owner);
}

static void test_mutex_whose_callbacks_ask_again(void **state)
{
    (void)state;
    static const struct ls_mutex_ops ops = {
        .on_done = on_done, .on_freed = on_freed, .on_participants = on_participants};
    static const struct ls_mutex_options options = {.ops = &ops};
    struct client client;
    client_open(&client, "/real/closes/again", &options);
    client_wait_state(&client, LS_STATE_CONNECTED);
    for (int i = 0; i < CLOSES; i++) {
        int before = atomic_load(&seen.grants);
        for (uint64_t owner = 1; owner <= OWNERS; owner++)
            ask(&client.mutex, owner);
        if (i % 4 == 0) /* the others are closed wherever they stand */
            WAIT_UNTIL(atomic_load(&seen.grants) > before);
        assert_int_equal(ls_mutex_close(&client.mutex), LS_OK);
        assert_int_equal(atomic_load(&seen.answers), 0);
        assert_int_equal(ls_mutex_init(&client.mutex, &client.session, "/real/closes/again", &options),
                         LS_OK);
    }
    WAIT_UNTIL(ls_session_idle(&client.session));
    assert_int_equal(count_participants(&client), 0);
    assert_true(atomic_load(&seen.grants) >= CLOSES / 4);
    client_close(&client);
}

/* Under the environment's mutex: how many claims there are. */
static int count_claims(struct client *client)
{
    int count = 0;
    ls_env_lock(client->env);
    for (const struct lock_claim *claim = client->session.claims; claim; claim = claim->next)
        count++;
    ls_env_unlock(client->env);
    return count;
}

/* An environment may be closed as soon as its sessions are, whoever is still on the way back from a call. */
static void test_environment_of_callers_who_return(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        struct client client;
        struct caller caller[CALLERS];
        client_open(&client, "/real/closes/callers", NULL);
        assert_int_equal(ls_mutex_acquire(&client.mutex, -1), LS_OK);
        for (int i = 0; i < CALLERS; i++)
            caller_start(&caller[i], &client, -1, caller_acquire);
        WAIT_UNTIL(count_claims(&client) == CALLERS + 1);
        assert_int_equal(ls_session_close(&client.session), LS_OK);
        assert_int_equal(ls_mutex_close(&client.mutex), LS_OK);
        assert_int_equal(ls_env_pthread_close(client.env), LS_OK);
        for (int i = 0; i < CALLERS; i++)
            assert_int_equal(caller_join(&caller[i]), LS_ECLOSED);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mutex_whose_callbacks_ask_again),
        cmocka_unit_test(test_environment_of_callers_who_return),
    };
    zoo_set_debug_level((ZooLogLevel)0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
