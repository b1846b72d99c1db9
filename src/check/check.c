/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "base/assert.h"
#include "check/loaded.h"
#include "check/properties.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Built-in properties; check_add() puts loaded ones behind them. */
static const struct property *all[CHECK_PROPERTIES_MAX] = {
    &check_at_most_one_holder,       &check_at_most_one_believer,
    &check_no_stale_effect,          &check_no_lost_wakeup,
    &check_no_orphan_node,           &check_at_most_one_wakeup_per_release,
    &check_no_watch_left_behind,     &check_granted_in_order,
    &check_release_matches_acquire,  &check_every_loss_is_told,
    &check_deadline_is_kept,         &check_bounded_work,
    &check_can_always_be_served,     &check_served_under_weak_fairness,
    &check_contract_is_kept,         &check_hold_keeps_its_node,
    &check_answers_have_reasons,     &check_belief_ends_in_time,
    &check_every_revocation_is_told, &check_all_or_none,
    &check_held_lease_is_renewed,
};
static check_mask loaded_mask;

int check_count(void)
{
    int count = 0;
    while (count < CHECK_PROPERTIES_MAX && all[count])
        count++;
    return count;
}

/* Types of `a` and `b` for renamings; and whether `process` names no process. */
static const struct {
    uint8_t a, b;
    bool nobody;
} values[RECORD_KINDS] = {
    [RECORD_LOADED] = {.nobody = true},
    [RECORD_FAULTED] = {.nobody = true},
    [RECORD_PROCESS] = {CHECK_VALUE_SESSION, CHECK_VALUE_NONE, false},
    [RECORD_CLAIM] = {CHECK_VALUE_ZXID, CHECK_VALUE_ZXID, false},
    [RECORD_NODE] = {CHECK_VALUE_ZXID, CHECK_VALUE_SESSION, false},
    [RECORD_QUEUED] = {CHECK_VALUE_ZXID, CHECK_VALUE_SESSION, false},
    [RECORD_CAPACITY] = {CHECK_VALUE_NONE, CHECK_VALUE_NONE, false},
    [RECORD_COUNT] = {.nobody = true},
    [RECORD_SHUT] = {CHECK_VALUE_NONE, CHECK_VALUE_NONE, false},
    [RECORD_LATE] = {CHECK_VALUE_ZXID, CHECK_VALUE_SESSION, false},
    [RECORD_GHOST] = {CHECK_VALUE_ZXID, CHECK_VALUE_SESSION, false},
    [RECORD_FENCE] = {CHECK_VALUE_ZXID, CHECK_VALUE_ZXID, true},
    [RECORD_WATCH] = {CHECK_VALUE_ZXID, CHECK_VALUE_SESSION, false},
    [RECORD_EVICTED] = {CHECK_VALUE_ZXID, CHECK_VALUE_NONE, false},
    [RECORD_RUN_OUT] = {CHECK_VALUE_ZXID, CHECK_VALUE_NONE, false},
    [RECORD_OUTAGE] = {.nobody = true},
    [RECORD_TAKEN] = {CHECK_VALUE_ZXID, CHECK_VALUE_NONE, false},
    [RECORD_PLACE] = {CHECK_VALUE_ZXID, CHECK_VALUE_ZXID, false},
    [RECORD_RELEASE] = {CHECK_VALUE_ZXID, CHECK_VALUE_NONE, false},
    [RECORD_TOLD] = {CHECK_VALUE_SESSION, CHECK_VALUE_SESSION, false},
    [RECORD_DEADLINE] = {CHECK_VALUE_TIME, CHECK_VALUE_NONE, false},
    [RECORD_GONE] = {CHECK_VALUE_ZXID, CHECK_VALUE_NONE, false},
    [RECORD_HEARD] = {CHECK_VALUE_ZXID, CHECK_VALUE_NONE, false},
    [RECORD_ANSWER] = {CHECK_VALUE_TIME, CHECK_VALUE_NONE, false},
    [RECORD_TERM] = {CHECK_VALUE_SESSION, CHECK_VALUE_NONE, false},
    [RECORD_OVER] = {CHECK_VALUE_SESSION, CHECK_VALUE_NONE, false},
    [RECORD_REQUEST] = {CHECK_VALUE_ZXID, CHECK_VALUE_NONE, false},
    [RECORD_NEWS] = {CHECK_VALUE_NONE, CHECK_VALUE_NONE, false},
    [RECORD_WORK] = {CHECK_VALUE_TIME, CHECK_VALUE_NONE, false},
};

const struct property *const *check_all(int *count)
{
    *count = check_count();
    return all;
}

