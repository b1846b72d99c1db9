/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "explore/exact.h"

#include "base/array.h"
#include "base/assert.h"
#include "base/hash_table.h"

#include <lz4.h>
#include <stdlib.h>
#include <string.h>

#define ENTRIES_FIRST 4096u
#define CHUNK_BYTES (4u << 20)
#define STATE_BYTES_MAX (1u << 20)

struct entry {
    uint64_t fingerprint;
    const unsigned char *packed;
    uint32_t packed_size;
};

struct exact {
    struct entry *entry;
    size_t entries, entries_max;
    struct hash_table numbers; /* by fingerprint: number of the entry + 1 */
    unsigned char **chunk;
    size_t chunks, chunks_max, chunk_used;
    size_t bytes_max;
    uint64_t omissions;
    unsigned char packed[LZ4_COMPRESSBOUND(STATE_BYTES_MAX)];
};

size_t exact_bytes(const struct exact *exact)
{
    return sizeof *exact + exact->entries_max * sizeof *exact->entry + hash_table_bytes(&exact->numbers) +
           exact->chunks * CHUNK_BYTES;
}

static bool make_room(struct exact *exact)
{
    size_t more = hash_table_is_full(&exact->numbers) ? hash_table_bytes(&exact->numbers) : 0;
    LS_ASSERT(exact->entries <= exact->entries_max);
    if (exact->entries == exact->entries_max) {
        more += (array_more(exact->entries_max, ENTRIES_FIRST) - exact->entries_max) * sizeof *exact->entry;
    }
    return exact->entries < UINT32_MAX - 1 && (more == 0 || exact_bytes(exact) + more <= exact->bytes_max) &&
           array_room(&exact->entry, exact->entries, &exact->entries_max, sizeof *exact->entry,
                      ENTRIES_FIRST);
}

static bool add_chunk(struct exact *exact)
{
    LS_ASSERT(exact->chunk_used <= CHUNK_BYTES);
    if (exact_bytes(exact) + CHUNK_BYTES > exact->bytes_max ||
        !array_room(&exact->chunk, exact->chunks, &exact->chunks_max, sizeof(void *), 16)) {
        return false;
    }
    exact->chunk[exact->chunks] = malloc(CHUNK_BYTES);
    if (exact->chunk[exact->chunks] == NULL) {
        return false;
    }
    exact->chunks++;
    exact->chunk_used = 0;
    return true;
}

struct exact *exact_open(size_t bytes_max)
{
    struct exact *exact = calloc(1, sizeof *exact);
    if (exact == NULL) {
        return NULL;
    }
    exact->bytes_max = bytes_max;
    if (!hash_table_open(&exact->numbers) || !add_chunk(exact)) {
        exact_close(exact);
        return NULL;
    }
    return exact;
}

void exact_close(struct exact *exact)
{
    if (exact == NULL) {
        return;
    }
    for (size_t i = 0; i < exact->chunks; i++) {
        free(exact->chunk[i]);
    }
    free(exact->chunk);
    hash_table_close(&exact->numbers);
    free(exact->entry);
    free(exact);
}

/* Returns true if the state in exact->packed is stored. Equal bytes are compressed to equal bytes, so
 * compressed states are compared. Sets *twin if the look-up meets a different state with the same
 * fingerprint. */
static bool is_there(struct exact *exact, uint64_t fingerprint, uint32_t packed_size, bool *twin)
{
    for (uint32_t at = 0, number; (number = hash_table_next(&exact->numbers, fingerprint, &at)) != 0;) {
        LS_ASSERT(number <= exact->entries);
        const struct entry *entry = &exact->entry[number - 1];
        if (entry->fingerprint == fingerprint) {
            if (entry->packed_size == packed_size && memcmp(entry->packed, exact->packed, packed_size) == 0) {
                return true;
            }
            *twin = true;
        }
    }
    return false;
}

enum visited_answer exact_add(struct exact *exact, uint64_t fingerprint, const unsigned char *state,
                              size_t size)
{
    bool twin = false;
    int packed = size <= STATE_BYTES_MAX ? LZ4_compress_default((const char *)state, (char *)exact->packed,
                                                                (int)size, (int)sizeof exact->packed)
                                         : 0;
    if (packed <= 0) {
        return VISITED_FULL;
    }
    uint32_t packed_size = (uint32_t)packed;
    if (is_there(exact, fingerprint, packed_size, &twin)) {
        return VISITED_KNOWN;
    }
    if (!make_room(exact) || (exact->chunk_used + packed_size > CHUNK_BYTES && !add_chunk(exact)) ||
        !hash_table_add(&exact->numbers, fingerprint, (uint32_t)exact->entries + 1)) {
        return VISITED_FULL;
    }
    unsigned char *to = exact->chunk[exact->chunks - 1] + exact->chunk_used;
    memcpy(to, exact->packed, packed_size);
    exact->chunk_used += packed_size;
    exact->entry[exact->entries++] =
        (struct entry){.fingerprint = fingerprint, .packed = to, .packed_size = packed_size};
    exact->omissions += twin;
    return VISITED_NEW;
}

uint64_t exact_omissions(const struct exact *exact)
{
    return exact->omissions;
}
