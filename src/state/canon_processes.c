/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "state/canon.h"

#include "base/assert.h"
#include "base/hash.h"
#include "state/canon_internal.h"

#include <stdlib.h>
#include <string.h>

#define HASHES 65536u /* places of a cache; a power of two */
#define SHARES 8192u  /* likewise */

/* Stand-ins for the name of a process; PLACE_FIRST is the first place of the order. */
enum { PLACE_NOBODY, PLACE_ME, PLACE_ANOTHER, PLACE_FIRST };

struct naming {
    _Alignas(8) uint8_t place[8];
};

_Static_assert(CANON_PROCESSES_MAX <= 7, "the places are one word, with a byte to spare for recall_part()");

/* Sums over the pieces of a part that name one process, or none. The part is of a block of all processes. */
struct shares {
    uint64_t key;
    uint64_t of[CANON_PROCESSES_MAX]; /* by process: of hashes with the process as "me" */
    uint64_t of_nobody;
};

/* Hashes of a state's parts that do not depend on the order of the processes. */
struct seen {
    uint64_t key[ARENA_BLOCKS_MAX];         /* by block: canon_part_key() */
    uint64_t own[ARENA_BLOCKS_MAX];         /* by block of one process: its hash with the owner's `first` */
    struct shares shares[ARENA_BLOCKS_MAX]; /* by block of all processes */
};

struct canon_processes {
    struct canon_layout layout;
    struct ranking *hashes;
    struct shares *shares;
    struct naming first[CANON_PROCESSES_MAX]; /* by process: it is "me", and each other one is "another" */
    /* By set of processes: a mask of their bytes in a naming. */
    uint64_t bytes_of[1 << CANON_PROCESSES_MAX];
    bool by_counting; /* the state has slow numbers (canon_internal.h); then nothing is cached */
    bool is_seen;     /* `now` is valid in the blocks that differ from `base` */
    struct seen now, base;
    const struct seen *seen[ARENA_BLOCKS_MAX]; /* by block: &now or &base, which is valid for it */
    uint64_t alone[CANON_PROCESSES_MAX];       /* by process: sum of its blocks and of the shares of it */
    uint64_t of_nobody;
};

#define MIX_NAMES 0x9e3779b97f4a7c15u

static struct naming seen_by(const struct naming *naming, int me)
{
    LS_ASSERT(me >= 0 && me < CANON_PROCESSES_MAX);
    struct naming seen = *naming;
    seen.place[me] = PLACE_ME;
    return seen;
}

static int process_count(const struct canon *canon)
{
    return canon->owners < CANON_PROCESSES_MAX ? (int)canon->owners : CANON_PROCESSES_MAX;
}

bool canon_processes_open(struct canon *canon, const struct canon_layout *layout)
{
    LS_ASSERT(canon->processes == NULL && canon->owners <= CANON_PROCESSES_MAX);
    struct canon_processes *processes = calloc(1, sizeof *processes);
    if (processes == NULL) {
        return false;
    }
    processes->layout = *layout;
    processes->hashes = calloc(HASHES, sizeof *processes->hashes);
    processes->shares = aligned_alloc(64, SHARES * sizeof *processes->shares);
    canon->processes = processes;
    if (processes->hashes == NULL || processes->shares == NULL) {
        return false; /* canon_close() frees the rest */
    }
    memset(processes->shares, 0, SHARES * sizeof *processes->shares);
    struct naming nobody = {{0}};
    for (int p = 0; p < process_count(canon); p++) {
        nobody.place[p] = PLACE_ANOTHER;
        for (unsigned set = 0; set < 1u << CANON_PROCESSES_MAX; set++) {
            ((uint8_t *)&processes->bytes_of[set])[p] = (set >> p & 1u) != 0 ? 0xff : 0;
        }
    }
    for (int p = 0; p < process_count(canon); p++) {
        processes->first[p] = seen_by(&nobody, p);
    }
    return true;
}

void canon_processes_close(struct canon_processes *processes)
{
    if (processes != NULL) {
        free(processes->hashes);
        free(processes->shares);
        free(processes);
    }
}

uint64_t canon_processes_seed(const struct canon *canon, int block)
{
    LS_ASSERT(canon->processes->layout.alike[block] < canon->arena->blocks);
    return (uint64_t)canon->processes->layout.alike[block] + 1;
}