int check_add(const struct property *property)
{
    LS_ASSERT(check_find(property->name) == NULL);
    LS_ASSERT(!property->loaded != !property->observe);
    int position = check_count();
    if (position == CHECK_PROPERTIES_MAX)
        return -1;
    all[position] = property;
    loaded_mask |= property->loaded ? CHECK_BIT(position) : 0;
    LS_ASSERT(check_position(property->name) == position);
    return position;
}

void check_stats_copy(struct check_stats *to, const struct check_stats *from)
{
    LS_ASSERT(to != from);
    memcpy(to, from, offsetof(struct check_stats, finding) + (size_t)check_count() * sizeof *from->finding);
}

check_mask check_loaded_mask(void)
{
    return loaded_mask;
}

int check_position(const char *name)
{
    int count = check_count();
    for (int i = 0; i < count; i++)
        if (strcmp(all[i]->name, name) == 0)
            return i;
    return -1;
}

const struct property *check_find(const char *name)
{
    int position = check_position(name);
    return position < 0 ? NULL : all[position];
}

/* Returns the properties that are judged in this mode under exactly this condition. */
static check_mask mask_of(bool timed, unsigned condition)
{
    LS_ASSERT((condition & ~(PROPERTY_SEVERAL | PROPERTY_LEASES)) == 0);
    check_mask mask = 0;
    int count = check_count();
    for (int i = 0; i < count; i++)
        if ((all[i]->modes & (timed ? PROPERTY_TIMED : PROPERTY_UNTIMED)) &&
            (all[i]->modes & (PROPERTY_SEVERAL | PROPERTY_LEASES)) == condition)
            mask |= CHECK_BIT(i);
    return mask;
}

check_mask check_default_mask(bool timed)
{
    return mask_of(timed, 0);
}

check_mask check_special_mask(bool timed, bool several, bool leases)
{
    return (several ? mask_of(timed, PROPERTY_SEVERAL) : 0) | (leases ? mask_of(timed, PROPERTY_LEASES) : 0);
}

/* Returns the most nodes that one owner needs at a time, with those that queue. */
static int nodes_of_an_owner(const struct check_context *context)
{
    int most = 1;
    for (int lock = 0; lock < context->locks; lock++) {
        int nodes = lock_nodes(context, lock) + context->queues;
        most = nodes > most ? nodes : most;
    }
    return most;
}

/* Returns the number of records for which the block has room. If the ledger keeps nodes, that is three for
 * each contender: its own, one that is left over, and one that is being deleted. With leases it is four. A
 * run that needs more records ends with the outcome `limit`. */
static uint32_t capacity_of(const struct check_set *set)
{
    const struct check_context *context = &set->context;
    int owners = context->owners > 0 ? context->owners : 2;
    int per_process = set->needs & CHECK_NEEDS_PROCESSES ? 1 : 0;
    int per_contender = 0;
    if (set->needs & CHECK_NEEDS_CLAIMS)
        per_contender += 1;
    if (set->needs & CHECK_NEEDS_NODES)
        per_contender += context->leases ? 4 : 3;
    if (set->needs & CHECK_NEEDS_LISTENERS)
        per_contender += 1;
    if (set->needs & CHECK_NEEDS_WATCHES)
        per_contender += 3;
    int count = check_count(), more = 16;
    for (int i = 0; i < count; i++) {
        if (set->mask & CHECK_BIT(i)) {
            more += loaded_records(all[i]);
            per_process += all[i]->records_per_process;
            per_contender += all[i]->records_per_contender;
        }
    }
    per_contender *= nodes_of_an_owner(context);
    if (context->counted) /* COUNT and SHUT */
        more += context->locks * (1 + context->processes);
    if (context->resizes) /* CAPACITY and LATE */
        more += context->processes * context->locks * (1 + 2 * owners * nodes_of_an_owner(context));
    int records = more + context->processes * (per_process + context->locks * owners * per_contender);
    LS_ASSERT(records > 0);
    return (uint32_t)records;
}

static check_mask contract(void)
{
    int position = check_position(check_contract_is_kept.name);
    return LS_ALWAYS(position >= 0) ? CHECK_BIT(position) : 0;
}

bool check_set_judges(const struct check_set *set, int position)
{
    return position >= 0 && ((set->mask | set->wants[EVENT_MISBEHAVED]) & CHECK_BIT(position)) != 0;
}

