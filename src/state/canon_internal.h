/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The inside of canon.h, for canon.c (numbers) and canon_processes.c (names of processes) only.
 *
 * A *quick* number is a bit in a word of its part; the bits up to it in the words of all parts give its rank.
 * If a part has another number, it is *slow*: then the state's numbers are counted in `struct line`. */
#ifndef STATE_CANON_INTERNAL_H
#define STATE_CANON_INTERNAL_H

#include "base/hash.h"
#include "state/canon.h"

#include <stdbool.h>

#define PART_VALUES_MAX 106 /* numbers and names of a block */
#define PART_RECORDS_MAX 64
#define CUTS_MAX 64
#define SCRATCH_BYTES 65536u
#define PARTS_PER_BLOCK 256u /* parts of one block that are cached; a power of two */
#define NUMBER_MAX 1023
#define LINES (CANON_ATTEMPT + CANON_OWNERS_MAX + 1) /* the last one: attempts without an owner */
#define LINE_ROLE LINES                              /* in place of a line: the value names a process */
#define QUICK_WORDS 4 /* one for each space; attempts of all owners share the last one */
#define QUICK_NUMBERS 64
#define QUICK_OWNERS 5 /* owners whose attempts can be quick */
#define QUICK_ATTEMPTS 12
#define BLOCKS_PER_WORD (64 / QUICK_WORDS)
#define OWNER_SHIFT 11 /* in ranks of sessions: bits below the owner */

struct value {
    uint16_t number;
    uint8_t line; /* index: a space, the attempts of one owner, or LINE_ROLE; ranks count within a line */
    uint8_t bound;
};

/* A record, see canon_record(): a hash of its bytes, and its values by index in the part's list. */
struct canon_record {
    uint64_t hash;
    uint16_t begin, end;
    uint32_t reserved;
};

/* A set of quick numbers, a bit for each. A pair of words takes part in one vector operation. */
typedef uint64_t word_pair __attribute__((vector_size(16), aligned(8), may_alias));
union quick {
    uint64_t word[QUICK_WORDS];
    word_pair pair[QUICK_WORDS / 2];
};

/* The numbers of one line in a state. */
struct line {
    uint16_t last;
    uint8_t present[NUMBER_MAX + 1];
    /* By number: 1 + how many numbers up to it are present; 0 for 0. Of sessions: see rank_sessions(). */
    uint16_t rank[NUMBER_MAX + 1];
};

/* Its values lie behind it, and then, aligned to 8, its records. */
struct canon_part {
    uint64_t hash;     /* hash of the content; 0 = an empty place of the cache */
    uint64_t skeleton; /* hash of the content's bytes without numbers, names and records */
    union quick quick; /* its quick numbers without bounds */
    uint64_t attempts; /* all bits of the last word of owners whose attempts it has */
    uint8_t roles;     /* set of the processes that it names */
    uint8_t mixed; /* of these, those named with another one in a record, or together outside of records */
    uint8_t count;
    uint8_t records;
    uint8_t block;
    uint8_t words; /* set of the words in which it has quick numbers or bounds */
    bool slow : 1;
    bool refused : 1; /* see canon_is_refused() */
    bool fixed : 1;   /* it has a pointer into another process's block: no process may change its name */
};

_Static_assert(QUICK_WORDS == CANON_ATTEMPT + 1 && QUICK_OWNERS * QUICK_ATTEMPTS <= 64,
               "a bit for each in a word");
_Static_assert(PART_VALUES_MAX <= UINT8_MAX && PART_RECORDS_MAX <= UINT8_MAX && ARENA_BLOCKS_MAX <= UINT8_MAX,
               "all are counted in bytes");
_Static_assert(sizeof(struct canon_part) == 64, "as much as memory gives at once");

/* A place in the cache of parts. Its key is the hash of the content, which is the same in many states. */
#define PLACE_BYTES                                                                                          \
    (sizeof(struct canon_part) + PART_VALUES_MAX * sizeof(struct value) +                                    \
     PART_RECORDS_MAX * sizeof(struct canon_record))

