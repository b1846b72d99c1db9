/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "state/bitstate.h"

#include "base/assert.h"
#include "base/hash.h"
#include "base/huge_pages.h"

#include <stdatomic.h>
#include <sys/mman.h>

#define BITS_OF_STATE 3
#define WORD_BITS 64
#define SECOND 0x9e3779b97f4a7c15ull /* for a second hash: the step between a state's bits */
#define PARTS 4096                   /* summands in place of an integral */

struct bitstate {
    _Atomic uint64_t *word;
    uint64_t bits;
};

static void *map_pages(size_t bytes, bool shared)
{
    int flags = (shared ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS | MAP_NORESERVE;
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    return at != MAP_FAILED ? at : NULL;
}

struct bitstate *bitstate_open(size_t bytes, bool shared)
{
    LS_ASSERT(bytes > 0);
    size_t whole = (bytes + sizeof(uint64_t) - 1) / sizeof(uint64_t) * sizeof(uint64_t);
    struct bitstate *bits = map_pages(sizeof *bits, shared);
    if (bits == NULL) {
        return NULL;
    }
    bits->bits = (uint64_t)whole * 8;
    LS_ASSERT(bits->bits % WORD_BITS == 0);
    bits->word = map_pages(whole, shared);
    if (bits->word == NULL) {
        bitstate_close(bits);
        return NULL;
    }
    huge_pages((void *)bits->word, whole); /* each access misses the caches, but need not miss the TLB */
    return bits;
}

void bitstate_close(struct bitstate *bits)
{
    if (bits == NULL) {
        return;
    }
    if (bits->word != NULL) {
        munmap((void *)bits->word, bitstate_bytes(bits));
    }
    munmap(bits, sizeof *bits);
}

size_t bitstate_bytes(const struct bitstate *bits)
{
    return (size_t)(bits->bits / 8);
}

struct places {
    uint64_t at, step;
};

static struct places places_of(uint64_t fingerprint)
{
    return (struct places){hash_mix(fingerprint), hash_mix(fingerprint ^ SECOND) | 1};
}

static uint64_t next_bit(const struct bitstate *bits, struct places *places)
{
    __extension__ typedef unsigned __int128 wide;
    uint64_t at = places->at;
    places->at += places->step;
    return (uint64_t)(((wide)at * bits->bits) >> 64);
}

void bitstate_prefetch(const struct bitstate *bits, uint64_t fingerprint)
{
    struct places places = places_of(fingerprint);
    for (int i = 0; i < BITS_OF_STATE; i++) {
        __builtin_prefetch((const void *)&bits->word[next_bit(bits, &places) / WORD_BITS], 1);
    }
}

bool bitstate_add(struct bitstate *bits, uint64_t fingerprint)
{
    struct places places = places_of(fingerprint);
    bool added = false;
    for (int i = 0; i < BITS_OF_STATE; i++) {
        uint64_t bit = next_bit(bits, &places);
        uint64_t mask = (uint64_t)1 << bit % WORD_BITS;
        _Atomic uint64_t *word = &bits->word[bit / WORD_BITS];
        if (!(atomic_load_explicit(word, memory_order_relaxed) & mask)) {
            added |= !(atomic_fetch_or_explicit(word, mask, memory_order_relaxed) & mask);
        }
    }
    return added;
}

bool bitstate_has(const struct bitstate *bits, uint64_t fingerprint)
{
    struct places places = places_of(fingerprint);
    bool has = true;
    for (int i = 0; i < BITS_OF_STATE; i++) {
        uint64_t bit = next_bit(bits, &places);
        has =
            has &&
            (atomic_load_explicit(&bits->word[bit / WORD_BITS], memory_order_relaxed) >> bit % WORD_BITS & 1);
    }
    return has;
}

double bitstate_expected_omissions(size_t bytes, uint64_t states)
{
    double sum = 0, unset = 1, part = (double)states / PARTS;
    double bits = (double)bytes * 8;
    for (int i = 0; i < PARTS; i++) {
        double set = 1 - unset;
        double chance = set * set * set;                 /* chance that all bits of a new state are set */
        double looked_up = part / (1 - chance);          /* new states met while `part` of them are added */
        double tries = BITS_OF_STATE * looked_up / bits; /* how often each bit is set */
        sum += looked_up - part;
        unset /= 1 + tries + tries * tries / 2; /* e^tries */
    }
    return sum;
}
