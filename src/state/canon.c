/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "state/canon.h"
#include "base/assert.h"
#include "base/hash.h"
#include "state/canon_internal.h"

#include <stdlib.h>
#include <string.h>

struct canon *canon_open(struct arena *arena, int owners, canon_show_fn show, void *ctx)
{
    LS_ASSERT(owners >= 1 && owners <= CANON_OWNERS_MAX);
    struct canon *canon = calloc(1, sizeof *canon);
    if (canon == NULL) {
        return NULL;
    }
    canon->arena = arena;
    canon->owners = (unsigned)owners;
    for (unsigned number = 1; number < QUICK_NUMBERS; number++) {
        canon->quick_of_owner[(number - 1) % canon->owners] |= 1ull << number;
    }
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
        canon_processes_close(canon->processes);
        free(canon->places);
        free(canon->rankings);
        free(canon);
    }
}

/* Returns the index of the word in union quick that has the numbers of a line. *first becomes the bit of
 * number 0 in that word. Attempts of all owners share the last word. */
static unsigned word_of(unsigned line, unsigned *first)
{
    *first = line > CANON_ATTEMPT ? (line - CANON_ATTEMPT) * QUICK_ATTEMPTS : 0;
    return line < CANON_ATTEMPT ? line : CANON_ATTEMPT;
}

static bool is_quick(unsigned line, int32_t number)
{
    return line < CANON_ATTEMPT ? number < QUICK_NUMBERS
                                : line < CANON_ATTEMPT + QUICK_OWNERS && number < QUICK_ATTEMPTS;
}

static void take(struct canon *canon, unsigned line, int32_t number, bool bound)
{
    struct canon_part *part = canon->part;
    if (part->count == PART_VALUES_MAX || number < 0 || number > NUMBER_MAX || line >= LINES) {
        part->refused = true;
        return;
    }
    values_of(part)[part->count++] =
        (struct value){.number = (uint16_t)number, .line = (uint8_t)line, .bound = (uint8_t)bound};
    if (!is_quick(line, number)) {
        part->slow = true;
        return;
    }
    unsigned first, word = word_of(line, &first);
    LS_ASSERT(word < QUICK_WORDS && first + (unsigned)number < 64);
    part->words = (uint8_t)(part->words | 1u << word);
    part->quick.word[word] |= (uint64_t)!bound << (first + (unsigned)number);
    part->attempts |= word == CANON_ATTEMPT ? ((1ull << QUICK_ATTEMPTS) - 1) << first : 0;
}

static bool is_shown(const struct canon *canon, const void *where, size_t size)
{
    uint32_t used = ((const struct arena_block *)(const void *)canon->block)->used;
    size_t at = (size_t)((const unsigned char *)where - canon->block);
    return at <= used && size <= used - at; /* a cut may have no bytes */
}

static void blank(struct canon *canon, const void *where, size_t size, int with)
{
    LS_ASSERT(is_shown(canon, where, size));
    memset(canon->scratch + ((const unsigned char *)where - canon->block), with, size);
}

void canon_blank(struct canon *canon, const void *where, size_t size)
{
    blank(canon, where, size, 0);
}

void canon_cut(struct canon *canon, const void *where, size_t size)
{
    uint32_t at = (uint32_t)((const unsigned char *)where - canon->block);
    LS_ASSERT(is_shown(canon, where, size));
    if (canon->cuts == CUTS_MAX) {
        canon->part->refused = true;
        return;
    }
    canon->cut[canon->cuts++] = (struct cut){at, (uint32_t)size};
}

void canon_size(struct canon *canon, const uint16_t *where, uint16_t counts)
{
    LS_ASSERT(is_shown(canon, where, sizeof counts));
    memcpy(canon->scratch + ((const unsigned char *)where - canon->block), &counts, sizeof counts);
}

void canon_refuse(struct canon *canon)
{
    canon->part->refused = true;
}

/* ---- processes that may change their names ---- */

/* If processes may change their names, notes that the part names this process. Fills the bytes of that name
 * with `with`, in the copy that is hashed. */
