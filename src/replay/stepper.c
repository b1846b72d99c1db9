/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "replay/stepper.h"

#include "base/array.h"
#include "base/assert.h"
#include "replay/liveness_circle.h"
#include "scenario/loaded_properties.h"
#include "sim/remark.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static enum stepper_answer out_of_memory(struct stepper *stepper)
{
    input_complain_words(&stepper->error, stepper->trace.input.name, 1, 1, "'out of memory'", "memory");
    return STEPPER_LOST;
}

/* ---- what the replay tells ---- */

static void on_begin(void *ctx, const struct trace *trace, struct run *run)
{
    struct stepper *stepper = ctx;
    LS_ASSERT(trace == &stepper->trace && stepper->position == -1);
    stepper->run = run;
    stepper->listener->begin(stepper->listener->ctx, run);
}

static void on_choice(void *ctx, const struct replay_step *step)
{
    struct stepper *stepper = ctx;
    stepper->listener->choice(stepper->listener->ctx, step, stepper->shown);
}

static void on_step(void *ctx, const struct replay_step *step)
{
    struct stepper *stepper = ctx;
    int position = ++stepper->position;
    LS_ASSERT(position <= stepper->known && (size_t)position < stepper->facts_max);
    stepper->fact[position] = (struct stepper_fact){
        step->action != NULL ? step->action->process : EVENT_PROCESS_NONE, step->violated};
    stepper->known = position == stepper->known ? position + 1 : stepper->known;
    stepper->listener->step(stepper->listener->ctx, step, stepper->shown);
}

/* ---- moves ---- */

static void begin(struct stepper *stepper, bool shown)
{
    LS_ASSERT(stepper->replay != NULL);
    stepper->shown = shown;
    stepper->position = -1;
    replay_begin(stepper->replay, &stepper->ear);
    LS_ASSERT(stepper->position == 0);
}

static bool has_ended(const struct stepper *stepper)
{
    return replay_ended(stepper->replay);
}

/* Goes to a position that was reached before. Returns STEPPER_DONE; or STEPPER_LOST if a choice does not fit
 * now. That may be so at a mark, if memory is short. */
static enum stepper_answer redo(struct stepper *stepper, int position, bool shown)
{
    LS_ASSERT(position >= 0 && position < stepper->known);
    begin(stepper, shown && position == 0);
    while (stepper->position < position) {
        stepper->shown = shown && stepper->position + 1 == position;
        if (replay_next(stepper->replay) == REPLAY_UNFIT) {
            return STEPPER_LOST;
        }
    }
    return STEPPER_DONE;
}

/* Does the next choice of the list. */
static enum stepper_answer advance(struct stepper *stepper, bool shown)
{
    if (has_ended(stepper)) {
        return STEPPER_END;
    }
    stepper->shown = shown;
    if (replay_next(stepper->replay) == REPLAY_UNFIT) {
        struct input_error why = stepper->error;
        enum stepper_answer answer = redo(stepper, stepper->position, false);
        stepper->error = why;
        return answer == STEPPER_DONE ? STEPPER_UNFIT : answer;
    }
    return STEPPER_DONE;
}

enum stepper_answer stepper_go(struct stepper *stepper, int position)
{
    enum stepper_answer answer = STEPPER_DONE;
    if (position <= stepper->position) {
        answer = redo(stepper, position, true);
    }
    while (answer == STEPPER_DONE && stepper->position < position) {
        answer = advance(stepper, stepper->position + 1 == position);
    }
    return answer;
}

/* Does all choices of the list, and shows none. Returns STEPPER_END, STEPPER_UNFIT or STEPPER_LOST. */
static enum stepper_answer run_through(struct stepper *stepper)
{
    enum stepper_answer answer;
    while ((answer = advance(stepper, false)) == STEPPER_DONE) {
    }
    return answer;
}

