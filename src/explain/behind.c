/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "explain/behind.h"

#include "base/assert.h"
#include "explain/parts.h"

#include <cjson/cJSON.h>
#include <stdlib.h>

struct behind {
    struct explain_case *c;
    struct futures_bounds bounds;
    struct action *script; /* room for the acts of a script */
    struct action enabled[WORLD_ACTIONS_MAX];
};

static const char *answer_of(const struct futures_behind *found)
{
    enum futures_answer breaks = found->breaks.answer, keeps = found->keeps.answer;
    return found->at_once                                    ? "breaks"
           : keeps == FUTURES_NONE                           ? "always"
           : breaks == FUTURES_NONE                          ? "never"
           : breaks == FUTURES_SOME && keeps == FUTURES_SOME ? "sometimes"
                                                             : "undecided";
}

static bool add_answer(cJSON *list, const char *label, const char *answer, uint64_t states)
{
    cJSON *item = cJSON_CreateArray();
    bool added = item != NULL && cJSON_AddItemToArray(item, cJSON_CreateString(label)) &&
                 cJSON_AddItemToArray(item, cJSON_CreateString(answer)) &&
                 cJSON_AddItemToArray(item, cJSON_CreateNumber((double)states));
    added = added && cJSON_AddItemToArray(list, item);
    if (!added) {
        cJSON_Delete(item);
    }
    return added;
}

/* Searches behind one choice of the present state. `choices` were done so far. */
static bool look_behind(const struct behind *b, const struct action *choice, int choices, cJSON *list)
{
    char label[WORLD_LABEL_MAX];
    struct futures_behind found;
    struct script script = case_script(b->c, choices, -1, true, b->script);
    world_label(b->c->run.world, choice, label);
    futures_behind(b->c->futures, choice, &script, b->bounds, &found);
    return add_answer(list, label, answer_of(&found), found.breaks.states + found.keeps.states);
}

static bool look_at_step(struct behind *b, int choices, cJSON *list)
{
    struct world *world = b->c->run.world;
    bool added = case_follow(b->c, choices);
    int count = added ? world_actions(world, b->enabled) : 0;
    LS_ASSERT(count <= WORLD_ACTIONS_MAX);
    for (int i = 0; added && i < count; i++) {
        added = look_behind(b, &b->enabled[i], choices, list);
    }
    return added;
}

static bool look_at_all(struct behind *b, cJSON *object)
{
    const struct property *const *all;
    int last = b->c->last, known;
    all = check_all(&known);
    cJSON *steps = cJSON_AddArrayToObject(object, "steps");
    LS_ASSERT(b->c->position < known);
    bool added = steps != NULL &&
                 cJSON_AddStringToObject(object, "property", all[b->c->position]->name) != NULL &&
                 cJSON_AddNumberToObject(object, "states_max", (double)b->bounds.states_max) != NULL;
    for (int i = 0; added && i < last; i++) {
        cJSON *list = cJSON_CreateArray();
        added = list != NULL && cJSON_AddItemToArray(steps, list) &&
                (last - i > BEHIND_STEPS_MAX || look_at_step(b, i, list));
    }
    return added;
}

enum explain_result explain_behind(const struct trace *trace, const struct explain_options *options,
                                   cJSON **behind, struct input_error *error)
{
    static struct explain_case c; /* too large for a stack that recipes share */
    static struct behind b;
    enum explain_result result = case_open(&c, trace, options->property, error);
    *behind = NULL;
    b = (struct behind){.c = &c, .bounds.states_max = options->states_max};
    if (options->states_max == 0) {
        b.bounds.states_max = BEHIND_STATES_MAX;
    }
    if (result == EXPLAIN_DONE) {
        b.bounds.until_ms = case_end_ms(&c);
        b.script = calloc((size_t)c.acts + 1, sizeof *b.script);
        *behind = cJSON_CreateObject();
        if (b.script == NULL || *behind == NULL || !case_begin(&c) || !look_at_all(&b, *behind)) {
            input_complain_words(error, trace->input.name, 1, 1, "'out of memory'", "memory");
            cJSON_Delete(*behind);
            *behind = NULL;
            result = EXPLAIN_UNFIT;
        }
    }
    free(b.script);
    case_close(&c);
    return result;
}
