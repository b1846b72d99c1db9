/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "base/symmetry.h"

#include "base/canon_part.h"
#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

#define HASHES 131072u /* remembered; a power of two */

/* What stands for a process where it is named. */
typedef uint8_t place_list[SYMMETRY_PROCESSES_MAX];

enum { PLACE_NOBODY, PLACE_ME, PLACE_ANOTHER, PLACE_FIRST };

struct symmetry {
    struct symmetry_layout layout;
    struct ranking *hashes;
    bool by_counting; /* numbers of the present state are too large for bits */
    uint64_t line_hash[QUICK_LINES];
};

bool symmetry_open(struct canon *canon, const struct symmetry_layout *layout)
{
    struct symmetry *symmetry = calloc(1, sizeof *symmetry);
    if (symmetry == NULL) {
        return false;
    }
    symmetry->layout = *layout;
    symmetry->hashes = calloc(HASHES, sizeof *symmetry->hashes);
    if (symmetry->hashes == NULL) {
        free(symmetry);
        return false;
    }
    canon->symmetry = symmetry;
    return true;
}

static int process_count(const struct canon *canon)
{
    return canon->owners < SYMMETRY_PROCESSES_MAX ? (int)canon->owners : SYMMETRY_PROCESSES_MAX;
}

void symmetry_close(struct symmetry *symmetry)
{
    if (symmetry != NULL) {
        free(symmetry->hashes);
        free(symmetry);
    }
}

/* ---- a block ---- */

uint64_t symmetry_seed(const struct canon *canon, int block)
{
    return (uint64_t)canon->symmetry->layout.alike[block] + 1;
}

/* The block that an address lies in, -1 = none. */
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

/* The process that an address outside of all blocks stands for, -1 = nobody. */
static int self_of(const struct canon *canon, uint64_t address)
{
    for (unsigned p = 0; p < canon->owners; p++) {
        if ((uint64_t)(uintptr_t)canon->symmetry->layout.self[p] == address) {
            return (int)p;
        }
    }
    return -1;
}

/* Where a pointer leads, said in a way that is the same for all processes. Pointers to what is another's are left as they
 * are, and then all have to keep their names. */
