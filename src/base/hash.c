/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "base/hash.h"

#include <string.h>

#define K0 0x9e3779b97f4a7c15ull
#define K1 0xd1b54a32d192ed03ull
#define K2 0x8cb92ba72f3d8dd7ull
#define K3 0xaef17502108ef2d9ull

/* The 128-bit product folded to 64 bits: every input bit reaches every output bit. */
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

struct hash128 hash_bytes(const void *bytes, size_t size, uint64_t seed)
{
    const unsigned char *at = bytes;
    uint64_t a = fold(seed ^ K0, K1);
    uint64_t b = fold(seed ^ K2, K3);
    uint64_t length = size;
    while (size >= 16) {
        uint64_t x = word(at);
        uint64_t y = word(at + 8);
        a = fold(x ^ K1 ^ a, y ^ K0);
        b = fold(y ^ K3 ^ b, x ^ K2);
        at += 16;
        size -= 16;
    }
    if (size >= 8) {
        uint64_t x = word(at);
        a = fold(x ^ K1 ^ a, K0);
        b = fold(x ^ K3 ^ b, K2);
    }
    struct hash128 h = {fold(a ^ length, b ^ K0), fold(b ^ length, a ^ K2)};
    return h;
}
