/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Parses the lines that declare locks. Their kinds are rows of sim/lock_kinds.c. */

#include "base/assert.h"
#include "scenario/parser.h"
#include "sim/lock_kinds.h"

#include <stdio.h>
#include <string.h>

static struct input_word last_name(const struct input_word *path)
{
    struct input_word name = *path;
    for (size_t i = path->size; i > 0 && path->text[i - 1] != '/'; i--) {
        name.text = path->text + i - 1;
        name.size = path->size - i + 1;
        name.column = path->column + (int)i - 1;
    }
    return name;
}

/* Reads the path of a lock. "/" is the node of the chroot, which gives the lock its name. A lock at "/" must
 * be the only lock: other locks' directories would be among its contenders. Such a lock needs a chroot:
 * without one the server's own nodes would be among its contenders. */
static int read_lock_path(struct parser *parser, const struct input_word *path, struct input_word *name)
{
    const struct world_options *options = &parser->scenario->options;
    const char *chroot = options->chroot;
    bool is_root = input_word_is(path, "/");
    if (options->locks > 0 && (is_root || strcmp(options->lock_path[0], "/") == 0)) {
        return parser_wrong(parser, path, "no other lock beside one at '/'");
    }
    if (!is_root) {
        *name = last_name(path);
        return parser_path(parser, path);
    }
    if (chroot == NULL) {
        return parser_wrong(parser, path, "a path (/locks/x), or '/' behind a line 'chroot PATH'");
    }
    struct input_word above = *path;
    above.text = chroot;
    above.size = strlen(chroot);
    *name = last_name(&above);
    name->column = path->column;
    return 0;
}

/* Reads capacity=N or count=N. */
static int read_units(struct parser *parser, const struct input_word *word, struct ls_lock_spec *spec)
{
    struct input_word key, value;
    int64_t units;
    parser_split(word, '=', &key, &value);
    bool is_capacity = input_word_is(&key, "capacity");
    if (!value.text || (!is_capacity && !input_word_is(&key, "count"))) {
        return parser_wrong(parser, word, "capacity=N, count=N, 'as' or the end of the line");
    }
    if (parser_integer(parser, &value, "a number from 1 to 1000", 1, 1000, &units) != 0) {
        return -1;
    }
    *(is_capacity ? &spec->capacity : &spec->count) = (uint16_t)units;
    return 0;
}

/* Reads [as NAME], and for kinds with units capacity=N [count=N]. */
static int read_lock_words(struct parser *parser, const struct lock_kind *kind, struct ls_lock_spec *spec,
                           struct input_word *name)
{
    struct input_word word = input_next_word(&parser->cursor);
    for (; word.text; word = input_next_word(&parser->cursor)) {
        if (input_word_is(&word, "as")) {
            *name = input_next_word(&parser->cursor);
            if (parser_new_name(parser, name) != 0 || parser_end_of_line(parser) != 0) {
                return -1;
            }
        } else if (!kind->has_units) {
            return parser_wrong(parser, &word, "'as' or the end of the line");
        } else if (read_units(parser, &word, spec) != 0) {
            return -1;
        }
    }
    if (kind->has_units && spec->capacity < (spec->count > 0 ? spec->count : 1)) {
        return parser_wrong(parser, &word, "capacity=N, not below count=N");
    }
    return parser_new_name(parser, name);
}

/* Adds one lock of the line; `suffix` is empty if the line declares no other. */
static int add_lock(struct parser *parser, const struct input_word *path, const struct input_word *name,
                    const char *suffix, const struct ls_lock_spec *spec)
{
    struct world_options *options = &parser->scenario->options;
    char text[2 * WORLD_NAME_MAX];
    struct input_word full = *name;
    int lock = options->locks;
    if (lock == WORLD_LOCKS_MAX) {
        return parser_wrong(parser, path, "at most " PARSER_DIGITS(WORLD_LOCKS_MAX) " locks");
    }
    full.text = text;
    full.size = (size_t)snprintf(text, sizeof text, "%.*s%s", (int)name->size, name->text, suffix);
    if (full.size >= WORLD_NAME_MAX || parser_lock(parser, &full) >= 0) {
        char expected[80];
        snprintf(expected, sizeof expected, "a name that is new and short enough%s%s%s",
                 suffix[0] != 0 ? " with " : "", suffix, suffix[0] != 0 ? " behind it" : "");
        return parser_wrong(parser, name, expected);
    }
    LS_ASSERT(lock >= 0 && lock < WORLD_LOCKS_MAX && spec->group <= lock);
    memcpy(parser->scenario->lock_name[lock], text, full.size);
    options->lock[lock] = *spec;
    options->lock[lock].name = suffix[0] != 0 ? parser_keep(parser, &full) : NULL;
    options->lock_path[lock] = parser_keep(parser, path);
    if (!options->lock_path[lock] || (suffix[0] != 0 && !options->lock[lock].name)) {
        return -1;
    }
    options->locks++;
    return 0;
}

/* Refuses a path that another lock has: contenders of the two locks could not be told apart. */
static int check_path_is_new(struct parser *parser, const struct input_word *path)
{
    const struct world_options *options = &parser->scenario->options;
    for (int i = 0; i < options->locks; i++) {
        if (input_word_is(path, options->lock_path[i])) {
            return parser_wrong(parser, path, "a path that no other lock has");
        }
    }
    return 0;
}

int parser_lock_line(struct parser *parser, enum ls_lock_kind kind)
{
    const struct lock_kind *row = lock_kind_at(kind);
    struct ls_lock_spec spec = {
        .kind = (uint8_t)kind, .group = (uint8_t)parser->scenario->options.locks, .loss = row->loss};
    struct input_word path = input_next_word(&parser->cursor), name = path;
    if (read_lock_path(parser, &path, &name) != 0 || check_path_is_new(parser, &path) != 0 ||
        read_lock_words(parser, row, &spec, &name) != 0) {
        return -1;
    }
    for (int i = 0; i < LOCKS_OF_A_KIND_MAX && row->lock[i].suffix != NULL; i++) {
        spec.mode = row->lock[i].mode;
        if (add_lock(parser, &path, &name, row->lock[i].suffix, &spec) != 0) {
            return -1;
        }
    }
    LS_ASSERT(parser->scenario->options.locks > spec.group);
    return 0;
}