static int block_of(const struct arena *arena, uint64_t address)
{
    uint64_t base = (uint64_t)(uintptr_t)arena->base;
    if (address < base || address >= base + arena->size) {
        return -1;
    }
    for (int block = 0; block < arena->blocks; block++) {
        if (address >= base + arena->offset[block] &&
            address < base + arena->offset[block] + arena->capacity[block]) {
            return block;
        }
    }
    return -1;
}

static int self_of(const struct canon *canon, uint64_t address)
{
    for (unsigned p = 0; p < canon->owners; p++) {
        if ((uint64_t)(uintptr_t)canon->processes->layout.self[p] == address) {
            return (int)p;
        }
    }
    return -1;
}

/* Returns a pointer into the blocks of `owner`, or to its `self`, in a form that is the same for all
 * processes: kind of block and offset. A pointer to another process stays as it is, and then all processes
 * keep their names. Any other word stays as it is. */
static uint64_t without_name(struct canon *canon, int owner, uint64_t word)
{
    const struct canon_layout *layout = &canon->processes->layout;
    int block = block_of(canon->arena, word);
    int whose = block >= 0 ? layout->owner[block] : self_of(canon, word);
    if (whose < 0) {
        return word;
    }
    if (whose != owner) {
        canon->part->fixed = true;
        return word;
    }
    uint64_t base = (uint64_t)(uintptr_t)canon->arena->base;
    uint64_t offset = block >= 0 ? word - base - canon->arena->offset[block] : 0;
    uint64_t kind = block >= 0 ? layout->alike[block] + 1u : 0;
    return ~(kind << 32 | offset);
}

void canon_processes_rewrite(struct canon *canon, uint32_t at, size_t size, int owner)
{
    LS_ASSERT(at % 8 == 0 && at + size <= SCRATCH_BYTES);
    uint64_t base = (uint64_t)(uintptr_t)canon->arena->base;
    uint64_t end = base + canon->arena->size;
    for (size_t stop = at + size; at + 8 <= stop; at += 8) {
        uint64_t word;
        memcpy(&word, canon->scratch + at, sizeof word);
        if (word >= base && word < end) {
            word = without_name(canon, owner, word);
            memcpy(canon->scratch + at, &word, sizeof word);
        }
    }
}

/* Moves the bytes of each record out of the block: they become a hash, and zeros in the block. */
static void take_records(struct canon *canon)
{
    struct canon_part *part = canon->part;
    LS_ASSERT(!canon->in_record);
    for (int i = 0; i < part->records; i++) {
        const struct shown_record *shown = &canon->shown[i];
        static _Alignas(8) unsigned char bytes[SCRATCH_BYTES];
        size_t padded = (shown->size + 7u) & ~7u;
        LS_ASSERT(canon->record[i].begin <= canon->record[i].end && canon->record[i].end <= part->count);
        LS_ASSERT(shown->at + shown->size <= SCRATCH_BYTES);
        memset(bytes + (padded > 8 ? padded - 8 : 0), 0, 8);
        memcpy(bytes, canon->scratch + shown->at, shown->size);
        memset(canon->scratch + shown->at, 0, shown->size);
        canon->record[i].hash = hash_bytes(bytes, padded, hash_mix(shown->salt + 1));
        canon->record[i].reserved = 0;
    }
    memcpy(records_of(part), canon->record, part->records * sizeof *canon->record);
}

static unsigned rank_of(const struct canon *canon, const struct value *value)
{
    if (value->line == LINE_ROLE) {
        return 0;
    }
    unsigned rank = canon->processes->by_counting ? canon->line[value->line].rank[value->number]
                                                  : canon_rank(canon, value);
    return value->line == CANON_SESSION ? rank & ((1u << OWNER_SHIFT) - 1) : rank;
}

/* Returns the process that a value names, or -1. */
static int process_of(const struct canon *canon, const struct value *value)
{
    if (value->line == LINE_ROLE) {
        return value->number - 1;
    }
    if (value->line == CANON_SESSION) {
        return value->number > 0 ? (value->number - 1) % (int)canon->owners : -1;
    }
    return value->line >= CANON_ATTEMPT && value->line < LINES - 1 ? value->line - CANON_ATTEMPT : -1;
}

