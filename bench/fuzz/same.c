/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A mutator for AFL++ that makes the same input each time, one byte of zero: a world without decisions. */
#include <stddef.h>
#include <stdint.h>

/* AFL++ looks for these names. */
void *afl_custom_init(void *afl, unsigned seed);
void afl_custom_deinit(void *data);
size_t afl_custom_fuzz(void *data, uint8_t *in, size_t size, uint8_t **out, uint8_t *other, size_t other_size,
                       size_t max);

void *afl_custom_init(void *afl, unsigned seed)
{
    (void)seed;
    return afl;
}

void afl_custom_deinit(void *data)
{
    (void)data;
}

size_t afl_custom_fuzz(void *data, uint8_t *in, size_t size, uint8_t **out, uint8_t *other, size_t other_size,
                       size_t max)
{
    static uint8_t zero[1];
    (void)data;
    (void)in;
    (void)size;
    (void)other;
    (void)other_size;
    (void)max;
    *out = zero;
    return sizeof zero;
}
