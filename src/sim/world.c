/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "sim/world.h"

#include "base/assert.h"
#include "sim/lock_kinds.h"
#include "sim/sandbox.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARENA_BYTES (16u << 20)
#define PROCESS_BYTES 2048

struct world the_world;

void world_note_trouble(const char *format, ...)
{
    if (the_world.trouble[0] != 0) {
        return;
    }
    va_list args;
    va_start(args, format);
    vsnprintf(the_world.trouble, sizeof the_world.trouble, format, args);
    va_end(args);
}

const char *world_trouble(const struct world *world)
{
    if (world->trouble[0] != 0) {
        return world->trouble;
    }
    return world->coordinator != NULL ? world->coordinator->trouble() : NULL;
}

void world_options_default(struct world_options *options)
{
    memset(options, 0, sizeof *options);
    options->processes = 1;
    options->locks = 1;
    options->lock_path[0] = "/locks/x";
    options->servers = 1;
    options->latency_min_ms = 10;
    options->latency_max_ms = 10;
    options->tick_ms = 200;
    options->session_timeout_ms = 4000;
    options->loss_rc = -4;
    options->budget_total = 255;
}

void observe(const struct event *event)
{
    LS_ASSERT(!the_world.observing);
    if (the_world.sums) {
        twice_note(event);
    }
    if (the_world.observer != NULL && !the_world.muted) {
        the_world.observing = true;
        the_world.observer(the_world.observer_ctx, event);
        the_world.observing = false;
    }
}

struct event observe_process(int kind, int p)
{
    LS_ASSERT(p >= 0 && (p < the_world.options.processes || p == (int)EVENT_PROCESS_NONE));
    struct event event = {.kind = (uint8_t)kind, .process = (uint8_t)p, .lock = EVENT_LOCK_NONE};
    event.now_ms = clock_now_ms();
    return event;
}

static char *constant_text(const char *a, const char *b)
{
    char *text = arena_constant(&the_world.arena, strlen(a) + strlen(b) + 1);
    LS_ASSERT(text != NULL);
    strcpy(stpcpy(text, a), b);
    return text;
}

/* Gives each mutex the spec of a mutex in a group of its own. Returns a copy of all specs in the constant
 * region; NULL if all locks are mutexes. */
static const struct ls_lock_spec *lay_specs(struct world_options *options)
{
    for (int i = 0; i < options->locks; i++) {
        LS_ASSERT(i < WORLD_LOCKS_MAX);
        if (options->lock[i].kind == LS_LOCK_MUTEX) {
            options->lock[i] = (struct ls_lock_spec){.group = (uint8_t)i};
        }
    }
    if (world_lock_specs(options) == NULL) {
        return NULL;
    }
    struct ls_lock_spec *specs = arena_constant(&the_world.arena, sizeof options->lock);
    LS_ASSERT(specs != NULL);
    memcpy(specs, options->lock, sizeof options->lock);
    for (int i = 0; i < options->locks; i++) {
        specs[i].name = specs[i].name != NULL ? constant_text(specs[i].name, "") : NULL;
    }
    return specs;
}

static void lay_config(struct world_options *options)
{
    const char *chroot = options->chroot != NULL ? options->chroot : "";
    const char **paths = arena_constant(&the_world.arena, sizeof(char *) * WORLD_LOCKS_MAX);
    struct ls_recipe_config *config = arena_constant(&the_world.arena, sizeof *config);
    LS_ASSERT(paths != NULL && config != NULL);
    for (int i = 0; i < options->locks; i++) {
        paths[i] = constant_text(options->lock_path[i], "");
        bool is_root = strcmp(options->lock_path[i], "/") == 0;
        the_world.lock_path[i] = constant_text(chroot, is_root ? "" : options->lock_path[i]);
    }
    const char *(*hosts)(const struct world_options *) = the_world.coordinator->hosts;
    config->hosts = constant_text(hosts != NULL ? hosts(options) : "", chroot);
    config->lock_paths = paths;
    config->lock_count = options->locks;
    config->session_timeout_ms = options->session_timeout_ms;
    config->contents = options->contents != NULL ? constant_text(options->contents, "and no end") : NULL;
    config->contents_size = options->contents != NULL ? (int)strlen(options->contents) : 0;
    config->keep_fresh = options->keep_fresh;
    config->read_only = (options->settings & WORLD_SETTING_READ_ONLY) != 0;
    config->locks = lay_specs(options);
    the_world.config = config;
    for (int p = 0; p < options->processes; p++) {
        the_world.env[p] = arena_constant(&the_world.arena, sizeof(struct ls_env));
        LS_ASSERT(the_world.env[p] != NULL);
        the_world.env[p]->process = (uint8_t)p;
    }
}

