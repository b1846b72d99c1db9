/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Memory of a pool, beyond the small pieces and beyond one large page. */
#include "base/huge_pages.h"
#include "base/pool.h"

/* clang-format off */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
/* clang-format on */
#include <string.h>

#define BITS 3000
#define BIT_BYTES 2001

static void what_is_taken_stays_where_it_is(void **state)
{
    static unsigned char *bit[BITS];
    struct pool pool = {0};
    (void)state;
    for (int i = 0; i < BITS; i++) {
        bit[i] = pool_take(&pool, BIT_BYTES);
        assert_non_null(bit[i]);
        assert_int_equal((uintptr_t)bit[i] % 8, 0);
        memset(bit[i], i & 255, BIT_BYTES);
    }
    for (int i = 0; i < BITS; i++) {
        assert_int_equal(bit[i][0], i & 255);
        assert_int_equal(bit[i][BIT_BYTES - 1], i & 255);
    }
    assert_true(pool.bytes >= (size_t)BITS * BIT_BYTES);
    pool_clear(&pool);
    assert_int_equal(pool.bytes, 0);
}

static void more_than_a_large_page_is_one_piece(void **state)
{
    struct pool pool = {0};
    size_t size = 2 * HUGE_PAGE_BYTES + 8;
    (void)state;
    unsigned char *at = pool_take(&pool, size);
    assert_non_null(at);
    memset(at, 1, size);
    pool_clear(&pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_taken_stays_where_it_is),
        cmocka_unit_test(more_than_a_large_page_is_one_piece),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