static uint64_t hash_values(const struct canon *canon, const struct value *value, int count,
                            const struct naming *naming, uint64_t seed)
{
    LS_ASSERT(count >= 0 && count <= PART_VALUES_MAX);
    static _Alignas(8) uint16_t code[PART_VALUES_MAX + 4];
    int padded = 0;
    for (; padded < count; padded++) {
        int process = process_of(canon, &value[padded]);
        unsigned stands =
            process < 0 || process >= (int)canon->owners ? PLACE_NOBODY : naming->place[process];
        code[padded] = (uint16_t)(stands << OWNER_SHIFT | rank_of(canon, &value[padded]));
    }
    while (padded % 4 != 0) {
        code[padded++] = 0;
    }
    return hash_mix(hash_bytes(code, (size_t)padded * sizeof *code, seed));
}

static unsigned roles_of(const struct canon *canon, const struct value *value, int count)
{
    unsigned roles = 0;
    for (int i = 0; i < count; i++) {
        int process = process_of(canon, &value[i]);
        roles |= process >= 0 && process < process_count(canon) ? 1u << process : 0;
    }
    return roles;
}

/* A record of a part, or all of the part that is in no record. */
struct piece {
    const struct value *value;
    int count;
    unsigned roles;
    uint64_t seed;
};

static struct piece piece_of(const struct canon *canon, const struct value *value, int count, uint64_t seed)
{
    return (struct piece){value, count, roles_of(canon, value, count), seed};
}

/* Lists all pieces of a part, valid until the next call. */
static int list_pieces(const struct canon *canon, const struct canon_part *part, const struct piece **list)
{
    static struct value rest[PART_VALUES_MAX];
    static struct piece piece[PART_RECORDS_MAX + 1];
    const struct value *value = values_of(part);
    const struct canon_record *record = records_of(part);
    int at = 0, count = 0;
    for (int i = 0; i < part->records; i++) {
        LS_ASSERT(at <= record[i].begin && record[i].begin <= record[i].end);
        while (at < record[i].begin) {
            rest[count++] = value[at++];
        }
        piece[i] = piece_of(canon, value + at, record[i].end - at, record[i].hash);
        at = record[i].end;
    }
    LS_ASSERT(at <= part->count);
    while (at < part->count) {
        rest[count++] = value[at++];
    }
    piece[part->records] = piece_of(canon, rest, count, part->skeleton);
    *list = piece;
    return part->records + 1;
}

static bool is_mixed(unsigned roles)
{
    return (roles & (roles - 1)) != 0;
}

static void note_mixed(const struct canon *canon, struct canon_part *part)
{
    const struct piece *piece;
    int count = list_pieces(canon, part, &piece);
    part->mixed = 0;
    for (int i = 0; i < count; i++) {
        part->mixed = (uint8_t)(part->mixed | (is_mixed(piece[i].roles) ? piece[i].roles : 0));
    }
    LS_ASSERT((part->mixed & ~part->roles) == 0);
}

void canon_processes_finish_block(struct canon *canon, int block, uint32_t used)
{
    canon_processes_rewrite(canon, 0, used, canon->processes->layout.owner[block]);
    take_records(canon);
    note_mixed(canon, canon->part);
}

static uint64_t hash_piece(const struct canon *canon, const struct piece *piece, const struct naming *naming)
{
    return hash_values(canon, piece->value, piece->count, naming, piece->seed);
}

enum choice { ALL_PIECES, MIXED_PIECES };

/* Returns the sum of the hashes of the chosen pieces that name `me`; of all chosen pieces if `me` is -1. */
static uint64_t hash_part(const struct canon *canon, const struct canon_part *part,
                          const struct naming *naming, enum choice choice, int me)
{
    const struct piece *piece;
    int count = list_pieces(canon, part, &piece);
    uint64_t sum = 0;
    for (int i = 0; i < count; i++) {
        bool chosen = choice == ALL_PIECES || is_mixed(piece[i].roles);
        if (chosen && (me < 0 || (piece[i].roles >> me & 1u) != 0)) {
            sum += hash_piece(canon, &piece[i], naming);
        }
    }
    return sum;
}

/* Cached hash_part(). Key: part, present numbers of its words, stand-ins that it contains, choice, me. */
static uint64_t recall_part(const struct canon *canon, const struct canon_part *part,
                            const struct naming *naming, enum choice choice, int me)
{
    struct canon_processes *processes = canon->processes;
    uint64_t names;
    LS_ASSERT(me < CANON_PROCESSES_MAX);
    if (processes->by_counting) {
        return hash_part(canon, part, naming, choice, me);
    }
    memcpy(&names, naming->place, sizeof names);
    names &= processes->bytes_of[choice == ALL_PIECES ? part->roles : part->mixed];
    uint64_t key = hash_mix(processes->now.key[part->block] ^
                            (names | (uint64_t)(me + 1) << 56 | (uint64_t)choice << 60) * MIX_NAMES);
    struct ranking *known = &processes->hashes[key & (HASHES - 1)];
    if (known->key != key) {
        *known = (struct ranking){key, hash_part(canon, part, naming, choice, me)};
    }
    return known->ranks;
}

