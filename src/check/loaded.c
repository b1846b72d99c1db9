/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "check/loaded.h"
#include "base/assert.h"
#include "base/guarded_variables.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define CHUNK 16 /* bytes of state in one record */
#define GUARD 64
#define GUARD_BYTE 0xa5
#define NAMES 8 /* names that a judge may use in one sentence */
_Static_assert(LS_PROPERTY_STATE_MAX / CHUNK <= 256, "a byte counts the records of a state");
_Static_assert(LS_PROPERTY_STATE_MAX % CHUNK == 0, "the last record of the largest state is whole");

static struct property loaded[LS_PROPERTY_MODULES_MAX];
static struct variables watched[LS_PROPERTY_MODULES_MAX];
static int loaded_count;
static const char *volatile nowhere;
static const char *volatile *judging = &nowhere;
static char trouble[LS_PROPERTY_NAME_MAX + 80];

void loaded_say_where(const char *volatile *where)
{
    judging = where ? where : &nowhere;
    *judging = NULL;
}

const char *loaded_judging(void)
{
    return *judging;
}

const char *loaded_trouble(void)
{
    return trouble[0] ? trouble : NULL;
}

static int refuse(char *why, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int refuse(char *why, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, LOADED_WHY_MAX, format, arguments);
    va_end(arguments);
    return -1;
}

/* A name is a word of scenario files and of reports. */
static bool is_name(const char *name)
{
    size_t size = name ? strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") : 0;
    return size > 0 && size <= LS_PROPERTY_NAME_MAX && name[size] == '\0';
}

static bool is_sentence(const char *text)
{
    size_t size = text ? strnlen(text, LS_PROPERTY_SENTENCE_MAX + 1) : 0;
    return size > 0 && size <= LS_PROPERTY_SENTENCE_MAX && !strchr(text, '\n');
}

static int check_texts(const struct ls_property *property, char *why)
{
    const struct {
        const char *name, *text;
    } texts[] = {
        {"sentence", property->sentence}, {"premise", property->premise}, {"blind_to", property->blind_to}};
    if (!is_name(property->name))
        return refuse(why, "its name is not one of 1 to %d small letters, digits and underscores",
                      LS_PROPERTY_NAME_MAX);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (!is_sentence(texts[i].text))
            return refuse(why, "its %s is not a line of 1 to %d characters", texts[i].name,
                          LS_PROPERTY_SENTENCE_MAX);
    return 0;
}

static int check_parts(const struct ls_property *property, char *why)
{
    if (!property->observe)
        return refuse(why, "its property has no observe");
    if (property->wants == 0 || property->wants >> EVENT_KINDS != 0)
        return refuse(why, "it wants no events, or some that there are not");
    if ((property->wants >> EVENT_STOPPED & 1) != 0)
        return refuse(why, "it wants EVENT_STOPPED, which judges see as EVENT_CRASHED");
    if ((property->modes & ~LS_PROPERTY_ALWAYS) != 0 ||
        (property->needs_clock && (property->modes & LS_PROPERTY_UNTIMED) != 0))
        return refuse(why, "its modes are none, or need a clock where there is none");
    if (property->state_size > LS_PROPERTY_STATE_MAX)
        return refuse(why, "its state has %zu bytes, %d is the most", property->state_size,
                      LS_PROPERTY_STATE_MAX);
    return 0;
}

static int check_room(const struct ls_property *property, char *why)
{
    LS_ASSERT(loaded_count >= 0 && loaded_count <= LS_PROPERTY_MODULES_MAX);
    const struct property *other = check_find(property->name);
    if (other)
        return refuse(why, "its property is called %s, as one that is %s", property->name,
                      other->loaded ? "loaded already" : "built in");
    if (loaded_count == LS_PROPERTY_MODULES_MAX)
        return refuse(why, "%d properties are loaded already", LS_PROPERTY_MODULES_MAX);
    return 0;
}

int loaded_add(const struct ls_property *property, char why[LOADED_WHY_MAX])
{
    for (int i = 0; i < loaded_count; i++)
        if (loaded[i].loaded == property)
            return check_position(property->name);
    if (check_texts(property, why) != 0 || check_parts(property, why) != 0 || check_room(property, why) != 0)
        return -1;
    struct property *next = &loaded[loaded_count];
    *next = (struct property){
        .name = property->name,
        .sentence = property->sentence,
        .premise = property->premise,
        .blind_to = property->blind_to,
        .modes = property->modes,
        .needs_clock = property->needs_clock,
        .wants = property->wants,
        .loaded = property,
    };
    int position = check_add(next);
    if (position < 0)
        return refuse(why, "%d properties are the most", CHECK_PROPERTIES_MAX);
    LS_ASSERT(loaded_count < LS_PROPERTY_MODULES_MAX);
    loaded_count++;
    LS_ASSERT((check_loaded_mask() & CHECK_BIT(position)) != 0 && next + 1 == loaded + loaded_count);
    return position;
}

