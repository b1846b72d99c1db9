/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "base/hash.h"

#include <string.h>

#define K0 0x9e3779b97f4a7c15ull
#define K1 0xd1b54a32d192ed03ull
#define K2 0x8cb92ba72f3d8dd7ull
#define K3 0xaef17502108ef2d9ull

/* Folds the 128-bit product to 64 bits, so that its upper half counts too. */
static inline uint64_t fold(uint64_t a, uint64_t b)
{
    __extension__ typedef unsigned __int128 wide;
    wide product = (wide)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static inline uint64_t word(const unsigned char *at)
{
    uint64_t w;
    memcpy(&w, at, sizeof w);
    return w;
}

uint64_t hash_mix(uint64_t x)
{
    return fold(x ^ K0, K1);
}

static inline uint64_t fold_pair(const unsigned char *at, uint64_t key, uint64_t sum)
{
    return fold(word(at) ^ key, word(at + 8) ^ sum);
}

/* While at least 64 bytes are left, hashes 64 at a time in four independent chains of products. Within a
 * chain each product waits for the product before it. */
uint64_t hash_bytes(const void *bytes, size_t size, uint64_t seed)
{
    const unsigned char *at = bytes;
    uint64_t a = fold(seed ^ K0, K1);
    uint64_t b = a, c = a, d = a;
    uint64_t length = size;
    for (; size >= 64; at += 64, size -= 64) {
        a = fold_pair(at, K0, a);
        b = fold_pair(at + 16, K1, b);
        c = fold_pair(at + 32, K2, c);
        d = fold_pair(at + 48, K3, d);
    }
    a = fold(a ^ K1, c ^ length);
    b = fold(b ^ K2, d ^ K3);
    for (; size >= 16; at += 16, size -= 16) {
        a = fold_pair(at, K1, a);
    }
    if (size >= 8) {
        b = fold(word(at) ^ K2, b ^ K0);
    }
    return fold(a ^ K0, b ^ K1);
}

uint64_t hash_text(const void *text, size_t size, uint64_t seed)
{
    size_t whole = size / 8 * 8;
    uint64_t last[2] = {0, size};
    if (size > whole) {
        memcpy(last, (const char *)text + whole, size - whole);
    }
    return hash_bytes(last, sizeof last, hash_bytes(text, whole, seed));
}