static void find_shares(const struct canon *canon, const struct canon_part *part, struct shares *shares)
{
    const struct piece *piece;
    int count = list_pieces(canon, part, &piece);
    memset(shares, 0, sizeof *shares);
    for (int i = 0; i < count; i++) {
        if (piece[i].roles == 0) {
            shares->of_nobody += hash_piece(canon, &piece[i], &canon->processes->first[0]);
        } else if (!is_mixed(piece[i].roles)) {
            int p = __builtin_ctz(piece[i].roles);
            LS_ASSERT(p < process_count(canon));
            shares->of[p] += hash_piece(canon, &piece[i], &canon->processes->first[p]);
        }
    }
}

static const struct shares *recall_shares(const struct canon *canon, const struct canon_part *part)
{
    static struct shares found;
    struct canon_processes *processes = canon->processes;
    if (processes->by_counting) {
        find_shares(canon, part, &found);
        return &found;
    }
    uint64_t key = hash_mix(processes->now.key[part->block]);
    struct shares *known = &processes->shares[key & (SHARES - 1)];
    if (known->key != key) {
        find_shares(canon, part, known);
        known->key = key;
    }
    return known;
}

static void see_block(const struct canon *canon, const struct canon_part *part, int block)
{
    struct canon_processes *processes = canon->processes;
    int owner = processes->layout.owner[block];
    if (owner >= 0) {
        processes->now.own[block] = recall_part(canon, part, &processes->first[owner], ALL_PIECES, -1);
    } else {
        processes->now.shares[block] = *recall_shares(canon, part);
    }
}

static void sum_alone(const struct canon *canon)
{
    struct canon_processes *processes = canon->processes;
    uint64_t *alone = processes->alone;
    memset(alone, 0, sizeof processes->alone);
    processes->of_nobody = 0;
    for (int block = 0; block < canon->arena->blocks; block++) {
        const struct seen *seen = processes->seen[block];
        int owner = processes->layout.owner[block];
        if (owner >= 0) {
            LS_ASSERT(owner < process_count(canon));
            alone[owner] += seen->own[block];
            continue;
        }
        processes->of_nobody += seen->shares[block].of_nobody;
        for (int p = 0; p < CANON_PROCESSES_MAX; p++) {
            alone[p] += seen->shares[block].of[p];
        }
    }
}

/* Finds the hashes of all blocks. A block with the key that it has in the base has the hashes of the base. */
static void see(const struct canon *canon, const struct canon_part *const *parts)
{
    struct canon_processes *processes = canon->processes;
    processes->is_seen = !processes->by_counting;
    for (int block = 0; block < canon->arena->blocks; block++) {
        bool same = processes->now.key[block] == processes->base.key[block] && !processes->by_counting;
        processes->seen[block] = same ? &processes->base : &processes->now;
        if (!same) {
            see_block(canon, parts[block], block);
        }
    }
    sum_alone(canon);
}

/* Computes the first colours: every other process is "another". */
static void find_first_colors(const struct canon *canon, const struct canon_part *const *parts,
                              uint64_t *color)
{
    const struct canon_processes *processes = canon->processes;
    memcpy(color, processes->alone, sizeof processes->alone);
    for (int block = 0; block < canon->arena->blocks; block++) {
        unsigned mixed = processes->layout.owner[block] < 0 ? parts[block]->mixed : 0;
        for (; mixed != 0; mixed &= mixed - 1) {
            int p = __builtin_ctz(mixed);
            color[p] += recall_part(canon, parts[block], &processes->first[p], MIXED_PIECES, p);
        }
    }
}

/* A process to be sorted, by class and then by colour. A class is a set of processes not yet told apart. */
struct ranked {
    uint8_t class;
    uint8_t process;
    uint64_t color;
};