static int slot_of(const struct property *property)
{
    LS_ASSERT(property >= loaded && property < loaded + LS_PROPERTY_MODULES_MAX);
    return (int)(property - loaded);
}

int loaded_records(const struct property *property)
{
    return property->loaded ? (int)((property->loaded->state_size + CHUNK - 1) / CHUNK) : 0;
}

struct state {
    _Alignas(16) unsigned char byte[LS_PROPERTY_STATE_MAX + GUARD];
};

static size_t room_of(const struct property *property)
{
    return (size_t)loaded_records(property) * CHUNK;
}

/* Fills the buffer with guard bytes from the end of the state on, the rest of its last chunk included. */
static void set_guard(const struct property *property, struct state *state)
{
    size_t size = property->loaded->state_size;
    LS_ASSERT(size <= room_of(property) && room_of(property) <= LS_PROPERTY_STATE_MAX);
    memset(state->byte + size, GUARD_BYTE, room_of(property) + GUARD - size);
}

static bool is_guarded(const struct property *property, const struct state *state)
{
    for (size_t i = property->loaded->state_size; i < room_of(property) + GUARD; i++)
        if (state->byte[i] != GUARD_BYTE)
            return false;
    return true;
}

static void gather(struct check_table *table, const struct property *property, struct state *state)
{
    int slot = slot_of(property);
    memset(state->byte, 0, room_of(property));
    for (const struct check_record *r = table_first_lock(table, RECORD_LOADED, slot); r;
         r = table_next_lock(table, (struct check_record *)r)) {
        LS_ASSERT(r->process < loaded_records(property) && r->owner == 0);
        memcpy(state->byte + (size_t)r->process * CHUNK, &r->first_bytes, sizeof r->first_bytes);
        memcpy(state->byte + (size_t)r->process * CHUNK + sizeof r->first_bytes, &r->last_bytes,
               sizeof r->last_bytes);
    }
}

static void scatter_chunk(struct check_table *table, int slot, int chunk, const unsigned char *bytes)
{
    LS_ASSERT(chunk >= 0 && chunk < LS_PROPERTY_STATE_MAX / CHUNK);
    int64_t a, b;
    memcpy(&a, bytes, sizeof a);
    memcpy(&b, bytes + sizeof a, sizeof b);
    struct check_record *record = table_get(table, RECORD_LOADED, slot, chunk, 0);
    if (a == 0 && b == 0) {
        table_drop(table, record);
    } else if (record) {
        LS_ASSERT(table_is_alone(table, record));
        record->first_bytes = a; /* no other record has its key, so the order stays */
        record->last_bytes = b;
    } else {
        table_put(table, RECORD_LOADED, slot, chunk, 0, a, b);
    }
}

static void scatter(struct check_table *table, const struct property *property, const struct state *before,
                    struct state *after)
{
    size_t size = property->loaded->state_size;
    LS_ASSERT(before != after && size <= room_of(property));
    memset(after->byte + size, 0, room_of(property) - size);
    for (int chunk = 0; chunk < loaded_records(property); chunk++) {
        size_t at = (size_t)chunk * CHUNK;
        if (memcmp(before->byte + at, after->byte + at, CHUNK) != 0)
            scatter_chunk(table, slot_of(property), chunk, after->byte + at);
    }
}

void loaded_watch(int position, void *at, size_t size)
{
    int count;
    variables_keep(&watched[slot_of(check_all(&count)[position])], at, size);
}

static void give_up(const struct property *property, struct check_table *table, struct check_note *note,
                    const char *what)
{
    note->premises = 0; /* the verdict of such a judge is void */
    note->violated = false;
    snprintf(trouble, sizeof trouble, "limit: the property %s %s", property->name, what);
    table->full = 1;
}

struct judge {
    struct ls_judge functions; /* first member: its functions cast it to struct judge */
    const struct check_context *context;
    struct check_note *note;
    struct check_name name[NAMES];
    unsigned names;
};