enum replay_result stepper_finish(struct stepper *stepper)
{
    if (run_through(stepper) != STEPPER_END) {
        return REPLAY_UNFIT;
    }
    return stepper->run->stats.violated != 0 ? REPLAY_VIOLATED : REPLAY_HOLDS;
}

int stepper_before(const struct stepper *stepper, unsigned process)
{
    int position = stepper->position - 1;
    while (position > 0 && stepper->fact[position].process != process) {
        position--;
    }
    return position > 0 ? position : 0;
}

/* Returns the first position from `from` to the one before `end` at which a further property is violated, or
 * -1. */
static int violation_between(const struct stepper *stepper, int from, int end)
{
    LS_ASSERT(from >= 0 && end <= stepper->known);
    for (int i = from; i < end; i++) {
        if (stepper->fact[i].violated != 0) {
            return i;
        }
    }
    return -1;
}

enum stepper_answer stepper_violation(struct stepper *stepper, int *position)
{
    int here = stepper->position;
    if (run_through(stepper) == STEPPER_LOST) {
        return STEPPER_LOST;
    }
    *position = violation_between(stepper, here + 1, stepper->known);
    if (*position < 0) {
        *position = violation_between(stepper, 0, here + 1);
    }
    return redo(stepper, here, false);
}

/* ---- positions ---- */

uint64_t stepper_number(const struct stepper *stepper, int position)
{
    uint64_t number = 0;
    LS_ASSERT(position >= 0);
    if (position == 0 || position > stepper->trace.choices ||
        !replay_is_action(stepper->replay, position - 1)) {
        return 0;
    }
    for (int i = 0; i < position; i++) {
        number += replay_is_action(stepper->replay, i);
    }
    return number;
}

int stepper_position_of(const struct stepper *stepper, uint64_t number)
{
    int position = 0;
    while (number > 0 && position < stepper->trace.choices) {
        number -= replay_is_action(stepper->replay, position++);
    }
    LS_ASSERT(position <= stepper->trace.choices);
    return number == 0 ? position : -1;
}

/* ---- the list of choices ---- */

/* Makes room for one more choice, and for the facts behind it and behind the end of a circle. */
static bool has_room(struct stepper *stepper)
{
    size_t choices = (size_t)stepper->trace.choices;
    while (stepper->facts_max < choices + 3) {
        if (!array_room(&stepper->fact, stepper->facts_max, &stepper->facts_max, sizeof *stepper->fact,
                        choices + 64)) {
            return false;
        }
    }
    return array_room(&stepper->trace.choice, choices, &stepper->choices_max, sizeof *stepper->trace.choice,
                      64) &&
           array_room(&stepper->label, stepper->labels, &stepper->labels_max, sizeof *stepper->label, 64);
}

/* Returns the index of the action with this label among the enabled ones, as traces note it; -1 = none. */
static int index_of(const struct stepper *stepper, const char *label)
{
    static struct action enabled[WORLD_ACTIONS_MAX];
    char text[WORLD_LABEL_MAX];
    int count = world_actions(stepper->run->world, enabled);
    for (int i = 0; i < count; i++) {
        world_label(stepper->run->world, &enabled[i], text);
        if (strcmp(text, label) == 0) {
            return i;
        }
    }
    return -1;
}

/* Adds a choice, which is possible now, to the end of the list. */
static bool append(struct stepper *stepper, const char *label)
{
    char *copy = has_room(stepper) ? strdup(label) : NULL;
    if (copy == NULL) {
        return false;
    }
    LS_ASSERT(stepper->labels < stepper->labels_max);
    stepper->label[stepper->labels++] = copy;
    stepper->trace.choice[stepper->trace.choices++] = (struct trace_choice){copy, index_of(stepper, label)};
    return true;
}

static int copy_choices(struct stepper *stepper, const struct trace *trace)
{
    size_t count = (size_t)trace->choices;
    stepper->trace = *trace;
    stepper->trace.choice = calloc(count + 1, sizeof *trace->choice);
    stepper->choices_max = count + 1;
    if (stepper->trace.choice == NULL) {
        out_of_memory(stepper);
        return -1;
    }
    memcpy(stepper->trace.choice, trace->choice, count * sizeof *trace->choice);
    if (!has_room(stepper)) {
        out_of_memory(stepper);
        return -1;
    }
    return 0;
}

