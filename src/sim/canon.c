/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The fingerprint of a world up to renaming (D3c): shows the growing numbers of each block. */
#include "state/canon.h"

#include "base/assert.h"
#include "sim/world.h"

#include <string.h>

/* Passes each number that a recipe shows to the canon. */
struct recipe_rename {
    struct ls_rename functions; /* first member, so that a function can get at the others */
    struct canon *canon;        /* NULL = the numbers are only looked at */
    int process;
    bool outside; /* the recipe has shown something that is not in the process's memory */
};

/* Returns the canon for a number at `where`; NULL if it gets none. */
static struct canon *canon_for(struct ls_rename *rename, const void *where, size_t size)
{
    struct recipe_rename *show = (struct recipe_rename *)(void *)rename;
    bool inside = !the_world.zoned || heap_contains(show->process, where, size);
    show->outside = show->outside || !inside;
    if (!inside && show->canon != NULL) {
        canon_refuse(show->canon);
    }
    return inside ? show->canon : NULL;
}

static void on_zxid(struct ls_rename *rename, const int64_t *where)
{
    struct canon *canon = canon_for(rename, where, sizeof *where);
    if (canon != NULL) {
        canon_wide(canon, CANON_ZXID, where, the_world.coordinator->number_of_token(*where));
    }
}

static void on_session(struct ls_rename *rename, const int64_t *where)
{
    struct canon *canon = canon_for(rename, where, sizeof *where);
    if (canon != NULL) {
        canon_wide(canon, CANON_SESSION, where, (int32_t)*where);
    }
}

static void on_sequence(struct ls_rename *rename, const int32_t *where)
{
    struct canon *canon = canon_for(rename, where, sizeof *where);
    if (canon != NULL) {
        canon_sequence(canon, where);
    }
}

static void on_attempt(struct ls_rename *rename, const uint8_t where[16])
{
    struct canon *canon = canon_for(rename, where, 16);
    if (canon != NULL) {
        canon_attempt(canon, where);
    }
}

/* A text without digits shows no number, wherever it lies. */
static void on_text(struct ls_rename *rename, const char *text)
{
    bool plain = the_world.zoned && strpbrk(text, "0123456789") == NULL;
    struct canon *canon = plain ? NULL : canon_for(rename, text, the_world.zoned ? strlen(text) + 1 : 0);
    if (canon != NULL) {
        canon_text(canon, text);
    }
}

/* Without a clock, leaves a delay out of the fingerprint, because all timers are due at once there. */
static void on_delay(struct ls_rename *rename, const void *where, size_t size)
{
    struct canon *canon = canon_for(rename, where, size);
    if (canon != NULL && !the_world.options.timed) {
        canon_blank(canon, where, size);
    }
}

/* Returns the most faults that the budgets pay for in a run. */
static int faults_max(const struct world_options *options)
{
    int faults = 0;
    for (int fault = 0; fault < WORLD_FAULTS; fault++) {
        faults += options->budget[fault];
    }
    return faults < options->budget_total ? faults : options->budget_total;
}

static bool call_canon(struct canon *canon, int p)
{
    struct recipe_rename rename = {
        .functions =
            {
                .zxid = on_zxid,
                .session = on_session,
                .sequence = on_sequence,
                .attempt = on_attempt,
                .text = on_text,
                .delay = on_delay,
                .faults_max = faults_max(&the_world.options),
            },
        .canon = canon,
        .process = p,
    };
    LS_ASSERT(process_at(p)->started);
    the_world.options.recipe->canon(process_state(p), &rename.functions);
    return !rename.outside;
}

bool canon_stays_inside(int p)
{
    return call_canon(NULL, p);
}

static void show_recipe(struct canon *canon, int p)
{
    if (process_at(p)->started) {
        (void)call_canon(canon, p);
    }
}

static void show_process(struct canon *canon, int p)
{
    struct pack pack = process_pack(p);
    canon_attempts(canon, p + 1, &process_at(p)->ids); /* owner as in make_id() of env.c */
    for (struct rec *rec = pack_first(&pack, LIST_SLOT); rec != NULL; rec = pack_next(&pack, rec)) {
        const int64_t *token = &((const struct slot *)rec)->token;
        canon_wide(canon, CANON_ZXID, token, the_world.coordinator->number_of_token(*token));
    }
    if (process_at(p)->kept != NULL) {
        canon_refuse(canon); /* texts of guarded writes name numbers */
    }
}

/* Shows a mask that has a bit for each process. */
static void show_mask(struct canon *canon, const uint32_t *mask)
{
    LS_ASSERT(*mask >> the_world.options.processes == 0);
    for (int p = 0; p < the_world.options.processes; p++) {
        if ((*mask >> p & 1u) != 0) {
            canon_record(canon, NULL, 0, 0);
            canon_role(canon, mask, sizeof *mask, p);
            canon_record_end(canon);
        }
    }
}

