/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The memory of a process whose recipe comes from a shared object: the heap of heap.c with red zones.
 *
 *   head | zone | state | zone | chunks ... | tail | zeros | gap
 *
 * A chunk is a head, the block, and a zone. Zones hold ZONE; free chunks and the tail hold FREED. The gap
 * consists of pages that cannot be accessed. After a guarded step that entered the recipe, zones_are_whole()
 * compares these bytes, and REST_BYTES of the zeros, with what they must hold. So a write is found if it
 * changes
 *
 *   - a zone around the state, or the head or the zone of a block;
 *   - a free chunk, or the tail, which is the TAIL_BYTES behind the last chunk;
 *   - the first REST_BYTES behind the tail. An access to the gap raises SIGSEGV at once.
 *
 * A block that the recipe frees in a guarded call is not handed out before the end of the call, unless the
 * heap is full. A write through a stale pointer is not found if its memory was handed out again.
 *
 * Claim: the bytes of a heap follow from its state and its blocks, with their places, sizes and owners. Why:
 * the bytes between do not depend on earlier blocks, and the tail has one length. Checked by
 * tests/sim/test_zones.c. */
#include "sim/world.h"

#include "base/assert.h"

#include <string.h>

#define ZONE 0xfd
#define FREED 0xdd /* no address as a pointer, negative as a number */
#define FRESH 0xbe
#define FRESH_WORD 0xbebebebeu
#define ZONE_BYTES 16u
#define CHUNK_ZONE_BYTES 16u
#define TAIL_BYTES 128u
#define REST_BYTES 1024u
#define STACK_BYTES 1024u

struct chunk {
    uint32_t size;  /* bytes, with this head and the zone; a multiple of 16 */
    uint32_t asked; /* bytes of the block; 0 in a free chunk */
    uint32_t owner; /* enum heap_owner */
    uint32_t check; /* sum of the other fields and the chunk's offset */
};

struct heap {
    struct arena_block head;
    uint32_t start; /* offset of the first chunk; 0 = the process has no state */
    uint32_t state_size;
};

#define STATE_AT (sizeof(struct heap) + ZONE_BYTES)
_Static_assert(STATE_AT % 16 == 0 && sizeof(struct chunk) == 16, "blocks are aligned to 16");

static struct heap *heap_at(int p)
{
    arena_read(&the_world.arena, the_world.heap_block[p]);
    return arena_at(&the_world.arena, the_world.heap_block[p]);
}

static struct heap *heap_mark(int p)
{
    arena_mark(&the_world.arena, the_world.heap_block[p]);
    return heap_at(p);
}

static unsigned char *byte_at(struct heap *heap, uint32_t offset)
{
    return (unsigned char *)heap + offset;
}

static unsigned char byte_of(unsigned char byte)
{
    LS_ASSERT(byte == FRESH || byte == FREED || byte == ZONE);
    return (the_world.painted & (byte == FRESH ? PAINT_FRESH : PAINT_FREED)) != 0 ? the_world.paint : byte;
}

static void fill(unsigned char *at, size_t size, unsigned char byte)
{
    memset(at, byte_of(byte), size);
}

static uint32_t round16(size_t size)
{
    return (uint32_t)((size + 15) & ~(size_t)15);
}

size_t zones_state(void)
{
    return STATE_AT;
}

static struct chunk *chunk_at(struct heap *heap, uint32_t offset)
{
    return (struct chunk *)(void *)byte_at(heap, offset);
}

static uint32_t check_of(const struct chunk *chunk, uint32_t at)
{
    uint32_t sum = at * 0x9e3779b1u ^ chunk->size;
    sum = (sum ^ sum >> 15) * 0x85ebca77u ^ chunk->asked;
    return (sum ^ sum >> 13) * 0xc2b2ae3du ^ chunk->owner;
}

static uint32_t end_of(const struct heap *heap)
{
    return heap->head.used - TAIL_BYTES;
}

/* Returns the end of the chunk at `at`; 0 if its head is damaged. */
static uint32_t next_of(struct heap *heap, uint32_t at)
{
    const struct chunk *chunk = chunk_at(heap, at);
    bool whole = chunk->check == check_of(chunk, at) && chunk->size >= sizeof *chunk &&
                 chunk->size % 16 == 0 && chunk->size <= end_of(heap) - at;
    return whole ? at + chunk->size : 0;
}

static void *block_of(struct heap *heap, uint32_t at)
{
    return byte_at(heap, at + (uint32_t)sizeof(struct chunk));
}

static bool is_free(const struct chunk *chunk)
{
    return chunk->owner == HEAP_FREE || chunk->owner == HEAP_LATE;
}