int stepper_open(struct stepper *stepper, const struct trace *trace, const struct stepper_listener *listener)
{
    LS_ASSERT(stepper->replay == NULL && stepper->fact == NULL);
    stepper->listener = listener;
    stepper->ear = (struct replay_listener){.ctx = stepper, on_begin, on_choice, on_step, NULL};
    if (copy_choices(stepper, trace) == 0) {
        stepper->replay = replay_open(&stepper->trace, &stepper->error);
    }
    if (stepper->replay == NULL) {
        stepper_close(stepper);
        return -1;
    }
    begin(stepper, true);
    return 0;
}

void stepper_close(struct stepper *stepper)
{
    if (stepper->replay != NULL) {
        replay_close(stepper->replay);
        stepper->replay = NULL;
    }
    for (size_t i = 0; i < stepper->labels; i++) {
        free(stepper->label[i]);
    }
    free(stepper->label);
    free(stepper->fact);
    free(stepper->trace.choice);
    stepper->label = NULL;
    stepper->fact = NULL;
    stepper->trace.choice = NULL;
    stepper->labels = stepper->labels_max = stepper->facts_max = 0;
    stepper->known = 0;
    stepper->left = false;
}

/* ---- behind the end of the list ---- */

/* Finds the first enabled action of a program that no budget pays for, or else the first enabled action for
 * which world_is_healing() is true. */
static bool find_listed(const struct stepper *stepper, struct action *out)
{
    static struct action enabled[WORLD_ACTIONS_MAX];
    int count = world_actions(stepper->run->world, enabled), found = -1;
    for (int i = 0; i < count; i++) {
        if (world_is_verb(&enabled[i]) && !world_is_fault(&enabled[i])) {
            *out = enabled[i];
            return true;
        }
        found = found < 0 && world_is_healing(&enabled[i]) ? i : found;
    }
    if (found >= 0) {
        LS_ASSERT(found < count);
        *out = enabled[found];
    }
    return found >= 0;
}

static bool rests(const struct stepper *stepper)
{
    int choices = stepper->trace.choices;
    return choices > 0 && strcmp(stepper->trace.choice[choices - 1].label, TRACE_REST) == 0;
}

static enum stepper_answer extend(struct stepper *stepper)
{
    struct world *world = stepper->run->world;
    struct action action;
    char label[WORLD_LABEL_MAX] = TRACE_REST;
    LS_ASSERT(stepper->left && has_ended(stepper));
    if (world_trouble(world) != NULL) {
        return STEPPER_END;
    }
    if (world_default_action(world, &action) || find_listed(stepper, &action)) {
        world_label(world, &action, label);
    } else if (rests(stepper) || !world_at_rest(world)) {
        return STEPPER_END;
    }
    return append(stepper, label) ? advance(stepper, true) : out_of_memory(stepper);
}

enum stepper_answer stepper_forward(struct stepper *stepper)
{
    return stepper->left && has_ended(stepper) ? extend(stepper) : advance(stepper, true);
}

enum stepper_answer stepper_forward_to(struct stepper *stepper, unsigned process)
{
    enum stepper_answer answer = STEPPER_DONE;
    for (int added = 0; answer == STEPPER_DONE && added < STEPPER_GO_ON_MAX;) {
        added += has_ended(stepper);
        answer = stepper_forward(stepper);
        if (answer == STEPPER_DONE && stepper->fact[stepper->position].process == process) {
            return STEPPER_DONE;
        }
    }
    return answer == STEPPER_DONE ? STEPPER_END : answer;
}

/* ---- other choices ---- */