static void show_state(struct canon *canon)
{
    const struct world_state *state = the_state();
    for (int i = 0; i < WORLD_LOCKS_MAX; i++) {
        canon_wide(canon, CANON_ZXID, &state->newest[i],
                   the_world.coordinator->number_of_position(state->newest[i]));
    }
    show_mask(canon, &state->tired);
    show_mask(canon, &state->repeated);
}

static void show_block(void *ctx, int block, struct canon *canon)
{
    (void)ctx;
    LS_ASSERT(block >= 0 && block < the_world.arena.blocks);
    if (block == the_world.judge_block) {
        the_world.options.judge_canon(world_judges(&the_world), canon);
        return;
    }
    if (block == the_world.state_block) {
        show_state(canon);
    }
    for (int p = 0; p < the_world.options.processes; p++) {
        if (block == the_world.process_block[p]) {
            show_process(canon, p);
        } else if (block == the_world.heap_block[p]) {
            show_recipe(canon, p);
        }
    }
    the_world.coordinator->canon(block, canon);
}

static bool guards_writes(const struct action *op)
{
    return op->kind == ACTION_WRITE && op->guarded == 1;
}

static bool sets_data(const struct action *op)
{
    return op->kind == ACTION_REVOKE || guards_writes(op);
}

static bool some_op(const struct world_options *options, bool (*is)(const struct action *op))
{
    for (int p = 0; p < options->processes; p++) {
        for (int i = 0; i < options->program[p].count; i++) {
            if (is(&options->program[p].ops[i])) {
                return true;
            }
        }
    }
    return false;
}

/* Returns false without programs too, because verbs of scripts are not known. */
bool world_sets_no_data(const struct world_options *options)
{
    return options->recipe->sets_no_data && the_world.programmed && !some_op(options, sets_data);
}

struct canon *world_canon(struct world *world)
{
    const struct world_options *options = &world->options;
    bool possible = options->recipe->canon != NULL && options->judge_canon != NULL &&
                    the_world.coordinator->canon != NULL && options->sequence_preset == 0 &&
                    !some_op(options, guards_writes);
    return possible ? canon_open(&world->arena, options->processes, show_block, NULL) : NULL;
}

/* ---- processes that may change their names ---- */

static bool equal_program(const struct world_program *a, const struct world_program *b)
{
    LS_ASSERT(a->count >= 0 && a->count <= (int)(sizeof a->ops / sizeof a->ops[0]));
    return a->count == b->count && a->endless == b->endless && a->tasks == b->tasks &&
           memcmp(a->ops, b->ops, sizeof a->ops) == 0 && memcmp(a->task, b->task, sizeof a->task) == 0;
}

static bool equal_programs(const struct world_options *options)
{
    const struct world_program *first = &options->program[0];
    for (int p = 1; p < options->processes; p++) {
        if (options->autostart[p] != options->autostart[0] || !equal_program(&options->program[p], first)) {
            return false;
        }
    }
    return true;
}

bool world_is_symmetric(const struct world *world)
{
    const struct world_options *options = &world->options;
    /* In a world that lacks choice point a, the lowest process moves first. */
    bool ordered = (options->without & WORLD_CHOICE_POINT('a')) != 0;
    return options->recipe->symmetric && !ordered && options->servers == 1 && options->processes > 1 &&
           options->processes <= CANON_PROCESSES_MAX && equal_programs(options);
}

static void own(struct canon_layout *layout, int block, int p, int alike)
{
    LS_ASSERT(alike >= 0 && alike <= block);
    LS_ASSERT(block >= 0 && (p < 0 || layout->owner[block] < 0));
    layout->owner[block] = p;
    layout->alike[block] = (uint8_t)alike;
}

struct canon *world_symmetric_canon(struct world *world)
{
    struct canon_layout layout = {0};
    struct canon *canon = world_is_symmetric(world) ? world_canon(world) : NULL;
    for (int block = 0; block < world->arena.blocks; block++) {
        own(&layout, block, -1, block);
    }
    for (int p = 0; p < world->options.processes; p++) {
        LS_ASSERT(world->process_block[p] != world->heap_block[p]);
        own(&layout, world->process_block[p], p, world->process_block[0]);
        own(&layout, world->heap_block[p], p, world->heap_block[0]);
        own(&layout, world->coordinator->own_block(p), p, world->coordinator->own_block(0));
        layout.self[p < CANON_PROCESSES_MAX ? p : 0] = world->env[p];
    }
    if (canon != NULL && !canon_processes_open(canon, &layout)) {
        canon_close(canon);
        return NULL;
    }
    return canon;
}