static void write_chunk(struct heap *heap, uint32_t at, uint32_t size, uint32_t asked, enum heap_owner owner)
{
    LS_ASSERT(asked == 0 || (owner != HEAP_FREE && owner != HEAP_LATE));
    LS_ASSERT(size >= sizeof(struct chunk) && asked <= size - sizeof(struct chunk));
    struct chunk *chunk = chunk_at(heap, at);
    *chunk = (struct chunk){.size = size, .asked = asked, .owner = owner};
    chunk->check = check_of(chunk, at);
    unsigned char *block = block_of(heap, at);
    uint32_t room = size - (uint32_t)sizeof *chunk;
    if (is_free(chunk)) {
        fill(block, room, FREED);
        return;
    }
    memset(block, owner == HEAP_MALLOC ? byte_of(FRESH) : 0, asked);
    fill(block + asked, room - asked, ZONE);
}

static void fill_zones(struct heap *heap)
{
    unsigned char *behind = byte_at(heap, STATE_AT) + heap->state_size;
    fill(byte_at(heap, sizeof *heap), ZONE_BYTES, ZONE);
    fill(behind, (size_t)(byte_at(heap, heap->start) - behind), ZONE);
}

bool zones_clear(int p, size_t state_size)
{
    LS_ASSERT(the_world.zoned);
    struct arena *arena = &the_world.arena;
    int block = the_world.heap_block[p];
    struct heap *heap = heap_mark(p);
    arena_resize(arena, block, sizeof *heap);
    heap->start = heap->state_size = 0;
    if (state_size == 0) {
        return true;
    }
    uint32_t start = round16(STATE_AT + state_size) + ZONE_BYTES;
    if (state_size > HEAP_BYTES || !arena_resize(arena, block, start + TAIL_BYTES)) {
        world_note_trouble("limit: the state of a recipe has %zu bytes", state_size);
        return false;
    }
    heap->start = start;
    heap->state_size = (uint32_t)state_size;
    fill_zones(heap);
    fill(byte_at(heap, start), TAIL_BYTES, FREED);
    return true;
}

void zones_scrub(int p)
{
    if (!the_world.zoned) {
        return;
    }
    struct heap *heap = heap_mark(p);
    memset(heap, 0, HEAP_BYTES);
    heap->head.used = sizeof *heap;
    LS_ASSERT(heap->start == 0 && heap->state_size == 0);
}

/* Returns the offset of the first free chunk of at least `need` bytes, or else end_of(heap); 0 = the head of
 * a chunk is damaged. */
static uint32_t find_room(struct heap *heap, uint32_t need)
{
    uint32_t at = heap->start;
    while (at < end_of(heap)) {
        uint32_t next = next_of(heap, at);
        const struct chunk *chunk = chunk_at(heap, at);
        if (next == 0 || (chunk->owner == HEAP_FREE && chunk->size >= need)) {
            return next == 0 ? 0 : at;
        }
        at = next;
    }
    return at;
}

/* Moves the end of the chunks, and the tail. Returns false if the heap is full. */
static bool move_end(int p, uint32_t end)
{
    LS_ASSERT(end % 16 == 0);
    struct heap *heap = heap_at(p);
    if (!arena_resize(&the_world.arena, the_world.heap_block[p], end + TAIL_BYTES)) {
        return false;
    }
    fill(byte_at(heap, end), TAIL_BYTES, FREED);
    return true;
}

static void merge(int p)
{
    struct heap *heap = heap_at(p);
    uint32_t at = heap->start, next;
    while (at < end_of(heap) && (next = next_of(heap, at)) != 0) {
        bool free_now = chunk_at(heap, at)->owner == HEAP_FREE;
        if (free_now && next == end_of(heap)) {
            move_end(p, at);
            return;
        }
        if (free_now && next_of(heap, next) != 0 && chunk_at(heap, next)->owner == HEAP_FREE) {
            write_chunk(heap, at, next_of(heap, next) - at, 0, HEAP_FREE);
        } else {
            at = next;
        }
    }
}

/* Frees the chunks of HEAP_LATE. Returns whether there were some. */
static bool hand_back(int p)
{
    struct heap *heap = heap_at(p);
    bool any = false;
    uint32_t next;
    for (uint32_t at = heap->start; at != 0 && at < end_of(heap) && (next = next_of(heap, at)) != 0;
         at = next) {
        if (chunk_at(heap, at)->owner == HEAP_LATE) {
            write_chunk(heap_mark(p), at, next - at, 0, HEAP_FREE);
            any = true;
        }
    }
    if (any) {
        merge(p);
    }
    return any;
}