static void lay_blocks(const struct world_options *options)
{
    struct arena *arena = &the_world.arena;
    the_world.state_block = arena_add(arena, sizeof(struct world_state), sizeof(struct world_state));
    the_world.judge_block =
        arena_add(arena, sizeof(struct arena_block) + options->judge_bytes + 8, sizeof(struct arena_block));
    for (int p = 0; p < options->processes; p++) {
        the_world.process_block[p] = arena_add(arena, PROCESS_BYTES, sizeof(struct process));
        the_world.process[p] = arena_at(arena, the_world.process_block[p]);
        if (the_world.zoned) {
            arena_gap(arena, 1);
        }
        the_world.heap_block[p] = arena_add(arena, HEAP_BYTES, 16);
        if (the_world.zoned) {
            arena_gap(arena, HEAP_GAP_BYTES);
        }
        heap_clear(p, 0);
    }
    LS_ASSERT(arena->blocks == 2 + 2 * options->processes);
}

static void *host_alloc(int p, size_t size)
{
    LS_ASSERT(p >= 0 && p < the_world.options.processes);
    return heap_alloc(p, size, HEAP_WORLD);
}

static void host_free(int p, void *memory)
{
    LS_ASSERT(p >= 0 && p < the_world.options.processes);
    heap_free(p, memory, HEAP_WORLD);
}

static void *host_kept(int p)
{
    return process_at(p)->kept;
}

static void host_keep(int p, void *pointer)
{
    LS_ASSERT(p >= 0 && p < the_world.options.processes);
    process_mark(p)->kept = pointer;
}

static void host_wake(int p)
{
    process_wake(p);
    repeats_forget(p);
}

static bool host_renews(int p)
{
    return process_running(p) && timers_of_role(p, LS_TIMER_RENEWAL);
}

static bool host_trusts_leases(int p)
{
    return process_running(p) && timers_of_role(p, LS_TIMER_LEASE);
}

static const char *host_text(int slot)
{
    LS_ASSERT(slot >= 0);
    return slot < the_world.texts ? the_world.text[slot] : NULL;
}

static bool host_stopping(void)
{
    return the_world.stopping;
}

static void host_aborted(int p)
{
    LS_ASSERT(p >= 0 && p < the_world.options.processes);
    the_world.aborted = p + 1;
}

static void host_effect(int lock, int64_t token)
{
    LS_ASSERT(lock >= 0 && lock < the_world.options.locks);
    struct world_state *state = state_mark();
    state->newest[lock] = token > state->newest[lock] ? token : state->newest[lock];
}

static void lay_coordinator(const struct world_options *options)
{
    the_world.host = (struct coord_host){.arena = &the_world.arena,
                                         .options = options,
                                         .config = the_world.config,
                                         .lock_path = the_world.lock_path,
                                         .programmed = the_world.programmed,
                                         .sets_no_data = world_sets_no_data(options),
                                         .event = observe,
                                         .event_of = observe_process,
                                         .now_ms = clock_now_ms,
                                         .offence = world_tell_offence,
                                         .trouble = world_note_trouble,
                                         .text = host_text,
                                         .state = process_state,
                                         .says_idle = process_says_idle,
                                         .wake = host_wake,
                                         .renews = host_renews,
                                         .trusts_leases = host_trusts_leases,
                                         .aborted = host_aborted,
                                         .stopping = host_stopping,
                                         .alloc = host_alloc,
                                         .free = host_free,
                                         .kept = host_kept,
                                         .keep = host_keep,
                                         .effect = host_effect,
                                         .attempt_id = env_attempt_id,
                                         .before_callback = the_world.zoned ? zones_paint_stack : NULL};
    the_world.coordinator->open(&the_world.host);
}

static void refuse_recipe(const struct world_options *options)
{
    if (!recipe_is_for(options->recipe, options->coordinator)) {
        world_note_trouble("the recipe %s is not for the coordinator %s", options->recipe->name,
                           the_world.coordinator->name);
    }
    enum ls_lock_kind unknown = recipe_unknown_kind(options->recipe, options);
    if (unknown != LS_LOCK_KINDS) {
        world_note_trouble("the recipe %s knows no %s", options->recipe->name, lock_kind_at(unknown)->word);
    }
    if (options->several && !recipe_can_take_several(options->recipe)) {
        world_note_trouble("the recipe %s takes one lock at a time", options->recipe->name);
    }
}