static void on_premise(struct ls_judge *judge)
{
    ((struct judge *)judge)->note->premises++;
}

static void on_violate(struct ls_judge *judge, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void on_violate(struct ls_judge *judge, const char *format, ...)
{
    struct check_note *note = ((struct judge *)judge)->note;
    if (note->violated)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(note->why, sizeof note->why, format, arguments);
    va_end(arguments);
    for (char *at = note->why; *at; at++)
        if ((unsigned char)*at < ' ')
            *at = ' '; /* a sentence is one line of a report */
    note->violated = true;
}

static const char *keep_name(struct ls_judge *functions, struct check_name name)
{
    struct judge *judge = (struct judge *)functions;
    struct check_name *kept = &judge->name[judge->names++ % NAMES];
    *kept = name;
    return kept->text;
}

static const char *on_process_name(struct ls_judge *judge, int process)
{
    return keep_name(judge, check_process_name(((struct judge *)judge)->context, process));
}

static const char *on_lock_name(struct ls_judge *judge, int lock)
{
    return keep_name(judge, check_lock_name(((struct judge *)judge)->context, lock));
}

static void ask(const struct property *property, const struct check_context *context,
                const struct event *event, struct state *state, struct check_note *note)
{
    struct judge judge = {
        .functions = {.processes = context->processes,
                      .locks = context->locks,
                      .owners = context->owners > 0 ? context->owners : 2,
                      .timed = context->timed,
                      .tolerance_ms = context->tolerance_ms,
                      .premise = on_premise,
                      .violate = on_violate,
                      .process_name = on_process_name,
                      .lock_name = on_lock_name},
        .context = context,
        .note = note,
    };
    struct event shown = *event;
    shown.path = NULL; /* a search keeps events without a path */
    *judging = property->name;
    property->loaded->observe(state->byte, &shown, &judge.functions);
    *judging = NULL;
}

void loaded_observe(const struct property *property, struct check_table *table,
                    const struct check_context *context, const struct event *event, struct check_note *note)
{
    static _Thread_local struct state before, after;
    LS_ASSERT(room_of(property) + GUARD <= sizeof after.byte);
    gather(table, property, &before);
    memcpy(after.byte, before.byte, room_of(property));
    set_guard(property, &after);
    ask(property, context, event, &after, note);
    if (!variables_are_kept(&watched[slot_of(property)], NULL)) {
        give_up(property, table, note, "keeps something outside of its state");
    } else if (!is_guarded(property, &after)) {
        char what[64];
        snprintf(what, sizeof what, "writes behind its state of %zu bytes", property->loaded->state_size);
        give_up(property, table, note, what);
    } else {
        scatter(table, property, &before, &after);
    }
}

struct rename {
    struct ls_property_rename functions; /* first member: its functions cast it to struct rename */
    struct check_table *table;
    const struct property *property;
    const struct state *state;
    check_visit_fn visit;
    void *ctx;
};

/* Ignores a pointer that is outside of the state or not aligned, and a number in a chunk of zeros, which has
 * no record. */
static void rename_number(struct ls_property_rename *functions, enum check_value type, const int64_t *where)
{
    struct rename *rename = (struct rename *)functions;
    uintptr_t offset = (uintptr_t)where - (uintptr_t)rename->state->byte;
    if (offset >= rename->property->loaded->state_size || offset % sizeof *where != 0)
        return;
    struct check_record *record =
        table_get(rename->table, RECORD_LOADED, slot_of(rename->property), (int)(offset / CHUNK), 0);
    if (record)
        rename->visit(rename->ctx, type, offset % CHUNK == 0 ? &record->first_bytes : &record->last_bytes);
}

static void on_zxid(struct ls_property_rename *rename, const int64_t *where)
{
    rename_number(rename, CHECK_VALUE_ZXID, where);
}

static void on_session(struct ls_property_rename *rename, const int64_t *where)
{
    rename_number(rename, CHECK_VALUE_SESSION, where);
}

void loaded_visit(struct check_table *table, const struct property *property, check_visit_fn visit, void *ctx)
{
    static _Thread_local struct state state;
    if (!property->loaded->canon || !table_first_lock(table, RECORD_LOADED, slot_of(property)))
        return;
    gather(table, property, &state);
    struct rename rename = {.functions = {.zxid = on_zxid, .session = on_session},
                            .table = table,
                            .property = property,
                            .state = &state,
                            .visit = visit,
                            .ctx = ctx};
    property->loaded->canon(state.byte, &rename.functions);
}
