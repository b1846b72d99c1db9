/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "base/canon.h"

#include "base/hash.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define PART_VALUES_MAX 106 /* of one block */
#define SCRATCH_BYTES 65536u
#define PARTS_PER_BLOCK 512u /* remembered; a power of two */
#define NUMBER_MAX 1023      /* of one that is renamed */
#define OWNERS_MAX 33        /* of attempt ids, nobody included */
#define LINES (CANON_ATTEMPT + OWNERS_MAX)
#define QUICK_LINES 8 /* lines and numbers that are ranked by bits; a world of four processes has no others */
#define QUICK_NUMBERS 64

struct value {
    uint16_t number;
    uint8_t line; /* numbers of one line are ranked among each other: a space, or the attempts of one owner */
    uint8_t bound;
};

/* The numbers of one line in the present state. */
struct line {
    uint16_t last; /* the largest that was noted */
    uint8_t present[NUMBER_MAX + 1];
    uint16_t rank[NUMBER_MAX + 1]; /* how many are present up to this one */
};

/* Its values stand behind it. */
struct canon_part {
    uint64_t hash; /* of the bytes; 0 = nothing is remembered here */
    uint64_t skeleton;
    uint64_t quick[QUICK_LINES]; /* the numbers that are present, a bit for each */
    uint16_t count;
    uint16_t block;
    uint8_t lines; /* a bit for each quick one */
    bool slow;     /* it has others */
    bool refused;
};

_Static_assert(QUICK_LINES <= 8, "a bit for each in a byte");

/* Parts are remembered by the hash of the bytes, because the same bytes come back in many states. */
#define PLACE_BYTES (sizeof(struct canon_part) + PART_VALUES_MAX * sizeof(struct value))

/* The hash of a part's ranks, by a hash of the part and of the numbers that its lines have. */
struct ranking {
    uint64_t key;
    uint64_t ranks;
};

#define RANKINGS 16384u /* remembered; a power of two */

struct canon {
    struct arena *arena;
    canon_show_fn show;
    void *ctx;
    unsigned char *places; /* of the parts that are remembered */
    /* While a block is shown. */
    struct canon_part *part;
    const unsigned char *block;
    /* While states are ranked. */
    const struct canon_part *now[ARENA_BLOCKS_MAX];
    struct line line[LINES];
    uint64_t quick[QUICK_LINES]; /* of the present state */
    struct ranking *rankings;
    /* The state whose neighbours are asked for. */
    struct {
        const struct canon_part *part[ARENA_BLOCKS_MAX];
        uint64_t ranks[ARENA_BLOCKS_MAX];
        uint64_t quick[ARENA_BLOCKS_MAX][QUICK_LINES];
        uint64_t present[QUICK_LINES]; /* numbers, a bit for each */
        uint64_t skeletons, rank_sum;
        bool plain; /* some part refuses, or is slow */
    } base;
    uint64_t used_lines; /* a bit for each */
    _Alignas(8) unsigned char scratch[SCRATCH_BYTES];
};

struct canon *canon_open(struct arena *arena, canon_show_fn show, void *ctx)
{
    struct canon *canon = calloc(1, sizeof *canon);
    if (canon == NULL) {
        return NULL;
    }
    canon->arena = arena;
    canon->show = show;
    canon->ctx = ctx;
    canon->places = calloc((size_t)arena->blocks * PARTS_PER_BLOCK, PLACE_BYTES);
    canon->rankings = calloc(RANKINGS, sizeof *canon->rankings);
    if (canon->places == NULL || canon->rankings == NULL) {
        canon_close(canon);
        return NULL;
    }
    return canon;
}

void canon_close(struct canon *canon)
{
    if (canon != NULL) {
        free(canon->places);
        free(canon->rankings);
        free(canon);
    }
}

static struct value *values_of(const struct canon_part *part)
{
    return (struct value *)(uintptr_t)(part + 1);
}

/* ---- what is shown ---- */