static void lay_out(const struct world_options *wanted)
{
    struct world_options *options = &the_world.options;
    the_world.options = *wanted;
    without_constants(&the_world.options);
    the_world.steps = 0;
    the_world.paid = 0;
    the_world.layouts++;
    the_world.texts = 0;
    the_world.trouble[0] = 0;
    the_world.coordinator = coordinator_find(options->coordinator);
    LS_ALWAYS(the_world.coordinator != NULL);
    world_forget_call();
    the_world.zoned = world_guard_is_set();
    the_world.programmed = false;
    for (int p = 0; p < options->processes; p++) {
        the_world.programmed |= options->program[p].count > 0;
    }
    refuse_recipe(options);
    lay_config(options);
    lay_blocks(options);
    lay_coordinator(options);
    struct world_state *state = state_mark();
    memcpy(state->budget, options->budget, sizeof state->budget);
    state->budget_total = options->budget_total;
}

struct world *world_open(const struct world_options *options, world_observer observer, void *ctx)
{
    LS_ASSERT(the_world.arena.base == NULL);
    if (arena_open(&the_world.arena, ARENA_BYTES) != 0) {
        return NULL;
    }
    the_world.observer = observer;
    the_world.observer_ctx = ctx;
    lay_out(options);
    return &the_world;
}

void world_reset(struct world *world, const struct world_options *options)
{
    LS_ASSERT(world == &the_world && !world->observing);
    arena_clear(&world->arena);
    lay_out(options);
}

uint64_t world_layout(const struct world *world)
{
    return world->layouts;
}

void world_close(struct world *world)
{
    LS_ASSERT(world == &the_world && !world->observing);
    uint64_t layouts = world->layouts;
    arena_close(&world->arena);
    memset(world, 0, sizeof *world);
    world->layouts = layouts;
}

void world_set_observer(struct world *world, world_observer observer, void *ctx)
{
    world->observer = observer;
    world->observer_ctx = ctx;
}

static void start(void *ctx)
{
    process_start(*(const int *)ctx);
}

void world_doubt(struct world *world, enum world_doubt doubt)
{
    world->doubt = doubt;
    twice_begin();
}

bool world_is_guarded(const struct world *world)
{
    return world->zoned;
}

void world_begin(struct world *world)
{
    if (world_trouble(world) != NULL) {
        return; /* a trouble of the options: no recipe may run in a world that is not for it */
    }
    if (world->coordinator->prepare != NULL) {
        world->coordinator->prepare();
    }
    LS_ASSERT(world->steps == 0);
    for (int p = 0; p < world->options.processes; p++) {
        if (world->options.autostart[p]) {
            guard_call(p, ACTION_START + 1u, start, &p);
        }
    }
}

struct world_image *world_save(struct world *world)
{
    return (struct world_image *)arena_save(&world->arena);
}

void world_restore(struct world *world, const struct world_image *image)
{
    arena_restore(&world->arena, (const struct arena_image *)image);
}

bool world_image_equal(const struct world_image *a, const struct world_image *b)
{
    return arena_image_equal((const struct arena_image *)a, (const struct arena_image *)b);
}

size_t world_image_bytes(const struct world_image *image)
{
    return arena_image_bytes((const struct arena_image *)image);
}

void world_image_free(struct world_image *image)
{
    free(image);
}

uint64_t world_fingerprint(struct world *world)
{
    return arena_fingerprint(&world->arena);
}

static void name_block(int block, char text[WORLD_LABEL_MAX])
{
    LS_ASSERT(block >= 0 && block < the_world.arena.blocks);
    snprintf(text, WORLD_LABEL_MAX, "%s",
             block == the_world.state_block   ? "the block of the world"
             : block == the_world.judge_block ? "the block of the judges"
                                              : "a block of the ensemble");
    for (int p = 0; p < the_world.options.processes; p++) {
        if (block == the_world.process_block[p] || block == the_world.heap_block[p]) {
            snprintf(text, WORLD_LABEL_MAX, "the %s of process %d",
                     block == the_world.heap_block[p] ? "memory" : "block", p);
        }
    }
}

bool world_unmarked_write(const struct world *world, const struct world_image *image,
                          char block[WORLD_LABEL_MAX])
{
    int number = arena_unmarked_write(&world->arena, (const struct arena_image *)image);
    if (number >= 0) {
        name_block(number, block);
    }
    return number >= 0;
}

bool world_drop_unread(struct world *world, const struct action *action)
{
    return world->coordinator->drop_unread != NULL && world->coordinator->drop_unread(action);
}