static uint64_t color_of(const struct canon *canon, const struct canon_part *const *parts, int me,
                         const struct naming *others)
{
    const struct canon_processes *processes = canon->processes;
    struct naming naming = seen_by(others, me);
    uint64_t sum = 0;
    for (int block = 0; block < canon->arena->blocks; block++) {
        if (processes->layout.owner[block] == me) {
            sum += recall_part(canon, parts[block], &naming, ALL_PIECES, -1);
        } else if (processes->layout.owner[block] < 0) {
            sum += processes->seen[block]->shares[block].of[me];
            if ((parts[block]->mixed >> me & 1u) != 0) {
                sum += recall_part(canon, parts[block], &naming, MIXED_PIECES, me);
            }
        }
    }
    return sum;
}

static bool is_before(const struct ranked *a, const struct ranked *b)
{
    return a->class != b->class ? a->class < b->class : a->color < b->color;
}

static void sort_ranked(struct ranked *ranked, int count)
{
    for (int i = 1; i < count; i++) {
        struct ranked moved = ranked[i];
        int k = i;
        for (; k > 0 && is_before(&moved, &ranked[k - 1]); k--) {
            ranked[k] = ranked[k - 1];
        }
        ranked[k] = moved;
    }
}

/* Splits classes by the colours of their members. Returns the number of classes. */
static int split_classes(uint8_t *class, const uint64_t *color, int count)
{
    struct ranked ranked[CANON_PROCESSES_MAX] = {{0}};
    int classes = 0;
    for (int p = 0; p < count; p++) {
        ranked[p] = (struct ranked){class[p], (uint8_t)p, color[p]};
    }
    sort_ranked(ranked, count);
    for (int i = 0; i < count; i++) {
        classes += i > 0 && is_before(&ranked[i - 1], &ranked[i]);
        class[ranked[i].process] = (uint8_t)classes;
    }
    LS_ASSERT(classes < count);
    return classes + 1;
}

/* Splits classes by colours in which other processes are named by class. Repeats that as long as it splits
 * any, and some class has several members. Returns the number of classes. */
static int refine(const struct canon *canon, const struct canon_part *const *parts, uint8_t *class,
                  int classes)
{
    uint64_t color[CANON_PROCESSES_MAX];
    int count = process_count(canon), before;
    do {
        struct naming others = {{0}};
        before = classes;
        for (int p = 0; p < count; p++) {
            others.place[p] = (uint8_t)(PLACE_ANOTHER + class[p]);
        }
        for (int p = 0; p < count; p++) {
            color[p] = color_of(canon, parts, p, &others);
        }
        classes = split_classes(class, color, count);
        LS_ASSERT(classes >= before);
    } while (classes > before && classes < count);
    return classes;
}

/* Returns the difference that the names of other processes make to the hash of a process's block. */
static uint64_t more_of_own(const struct canon *canon, const struct canon_part *part, int owner,
                            const struct naming *naming)
{
    if ((part->roles & ~(1u << owner)) == 0) {
        return 0;
    }
    struct naming named = seen_by(naming, owner);
    return recall_part(canon, part, &named, ALL_PIECES, -1) -
           canon->processes->seen[part->block]->own[part->block];
}

/* Returns the fingerprint for an order of the processes. The sum of each process's own parts is mixed with
 * its place. Mixed pieces name processes by their places. */
static uint64_t sum_in_places(const struct canon *canon, const struct canon_part *const *parts,
                              const struct naming *naming)
{
    const struct canon_processes *processes = canon->processes;
    uint64_t own[CANON_PROCESSES_MAX];
    uint64_t sum = processes->of_nobody;
    memcpy(own, processes->alone, sizeof own);
    for (int block = 0; block < canon->arena->blocks; block++) {
        int owner = processes->layout.owner[block];
        LS_ASSERT(parts[block]->block == block);
        if (owner >= 0) {
            own[owner] += more_of_own(canon, parts[block], owner, naming);
        } else if (parts[block]->mixed != 0) {
            sum += recall_part(canon, parts[block], naming, MIXED_PIECES, -1);
        }
    }
    for (int p = 0; p < process_count(canon); p++) {
        sum += hash_mix(own[p] ^ hash_mix(naming->place[p]));
    }
    return sum;
}

