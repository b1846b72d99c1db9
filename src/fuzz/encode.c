/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "fuzz/encode.h"

#include "base/assert.h"

#include <string.h>

/* ---- the header ---- */

/* Returns whether the directory of the first lock holds a node at the beginning. */
static bool has_stranger(const struct world_options *options)
{
    size_t size = strlen(options->lock_path[0]);
    for (int i = 0; i < WORLD_NODES_MAX && options->node[i] != NULL; i++) {
        if (strncmp(options->node[i], options->lock_path[0], size) == 0 && options->node[i][size] == '/') {
            return true;
        }
    }
    return false;
}

static uint8_t bits_of(const struct world_options *options)
{
    unsigned bits =
        (options->used_directory ? FUZZ_USED : 0) | (options->no_containers ? FUZZ_NO_CONTAINERS : 0) |
        (options->callbacks_in_init ? FUZZ_CALLBACKS_IN_INIT : 0) |
        (options->keep_fresh ? FUZZ_KEEP_FRESH : 0) | (options->loss_rc == -7 ? FUZZ_MINUS_SEVEN : 0) |
        (options->locks > 1 ? FUZZ_TWO_LOCKS : 0) |
        ((options->defects & WORLD_DEFECT_WRAP) != 0 ? FUZZ_WRAP : 0) |
        (has_stranger(options) ? FUZZ_STRANGER : 0);
    return (uint8_t)bits;
}

/* Allows every kind of fault that can happen: three of each, nine in all. */
void fuzz_encode_world(const struct world_options *options, uint8_t header[FUZZ_HEADER])
{
    LS_ASSERT(options->servers >= 1);
    int clients = options->processes < FUZZ_CLIENTS_MAX ? options->processes : FUZZ_CLIENTS_MAX;
    memset(header, 0, FUZZ_HEADER);
    header[0] = (uint8_t)(clients > 2 ? clients - 2 : 0);
    header[1] = (uint8_t)(options->servers - 1);
    header[2] = bits_of(options);
    header[3] = fuzz_sequence_byte(options->sequence_preset);
    header[6] = 2;
    header[7] = 6;
    header[8] = (uint8_t)options->seed;
}

/* The operations of a client: its program, or its verbs in the run. */
struct deeds {
    const struct action *action;
    int actions;
    int process; /* the client: only its actions count; -1 = all actions count */
};

static struct deeds deeds_of(const struct world_options *options, int process, const struct action *action,
                             int actions)
{
    if (process < options->processes && options->program[process].count > 0) {
        return (struct deeds){options->program[process].ops, options->program[process].count, -1};
    }
    return (struct deeds){action, actions, process};
}

/* Returns how many operations, from the first on, program and deeds have in common. */
static int agreement(const struct world_program *program, struct deeds deeds)
{
    int at = 0;
    for (int i = 0; i < deeds.actions && at < program->count; i++) {
        const struct action *op = &program->ops[at], *deed = &deeds.action[i];
        if (!world_is_verb(deed) || (deeds.process >= 0 && deed->process != deeds.process)) {
            continue;
        }
        bool timed_alike = op->kind != ACTION_ACQUIRE || (op->timeout_ms < 0) == (deed->timeout_ms < 0);
        if (op->kind != deed->kind || op->owner != deed->owner || op->lock != deed->lock || !timed_alike) {
            break;
        }
        at++;
    }
    LS_ASSERT(at <= program->count);
    return at;
}

/* Opens a world for each program in turn. For each client chooses the program that agrees longest with its
 * deeds; of equal ones the shortest. */
static bool put_programs(struct fuzz_driver *driver, const struct world_options *options,
                         const struct action *action, int actions, uint8_t header[FUZZ_HEADER])
{
    int best[FUZZ_CLIENTS_MAX] = {0}, length[FUZZ_CLIENTS_MAX] = {0};
    uint8_t chosen[FUZZ_CLIENTS_MAX] = {0};
    for (int k = 0; k < fuzz_programs(); k++) {
        header[9] = (uint8_t)k;
        if (!fuzz_begin(driver, header, FUZZ_HEADER)) {
            return false;
        }
        const struct world_program *program = &driver->scenario.options.program[0];
        for (int p = 0; p < FUZZ_CLIENTS_MAX; p++) {
            int agrees = agreement(program, deeds_of(options, p, action, actions));
            if (agrees > best[p] || (agrees == best[p] && agrees > 0 && program->count < length[p])) {
                best[p] = agrees;
                length[p] = program->count;
                chosen[p] = (uint8_t)k;
            }
        }
    }
    memcpy(header + 9, chosen, sizeof chosen);
    return fuzz_begin(driver, header, FUZZ_HEADER);
}

/* ---- decisions ---- */

static bool is_like(const struct action *a, const struct action *b)
{
    return a->kind == b->kind && a->process == b->process;
}

/* Writes a decision for the first action for which `fits` is true. Returns false if there is none. */
static bool find(struct fuzz_driver *driver, const struct action *wanted,
                 bool (*fits)(const struct action *, const struct action *), uint8_t out[2],
                 struct action *found)
{
    for (int first = FUZZ_DELIVER << 4; first < FUZZ_WHATS << 4; first++) {
        enum fuzz_what what = fuzz_what((uint8_t)first);
        if (!fuzz_is_about(what, wanted)) {
            continue;
        }
        int kept = fuzz_choices(driver, (uint8_t)first),
            seconds = fuzz_decision_size((uint8_t)first) == 2 ? 256 : 1;
        for (int second = 0; second < seconds && second < kept; second++) {
            out[0] = (uint8_t)first;
            out[1] = (uint8_t)second;
            const struct action *action = &driver->enabled[fuzz_which(driver, out, kept)];
            if (fits(action, wanted)) {
                *found = *action;
                return true;
            }
        }
    }
    return false;
}

/* Writes decisions for *steps successive default steps, up to 16 in each, and sets *steps to 0. Steps without
 * room are dropped. Returns the size of the input. */
static size_t put_default(uint8_t *out, size_t size, size_t room, int *steps)
{
    for (; *steps > 0 && size < room; *steps -= *steps < 16 ? *steps : 16) {
        out[size++] = (uint8_t)(FUZZ_DEFAULT << 4 | ((*steps < 16 ? *steps : 16) - 1));
    }
    *steps = 0;
    LS_ASSERT(size <= room && *steps == 0);
    return size;
}

size_t fuzz_encode(struct fuzz_driver *driver, const struct world_options *options,
                   const struct action *action, int actions, uint8_t *out, size_t room)
{
    size_t size = FUZZ_HEADER;
    int steps = 0;
    if (!put_programs(driver, options, action, actions, out)) {
        return 0;
    }
    for (int i = 0; i < actions && size + 3 <= room && fuzz_may_go_on(driver); i++) {
        struct action found;
        uint8_t decision[2];
        if (world_default_action(driver->run.world, &found) && world_same_action(&found, &action[i])) {
            steps++;
        } else if (find(driver, &action[i], world_same_action, decision, &found) ||
                   find(driver, &action[i], is_like, decision, &found)) {
            size = put_default(out, size, room - 2, &steps);
            memcpy(out + size, decision, 2);
            size += fuzz_decision_size(decision[0]);
        } else {
            continue;
        }
        if (!fuzz_apply(driver, &found)) {
            break;
        }
    }
    LS_ASSERT(size + (steps > 0) <= room);
    return put_default(out, size, room, &steps);
}