size_t world_bytes(const struct world *world, unsigned char *out, size_t size)
{
    return arena_bytes(&world->arena, out, size);
}

struct arena *world_arena(struct world *world)
{
    return &world->arena;
}

int world_scope(const struct world *world, int process, int *blocks)
{
    int count = 0;
    LS_ASSERT(process >= 0);
    blocks[count++] = world->state_block;
    if (process < world->options.processes) {
        blocks[count++] = world->process_block[process];
        blocks[count++] = world->heap_block[process];
    }
    int client = process < world->options.processes ? process : (int)COORD_NOBODY;
    return count + world->coordinator->scope(client, blocks + count);
}

int world_judge_block(const struct world *world)
{
    return world->judge_block;
}

int world_budget_block(const struct world *world)
{
    return world->state_block;
}

void world_bought(struct world *world, uint8_t bought[WORLD_FAULTS])
{
    for (int fault = 0; fault < WORLD_FAULTS; fault++) {
        LS_ASSERT(the_state()->budget[fault] <= world->options.budget[fault]);
        bought[fault] = (uint8_t)(world->options.budget[fault] - the_state()->budget[fault]);
    }
}

void world_buy(struct world *world, const uint8_t bought[WORLD_FAULTS])
{
    struct world_state *state = state_mark();
    int total = 0;
    for (int fault = 0; fault < WORLD_FAULTS; fault++) {
        LS_ASSERT(bought[fault] <= world->options.budget[fault]);
        state->budget[fault] = (uint8_t)(world->options.budget[fault] - bought[fault]);
        total += bought[fault];
    }
    if (world->options.budget_total != 255) {
        LS_ASSERT(total <= world->options.budget_total);
        state->budget_total = (uint8_t)(world->options.budget_total - total);
    }
}

const struct coordinator *world_coordinator(void)
{
    return the_world.coordinator;
}

const struct world_options *world_get_options(const struct world *world)
{
    return &world->options;
}

int64_t world_now_ms(const struct world *world)
{
    return world->options.timed ? clock_now_ms() : 0;
}

uint64_t world_steps(const struct world *world)
{
    return world->steps;
}

void *world_judges(struct world *world)
{
    return (unsigned char *)arena_at(&world->arena, world->judge_block) + sizeof(struct arena_block);
}

void world_judges_changed(struct world *world, size_t live_bytes)
{
    LS_ASSERT(world->judge_block > world->state_block);
    arena_mark(&world->arena, world->judge_block);
    bool fits = arena_resize(&world->arena, world->judge_block, sizeof(struct arena_block) + live_bytes);
    LS_ASSERT(fits);
}

enum ls_belief world_belief(struct world *world, int process, int lock, int owner)
{
    if (!process_at(process)->started) {
        return LS_NOT_HELD;
    }
    return world->options.recipe->query(process_state(process), lock, owner);
}

/* Appends to a text of `size` bytes, of which *used are used. */
__attribute__((format(printf, 4, 5))) static void add_text(char *text, size_t size, size_t *used,
                                                           const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int written = *used < size ? vsnprintf(text + *used, size - *used, format, args) : 0;
    va_end(args);
    *used += written > 0 ? (size_t)written : 0;
}

static void describe_process(struct world *world, int p, char *text, size_t size, size_t *used)
{
    LS_ASSERT(p >= 0 && p < world->options.processes && *used >= strlen(text));
    struct pack pack = process_pack(p);
    const struct process *process = process_at(p);
    const char *const *states = world->options.recipe->states;
    uint32_t taken = process->started && states != NULL ? world_recipe_states(world, p) : 0;
    add_text(text, size, used, "process %s: %s", world->options.name[p],
             process->crashed   ? "crashed"
             : process->paused  ? "paused"
             : process->started ? "started"
                                : "not started");
    for (int i = 0; taken != 0 && states[i] != NULL; i++) {
        if ((taken >> i & 1) != 0) {
            add_text(text, size, used, ", %s", states[i]);
        }
    }
    add_text(text, size, used, "\n");
    for (struct rec *rec = pack_first(&pack, LIST_TIMER); rec != NULL; rec = pack_next(&pack, rec)) {
        add_text(text, size, used, "  timer %s\n", timer_name((struct timer *)rec));
    }
}

void world_describe(struct world *world, char *text, size_t size)
{
    world->coordinator->dump(text, size);
    size_t used = strlen(text);
    for (int p = 0; p < world->options.processes; p++) {
        describe_process(world, p, text, size, &used);
    }
}