/* Finds the numbers, the keys of the parts, and whether names are fixed. False if some part is refused. */
static bool look_at(struct canon *canon, const struct canon_part *const *parts, bool *fixed)
{
    struct canon_processes *processes = canon->processes;
    bool refused = false;
    processes->by_counting = processes->is_seen = *fixed = false;
    memset(&canon->quick, 0, sizeof canon->quick);
    for (int block = 0; block < canon->arena->blocks; block++) {
        const struct canon_part *part = parts[block];
        refused |= part->refused;
        *fixed |= part->fixed;
        processes->by_counting |= part->slow;
        for (int word = 0; word < QUICK_WORDS; word++) {
            canon->quick.word[word] |= part->quick.word[word];
        }
    }
    canon->as_it_is = refused;
    if (refused) {
        return false;
    }
    if (processes->by_counting) {
        canon_rank_all(canon, parts);
    }
    struct word_keys keys;
    canon_word_keys(canon, &keys);
    for (int block = 0; block < canon->arena->blocks; block++) {
        processes->now.key[block] = canon_part_key(parts[block], &keys);
    }
    return true;
}

static uint64_t sum_in_classes(const struct canon *canon, const struct canon_part *const *parts,
                               const uint8_t *class)
{
    LS_ASSERT(class[0] < process_count(canon));
    struct naming naming = {{0}};
    for (int p = 0; p < process_count(canon); p++) {
        naming.place[p] = (uint8_t)(PLACE_FIRST + class[p]);
    }
    return sum_in_places(canon, parts, &naming);
}

static int tied_class(const uint8_t *class, int count)
{
    int members[CANON_PROCESSES_MAX] = {0};
    int tied = 0;
    for (int p = 0; p < count; p++) {
        members[class[p]]++;
    }
    while (members[tied] == 1) {
        LS_ASSERT(tied + 1 < count);
        tied++;
    }
    return tied;
}

/* Returns the least fingerprint of the orders that colours leave. In the first class with several members,
 * each member is put before the others once. */
static uint64_t least_sum(const struct canon *canon, const struct canon_part *const *parts, uint8_t *class,
                          int classes)
{
    int count = process_count(canon);
    classes = refine(canon, parts, class, classes);
    if (classes == count) {
        return sum_in_classes(canon, parts, class);
    }
    LS_ASSERT(classes < count);
    int tied = tied_class(class, count);
    uint64_t least = UINT64_MAX;
    for (int first = 0; first < count; first++) {
        uint8_t split[CANON_PROCESSES_MAX] = {0};
        if (class[first] != tied) {
            continue;
        }
        for (int p = 0; p < count; p++) {
            split[p] = (uint8_t)(class[p] + (class[p] > tied || (class[p] == tied && p != first)));
        }
        uint64_t sum = least_sum(canon, parts, split, classes + 1);
        least = sum < least ? sum : least;
    }
    return least;
}

uint64_t canon_processes_sum(struct canon *canon, const struct canon_part *const *parts, uint64_t plain)
{
    uint8_t class[CANON_PROCESSES_MAX] = {0};
    uint64_t color[CANON_PROCESSES_MAX];
    int count = process_count(canon);
    bool fixed;
    if (!look_at(canon, parts, &fixed)) {
        return plain;
    }
    see(canon, parts);
    if (fixed) {
        for (int p = 0; p < count; p++) {
            class[p] = (uint8_t)p;
        }
        return sum_in_classes(canon, parts, class);
    }
    find_first_colors(canon, parts, color);
    int classes = split_classes(class, color, count);
    return classes == count ? sum_in_classes(canon, parts, class) : least_sum(canon, parts, class, classes);
}

void canon_processes_keep(struct canon *canon)
{
    const struct seen *now = &canon->processes->now;
    struct seen *base = &canon->processes->base;
    LS_ASSERT(now->key[0] != 0 || !canon->processes->is_seen);
    for (int block = 0; block < canon->arena->blocks && canon->processes->is_seen; block++) {
        if (now->key[block] != base->key[block]) {
            base->key[block] = now->key[block];
            base->own[block] = now->own[block];
            base->shares[block] = now->shares[block];
        }
    }
}

uint64_t canon_processes_under(struct canon *canon, const uint8_t *to)
{
    const struct canon_part **parts = canon->now;
    struct naming naming = {{0}};
    bool fixed;
    uint64_t plain = arena_fingerprint(canon->arena);
    for (int block = 0; block < canon->arena->blocks; block++) {
        size_t size;
        parts[block] = canon_part(canon, block, &size);
    }
    if (!look_at(canon, parts, &fixed)) {
        return plain;
    }
    see(canon, parts);
    for (int p = 0; p < process_count(canon); p++) {
        naming.place[p] = (uint8_t)(PLACE_FIRST + (fixed ? p : to[p]));
    }
    return sum_in_places(canon, parts, &naming);
}
