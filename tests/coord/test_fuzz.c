/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Inputs of the fuzzer as worlds of registers: the lock holds in all, and the broken recipes are found. */
#include "base/rng.h"
#include "fuzz/drive.h"
#include "scenario/recipes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define INPUTS 4000
#define BYTES 200

static struct fuzz_driver driver;

/* Does random inputs, at most INPUTS of them, until one is a violation. Returns how many were done. */
static int fuzz(const char *recipe, unsigned *grants)
{
    struct rng rng;
    uint8_t input[BYTES];
    rng_seed(&rng, 3);
    driver.recipe = recipe_find(recipe);
    assert_non_null(driver.recipe);
    *grants = 0;
    for (int i = 0; i < INPUTS; i++) {
        for (size_t at = 0; at < sizeof input; at++) {
            input[at] = (uint8_t)rng_next(&rng);
        }
        enum fuzz_end end = fuzz_run(&driver, input, sizeof input);
        *grants += driver.stats.grants;
        if (end == FUZZ_VIOLATED) {
            return i;
        }
        assert_int_not_equal(end, FUZZ_FAILED);
    }
    return INPUTS;
}

static void the_lock_holds(void **state)
{
    (void)state;
    unsigned grants;
    int done = fuzz("register", &grants);
    if (done < INPUTS) {
        char text[FUZZ_TEXT_MAX];
        text[fuzz_scenario_text("register", driver.header, FUZZ_HEADER, text)] = 0;
        fail_msg("input %d violates something in\n%s", done, text);
    }
    assert_true(grants > INPUTS);
}

static void what_is_broken_is_found(void **state)
{
    (void)state;
    unsigned grants;
    assert_true(fuzz("register-forgets", &grants) < INPUTS);
    assert_true(fuzz("register-polls-once", &grants) < INPUTS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lock_holds),
        cmocka_unit_test(what_is_broken_is_found),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    fuzz_close(&driver);
    return failed;
}