static void name_process(struct canon *canon, int process, const void *where, size_t size, int with)
{
    struct canon_part *part = canon->part;
    if (canon->processes == NULL || process < 0 || process >= (int)canon->owners) {
        return;
    }
    LS_ASSERT(process < 8);
    part->roles = (uint8_t)(part->roles | 1u << process);
    if (size > 0) {
        blank(canon, where, size, with);
    }
}

void canon_role(struct canon *canon, const void *where, size_t size, int process)
{
    struct canon_part *part = canon->part;
    if (canon->processes == NULL || process < 0 || process >= (int)canon->owners) {
        return;
    }
    if (part->count == PART_VALUES_MAX) {
        part->refused = true;
        return;
    }
    values_of(part)[part->count++] = (struct value){.number = (uint16_t)(process + 1), .line = LINE_ROLE};
    name_process(canon, process, where, size, 0);
}

void canon_owned(struct canon *canon, const void *where, size_t size, int process)
{
    if (canon->processes != NULL) {
        canon_processes_rewrite(canon, (uint32_t)((const unsigned char *)where - canon->block), size,
                                process);
    }
}

void canon_record(struct canon *canon, const void *where, size_t size, uint32_t salt)
{
    struct canon_part *part = canon->part;
    if (canon->processes == NULL) {
        return;
    }
    LS_ASSERT(!canon->in_record);
    if (part->records == PART_RECORDS_MAX) {
        part->refused = true;
        return;
    }
    uint32_t at = size > 0 ? (uint32_t)((const unsigned char *)where - canon->block) : 0;
    LS_ASSERT(size == 0 || is_shown(canon, where, size));
    canon->shown[part->records] = (struct shown_record){at, (uint32_t)size, salt};
    canon->record[part->records].begin = part->count;
    canon->in_record = true;
}

void canon_record_end(struct canon *canon)
{
    if (canon->processes != NULL && canon->in_record) {
        LS_ASSERT(canon->record[canon->part->records].begin <= canon->part->count);
        canon->record[canon->part->records++].end = canon->part->count;
        canon->in_record = false;
    }
}

static void name_owner(struct canon *canon, enum canon_space space, int32_t number)
{
    if (space == CANON_SESSION && number > 0) {
        name_process(canon, (number - 1) % (int)canon->owners, NULL, 0, 0);
    }
}

void canon_number(struct canon *canon, enum canon_space space, const int32_t *where)
{
    take(canon, space, *where, false);
    blank(canon, where, sizeof *where, 0);
    name_owner(canon, space, *where);
}

void canon_bound(struct canon *canon, enum canon_space space, const int32_t *where)
{
    take(canon, space, *where, true);
    blank(canon, where, sizeof *where, 0);
}

void canon_counter(struct canon *canon, enum canon_space space, const int32_t *where, int ahead)
{
    LS_ASSERT(ahead >= 0);
    for (int i = 1; i <= ahead; i++) {
        take(canon, space, *where + i, true);
    }
    canon_bound(canon, space, where);
}

void canon_wide(struct canon *canon, enum canon_space space, const int64_t *where, int32_t number)
{
    take(canon, space, number, false);
    blank(canon, where, sizeof *where, 0);
    name_owner(canon, space, number);
}

void canon_sequence(struct canon *canon, const int32_t *where)
{
    take(canon, CANON_SEQUENCE, *where + 1, false);
    blank(canon, where, sizeof *where, 0);
}

/* Returns the line of an owner's attempts; LINES if there is no such owner. Attempts without an owner (0)
 * have the last line, because only the first lines of attempts can be quick. */
static unsigned line_of(unsigned owner)
{
    if (owner > CANON_OWNERS_MAX) {
        return LINES;
    }
    return owner > 0 ? CANON_ATTEMPT + owner - 1 : LINES - 1;
}

static int process_of(unsigned owner)
{
    return (int)owner - 1;
}