static void take(struct canon *canon, unsigned line, int32_t number, bool bound)
{
    struct canon_part *part = canon->part;
    if (part->count == PART_VALUES_MAX || number < 0 || number > NUMBER_MAX || line >= LINES) {
        part->refused = true;
        return;
    }
    values_of(part)[part->count++] =
        (struct value){.number = (uint16_t)number, .line = (uint8_t)line, .bound = (uint8_t)bound};
    if (line >= QUICK_LINES || number >= QUICK_NUMBERS) {
        part->slow = true;
        return;
    }
    part->lines |= (uint8_t)(1u << line);
    part->quick[line] |= (uint64_t)!bound << number;
}

static void blank(struct canon *canon, const void *where, size_t size, int with)
{
    memset(canon->scratch + ((const unsigned char *)where - canon->block), with, size);
}

void canon_blank(struct canon *canon, const void *where, size_t size)
{
    blank(canon, where, size, 0);
}

void canon_refuse(struct canon *canon)
{
    canon->part->refused = true;
}

void canon_number(struct canon *canon, enum canon_space space, const int32_t *where)
{
    take(canon, space, *where, false);
    blank(canon, where, sizeof *where, 0);
}

void canon_bound(struct canon *canon, enum canon_space space, const int32_t *where)
{
    take(canon, space, *where, true);
    blank(canon, where, sizeof *where, 0);
}

void canon_wide(struct canon *canon, enum canon_space space, const int64_t *where)
{
    take(canon, space, (int32_t)*where, false);
    blank(canon, where, sizeof *where, 0);
}

void canon_sequence(struct canon *canon, const int32_t *where)
{
    take(canon, CANON_SEQUENCE, *where + 1, false);
    blank(canon, where, sizeof *where, 0);
}

static unsigned line_of(unsigned owner)
{
    return CANON_ATTEMPT + owner;
}

void canon_attempt(struct canon *canon, const uint8_t id[16])
{
    uint32_t counter = (uint32_t)id[12] << 24 | (uint32_t)id[13] << 16 | (uint32_t)id[14] << 8 | id[15];
    take(canon, line_of(id[3]), (int32_t)counter, false);
    blank(canon, id + 12, 4, 0);
}

void canon_attempts(struct canon *canon, int owner, const uint32_t *where)
{
    take(canon, line_of((unsigned)owner), (int32_t)*where, true);
    blank(canon, where, sizeof *where, 0);
}

#define DIGITS 10
#define PROTECTION 39 /* "_c_" and a UUID */

static bool read_digits(const char *text, int32_t *number)
{
    int64_t sum = 0;
    for (int i = 0; i < DIGITS; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return false;
        }
        sum = sum * 10 + (text[i] - '0');
    }
    *number = (int32_t)sum;
    return sum < INT32_MAX;
}

static uint32_t read_hex(const char *hex, int digits)
{
    uint32_t number = 0;
    for (int i = 0; i < digits; i++) {
        unsigned digit = (unsigned char)hex[i];
        number = number << 4 | (digit <= '9' ? digit - '0' : (digit | 32u) - 'a' + 10);
    }
    return number;
}

static void show_name(struct canon *canon, const char *name, size_t size)
{
    int32_t sequence;
    if (size >= PROTECTION && memcmp(name, "_c_", 3) == 0) {
        const char *counter = name + PROTECTION - 8;
        take(canon, line_of(read_hex(name + 9, 2)), (int32_t)read_hex(counter, 8), false);
        blank(canon, counter, 8, '0');
        name += PROTECTION;
        size -= PROTECTION;
    }
    if (size >= DIGITS && read_digits(name + size - DIGITS, &sequence)) {
        take(canon, CANON_SEQUENCE, sequence + 1, false);
        blank(canon, name + size - DIGITS, DIGITS, '0');
    }
}

void canon_text(struct canon *canon, const char *text)
{
    for (;;) {
        size_t size = strcspn(text, "/");
        show_name(canon, text, size);
        text += size;
        if (*text == 0) {
            return;
        }
        text++;
    }
}

/* ---- one block ---- */