void check_set_init(struct check_set *set, check_mask mask, const struct check_context *context)
{
    int count = check_count();
    memset(set, 0, sizeof *set);
    set->context = *context;
    set->mask = mask & (CHECK_BIT(count) - 1);
    set->wants[EVENT_MISBEHAVED] = contract();
    for (int i = 0; i < count; i++) {
        if ((set->mask & CHECK_BIT(i)) == 0)
            continue;
        LS_ASSERT(all[i]->observe || all[i]->loaded || (all[i]->needs_search && all[i]->wants == 0));
        set->needs |= all[i]->needs;
        for (int kind = 0; kind < EVENT_KINDS; kind++)
            if (all[i]->wants & EVENT_BIT(kind))
                set->wants[kind] |= CHECK_BIT(i);
    }
    set->ledger_wants = ledger_wants(set->needs);
    set->capacity = capacity_of(set);
}

void check_set_spare(struct check_set *set, check_mask mask)
{
    set->mask &= ~mask;
    for (int kind = 0; kind < EVENT_KINDS; kind++)
        set->wants[kind] &= ~mask;
    LS_ASSERT((set->mask & mask) == 0);
}

size_t check_set_state_size(const struct check_set *set)
{
    return sizeof(struct check_table) + set->capacity * sizeof(struct check_record);
}

size_t check_set_live_bytes(const void *block)
{
    const struct check_table *table = block;
    return sizeof *table + table->used * sizeof table->record[0];
}

void check_record_visit(void *memory, check_visit_fn visit, void *ctx)
{
    struct check_record *record = memory;
    LS_ASSERT(record->kind < RECORD_KINDS);
    if (values[record->kind].a != CHECK_VALUE_NONE)
        visit(ctx, (enum check_value)values[record->kind].a, &record->a);
    if (values[record->kind].b != CHECK_VALUE_NONE)
        visit(ctx, (enum check_value)values[record->kind].b, &record->b);
}

void check_set_visit(void *block, check_visit_fn visit, void *ctx)
{
    struct check_table *table = block;
    for (uint32_t i = 0; i < table->used; i++)
        check_record_visit(&table->record[i], visit, ctx);
    check_set_visit_loaded(block, visit, ctx);
}

void check_set_visit_loaded(void *block, check_visit_fn visit, void *ctx)
{
    for (check_mask left = loaded_mask; left; left &= left - 1)
        loaded_visit(block, all[__builtin_ctzll(left)], visit, ctx);
}

bool check_set_shows_numbers(const struct check_set *set)
{
    for (check_mask left = set->mask & loaded_mask; left; left &= left - 1)
        if (!all[__builtin_ctzll(left)]->loaded->canon)
            return false;
    return true;
}

void check_set_records(void *block, check_record_fn visit, void *ctx)
{
    struct check_table *table = block;
    for (uint32_t i = 0; i < table->used; i++) {
        struct check_record *record = &table->record[i];
        LS_ASSERT(record->kind < RECORD_KINDS);
        visit(ctx, record, sizeof *record, values[record->kind].nobody ? NULL : &record->process);
    }
}

static void count_premises(struct check_stats *stats, int position, int premises)
{
    LS_ASSERT(premises > 0 && position >= 0 && position < CHECK_PROPERTIES_MAX);
    stats->met_times[position] = stats->met & CHECK_BIT(position) ? stats->met_times[position] : 0;
    stats->met_times[position] += (uint32_t)premises;
    stats->met |= CHECK_BIT(position);
    stats->finding[position].premises += (uint64_t)premises;
}

static void keep_finding(struct check_stats *stats, int position, const struct event *event,
                         const struct check_note *note)
{
    struct check_finding *finding = &stats->finding[position];
    if (note->premises)
        count_premises(stats, position, note->premises);
    if (!note->violated || finding->violated)
        return;
    finding->violated = true;
    finding->step = stats->step;
    finding->event_kind = event->kind;
    finding->process = event->process;
    finding->code = event->code;
    finding->now_ms = event->now_ms;
    snprintf(finding->why, sizeof finding->why, "%s", note->why);
    stats->violated |= CHECK_BIT(position);
    LS_ASSERT(finding->violated && finding->step == stats->step);
}

static void judge(const struct check_set *set, struct check_table *table, struct check_stats *stats,
                  const struct event *event)
{
    for (check_mask left = set->wants[event->kind]; left; left &= left - 1) {
        int position = __builtin_ctzll(left);
        struct check_note note;
        note.premises = 0;
        note.violated = false;
        note.why[0] = '\0';
        if (all[position]->loaded)
            loaded_observe(all[position], table, &set->context, event, &note);
        else {
            all[position]->observe(table, &set->context, event, &note);
            LS_ASSERT(note.premises >= 0 && note.violated == (note.why[0] != '\0'));
        }
        if (note.premises || note.violated)
            keep_finding(stats, position, event, &note);
    }
}