void canon_attempt(struct canon *canon, const uint8_t id[16])
{
    uint32_t counter = (uint32_t)id[12] << 24 | (uint32_t)id[13] << 16 | (uint32_t)id[14] << 8 | id[15];
    take(canon, line_of(id[3]), (int32_t)counter, false);
    blank(canon, id + 12, 4, 0);
    name_process(canon, process_of(id[3]), id + 3, 1, 0);
}

void canon_attempts(struct canon *canon, int owner, const uint32_t *where)
{
    take(canon, line_of((unsigned)owner), (int32_t)*where, true);
    blank(canon, where, sizeof *where, 0);
    name_process(canon, process_of((unsigned)owner), where, 0, 0);
}

#define DIGITS 10
#define UUID 36

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

/* Returns the first UUID in a name (groups of 8, 4, 4, 4 and 12 letters, dashes between them) or NULL. */
static const char *find_uuid(const char *name, size_t size)
{
    for (size_t at = 0; at + UUID <= size; at++) {
        const char *dash = memchr(name + at + 8, '-', size - at - 8);
        if (dash == NULL || (size_t)(dash - name) + UUID - 8 > size) {
            return NULL;
        }
        at = (size_t)(dash - name) - 8;
        if (dash[5] == '-' && dash[10] == '-' && dash[15] == '-') {
            return name + at;
        }
    }
    return NULL;
}