struct ranking {
    uint64_t key; /* canon_part_key() for the present numbers */
    uint64_t ranks;
};

#define RANKINGS 16384u /* a power of two */

/* Summands of canon_part_key() that follow from the present numbers. */
struct word_keys {
    uint64_t of[1 << CANON_ATTEMPT]; /* by set of words, without the last one */
    uint64_t attempts;               /* the last word itself */
};

struct shown_record {
    uint32_t at, size;
    uint32_t salt;
};

struct cut {
    uint32_t at, size;
};

struct canon_processes;

struct canon {
    struct arena *arena;
    unsigned owners;
    uint64_t quick_of_owner[CANON_OWNERS_MAX]; /* by owner: set of the quick numbers of its sessions */
    canon_show_fn show;
    void *ctx;
    struct canon_processes *processes; /* NULL = processes keep their names */
    unsigned char *places;
    /* Valid while a block is shown. */
    struct canon_part *part;
    const unsigned char *block;
    struct shown_record shown[PART_RECORDS_MAX];
    struct canon_record record[PART_RECORDS_MAX];
    bool in_record;
    struct cut cut[CUTS_MAX];
    int cuts;
    /* Valid while a state is ranked. */
    const struct canon_part *now[ARENA_BLOCKS_MAX];
    struct line line[LINES];
    union quick quick; /* of the present state */
    struct ranking *rankings;
    /* The base: the state of the last canon_sum(). */
    struct {
        const struct canon_part *part[ARENA_BLOCKS_MAX];
        union quick present;
        union quick twice, thrice; /* numbers in at least two, and in at least three blocks */
        uint64_t words[ARENA_BLOCKS_MAX / BLOCKS_PER_WORD]; /* `words` of the parts, four bits each */
        uint64_t skeletons, rank_sum;
        bool plain; /* some part is refused or slow */
        /* Of the last base that was not plain: the next one looks up only what differs. */
        uint64_t hash[ARENA_BLOCKS_MAX]; /* of its parts; 0 = none */
        uint64_t ranks[ARENA_BLOCKS_MAX];
        union quick ranked;
        struct word_keys keys;
    } base;
    uint64_t used_lines; /* set of lines of which numbers were noted */
    bool as_it_is;       /* see canon_is_refused() */
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

/* Returns a hash of the part and of the words in which it has numbers. These words have the numbers of all
 * parts, and the part's ranks follow from them. */
static inline uint64_t canon_part_key(const struct canon_part *part, const struct word_keys *keys)
{
    unsigned whole = part->words & ((1u << CANON_ATTEMPT) - 1);
    return part->hash + keys->of[whole] + (keys->attempts & part->attempts) * 0x9e3779b97f4a7c15u;
}

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

unsigned canon_rank(const struct canon *canon, const struct value *value);

/* Ranks all numbers of a state by counting. Makes line[].rank valid. */
void canon_rank_all(struct canon *canon, const struct canon_part *const *parts);

/* Rewrites pointers into the owner's blocks, in these bytes of the scratch, to be equal for all owners. */
void canon_processes_rewrite(struct canon *canon, uint32_t at, size_t size, int owner);

/* Rewrites the pointers of a block, and then replaces each record by its hash, and its bytes by zeros. */
void canon_processes_finish_block(struct canon *canon, int block, uint32_t used);

/* Returns the seed of a block's skeleton, which blocks of one kind share. */
uint64_t canon_processes_seed(const struct canon *canon, int block);

/* Returns the fingerprint of a state up to numbers and names; `plain` is the one without renaming. */
uint64_t canon_processes_sum(struct canon *canon, const struct canon_part *const *parts, uint64_t plain);

/* Makes the state of the last sum the base, unless a part of it is slow or refused. Later sums look up only
 * blocks that differ from the base. */
void canon_processes_keep(struct canon *canon);
void canon_processes_close(struct canon_processes *processes);

#endif
