/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* What callbacks are given is theirs until they return (F46). */
#include "support/fakezk_bench.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define REFUSED 7

static void refuse(int signal)
{
    (void)signal;
    _exit(REFUSED);
}

static bool can_be_read(const void *memory)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        signal(SIGSEGV, refuse);
        _exit(*(const volatile unsigned char *)memory == FAKEZK_POISON ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == REFUSED));
    return WEXITSTATUS(status) == 0;
}

static void test_what_is_kept_of_a_callback_cannot_be_read_in_the_other_run(void **state)
{
    (void)state;
    zhandle_t *zh = bench_connected(0, "w");
    bench_node("/n");
    assert_int_equal(bench_exists(zh, "e", "/n", NULL), ZOK);
    bench_run();
    bench_saw("e 0");
    const void *lent = bench.memory;

    fakezk_lend(1); /* nobody has kept an address */
    assert_true(can_be_read(lent));
    fakezk_lend(0);

    bench_enter(bench_client(zh));
    assert_int_equal(zoo_awexists(zh, "/n", bench_watcher, (void *)lent, bench_stat_done, "k"), ZOK);
    bench_leave();
    fakezk_lend(1);
    assert_false(can_be_read(lent));
    fakezk_lend(0);
    assert_true(can_be_read(lent));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, bench_setup, bench_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_what_is_kept_of_a_callback_cannot_be_read_in_the_other_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