static void show_name(struct canon *canon, const char *name, size_t size)
{
    int32_t sequence;
    const char *id = find_uuid(name, size);
    if (id != NULL) {
        const char *counter = id + UUID - 8;
        unsigned owner = read_hex(id + 6, 2);
        take(canon, line_of(owner), (int32_t)read_hex(counter, 8), false);
        blank(canon, counter, 8, '0');
        name_process(canon, process_of(owner), id + 6, 2, '0');
        size -= (size_t)(id + UUID - name);
        name = id + UUID;
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

/* Takes the cuts out of the scratch, and adds zeros up to a multiple of 8, which hash_bytes() needs. Returns
 * the number of bytes, zeros included. */
static uint32_t close_cuts(struct canon *canon, uint32_t used)
{
    uint32_t to = 0, from = 0;
    for (int i = 0; i < canon->cuts; i++) {
        const struct cut *cut = &canon->cut[i];
        LS_ASSERT(cut->at >= from && cut->at + cut->size <= used);
        memmove(canon->scratch + to, canon->scratch + from, cut->at - from);
        to += cut->at - from;
        from = cut->at + cut->size;
    }
    memmove(canon->scratch + to, canon->scratch + from, used - from);
    to += used - from;
    memcpy(canon->scratch, &to, sizeof to); /* the head of the block counts its bytes */
    uint32_t padded = (to + 7u) & ~7u;
    LS_ASSERT(to <= used && padded <= used);
    memset(canon->scratch + to, 0, padded - to);
    return padded;
}

/* Fills in a part's list, and the scratch with the block's other bytes. Returns their number, blanks
 * included. */
static uint32_t show_block(struct canon *canon, int block, struct canon_part *part)
{
    canon->block = arena_at(canon->arena, block);
    uint32_t used = ((const struct arena_block *)(const void *)canon->block)->used;
    memset(part, 0, sizeof *part);
    part->block = (uint8_t)block;
    if (used > SCRATCH_BYTES) {
        part->refused = true;
        return 0;
    }
    memcpy(canon->scratch, canon->block, used);
    canon->part = part;
    canon->cuts = 0;
    canon->show(canon->ctx, block, canon);
    LS_ASSERT(part->count <= PART_VALUES_MAX && part->records <= PART_RECORDS_MAX);
    LS_ASSERT(!canon->in_record);
    if (canon->processes != NULL) {
        canon_processes_finish_block(canon, block, used);
    }
    return canon->cuts > 0 ? close_cuts(canon, used) : used;
}

static const struct canon_part *part_of(struct canon *canon, int block)
{
    LS_ASSERT(!canon->arena->stale[block]);
    uint64_t hash = canon->arena->hash[block];
    size_t place = (size_t)block * PARTS_PER_BLOCK + (hash & (PARTS_PER_BLOCK - 1));
    struct canon_part *part = (struct canon_part *)(void *)(canon->places + place * PLACE_BYTES);
    if (part->hash == hash) {
        return part;
    }
    uint32_t used = show_block(canon, block, part);
    part->hash = hash;
    uint64_t seed = canon->processes != NULL ? canon_processes_seed(canon, block) : (uint64_t)block + 1;
    part->skeleton = hash_bytes(canon->scratch, used, seed);
    return part;
}

const struct canon_part *canon_part(struct canon *canon, int block, size_t *size)
{
    const struct canon_part *part = part_of(canon, block);
    *size = sizeof *part + values_bytes(part) + part->records * sizeof(struct canon_record);
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
        if (value->line == LINE_ROLE) {
            continue;
        }
        struct line *line = &canon->line[value->line];
        line->present[value->number] |= !value->bound;
        line->last = value->number > line->last ? value->number : line->last;
        canon->used_lines |= 1ull << value->line;
    }
}

static void rank_line(struct line *line)
{
    LS_ASSERT(line->last <= NUMBER_MAX);
    uint16_t rank = 1;
    for (int number = 1; number <= line->last; number++) {
        rank = (uint16_t)(rank + line->present[number]);
        line->rank[number] = rank;
    }
}

static void rank_sessions(struct line *line, unsigned owners)
{
    uint16_t rank[CANON_OWNERS_MAX] = {0};
    LS_ASSERT(line->last <= NUMBER_MAX && owners <= CANON_OWNERS_MAX);
    for (unsigned number = 1; number <= line->last; number++) {
        unsigned owner = (number - 1) % owners;
        rank[owner] = (uint16_t)(rank[owner] + line->present[number]);
        line->rank[number] = (uint16_t)(owner << OWNER_SHIFT | (rank[owner] + 1u));
    }
}

/* Ranks each line and forgets its present numbers. 0 is no number, and has the rank 0. A bound below all
 * numbers has the rank 1. */
static void rank_lines(struct canon *canon)
{
    LS_ASSERT(canon->used_lines >> LINES == 0);
    for (uint64_t left = canon->used_lines; left != 0; left &= left - 1) {
        int i = __builtin_ctzll(left);
        struct line *line = &canon->line[i];
        if (i == CANON_SESSION) {
            rank_sessions(line, canon->owners);
        } else {
            rank_line(line);
        }
        memset(line->present, 0, line->last + 1u);
        line->last = 0;
    }
    canon->used_lines = 0;
}

void canon_rank_all(struct canon *canon, const struct canon_part *const *parts)
{
    LS_ASSERT(canon->used_lines == 0);
    for (int block = 0; block < canon->arena->blocks; block++) {
        note_values(canon, parts[block]);
    }
    rank_lines(canon);
}

static uint64_t hash_ranks(struct canon *canon, size_t count, int block)
{
    uint16_t *rank = (uint16_t *)(void *)canon->scratch;
    while (count % 4 != 0) {
        LS_ASSERT(count <= SCRATCH_BYTES / sizeof *rank);
        rank[count++] = 0;
    }
    return hash_bytes(rank, count * sizeof *rank, ~(uint64_t)block);
}

static uint64_t rank_slowly(struct canon *canon, const struct canon_part *const *parts)
{
    uint16_t *to = (uint16_t *)(void *)canon->scratch;
    uint64_t sum = 0;
    canon_rank_all(canon, parts);
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

unsigned canon_rank(const struct canon *canon, const struct value *value)
{
    unsigned first, word = word_of(value->line, &first);
    uint64_t present = canon->quick.word[word] & ~1ull << first & ((2ull << (first + value->number)) - 1);
    if (value->number == 0) {
        return 0;
    }
    if (value->line != CANON_SESSION) {
        return 1 + ones_of(present);
    }
    unsigned owner = (value->number - 1u) % canon->owners;
    return owner << OWNER_SHIFT | (1 + ones_of(present & canon->quick_of_owner[owner]));
}

static uint64_t rank_part(struct canon *canon, const struct canon_part *part)
{
    uint16_t *to = (uint16_t *)(void *)canon->scratch;
    LS_ASSERT(!part->slow && !part->refused);
    for (uint32_t i = 0; i < part->count; i++) {
        to[i] = (uint16_t)canon_rank(canon, &values_of(part)[i]);
    }
    return hash_ranks(canon, part->count, part->block);
}

static __attribute__((noinline)) uint64_t rank_anew(struct canon *canon, const struct canon_part *part,
                                                    struct ranking *ranking, uint64_t key)
{
    *ranking = (struct ranking){key, rank_part(canon, part)};
    return ranking->ranks;
}

/* Cached rank_part(). Key: the part and the present numbers of its words, from which its ranks follow. */
static inline uint64_t ranks_of(struct canon *canon, const struct canon_part *part,
                                const struct word_keys *keys)
{
    uint64_t key = canon_part_key(part, keys);
    struct ranking *ranking = &canon->rankings[(key ^ key >> 32) & (RANKINGS - 1)];
    if (part->count == 0) {
        return 0;
    }
    return ranking->key == key ? ranking->ranks : rank_anew(canon, part, ranking, key);
}

static unsigned words_that_differ(const struct canon *canon, const union quick *numbers)
{
    unsigned words = 0;
    for (int word = 0; word < QUICK_WORDS; word++) {
        words |= (unsigned)(canon->quick.word[word] != numbers->word[word]) << word;
    }
    return words;
}

static void note_base(struct canon *canon, const struct canon_part *const *parts)
{
    word_pair present[QUICK_WORDS / 2] = {{0}}, twice[QUICK_WORDS / 2] = {{0}},
                                    thrice[QUICK_WORDS / 2] = {{0}};
    memset(canon->base.words, 0, sizeof canon->base.words);
    canon->base.skeletons = 0;
    canon->base.plain = false;
    for (int block = 0; block < canon->arena->blocks; block++) {
        const struct canon_part *part = parts[block];
        LS_ASSERT(part->block == block);
        for (int i = 0; i < QUICK_WORDS / 2; i++) {
            thrice[i] |= twice[i] & part->quick.pair[i];
            twice[i] |= present[i] & part->quick.pair[i];
            present[i] |= part->quick.pair[i];
        }
        canon->base.part[block] = part;
        canon->base.words[block / BLOCKS_PER_WORD] |= (uint64_t)part->words
                                                      << block % BLOCKS_PER_WORD * QUICK_WORDS;
        canon->base.skeletons += part->skeleton;
        canon->base.plain |= part->slow || part->refused;
    }
    memcpy(&canon->base.present, present, sizeof present);
    memcpy(&canon->base.twice, twice, sizeof twice);
    memcpy(&canon->base.thrice, thrice, sizeof thrice);
}

static uint64_t sum_slowly(struct canon *canon, const struct canon_part *const *parts, uint64_t plain)
{
    uint64_t sum = 0;
    bool refused = false;
    for (int block = 0; block < canon->arena->blocks; block++) {
        sum += parts[block]->skeleton;
        refused = refused || parts[block]->refused;
    }
    canon->as_it_is = refused;
    return refused ? plain : sum + rank_slowly(canon, parts);
}

static void rank_base(struct canon *canon, const struct canon_part *const *parts)
{
    LS_ASSERT(!canon->base.plain);
    canon->quick = canon->base.present;
    unsigned words = words_that_differ(canon, &canon->base.ranked);
    if (words != 0) {
        canon->base.ranked = canon->quick;
        canon_word_keys(canon, &canon->base.keys);
    }
    canon->base.rank_sum = 0;
    for (int block = 0; block < canon->arena->blocks; block++) {
        const struct canon_part *part = parts[block];
        if (canon->base.hash[block] != part->hash || (part->words & words) != 0) {
            canon->base.hash[block] = part->hash;
            canon->base.ranks[block] = ranks_of(canon, part, &canon->base.keys);
        }
        canon->base.rank_sum += canon->base.ranks[block];
    }
}

bool canon_is_refused(const struct canon *canon)
{
    return canon->as_it_is;
}

uint64_t canon_sum(struct canon *canon, const struct canon_part *const *parts, uint64_t plain)
{
    canon->as_it_is = false;
    note_base(canon, parts);
    if (canon->processes != NULL) {
        uint64_t sum = canon_processes_sum(canon, parts, plain);
        canon_processes_keep(canon);
        return sum;
    }
    if (canon->base.plain) {
        return sum_slowly(canon, parts, plain);
    }
    rank_base(canon, parts);
    return canon->base.skeletons + canon->base.rank_sum;
}

static void put_changes(const struct canon *canon, const struct canon_part *const *changed, int count,
                        const struct canon_part **parts)
{
    memcpy(parts, canon->base.part, (size_t)canon->arena->blocks * sizeof(void *));
    for (int i = 0; i < count; i++) {
        LS_ASSERT(changed[i]->block < canon->arena->blocks);
        parts[changed[i]->block] = changed[i];
    }
}

static uint64_t neighbour_slowly(struct canon *canon, const struct canon_part *const *changed, int count,
                                 uint64_t plain)
{
    const struct canon_part *parts[ARENA_BLOCKS_MAX];
    put_changes(canon, changed, count, parts);
    return sum_slowly(canon, parts, plain);
}

static uint64_t neighbour_up_to_names(struct canon *canon, const struct canon_part *const *changed, int count,
                                      uint64_t plain)
{
    const struct canon_part *parts[ARENA_BLOCKS_MAX];
    put_changes(canon, changed, count, parts);
    return canon_processes_sum(canon, parts, plain);
}

static void mark_changed(const struct canon_part *const *changed, int count, uint64_t bits[2])
{
    bits[0] = bits[1] = 0;
    for (int i = 0; i < count; i++) {
        arena_set_add(bits, changed[i]->block);
    }
}

/* Sets canon->quick to the numbers of a neighbour, by a look at all blocks. */
static void count_numbers(struct canon *canon, const struct canon_part *const *changed, int count)
{
    uint64_t bits[2];
    LS_ASSERT(canon->base.part[0] != NULL && canon->base.part[0]->block == 0);
    mark_changed(changed, count, bits);
    memset(&canon->quick, 0, sizeof canon->quick);
    for (int block = 0; block < canon->arena->blocks; block++) {
        for (int word = 0; word < QUICK_WORDS && !arena_set_has(bits, block); word++) {
            canon->quick.word[word] |= canon->base.part[block]->quick.word[word];
        }
    }
    for (int i = 0; i < count; i++) {
        for (int word = 0; word < QUICK_WORDS; word++) {
            canon->quick.word[word] |= changed[i]->quick.word[word];
        }
    }
}

/* Sets canon->quick to the numbers of a neighbour, without a look at all blocks if possible. Returns the set
 * of words with other numbers than in the base. Let k changed blocks lose a number: the base's part has it,
 * and the changed part does not. Then another block still has it exactly if more than k blocks of the base
 * have it. `twice` answers k = 1, `thrice` k = 2; else all blocks are looked at. Checked by
 * tests/sim/test_ranks.c. */
static unsigned find_numbers(struct canon *canon, const struct canon_part *const *changed, int count)
{
    word_pair lost[QUICK_WORDS / 2] = {{0}}, again[QUICK_WORDS / 2] = {{0}}, here[QUICK_WORDS / 2] = {{0}};
    word_pair unclear = {0}, differs = {0};
    for (int i = 0; i < count; i++) {
        const struct canon_part *before = canon->base.part[changed[i]->block];
        for (int k = 0; k < QUICK_WORDS / 2; k++) {
            word_pair after = changed[i]->quick.pair[k], gone = before->quick.pair[k] & ~after;
            unclear |= gone & again[k];
            again[k] |= gone & lost[k];
            lost[k] |= gone;
            here[k] |= after;
        }
    }
    for (int k = 0; k < QUICK_WORDS / 2; k++) {
        word_pair present = canon->base.present.pair[k];
        word_pair left = (~lost[k] | canon->base.twice.pair[k]) & (~again[k] | canon->base.thrice.pair[k]);
        canon->quick.pair[k] = (present & left) | here[k];
        differs |= canon->quick.pair[k] ^ present;
    }
    if ((unclear[0] | unclear[1]) != 0) {
        count_numbers(canon, changed, count);
        return words_that_differ(canon, &canon->base.present);
    }
    return (differs[0] | differs[1]) != 0 ? words_that_differ(canon, &canon->base.present) : 0;
}

/* Returns the difference that the changed parts make to the sum of all skeletons and ranks. */
static uint64_t gain_of(struct canon *canon, const struct canon_part *const *changed, int count,
                        const struct word_keys *keys)
{
    uint64_t sum = 0;
    for (int i = 0; i < count; i++) {
        int block = changed[i]->block;
        sum += changed[i]->skeleton - canon->base.part[block]->skeleton;
        sum += ranks_of(canon, changed[i], keys) - canon->base.ranks[block];
    }
    return sum;
}

/* Returns the difference between a neighbour and the base in the sum of all skeletons and ranks. Numbers of
 * these words come or go, which changes ranks in unchanged parts too. */
static uint64_t gain_by_numbers(struct canon *canon, const struct canon_part *const *changed, int count,
                                unsigned words)
{
    const uint64_t each = ~(uint64_t)0 / ((1u << QUICK_WORDS) - 1);
    struct word_keys keys;
    uint64_t bits[2];
    canon_word_keys(canon, &keys);
    uint64_t sum = gain_of(canon, changed, count, &keys);
    mark_changed(changed, count, bits);
    for (int first = 0; first < canon->arena->blocks; first += BLOCKS_PER_WORD) {
        uint64_t left = canon->base.words[first / BLOCKS_PER_WORD] & each * words;
        while (left != 0) {
            int at = __builtin_ctzll(left) / QUICK_WORDS, block = first + at;
            left &= ~(((1ull << QUICK_WORDS) - 1) << at * QUICK_WORDS);
            if (!arena_set_has(bits, block)) {
                sum += ranks_of(canon, canon->base.part[block], &keys) - canon->base.ranks[block];
            }
        }
    }
    return sum;
}

uint64_t canon_neighbour(struct canon *canon, const struct canon_part *const *changed, int count,
                         uint64_t plain)
{
    bool slow = canon->base.plain;
    canon->as_it_is = false;
    if (canon->processes != NULL) {
        return neighbour_up_to_names(canon, changed, count, plain);
    }
    for (int i = 0; i < count; i++) {
        slow = slow || changed[i]->slow || changed[i]->refused;
    }
    if (slow) {
        return neighbour_slowly(canon, changed, count, plain);
    }
    unsigned words = find_numbers(canon, changed, count);
    return canon->base.skeletons + canon->base.rank_sum +
           (words == 0 ? gain_of(canon, changed, count, &canon->base.keys)
                       : gain_by_numbers(canon, changed, count, words));
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

static size_t put_bytes(unsigned char *out, size_t size, size_t at, const void *bytes, size_t count)
{
    if (at + count <= size) {
        memcpy(out + at, bytes, count);
    }
    return at + count;
}

static size_t put_blocks(struct canon *canon, bool blanked, unsigned char *out, size_t size)
{
    static _Alignas(8) unsigned char unused[PLACE_BYTES]; /* for the part, which the caller has already */
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
    LS_ASSERT(count * sizeof *to <= SCRATCH_BYTES);
    return count * sizeof *to;
}

size_t canon_bytes(struct canon *canon, unsigned char *out, size_t size)
{
    unsigned char refused = 0;
    LS_ASSERT(canon->processes == NULL);
    arena_fingerprint(canon->arena);
    find_parts(canon);
    for (int block = 0; block < canon->arena->blocks; block++) {
        refused |= canon->now[block]->refused;
    }
    size_t at = put_bytes(out, size, 0, &refused, 1);
    at += put_blocks(canon, !refused, at < size ? out + at : out, at < size ? size - at : 0);
    if (!refused) {
        canon_rank_all(canon, canon->now);
        at = put_bytes(out, size, at, canon->scratch, write_ranks(canon));
    }
    return at;
}
