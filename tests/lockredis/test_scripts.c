/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The digests by which the lock library for Redis names its scripts are those of their texts. */
#include "lockredis/internal.h"
#include <openssl/sha.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void digest_is_of_the_text(void **state)
{
    const char *text, *digest;
    int scripts = 0;
    (void)state;
    for (; (text = lockredis_request_script(scripts, &digest)) != NULL; scripts++) {
        unsigned char bytes[SHA_DIGEST_LENGTH];
        char digits[2 * SHA_DIGEST_LENGTH + 1];
        SHA1((const unsigned char *)text, strlen(text), bytes);
        for (size_t i = 0; i < SHA_DIGEST_LENGTH; i++) {
            snprintf(digits + 2 * i, 3, "%02x", bytes[i]);
        }
        assert_string_equal(digest, digits);
    }
    assert_int_equal(scripts, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(digest_is_of_the_text)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