/* Fills in a part's list and the blanked bytes; returns how many bytes the block has. */
static uint32_t show_block(struct canon *canon, int block, struct canon_part *part)
{
    canon->block = arena_at(canon->arena, block);
    uint32_t used = ((const struct arena_block *)(const void *)canon->block)->used;
    memset(part, 0, sizeof *part);
    part->block = (uint16_t)block;
    if (used > SCRATCH_BYTES) {
        part->refused = true;
        return 0;
    }
    memcpy(canon->scratch, canon->block, used);
    canon->part = part;
    canon->show(canon->ctx, block, canon);
    return used;
}

static const struct canon_part *part_of(struct canon *canon, int block)
{
    uint64_t hash = canon->arena->hash[block];
    size_t place = (size_t)block * PARTS_PER_BLOCK + (hash & (PARTS_PER_BLOCK - 1));
    struct canon_part *part = (struct canon_part *)(void *)(canon->places + place * PLACE_BYTES);
    if (part->hash == hash) {
        return part;
    }
    uint32_t used = show_block(canon, block, part);
    part->hash = hash;
    part->skeleton = hash_bytes(canon->scratch, used, (uint64_t)block + 1);
    return part;
}

const struct canon_part *canon_part(struct canon *canon, int block, size_t *size)
{
    const struct canon_part *part = part_of(canon, block);
    *size = sizeof *part + part->count * sizeof(struct value);
    return part;
}

uint64_t canon_skeleton(const struct canon_part *part)
{
    return part->skeleton;
}

/* ---- all blocks ---- */

static void note_values(struct canon *canon, const struct canon_part *part)
{
    for (uint32_t i = 0; i < part->count; i++) {
        const struct value *value = &values_of(part)[i];
        struct line *line = &canon->line[value->line];
        line->present[value->number] |= !value->bound;
        line->last = value->number > line->last ? value->number : line->last;
        canon->used_lines |= 1ull << value->line;
    }
}

/* Ranks each line and forgets what was present. Zero is no number: its rank is 0, and that of a bound below all is 1. */
static void rank_lines(struct canon *canon)
{
    for (uint64_t left = canon->used_lines; left != 0; left &= left - 1) {
        struct line *line = &canon->line[__builtin_ctzll(left)];
        uint16_t rank = 1;
        for (int number = 1; number <= line->last; number++) {
            rank = (uint16_t)(rank + line->present[number]);
            line->rank[number] = rank;
            line->present[number] = 0;
        }
        line->last = 0;
    }
    canon->used_lines = 0;
}

static void rank_all(struct canon *canon, const struct canon_part *const *parts)
{
    for (int block = 0; block < canon->arena->blocks; block++) {
        note_values(canon, parts[block]);
    }
    rank_lines(canon);
}

/* The hash of the ranks that stand in the scratch. */
static uint64_t hash_ranks(struct canon *canon, size_t count, int block)
{
    uint16_t *rank = (uint16_t *)(void *)canon->scratch;
    while (count % 4 != 0) {
        rank[count++] = 0;
    }
    return hash_bytes(rank, count * sizeof *rank, ~(uint64_t)block);
}

static uint64_t rank_slowly(struct canon *canon, const struct canon_part *const *parts)
{
    uint16_t *to = (uint16_t *)(void *)canon->scratch;
    uint64_t sum = 0;
    rank_all(canon, parts);
    for (int block = 0; block < canon->arena->blocks; block++) {
        const struct canon_part *part = parts[block];
        for (uint32_t i = 0; i < part->count; i++) {
            const struct value *value = &values_of(part)[i];
            to[i] = canon->line[value->line].rank[value->number];
        }
        sum += part->count > 0 ? hash_ranks(canon, part->count, block) : 0;
    }
    return sum;
}

static unsigned ones_of(uint64_t x)
{
    x -= x >> 1 & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (unsigned)(x * 0x0101010101010101u >> 56);
}