/* Returns the label of the trace's next choice, or NULL behind the last. */
static const char *next_label(const struct stepper *stepper)
{
    int position = stepper->position;
    return position < stepper->trace.choices ? stepper->trace.choice[position].label : NULL;
}

static struct stepper_choice *add_choice(struct stepper *stepper, int *count, const char *label)
{
    const char *next = next_label(stepper);
    LS_ASSERT(*count < STEPPER_CHOICES_MAX);
    struct stepper_choice *choice = &stepper->choice[(*count)++];
    *choice = (struct stepper_choice){.taken = next != NULL && strcmp(next, label) == 0};
    snprintf(choice->label, sizeof choice->label, "%s", label);
    return choice;
}

/* Adds the listed actions that are faults, or those that are none. */
static void add_listed(struct stepper *stepper, int *count, bool faults)
{
    static struct action enabled[WORLD_ACTIONS_MAX];
    struct world *world = stepper->run->world;
    char label[WORLD_LABEL_MAX];
    int listed = world_actions(world, enabled);
    for (int i = 0; i < listed; i++) {
        if (world_is_fault(&enabled[i]) == faults && run_allows(stepper->run, &enabled[i])) {
            world_label(world, &enabled[i], label);
            struct stepper_choice *choice = add_choice(stepper, count, label);
            choice->fault = faults;
            world_remark(world, &enabled[i], choice->remark);
        }
    }
}

static bool is_taken(const struct stepper *stepper, int count)
{
    for (int i = 0; i < count; i++) {
        if (stepper->choice[i].taken) {
            return true;
        }
    }
    return false;
}

/* Moves the last choice to the front. */
static void move_to_front(struct stepper *stepper, int count)
{
    LS_ASSERT(count > 0 && count <= STEPPER_CHOICES_MAX);
    struct stepper_choice last = stepper->choice[count - 1];
    memmove(&stepper->choice[1], &stepper->choice[0], (size_t)(count - 1) * sizeof last);
    stepper->choice[0] = last;
}

int stepper_choices(struct stepper *stepper)
{
    const char *next = next_label(stepper);
    int count = 0;
    add_listed(stepper, &count, false);
    if (world_at_rest(stepper->run->world)) {
        add_choice(stepper, &count, TRACE_REST);
    }
    add_listed(stepper, &count, true);
    if (next != NULL && !is_taken(stepper, count)) {
        add_choice(stepper, &count, next);
        move_to_front(stepper, count);
    }
    return count;
}

/* Returns whether the choice is possible here. If not, *why is the reason. */
static bool is_possible(struct stepper *stepper, const char *label, const char **why)
{
    struct action action;
    struct world *world = stepper->run->world;
    if (strcmp(label, TRACE_REST) == 0) {
        *why = "the world is not at rest";
        return world_at_rest(world);
    }
    if (world_find(world, label, &action, why) != 0) {
        return false;
    }
    *why = world_enabled(world, &action) ? "no program and no budget of the scenario has it here"
                                         : "the action is not enabled";
    return world_enabled(world, &action) && run_allows(stepper->run, &action);
}

/* Drops the rest of the list, and the marks of a circle before it. */
static void drop_rest(struct stepper *stepper)
{
    struct trace *trace = &stepper->trace;
    int kept = 0;
    LS_ASSERT(stepper->position <= trace->choices + 1);
    for (int i = 0; i < stepper->position && i < trace->choices; i++) {
        if (replay_is_action(stepper->replay, i) || !round_is_circle(trace->choice[i].label)) {
            trace->choice[kept++] = trace->choice[i];
        }
    }
    trace->choices = kept;
}

/* Opens the replay of another list of choices, and goes to a position. The scenario is read anew: loaded
 * properties judge it only if the list has no marks. */
static enum stepper_answer change(struct stepper *stepper, int position)
{
    replay_close(stepper->replay);
    stepper->replay = replay_open(&stepper->trace, &stepper->error);
    if (stepper->replay == NULL) {
        return STEPPER_LOST;
    }
    stepper->known = 0;
    begin(stepper, false);
    LS_ASSERT(position <= stepper->trace.choices + 1);
    return stepper_go(stepper, position);
}