static uint64_t without_name(struct canon *canon, int owner, uint64_t word)
{
    const struct symmetry_layout *layout = &canon->symmetry->layout;
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

void symmetry_rewrite(struct canon *canon, uint32_t at, size_t size, int owner)
{
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

/* Takes the records' bytes out of the block's. */
static void take_records(struct canon *canon)
{
    struct canon_part *part = canon->part;
    for (int i = 0; i < part->records; i++) {
        const struct shown_record *shown = &canon->shown[i];
        static _Alignas(8) unsigned char bytes[SCRATCH_BYTES];
        size_t padded = (shown->size + 7u) & ~7u;
        memset(bytes + (padded > 8 ? padded - 8 : 0), 0, 8);
        memcpy(bytes, canon->scratch + shown->at, shown->size);
        memset(canon->scratch + shown->at, 0, shown->size);
        canon->record[i].hash = hash_bytes(bytes, padded, hash_mix(shown->salt + 1));
        canon->record[i].reserved = 0;
    }
    memcpy(records_of(part), canon->record, part->records * sizeof *canon->record);
}

void symmetry_finish_block(struct canon *canon, int block, uint32_t used)
{
    symmetry_rewrite(canon, 0, used, canon->symmetry->layout.owner[block]);
    take_records(canon);
}

/* ---- a part, given what stands for each process ---- */

static unsigned rank_of(const struct canon *canon, const struct value *value)
{
    if (value->line == LINE_ROLE) {
        return 0;
    }
    unsigned rank = canon->symmetry->by_counting ? canon->line[value->line].rank[value->number]
                                                 : canon_rank(canon, value);
    return value->line == CANON_SESSION ? rank & ((1u << OWNER_SHIFT) - 1) : rank;
}

/* Whom a value names, -1 = nobody. */
static int process_of(const struct canon *canon, const struct value *value)
{
    if (value->line == LINE_ROLE) {
        return value->number - 1;
    }
    if (value->line == CANON_SESSION) {
        return value->number > 0 ? (value->number - 1) % (int)canon->owners : -1;
    }
    return value->line >= CANON_ATTEMPT ? value->line - CANON_ATTEMPT - 1 : -1;
}

static uint64_t hash_values(const struct canon *canon, const struct value *value, int count,
                            const place_list place, uint64_t seed)
{
    static _Alignas(8) uint16_t code[PART_VALUES_MAX + 4];
    int padded = 0;
    for (; padded < count; padded++) {
        int process = process_of(canon, &value[padded]);
        unsigned stands = process < 0 || process >= (int)canon->owners ? PLACE_NOBODY : place[process];
        code[padded] = (uint16_t)(stands << OWNER_SHIFT | rank_of(canon, &value[padded]));
    }
    while (padded % 4 != 0) {
        code[padded++] = 0;
    }
    return hash_mix(hash_bytes(code, (size_t)padded * sizeof *code, seed));
}

static bool names(const struct canon *canon, const struct value *value, int count, int process)
{
    for (int i = 0; i < count; i++) {
        if (process_of(canon, &value[i]) == process) {
            return true;
        }
    }
    return false;
}

/* The sum over the records that name `me` (all: -1), and of the rest of the part if `whole`. */
static uint64_t hash_part(const struct canon *canon, const struct canon_part *part, const place_list place,
                          bool whole, int me)
{
    static struct value rest[PART_VALUES_MAX];
    const struct value *value = values_of(part);
    const struct canon_record *record = records_of(part);
    uint64_t sum = 0;
    int at = 0, count = 0;
    for (int i = 0; i <= part->records; i++) {
        int until = i < part->records ? record[i].begin : part->count;
        for (; at < until; at++) {
            rest[count++] = value[at];
        }
        if (i < part->records) {
            int size = record[i].end - record[i].begin;
            if (me < 0 || names(canon, value + at, size, me)) {
                sum += hash_values(canon, value + at, size, place, record[i].hash);
            }
            at = record[i].end;
        }
    }
    return whole ? sum + hash_values(canon, rest, count, place, part->skeleton) : sum;
}

static uint64_t pack_places(const struct canon *canon, const place_list place)
{
    uint64_t packed = 0;
    for (int p = 0; p < process_count(canon); p++) {
        packed = packed << 8 | place[p];
    }
    return packed;
}

/* The same, remembered: it follows from the part, from the numbers that its lines have, and from what stands for whom. */
static uint64_t recall_part(const struct canon *canon, const struct canon_part *part, const place_list place,
                            bool whole, int me)
{
    struct symmetry *symmetry = canon->symmetry;
    if (symmetry->by_counting) {
        return hash_part(canon, part, place, whole, me);
    }
    uint64_t places = part->roles != 0 ? pack_places(canon, place) : 0;
    uint64_t key = hash_mix(canon_part_key(part, symmetry->line_hash) +
                            hash_mix(hash_mix(places) + (uint64_t)(me + 1) * 2 + whole + 1));
    struct ranking *known = &symmetry->hashes[(key ^ key >> 32) & (HASHES - 1)];
    if (known->key != key) {
        *known = (struct ranking){key, hash_part(canon, part, place, whole, me)};
    }
    return known->ranks;
}

/* ---- colours ---- */

/* A process among those that are put in order: by the class that it had, then by colour. */
struct ranked {
    uint8_t class;
    uint8_t process;
    uint64_t color;
};

static uint64_t color_of(const struct canon *canon, const struct canon_part *const *parts, int me,
                         const place_list others)
{
    const struct symmetry_layout *layout = &canon->symmetry->layout;
    place_list place;
    uint64_t sum = 0;
    memcpy(place, others, sizeof place);
    place[me] = PLACE_ME;
    for (int block = 0; block < canon->arena->blocks; block++) {
        if (layout->owner[block] == me) {
            sum += recall_part(canon, parts[block], place, true, -1);
        } else if (layout->owner[block] < 0 && (parts[block]->roles >> me & 1u) != 0) {
            sum += recall_part(canon, parts[block], place, false, me);
        }
    }
    return hash_mix(sum);
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

/* Splits classes by the colours of their members, given everybody's class, until that tells no more of them apart. Returns
 * how many classes there are. */
static int refine(const struct canon *canon, const struct canon_part *const *parts, uint8_t *class,
                  int classes)
{
    struct ranked ranked[SYMMETRY_PROCESSES_MAX];
    int count = process_count(canon), before;
    do {
        place_list others = {0};
        before = classes;
        for (int p = 0; p < count; p++) {
            others[p] = (uint8_t)(PLACE_ANOTHER + class[p]);
        }
        for (int p = 0; p < count; p++) {
            ranked[p] = (struct ranked){class[p], (uint8_t)p, color_of(canon, parts, p, others)};
        }
        sort_ranked(ranked, count);
        classes = 0;
        for (int i = 0; i < count; i++) {
            classes += i > 0 && is_before(&ranked[i - 1], &ranked[i]);
            class[ranked[i].process] = (uint8_t)classes;
        }
        classes++;
    } while (classes > before && classes < count);
    return classes;
}

/* ---- a state ---- */

static uint64_t sum_in_places(const struct canon *canon, const struct canon_part *const *parts,
                              const place_list place)
{
    const struct symmetry_layout *layout = &canon->symmetry->layout;
    uint64_t own[SYMMETRY_PROCESSES_MAX] = {0};
    uint64_t sum = 0;
    for (int block = 0; block < canon->arena->blocks; block++) {
        uint64_t hash = recall_part(canon, parts[block], place, true, -1);
        if (layout->owner[block] < 0) {
            sum += hash;
        } else {
            own[layout->owner[block]] += hash;
        }
    }
    for (int p = 0; p < process_count(canon); p++) {
        sum += hash_mix(own[p] ^ hash_mix(place[p]));
    }
    return sum;
}

/* What holds for the state as a whole; false if it is compared as it is. */
static bool look_at(struct canon *canon, const struct canon_part *const *parts, bool *fixed)
{
    struct symmetry *symmetry = canon->symmetry;
    bool refused = false;
    symmetry->by_counting = *fixed = false;
    memset(canon->quick, 0, sizeof canon->quick);
    for (int block = 0; block < canon->arena->blocks; block++) {
        const struct canon_part *part = parts[block];
        refused |= part->refused;
        *fixed |= part->fixed;
        symmetry->by_counting |= part->slow;
        for (int line = 0; line < QUICK_LINES; line++) {
            canon->quick[line] |= part->quick[line];
        }
    }
    if (refused) {
        return false;
    }
    if (symmetry->by_counting) {
        canon_rank_all(canon, parts);
    }
    for (int line = 0; line < QUICK_LINES; line++) {
        symmetry->line_hash[line] = canon_line_hash(canon, line);
    }
    return true;
}

static uint64_t sum_in_classes(const struct canon *canon, const struct canon_part *const *parts,
                               const uint8_t *class)
{
    place_list place = {0};
    for (int p = 0; p < process_count(canon); p++) {
        place[p] = (uint8_t)(PLACE_FIRST + class[p]);
    }
    return sum_in_places(canon, parts, place);
}

/* The first class that has several members. */
static int tied_class(const uint8_t *class, int count)
{
    int members[SYMMETRY_PROCESSES_MAX] = {0};
    int tied = 0;
    for (int p = 0; p < count; p++) {
        members[class[p]]++;
    }
    while (members[tied] == 1) {
        tied++;
    }
    return tied;
}

/* Where colours leave a tie, each of the tied is put before the others once: the least sum of all is the one. */
static uint64_t least_sum(const struct canon *canon, const struct canon_part *const *parts, uint8_t *class,
                          int classes)
{
    int count = process_count(canon);
    classes = refine(canon, parts, class, classes);
    if (classes == count) {
        return sum_in_classes(canon, parts, class);
    }
    int tied = tied_class(class, count);
    uint64_t least = UINT64_MAX;
    for (int first = 0; first < count; first++) {
        uint8_t split[SYMMETRY_PROCESSES_MAX];
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

uint64_t symmetry_sum(struct canon *canon, const struct canon_part *const *parts, uint64_t plain)
{
    uint8_t class[SYMMETRY_PROCESSES_MAX] = {0};
    bool fixed;
    if (!look_at(canon, parts, &fixed)) {
        return plain;
    }
    for (int p = 0; fixed && p < process_count(canon); p++) {
        class[p] = (uint8_t)p;
    }
    return fixed ? sum_in_classes(canon, parts, class) : least_sum(canon, parts, class, 1);
}

uint64_t symmetry_under(struct canon *canon, const uint8_t *to)
{
    const struct canon_part *parts[ARENA_BLOCKS_MAX];
    place_list place = {0};
    bool fixed;
    uint64_t plain = arena_fingerprint(canon->arena);
    for (int block = 0; block < canon->arena->blocks; block++) {
        size_t size;
        parts[block] = canon_part(canon, block, &size);
    }
    if (!look_at(canon, parts, &fixed)) {
        return plain;
    }
    for (int p = 0; p < process_count(canon); p++) {
        place[p] = (uint8_t)(PLACE_FIRST + (fixed ? p : to[p]));
    }
    return sum_in_places(canon, parts, place);
}
