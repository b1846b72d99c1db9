/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The mutator of decisions (src/fuzz/mutate.h) for AFL++: AFL_CUSTOM_MUTATOR_LIBRARY. Beside mutating it trims: decisions are left
 * out, a half of them at a time, then quarters, down to single ones. */
#include "fuzz/mutate.h"

#include <stdlib.h>
#include <string.h>

struct mutator {
    struct rng rng;
    uint8_t out[FUZZ_HEADER + FUZZ_DECISIONS_MAX];
    /* What is being trimmed. */
    uint8_t whole[FUZZ_HEADER + FUZZ_DECISIONS_MAX];
    size_t size;
    size_t first, block; /* decisions that are left out now */
};

/* AFL++ looks for these names. */
void *afl_custom_init(void *afl, unsigned seed);
void afl_custom_deinit(void *data);
size_t afl_custom_fuzz(void *data, uint8_t *in, size_t size, uint8_t **out, uint8_t *other, size_t other_size,
                       size_t max);
int32_t afl_custom_init_trim(void *data, uint8_t *in, size_t size);
size_t afl_custom_trim(void *data, uint8_t **out);
int32_t afl_custom_post_trim(void *data, uint8_t success);

void *afl_custom_init(void *afl, unsigned seed)
{
    (void)afl;
    struct mutator *mutator = calloc(1, sizeof *mutator);
    if (mutator != NULL) {
        rng_seed(&mutator->rng, seed);
    }
    return mutator;
}

void afl_custom_deinit(void *data)
{
    free(data);
}

size_t afl_custom_fuzz(void *data, uint8_t *in, size_t size, uint8_t **out, uint8_t *other, size_t other_size,
                       size_t max)
{
    struct mutator *mutator = data;
    size_t room = max < sizeof mutator->out ? max : sizeof mutator->out;
    *out = mutator->out;
    if (room < FUZZ_HEADER + 2) {
        *out = in;
        return size;
    }
    return fuzz_mutate(&mutator->rng, in, size, other, other_size, mutator->out, room);
}

/* ---- trimming ---- */

/* AFL++ asks until as many rounds are done as this says; how many there will be is not known, so it is 1 for `more`, 0 for none. */
static int32_t rounds_left(const struct mutator *mutator)
{
    return mutator->block > 0;
}

int32_t afl_custom_init_trim(void *data, uint8_t *in, size_t size)
{
    struct mutator *mutator = data;
    size_t count = size <= sizeof mutator->whole ? fuzz_decisions(in, size) : 0;
    mutator->block = count / 2 > 0 ? count / 2 : count;
    mutator->first = 0;
    if (count > 0) {
        memcpy(mutator->whole, in, size);
        mutator->size = size;
    }
    return rounds_left(mutator);
}

size_t afl_custom_trim(void *data, uint8_t **out)
{
    struct mutator *mutator = data;
    *out = mutator->out;
    return fuzz_without(mutator->whole, mutator->size, mutator->first, mutator->block, mutator->out);
}

int32_t afl_custom_post_trim(void *data, uint8_t success)
{
    struct mutator *mutator = data;
    if (success) {
        mutator->size =
            fuzz_without(mutator->whole, mutator->size, mutator->first, mutator->block, mutator->out);
        memcpy(mutator->whole, mutator->out, mutator->size);
    } else {
        mutator->first += mutator->block;
    }
    if (mutator->first >= fuzz_decisions(mutator->whole, mutator->size)) {
        mutator->first = 0;
        mutator->block /= 2;
    }
    return rounds_left(mutator) ? 0 : 1; /* the number of the round that is over; 1 ends it */
}