/* Replaces the rest of the list by this choice. If the list does not fit any more, `old` takes its place. */
static enum stepper_answer replace_rest(struct stepper *stepper, const char *label, const struct trace *old)
{
    int here = stepper->position;
    bool left = stepper->left;
    drop_rest(stepper);
    stepper->left = true;
    if (!append(stepper, label)) {
        return out_of_memory(stepper);
    }
    enum stepper_answer answer = change(stepper, stepper->trace.choices);
    if (answer == STEPPER_UNFIT) {
        struct input_error why = stepper->error;
        memcpy(stepper->trace.choice, old->choice, (size_t)old->choices * sizeof *old->choice);
        stepper->trace.choices = old->choices;
        stepper->left = left;
        answer = change(stepper, here) == STEPPER_DONE ? STEPPER_UNFIT : STEPPER_LOST;
        stepper->error = why;
    }
    return answer;
}

static enum stepper_answer leave(struct stepper *stepper, const char *label)
{
    struct trace old = stepper->trace;
    size_t size = (size_t)old.choices * sizeof *old.choice;
    old.choice = malloc(size + 1);
    if (old.choice == NULL) {
        return out_of_memory(stepper);
    }
    memcpy(old.choice, stepper->trace.choice, size);
    enum stepper_answer answer = replace_rest(stepper, label, &old);
    free(old.choice);
    return answer;
}

enum stepper_answer stepper_take(struct stepper *stepper, const char *label)
{
    const char *next = next_label(stepper), *why = "";
    if (next != NULL && strcmp(next, label) == 0) {
        return advance(stepper, true);
    }
    if (!is_possible(stepper, label, &why)) {
        snprintf(stepper->error.text, sizeof stepper->error.text, "%s", why);
        return STEPPER_WRONG;
    }
    return leave(stepper, label);
}

/* ---- saving ---- */

static void name_violated(const struct stepper *stepper, char *text, size_t size)
{
    int known, violated[CHECK_PROPERTIES_MAX];
    const struct property *const *all = check_all(&known);
    int count = check_violated(&stepper->run->stats, CHECK_ALL, violated);
    snprintf(text, size, "%s", count == 0 ? "nothing" : "");
    for (int i = 0; i < count; i++) {
        size_t used = strlen(text);
        LS_ASSERT(used < size);
        snprintf(text + used, size - used, "%s%s", used > 0 ? " " : "", all[violated[i]]->name);
    }
}

static void name_properties(struct trace *trace)
{
    const struct loaded_property *loaded;
    for (trace->properties = 0; (loaded = property_loaded(trace->properties)) != NULL; trace->properties++) {
        LS_ASSERT(trace->properties < TRACE_PROPERTIES_MAX);
        struct trace_property *property = &trace->property[trace->properties];
        snprintf(property->name, sizeof property->name, "%s", loaded->property->name);
        snprintf(property->path, sizeof property->path, "%s", loaded->path);
    }
}

enum stepper_answer stepper_write(struct stepper *stepper, FILE *file, char *found, size_t found_size)
{
    int here = stepper->position;
    struct trace trace;
    enum stepper_answer end = run_through(stepper);
    if (end == STEPPER_LOST) {
        return STEPPER_LOST;
    }
    name_violated(stepper, found, found_size);
    struct input_error why = stepper->error;
    if (redo(stepper, here, false) != STEPPER_DONE) {
        return STEPPER_LOST;
    }
    stepper->error = why;
    if (end == STEPPER_UNFIT) {
        return STEPPER_UNFIT;
    }
    trace = stepper->trace;
    trace.found = found;
    snprintf(trace.tool, sizeof trace.tool, "%s", LOCKSTEP_VERSION);
    name_properties(&trace);
    return trace_write(file, &trace) == 0 ? STEPPER_DONE : STEPPER_LOST;
}