void *zones_alloc(int p, size_t size, enum heap_owner owner)
{
    LS_ASSERT(owner == HEAP_ENV || owner == HEAP_MALLOC || owner == HEAP_WORLD);
    struct heap *heap = heap_mark(p);
    uint32_t need =
        size < HEAP_BYTES ? round16(size) + (uint32_t)sizeof(struct chunk) + CHUNK_ZONE_BYTES : HEAP_BYTES;
    uint32_t at = heap->start != 0 ? find_room(heap, need) : 0;
    if (at == 0) {
        return NULL; /* zones_are_whole() tells of damage */
    }
    if (at == end_of(heap)) {
        if (!move_end(p, at + need)) {
            if (hand_back(p)) {
                return zones_alloc(p, size, owner);
            }
            world_note_trouble("limit: the heap of a process is full");
            return NULL;
        }
    } else {
        uint32_t left = chunk_at(heap, at)->size - need;
        LS_ASSERT(left == 0 || left >= sizeof(struct chunk));
        if (left > 0) {
            write_chunk(heap, at + need, left, 0, HEAP_FREE);
        }
    }
    write_chunk(heap, at, need, (uint32_t)size, owner);
    return block_of(heap, at);
}

/* Returns the chunk of this block and owner; 0 = none. */
static uint32_t find_block(struct heap *heap, const void *memory, enum heap_owner owner)
{
    LS_ASSERT(owner == HEAP_ENV || owner == HEAP_MALLOC || owner == HEAP_WORLD);
    uint32_t next;
    for (uint32_t at = heap->start; at != 0 && at < end_of(heap); at = next) {
        if (block_of(heap, at) == memory) {
            return chunk_at(heap, at)->owner == (uint32_t)owner ? at : 0;
        }
        next = next_of(heap, at);
        if (next == 0) {
            break;
        }
    }
    return 0;
}

size_t zones_size(int p, const void *memory, enum heap_owner owner)
{
    struct heap *heap = heap_at(p);
    uint32_t at = find_block(heap, memory, owner);
    return at != 0 ? chunk_at(heap, at)->asked : 0;
}

struct heap_use zones_use(int p)
{
    struct heap *heap = heap_at(p);
    struct heap_use use = {0};
    uint32_t next;
    for (uint32_t at = heap->start; at != 0 && at < end_of(heap) && (next = next_of(heap, at)) != 0;
         at = next) {
        const struct chunk *chunk = chunk_at(heap, at);
        if (chunk->owner == HEAP_ENV || chunk->owner == HEAP_MALLOC) {
            use.blocks++;
            use.bytes += chunk->asked;
        }
    }
    return use;
}

static bool all_are(const unsigned char *bytes, size_t size, unsigned char byte)
{
    return size == 0 || (bytes[0] == byte && memcmp(bytes, bytes + 1, size - 1) == 0);
}

static bool chunk_is_whole(struct heap *heap, uint32_t at)
{
    const struct chunk *chunk = chunk_at(heap, at);
    const unsigned char *block = block_of(heap, at);
    uint32_t room = chunk->size - (uint32_t)sizeof *chunk;
    return chunk->asked <= room &&
           all_are(block + chunk->asked, room - chunk->asked, byte_of(is_free(chunk) ? FREED : ZONE));
}

void zones_free(int p, void *memory, enum heap_owner owner)
{
    struct heap *heap = heap_mark(p);
    uint32_t at = find_block(heap, memory, owner);
    if (at == 0) {
        world_note_offence(EVENT_OFFENCE_FREE, NULL);
        return;
    }
    if (next_of(heap, at) == 0) {
        return;
    }
    if (!chunk_is_whole(heap, at)) {
        world_note_offence(EVENT_OFFENCE_BLOCK_BOUNDS, NULL); /* freeing writes over the evidence */
    }
    bool ours = owner == HEAP_WORLD;
    write_chunk(heap, at, chunk_at(heap, at)->size, 0, ours ? HEAP_FREE : HEAP_LATE);
    if (ours) {
        merge(p);
    }
}

static bool state_is_whole(struct heap *heap)
{
    uint32_t start = round16(STATE_AT + heap->state_size) + ZONE_BYTES;
    bool head = heap->state_size == the_world.options.recipe->state_size && heap->start == start &&
                heap->head.reserved == 0 && heap->head.used % 8 == 0 &&
                heap->head.used >= start + TAIL_BYTES && heap->head.used <= HEAP_BYTES;
    return head && all_are(byte_at(heap, sizeof *heap), ZONE_BYTES, byte_of(ZONE)) &&
           all_are(byte_at(heap, STATE_AT) + heap->state_size, start - STATE_AT - heap->state_size,
                   byte_of(ZONE));
}

