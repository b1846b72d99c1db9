/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The inside of canon.h: what a block is worth, and how numbers are ranked. Only canon.c (numbers) and
 * canon_processes.c (names of processes) include this. */
#ifndef STATE_CANON_INSIDE_H
#define STATE_CANON_INSIDE_H

#include "base/hash.h"
#include "state/canon.h"

#include <stdbool.h>

#define PART_VALUES_MAX 106 /* of one block */
#define PART_RECORDS_MAX 64
#define CUTS_MAX 64
#define SCRATCH_BYTES 65536u
#define PARTS_PER_BLOCK 256u                         /* remembered; a power of two */
#define NUMBER_MAX 1023                              /* of one that is renamed */
#define LINES (CANON_ATTEMPT + CANON_OWNERS_MAX + 1) /* attempts may be nobody's */
#define LINE_ROLE LINES                              /* no numbers: which process is named */
#define QUICK_WORDS 4 /* of numbers that are ranked by bits: of each space one, attempts share the last */
#define QUICK_NUMBERS 64
#define QUICK_OWNERS 5 /* of attempts; a world of five processes has no others */
#define QUICK_ATTEMPTS 12
#define BLOCKS_PER_WORD (64 / QUICK_WORDS)
#define OWNER_SHIFT 11 /* in the rank of a number that has an owner */

struct value {
    uint16_t number;
    uint8_t line; /* numbers of one line are ranked among each other: a space, or the attempts of one owner */
    uint8_t bound;
};

/* A record that has no place among others of its kind, see canon.h: a hash of its bytes, and its values. */
struct canon_record {
    uint64_t hash;
    uint16_t begin, end;
    uint32_t reserved;
};

/* Numbers that are present, a bit for each; pairs of words are for one operation on both. */
typedef uint64_t word_pair __attribute__((vector_size(16), aligned(8), may_alias));
union quick {
    uint64_t word[QUICK_WORDS];
    word_pair pair[QUICK_WORDS / 2];
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
    union quick quick;
    uint64_t attempts; /* those bits of the last word that are of the owners whose attempts it has */
    uint8_t roles;     /* the processes that are named, a bit for each */
    uint8_t mixed;     /* those that are named together with others, in a record or outside of any */
    uint8_t count;
    uint8_t records;
    uint8_t block;
    uint8_t words;    /* a bit for each word in which it has numbers, or bounds */
    bool slow : 1;    /* it has others */
    bool refused : 1; /* it has some that cannot be shown */
    bool fixed : 1;   /* processes cannot change their names here */
};

_Static_assert(QUICK_WORDS == CANON_ATTEMPT + 1 && QUICK_OWNERS * QUICK_ATTEMPTS <= 64,
               "a bit for each in a word");
_Static_assert(PART_VALUES_MAX <= UINT8_MAX && PART_RECORDS_MAX <= UINT8_MAX && ARENA_BLOCKS_MAX <= UINT8_MAX,
               "all are counted in bytes");
_Static_assert(sizeof(struct canon_part) == 64, "as much as memory gives at once");

/* Parts are remembered by the hash of the bytes, because the same bytes come back in many states. */
#define PLACE_BYTES                                                                                          \
    (sizeof(struct canon_part) + PART_VALUES_MAX * sizeof(struct value) +                                    \
     PART_RECORDS_MAX * sizeof(struct canon_record))

/* The hash of a part's ranks, by a hash of the part and of the numbers that its words have. */
struct ranking {
    uint64_t key;
    uint64_t ranks;
};

#define RANKINGS 16384u /* remembered; a power of two */

/* What the words of a part add to its key, for each set of those that it has as a whole. */
struct word_keys {
    uint64_t of[1 << CANON_ATTEMPT];
    uint64_t attempts; /* the last word itself */
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

struct canon_processes;

struct canon {
    struct arena *arena;
    unsigned owners;
    uint64_t quick_of_owner[CANON_OWNERS_MAX]; /* the numbers of an owner's sessions, a bit for each */
    canon_show_fn show;
    void *ctx;
    struct canon_processes *processes; /* NULL: processes keep their names */
    unsigned char *places;             /* of the parts that are remembered */
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
    union quick quick; /* of the present state */
    struct ranking *rankings;
    /* The state whose neighbours are asked for. */
    struct {
        const struct canon_part *part[ARENA_BLOCKS_MAX];
        union quick present;
        union quick twice, thrice; /* those that are present in so many blocks or more */
        uint64_t words[ARENA_BLOCKS_MAX / BLOCKS_PER_WORD]; /* of each block's part, four bits */
        uint64_t skeletons, rank_sum;
        bool plain; /* some part refuses, or is slow */
        /* Of the last one that was not plain, so that its successor need not look up what is the same. */
        uint64_t hash[ARENA_BLOCKS_MAX]; /* of its parts; 0 = none */
        uint64_t ranks[ARENA_BLOCKS_MAX];
        union quick ranked;
        struct word_keys keys;
    } base;
    uint64_t used_lines; /* a bit for each */
    bool as_it_is;       /* so the last state was compared */
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

/* What ranks in a part follow from: it, and the numbers that its words have. */
static inline uint64_t canon_part_key(const struct canon_part *part, const struct word_keys *keys)
{
    unsigned whole = part->words & ((1u << CANON_ATTEMPT) - 1);
    return part->hash + keys->of[whole] + (keys->attempts & part->attempts) * 0x9e3779b97f4a7c15u;
}

/* For the numbers of the present state. */
static inline void canon_word_keys(const struct canon *canon, struct word_keys *keys)
{
    keys->attempts = canon->quick.word[CANON_ATTEMPT];
    keys->of[0] = 0;
    for (unsigned i = 0; i < CANON_ATTEMPT; i++) {
        uint64_t hash = hash_mix(canon->quick.word[i] ^ (i + 1ull) * 0x9e3779b97f4a7c15u);
        for (unsigned set = 0; set < 1u << i; set++) {
            keys->of[set | 1u << i] = keys->of[set] + hash;
        }
    }
}

/* The rank of a number among those of its line, or of its owner, once these are known by bits. */
unsigned canon_rank(const struct canon *canon, const struct value *value);

/* Notes and ranks all numbers of a state by counting: line[].rank is valid then. */
void canon_rank_all(struct canon *canon, const struct canon_part *const *parts);

/* ---- canon_processes.c ---- */

/* Pointers in these bytes of the scratch to what is the owner's become equal for all owners. */
void canon_processes_rewrite(struct canon *canon, uint32_t at, size_t size, int owner);

/* The same for all pointers of a block; then records are taken out of it. */
void canon_processes_finish_block(struct canon *canon, int block, uint32_t used);
uint64_t canon_processes_seed(const struct canon *canon, int block);
uint64_t canon_processes_sum(struct canon *canon, const struct canon_part *const *parts, uint64_t plain);

/* Makes the state that was summed up last the one that others are compared with: what they have in common is not looked up. */
void canon_processes_keep(struct canon *canon);
void canon_processes_close(struct canon_processes *processes);

#endif
