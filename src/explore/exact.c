/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "explore/exact.h"

#include <lz4.h>
#include <stdlib.h>
#include <string.h>

#define ENTRIES_MIN 4096u
#define CHUNK_BYTES (4u << 20)
#define STATE_BYTES_MAX (1u << 20)

/* Where a state lies, by the order in which they were added. */
struct entry {
    uint64_t fingerprint;
    const unsigned char *packed;
    uint32_t packed_size;
    uint32_t next; /* the next one of the same bucket, plus one; 0 = none */
};

struct exact {
    struct entry *entry;
    uint32_t entries, entries_max; /* the latter a power of two, and the number of buckets */
    uint32_t *bucket;              /* the first entry, plus one; 0 = none */
    unsigned char **chunk;
    size_t chunks, chunk_used;
    size_t bytes, bytes_max;
    uint64_t omissions;
    unsigned char packed[LZ4_COMPRESSBOUND(STATE_BYTES_MAX)];
};

static void hang(struct exact *exact, uint32_t number)
{
    uint32_t *bucket = &exact->bucket[exact->entry[number].fingerprint & (exact->entries_max - 1)];
    exact->entry[number].next = *bucket;
    *bucket = number + 1;
}

static bool grow(struct exact *exact)
{
    uint32_t more = exact->entries_max > 0 ? exact->entries_max * 2 : ENTRIES_MIN;
    size_t bytes = (size_t)more * (sizeof *exact->entry + sizeof *exact->bucket);
    size_t before = (size_t)exact->entries_max * (sizeof *exact->entry + sizeof *exact->bucket);
    if (more < exact->entries_max || exact->bytes + bytes > exact->bytes_max) {
        return false;
    }
    uint32_t *buckets = calloc(more, sizeof *buckets);
    struct entry *entries = buckets != NULL ? realloc(exact->entry, more * sizeof *entries) : NULL;
    if (entries == NULL) {
        free(buckets);
        return false;
    }
    free(exact->bucket);
    exact->bucket = buckets;
    exact->entry = entries;
    exact->entries_max = more;
    exact->bytes += bytes - before;
    for (uint32_t i = 0; i < exact->entries; i++) {
        hang(exact, i);
    }
    return true;
}

static bool add_chunk(struct exact *exact)
{
    if (exact->bytes + CHUNK_BYTES > exact->bytes_max) {
        return false;
    }
    unsigned char **chunks = realloc(exact->chunk, (exact->chunks + 1) * sizeof(unsigned char *));
    if (chunks == NULL) {
        return false;
    }
    exact->chunk = chunks;
    chunks[exact->chunks] = malloc(CHUNK_BYTES);
    if (chunks[exact->chunks] == NULL) {
        return false;
    }
    exact->chunks++;
    exact->chunk_used = 0;
    exact->bytes += CHUNK_BYTES;
    return true;
}

struct exact *exact_open(size_t bytes_max)
{
    struct exact *exact = calloc(1, sizeof *exact);
    if (exact == NULL) {
        return NULL;
    }
    exact->bytes = sizeof *exact;
    exact->bytes_max = bytes_max;
    if (!grow(exact) || !add_chunk(exact)) {
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
    free(exact->bucket);
    free(exact->entry);
    free(exact);
}

/* The same bytes are compressed to the same bytes: what is stored need not be unpacked to be compared. */
static bool is_there(struct exact *exact, uint64_t fingerprint, uint32_t packed_size, bool *twin)
{
    uint32_t number = exact->bucket[fingerprint & (exact->entries_max - 1)];
    while (number != 0) {
        const struct entry *entry = &exact->entry[number - 1];
        if (entry->fingerprint == fingerprint) {
            if (entry->packed_size == packed_size && memcmp(entry->packed, exact->packed, packed_size) == 0) {
                return true;
            }
            *twin = true;
        }
        number = entry->next;
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
    if ((exact->entries == exact->entries_max && !grow(exact)) ||
        (exact->chunk_used + packed_size > CHUNK_BYTES && !add_chunk(exact))) {
        return VISITED_FULL;
    }
    unsigned char *to = exact->chunk[exact->chunks - 1] + exact->chunk_used;
    memcpy(to, exact->packed, packed_size);
    exact->chunk_used += packed_size;
    exact->entry[exact->entries] =
        (struct entry){.fingerprint = fingerprint, .packed = to, .packed_size = packed_size};
    hang(exact, exact->entries++);
    exact->omissions += twin;
    return VISITED_NEW;
}

uint64_t exact_omissions(const struct exact *exact)
{
    return exact->omissions;
}

size_t exact_bytes(const struct exact *exact)
{
    return exact->bytes;
}