/* Returns the first offence in chunks, tail and zeros; EVENT_OFFENCES = none. Sets *late if a chunk before it
 * is HEAP_LATE. */
static enum event_offence chunks_are_wrong(struct heap *heap, bool *late)
{
    uint32_t at = heap->start;
    while (at < end_of(heap)) {
        uint32_t next = next_of(heap, at);
        if (next == 0) {
            return EVENT_OFFENCE_BLOCK_BOUNDS;
        }
        if (!chunk_is_whole(heap, at)) {
            return is_free(chunk_at(heap, at)) ? EVENT_OFFENCE_FREED : EVENT_OFFENCE_BLOCK_BOUNDS;
        }
        *late |= chunk_at(heap, at)->owner == HEAP_LATE;
        at = next;
    }
    if (!all_are(byte_at(heap, at), TAIL_BYTES, byte_of(FREED))) {
        return EVENT_OFFENCE_FREED;
    }
    uint32_t rest = HEAP_BYTES - heap->head.used;
    bool zero = all_are(byte_at(heap, heap->head.used), rest < REST_BYTES ? rest : REST_BYTES, 0);
    return zero ? EVENT_OFFENCES : EVENT_OFFENCE_BLOCK_BOUNDS;
}

bool zones_are_whole(int p)
{
    struct heap *heap = heap_at(p);
    bool late = false;
    enum event_offence wrong = state_is_whole(heap) ? chunks_are_wrong(heap, &late) : EVENT_OFFENCE_STATE;
    if (wrong != EVENT_OFFENCES) {
        world_tell_offence(p, wrong, NULL);
    } else if (late) {
        hand_back(p);
    }
    return wrong == EVENT_OFFENCES;
}

/* Paints the words of 4 bytes that hold FRESH_WORD, as memory does that was not set. */
static void paint_unset(unsigned char *bytes, size_t size)
{
    for (size_t at = 0; at + 4 <= size; at += 4) {
        uint32_t word;
        memcpy(&word, bytes + at, sizeof word);
        if (word == FRESH_WORD) {
            memset(bytes + at, the_world.paint, sizeof word);
        }
    }
}

static void paint_chunk(struct heap *heap, uint32_t at)
{
    const struct chunk *chunk = chunk_at(heap, at);
    unsigned char *block = block_of(heap, at);
    uint32_t room = chunk->size - (uint32_t)sizeof *chunk;
    if ((the_world.painted & PAINT_FRESH) != 0) {
        paint_unset(block, chunk->asked);
    }
    fill(block + chunk->asked, room - chunk->asked, is_free(chunk) ? FREED : ZONE);
}

void zones_paint(int p)
{
    struct heap *heap = heap_mark(p);
    uint32_t at = heap->start;
    if (at == 0) {
        return;
    }
    fill_zones(heap);
    if ((the_world.painted & PAINT_FRESH) != 0) {
        paint_unset(byte_at(heap, STATE_AT), heap->state_size);
    }
    while (at < end_of(heap) && next_of(heap, at) != 0) {
        paint_chunk(heap, at);
        at = next_of(heap, at);
    }
    fill(byte_at(heap, at), TAIL_BYTES, FREED);
}

/* `word` and `at` are static, so that `below` alone takes room in the frame. Sanitizers are off, because they
 * would place `below` elsewhere. */
__attribute__((noinline, no_sanitize("address", "thread", "undefined"))) void zones_paint_stack(void)
{
    static uint64_t word;
    static size_t at;
    uint64_t below[STACK_BYTES / sizeof(uint64_t)];
    memset(&word, byte_of(FRESH), sizeof word);
    for (at = 0; at < sizeof below / sizeof below[0]; at++) {
        below[at] = word;
    }
    __asm__ volatile("" : : "r"(below) : "memory"); /* keeps writes that no code reads */
}

static bool same_bytes(const unsigned char *now, const unsigned char *painted, size_t size,
                       unsigned char paint)
{
    for (size_t i = 0; i < size; i++) {
        bool moved = painted[i] == paint && (now[i] == FRESH || now[i] == FREED || now[i] == ZONE);
        if (now[i] != painted[i] && !moved) {
            return false;
        }
    }
    return true;
}

bool zones_same(const unsigned char *now, const unsigned char *painted, size_t size, unsigned char paint)
{
    for (size_t at = 0; at + 8 <= size; at += 8) {
        uint64_t a, b;
        memcpy(&a, now + at, sizeof a);
        memcpy(&b, painted + at, sizeof b);
        if (a != b && !lending_is_same(a, b) && !same_bytes(now + at, painted + at, sizeof a, paint)) {
            return false;
        }
    }
    return true;
}