static uint64_t rank_part(struct canon *canon, const struct canon_part *part)
{
    uint16_t *to = (uint16_t *)(void *)canon->scratch;
    const struct value *value = values_of(part);
    for (uint32_t i = 0; i < part->count; i++) {
        unsigned number = value[i].number;
        uint64_t present = canon->quick[value[i].line] & ~1ull;
        to[i] = number == 0 ? 0 : (uint16_t)(1 + ones_of(present & ((2ull << number) - 1)));
    }
    return hash_ranks(canon, part->count, part->block);
}

static uint64_t hash_line(const struct canon *canon, int line)
{
    return hash_mix(canon->quick[line] ^ ((uint64_t)line + 1) * 0x9e3779b97f4a7c15u);
}

/* A part's ranks follow from it and from the numbers that its lines have: they are ranked once for each such pair, as long
 * as it is remembered. */
static uint64_t ranks_of(struct canon *canon, const struct canon_part *part, const uint64_t *line_hash)
{
    uint64_t key = part->hash;
    if (part->count == 0) {
        return 0;
    }
    for (unsigned lines = part->lines; lines != 0; lines &= lines - 1) {
        key += line_hash[__builtin_ctz(lines)];
    }
    struct ranking *ranking = &canon->rankings[(key ^ key >> 32) & (RANKINGS - 1)];
    if (ranking->key != key) {
        *ranking = (struct ranking){key, rank_part(canon, part)};
    }
    return ranking->ranks;
}

static void note_base(struct canon *canon, const struct canon_part *const *parts)
{
    memset(canon->base.present, 0, sizeof canon->base.present);
    canon->base.skeletons = 0;
    canon->base.plain = false;
    for (int block = 0; block < canon->arena->blocks; block++) {
        const struct canon_part *part = parts[block];
        for (int line = 0; line < QUICK_LINES; line++) {
            canon->base.quick[block][line] = part->quick[line];
            canon->base.present[line] |= part->quick[line];
        }
        canon->base.part[block] = part;
        canon->base.skeletons += part->skeleton;
        canon->base.plain |= part->slow || part->refused;
    }
}

static uint64_t sum_slowly(struct canon *canon, const struct canon_part *const *parts, uint64_t plain)
{
    uint64_t sum = 0;
    bool refused = false;
    for (int block = 0; block < canon->arena->blocks; block++) {
        sum += parts[block]->skeleton;
        refused = refused || parts[block]->refused;
    }
    return refused ? plain : sum + rank_slowly(canon, parts);
}

uint64_t canon_sum(struct canon *canon, const struct canon_part *const *parts, uint64_t plain)
{
    uint64_t line_hash[QUICK_LINES];
    note_base(canon, parts);
    if (canon->base.plain) {
        return sum_slowly(canon, parts, plain);
    }
    memcpy(canon->quick, canon->base.present, sizeof canon->quick);
    for (int line = 0; line < QUICK_LINES; line++) {
        line_hash[line] = hash_line(canon, line);
    }
    canon->base.rank_sum = 0;
    for (int block = 0; block < canon->arena->blocks; block++) {
        canon->base.ranks[block] = ranks_of(canon, parts[block], line_hash);
        canon->base.rank_sum += canon->base.ranks[block];
    }
    return canon->base.skeletons + canon->base.rank_sum;
}

static uint64_t neighbour_slowly(struct canon *canon, const struct canon_part *const *changed, int count,
                                 uint64_t plain)
{
    const struct canon_part *parts[ARENA_BLOCKS_MAX];
    memcpy(parts, canon->base.part, (size_t)canon->arena->blocks * sizeof(void *));
    for (int i = 0; i < count; i++) {
        parts[changed[i]->block] = changed[i];
    }
    return sum_slowly(canon, parts, plain);
}

/* Which numbers are present in a neighbour. */
static void find_numbers(struct canon *canon, const struct canon_part *const *changed, int count,
                         const bool *other)
{
    uint64_t quick[QUICK_LINES] = {0};
    for (int i = 0; i < count; i++) {
        for (int line = 0; line < QUICK_LINES; line++) {
            quick[line] |= changed[i]->quick[line];
        }
    }
    for (int block = 0; block < canon->arena->blocks; block++) {
        uint64_t mask = other[block] ? 0 : ~0ull;
        for (int line = 0; line < QUICK_LINES; line++) {
            quick[line] |= canon->base.quick[block][line] & mask;
        }
    }
    memcpy(canon->quick, quick, sizeof quick);
}

