/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The inputs of slow_drive_afl.sh, as a mutator for AFL++: nearly all are quick. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* AFL++ looks for these names. */
void *afl_custom_init(void *afl, unsigned seed);
void afl_custom_deinit(void *data);
size_t afl_custom_fuzz(void *data, uint8_t *in, size_t size, uint8_t **out, uint8_t *other, size_t other_size,
                       size_t max);

struct inputs {
    unsigned count;
    uint8_t byte;
};

void *afl_custom_init(void *afl, unsigned seed)
{
    (void)afl;
    (void)seed;
    return calloc(1, sizeof(struct inputs));
}

void afl_custom_deinit(void *data)
{
    free(data);
}

size_t afl_custom_fuzz(void *data, uint8_t *in, size_t size, uint8_t **out, uint8_t *other, size_t other_size,
                       size_t max)
{
    struct inputs *inputs = data;
    (void)in;
    (void)size;
    (void)other;
    (void)other_size;
    (void)max;
    inputs->count++;
    inputs->byte = inputs->count % 30000 == 0   ? 'f'
                   : inputs->count % 20000 == 0 ? 'h'
                   : inputs->count % 1000 == 0  ? 's'
                                                : '0';
    *out = &inputs->byte;
    return 1;
}