/* Returns the kind that judges see: CRASHED in place of STOPPED. */
static uint8_t kind_as_judged(const struct event *event)
{
    return event->kind == EVENT_STOPPED ? EVENT_CRASHED : event->kind;
}

/* Returns the event as judges see it: `event` itself, or `copy` if the kind changes. */
static const struct event *as_judged(const struct event *event, struct event *copy)
{
    if (kind_as_judged(event) == event->kind)
        return event;
    LS_ASSERT(copy != event);
    *copy = *event;
    copy->kind = kind_as_judged(event);
    return copy;
}

bool check_set_wants(const struct check_set *set, const struct event *seen)
{
    int kind = kind_as_judged(seen);
    LS_ASSERT(kind < EVENT_KINDS);
    return (set->ledger_wants & EVENT_BIT(kind)) != 0 || set->wants[kind] != 0;
}

bool check_set_is_local(const struct check_set *set, const struct event *seen)
{
    struct event copy;
    const struct event *event = as_judged(seen, &copy);
    if (event->process == EVENT_PROCESS_NONE || !ledger_is_local(set->needs, event))
        return false;
    for (check_mask left = set->wants[event->kind]; left; left &= left - 1) {
        const struct property *property = all[__builtin_ctzll(left)];
        if (!property->is_local || !property->is_local(event))
            return false;
    }
    return true;
}

bool check_set_observe(const struct check_set *set, void *block, struct check_stats *stats,
                       const struct event *seen)
{
    struct check_table *table = block;
    struct event copy;
    LS_ASSERT(table->used <= set->capacity);
    if (stats->limit || !check_set_wants(set, seen))
        return false;
    const struct event *event = as_judged(seen, &copy);
    table->capacity = set->capacity;
    judge(set, table, stats, event);
    if ((set->ledger_wants & EVENT_BIT(event->kind)) != 0)
        ledger_observe(table, &set->context, set->needs, event);
    if (table->full)
        stats->limit = true;
    return true;
}

enum check_verdict check_verdict(const struct check_set *set, const struct check_stats *stats, int position)
{
    LS_ASSERT(position >= 0 && position < CHECK_PROPERTIES_MAX);
    const struct check_finding *finding = &stats->finding[position];
    if (finding->violated)
        return CHECK_VIOLATED;
    if ((set->mask & CHECK_BIT(position)) == 0)
        return CHECK_NOT_JUDGED;
    return finding->premises ? CHECK_HOLDS : CHECK_NOT_JUDGED;
}

static bool is_told_before(const struct check_stats *stats, int a, int b)
{
    LS_ASSERT(a != b);
    bool holder_a = all[a] == &check_at_most_one_holder, holder_b = all[b] == &check_at_most_one_holder;
    if (holder_a != holder_b)
        return holder_a;
    uint64_t step_a = stats->finding[a].step, step_b = stats->finding[b].step;
    return step_a != step_b ? step_a < step_b : a < b;
}

int check_violated(const struct check_stats *stats, check_mask mask, int positions[CHECK_PROPERTIES_MAX])
{
    int count = 0;
    for (check_mask left = stats->violated & mask; left; left &= left - 1) {
        int position = __builtin_ctzll(left), at = count++;
        for (; at > 0 && is_told_before(stats, position, positions[at - 1]); at--)
            positions[at] = positions[at - 1];
        positions[at] = position;
    }
    LS_ASSERT(count <= CHECK_PROPERTIES_MAX);
    return count;
}

const char *check_verdict_name(enum check_verdict verdict)
{
    static const char *const names[] = {"not-judged", "holds", "violated"};
    LS_ASSERT(verdict < sizeof names / sizeof names[0]);
    return names[verdict];
}

static struct check_name name_of(const char *(*name)(const void *, int), const void *names, const char *what,
                                 int index)
{
    struct check_name result;
    if (name)
        snprintf(result.text, sizeof result.text, "%s", name(names, index));
    else
        snprintf(result.text, sizeof result.text, "%s %d", what, index);
    return result;
}

struct check_name check_process_name(const struct check_context *context, int process)
{
    if (process == EVENT_PROCESS_NONE)
        return (struct check_name){"the operator"};
    return name_of(context->process_name, context->names, "process", process);
}

struct check_name check_lock_name(const struct check_context *context, int lock)
{
    return name_of(context->lock_name, context->names, "lock", lock);
}

void check_violate(struct check_note *note, const char *format, ...)
{
    if (note->violated)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(note->why, sizeof note->why, format, arguments);
    va_end(arguments);
    note->violated = true;
}