uint64_t canon_neighbour(struct canon *canon, const struct canon_part *const *changed, int count,
                         uint64_t plain)
{
    uint64_t line_hash[QUICK_LINES];
    bool other[ARENA_BLOCKS_MAX];
    bool slow = canon->base.plain;
    unsigned lines = 0;
    memset(other, 0, (size_t)canon->arena->blocks);
    for (int i = 0; i < count; i++) {
        slow = slow || changed[i]->slow || changed[i]->refused;
        other[changed[i]->block] = true;
    }
    if (slow) {
        return neighbour_slowly(canon, changed, count, plain);
    }
    find_numbers(canon, changed, count, other);
    for (int line = 0; line < QUICK_LINES; line++) {
        lines |= (unsigned)(canon->quick[line] != canon->base.present[line]) << line;
        line_hash[line] = hash_line(canon, line);
    }
    uint64_t sum = canon->base.skeletons + canon->base.rank_sum;
    for (int i = 0; i < count; i++) {
        int block = changed[i]->block;
        sum += changed[i]->skeleton - canon->base.part[block]->skeleton;
        sum += ranks_of(canon, changed[i], line_hash) - canon->base.ranks[block];
    }
    for (int block = 0; lines != 0 && block < canon->arena->blocks; block++) {
        const struct canon_part *part = canon->base.part[block];
        if ((part->lines & lines) != 0 && !other[block]) {
            sum += ranks_of(canon, part, line_hash) - canon->base.ranks[block];
        }
    }
    return sum;
}

static void find_parts(struct canon *canon)
{
    for (int block = 0; block < canon->arena->blocks; block++) {
        canon->now[block] = part_of(canon, block);
    }
}

uint64_t canon_fingerprint(struct canon *canon)
{
    uint64_t plain = arena_fingerprint(canon->arena);
    find_parts(canon);
    return canon_sum(canon, canon->now, plain);
}

/* ---- whole states ---- */

static size_t put_bytes(unsigned char *out, size_t size, size_t at, const void *bytes, size_t count)
{
    if (at + count <= size) {
        memcpy(out + at, bytes, count);
    }
    return at + count;
}

static size_t put_blocks(struct canon *canon, bool blanked, unsigned char *out, size_t size)
{
    static _Alignas(8) unsigned char unused[PLACE_BYTES]; /* a block's list is known already */
    size_t at = 0;
    for (int block = 0; block < canon->arena->blocks; block++) {
        uint32_t used = show_block(canon, block, (struct canon_part *)(void *)unused);
        at = put_bytes(out, size, at, blanked ? canon->scratch : canon->block, used);
    }
    return at;
}

static size_t write_ranks(struct canon *canon)
{
    uint16_t *to = (uint16_t *)(void *)canon->scratch;
    size_t count = 0;
    for (int block = 0; block < canon->arena->blocks; block++) {
        for (uint32_t i = 0; i < canon->now[block]->count; i++) {
            const struct value *value = &values_of(canon->now[block])[i];
            to[count++] = canon->line[value->line].rank[value->number];
        }
    }
    while (count % 4 != 0) {
        to[count++] = 0;
    }
    return count * sizeof *to;
}

size_t canon_bytes(struct canon *canon, unsigned char *out, size_t size)
{
    unsigned char refused = 0;
    arena_fingerprint(canon->arena);
    find_parts(canon);
    for (int block = 0; block < canon->arena->blocks; block++) {
        refused |= canon->now[block]->refused;
    }
    size_t at = put_bytes(out, size, 0, &refused, 1);
    at += put_blocks(canon, !refused, at < size ? out + at : out, at < size ? size - at : 0);
    if (!refused) {
        rank_all(canon, canon->now);
        at = put_bytes(out, size, at, canon->scratch, write_ranks(canon));
    }
    return at;
}
