/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The inside of canon.h: what a block is worth, and how numbers are ranked. Only canon.c and symmetry.c include this. */
#ifndef BASE_CANON_PART_H
#define BASE_CANON_PART_H

#include "base/canon.h"

#include <stdbool.h>

#define PART_VALUES_MAX 106 /* of one block */
#define PART_RECORDS_MAX 64
#define CUTS_MAX 64
#define SCRATCH_BYTES 65536u
#define PARTS_PER_BLOCK 512u                         /* remembered; a power of two */
#define NUMBER_MAX 1023                              /* of one that is renamed */
#define LINES (CANON_ATTEMPT + CANON_OWNERS_MAX + 1) /* attempts may be nobody's */
#define LINE_ROLE LINES                              /* no numbers: which process is named */
#define QUICK_LINES 8 /* lines and numbers that are ranked by bits; a world of five processes has no others */
#define QUICK_NUMBERS 64
#define OWNER_SHIFT 11 /* in the rank of a number that has an owner */

struct value {
    uint16_t number;
    uint8_t line; /* numbers of one line are ranked among each other: a space, or the attempts of one owner */
    uint8_t bound;
};

/* A record that has no place among others of its kind, see symmetry.h: a hash of its bytes, and its values. */
struct canon_record {
    uint64_t hash;
    uint16_t begin, end;
    uint32_t reserved;
};

/* The numbers of one line in the present state. */
struct line {
    uint16_t last; /* the largest that was noted */
    uint8_t present[NUMBER_MAX + 1];
    uint16_t rank[NUMBER_MAX + 1]; /* how many are present up to this one */
};

/* Its values stand behind it, and then, aligned to 8, its records. */
struct canon_part {
    uint64_t hash; /* of the bytes; 0 = nothing is remembered here */
    uint64_t skeleton;
    uint64_t numbers;            /* a hash of the next */
    uint64_t quick[QUICK_LINES]; /* the numbers that are present, a bit for each */
    uint8_t roles;               /* the processes that are named, a bit for each */
    uint8_t mixed; /* those that are named together with others, in a record or outside of any */
    uint16_t count;
    uint16_t records;
    uint16_t block;
    uint8_t lines; /* a bit for each quick one */
    bool slow;     /* it has others */
    bool refused;
    bool fixed; /* processes cannot change their names here */
};

_Static_assert(QUICK_LINES <= 8, "a bit for each in a byte");

/* Parts are remembered by the hash of the bytes, because the same bytes come back in many states. */
#define PLACE_BYTES                                                                                          \
    (sizeof(struct canon_part) + PART_VALUES_MAX * sizeof(struct value) +                                    \
     PART_RECORDS_MAX * sizeof(struct canon_record))

/* The hash of a part's ranks, by a hash of the part and of the numbers that its lines have. */
struct ranking {
    uint64_t key;
    uint64_t ranks;
};

#define RANKINGS 16384u /* remembered; a power of two */

/* What the lines of a part add to its key, for each set of them: half of the lines in either list. */
struct line_keys {
    uint64_t of_low[1 << QUICK_LINES / 2], of_high[1 << QUICK_LINES / 2];
};

/* A record while its block is shown. */
struct shown_record {
    uint32_t at, size;
    uint32_t salt;
};

/* Bytes of a block that do not count. */
struct cut {
    uint32_t at, size;
};

struct symmetry;

struct canon {
    struct arena *arena;
    unsigned owners;
    uint64_t quick_of_owner[CANON_OWNERS_MAX]; /* the numbers of an owner's sessions, a bit for each */
    canon_show_fn show;
    void *ctx;
    struct symmetry *symmetry; /* NULL: processes keep their names */
    unsigned char *places;     /* of the parts that are remembered */
    /* While a block is shown. */
    struct canon_part *part;
    const unsigned char *block;
    struct shown_record shown[PART_RECORDS_MAX];
    struct canon_record record[PART_RECORDS_MAX];
    bool in_record;
    struct cut cut[CUTS_MAX];
    int cuts;
    /* While states are ranked. */
    const struct canon_part *now[ARENA_BLOCKS_MAX];
    struct line line[LINES];
    uint64_t quick[QUICK_LINES]; /* of the present state */
    struct ranking *rankings;
    /* The state whose neighbours are asked for. */
    struct {
        const struct canon_part *part[ARENA_BLOCKS_MAX];
        uint64_t ranks[ARENA_BLOCKS_MAX];
        uint64_t present[QUICK_LINES]; /* numbers, a bit for each */
        uint64_t twice[QUICK_LINES];   /* those that are present in two blocks or more */
        struct line_keys keys;
        uint64_t skeletons, rank_sum;
        bool plain; /* some part refuses, or is slow */
    } base;
    uint64_t used_lines; /* a bit for each */
    _Alignas(8) unsigned char scratch[SCRATCH_BYTES];
};

static inline struct value *values_of(const struct canon_part *part)
{
    return (struct value *)(uintptr_t)(part + 1);
}

static inline size_t values_bytes(const struct canon_part *part)
{
    return (part->count * sizeof(struct value) + 7) & ~(size_t)7;
}

static inline struct canon_record *records_of(const struct canon_part *part)
{
    return (struct canon_record *)(void *)((unsigned char *)values_of(part) + values_bytes(part));
}

/* What ranks in a part follow from: it, and the numbers that its lines have. */
static inline uint64_t canon_part_key(const struct canon_part *part, const struct line_keys *keys)
{
    unsigned low = (1u << QUICK_LINES / 2) - 1;
    return part->hash + keys->of_low[part->lines & low] + keys->of_high[part->lines >> QUICK_LINES / 2];
}

/* For the numbers of the present state. */
struct line_keys canon_line_keys(const struct canon *canon);

/* The rank of a number among those of its line, or of its owner, once these are known by bits. */
unsigned canon_rank(const struct canon *canon, const struct value *value);

/* Notes and ranks all numbers of a state by counting: line[].rank is valid then. */
void canon_rank_all(struct canon *canon, const struct canon_part *const *parts);

/* ---- symmetry.c ---- */

/* Pointers in these bytes of the scratch to what is the owner's become equal for all owners. */
void symmetry_rewrite(struct canon *canon, uint32_t at, size_t size, int owner);

/* The same for all pointers of a block; then records are taken out of it. */
void symmetry_finish_block(struct canon *canon, int block, uint32_t used);
uint64_t symmetry_seed(const struct canon *canon, int block);
uint64_t symmetry_sum(struct canon *canon, const struct canon_part *const *parts, uint64_t plain);

/* Makes the state that was summed up last the one that others are compared with: what they have in common is not looked up. */
void symmetry_keep(struct canon *canon);
void symmetry_close(struct symmetry *symmetry);

#endif
