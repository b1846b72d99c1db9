/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "scenario/parser.h"

#include "base/array.h"
#include "base/assert.h"
#include "base/nearest.h"
#include "check/check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY_MS 86400000

int parser_wrong(struct parser *parser, const struct input_word *word, const char *expected)
{
    LS_ASSERT(parser->error != NULL);
    return input_complain(parser->error, parser->scenario->input.name, word->line, word->column, word->text,
                          word->size, "%s", expected);
}

void parser_suggest(struct parser *parser, const struct nearest *nearest)
{
    size_t used = strlen(parser->error->text);
    LS_ASSERT(used < sizeof parser->error->text);
    snprintf(parser->error->text + used, sizeof parser->error->text - used, "%s", nearest_text(nearest));
}

int parser_integer(struct parser *parser, const struct input_word *word, const char *expected, int64_t min,
                   int64_t max, int64_t *out)
{
    LS_ASSERT(min <= max);
    char digits[24], *end;
    size_t sign = word->text && word->size > 0 && word->text[0] == '-';
    if (!word->text || word->size <= sign || word->size >= sizeof digits || word->text[sign] < '0' ||
        word->text[sign] > '9') {
        return parser_wrong(parser, word, expected);
    }
    memcpy(digits, word->text, word->size);
    digits[word->size] = 0;
    errno = 0;
    long long value = strtoll(digits, &end, 10);
    if (*end || errno || value < min || value > max) {
        return parser_wrong(parser, word, expected);
    }
    *out = value;
    return 0;
}

int parser_owner(struct parser *parser, const struct input_word *word, int *out)
{
    int64_t owner = 0;
    if (parser_integer(parser, word, "an owner from 0 to 7", 0, 7, &owner) != 0) {
        return -1;
    }
    *out = (int)owner;
    return 0;
}

int parser_perms(struct parser *parser, const struct input_word *word, uint8_t *out)
{
    int64_t bits = 0;
    if (parser_integer(parser, word, "permission bits from 1 to 31", 1, 31, &bits) != 0) {
        return -1;
    }
    *out = (uint8_t)bits;
    return 0;
}

int parser_duration(struct parser *parser, const struct input_word *word, int *out_ms)
{
    static const char EXPECTED[] = "a duration up to a day with its unit (ms, s or m)";
    static const struct {
        const char *name;
        int ms;
    } UNITS[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}};
    struct input_word unit = *word;
    int64_t value = 0;
    while (unit.size > 0 && unit.text[0] >= '0' && unit.text[0] <= '9' && value <= DAY_MS) {
        value = value * 10 + (unit.text[0] - '0');
        unit.text++;
        unit.size--;
    }
    for (size_t i = 0; unit.text != word->text && i < sizeof UNITS / sizeof UNITS[0]; i++) {
        if (input_word_is(&unit, UNITS[i].name) && value <= DAY_MS / UNITS[i].ms) {
            *out_ms = (int)value * UNITS[i].ms;
            LS_ASSERT(*out_ms >= 0 && *out_ms <= DAY_MS);
            return 0;
        }
    }
    return parser_wrong(parser, word, EXPECTED);
}

void parser_split(const struct input_word *word, char sign, struct input_word *key, struct input_word *value)
{
    *key = *value = *word;
    value->text = NULL;
    value->size = 0;
    const char *found = word->text ? memchr(word->text, sign, word->size) : NULL;
    if (found) {
        key->size = (size_t)(found - word->text);
        value->text = found + 1;
        value->size = word->size - key->size - 1;
        value->column = word->column + (int)key->size + 1;
        LS_ASSERT(key->size + 1 + value->size == word->size);
    }
}

const char *parser_keep(struct parser *parser, const struct input_word *word)
{
    LS_ASSERT(word->text != NULL);
    struct scenario *scenario = parser->scenario;
    bool room = array_resize(&scenario->string, (size_t)scenario->strings + 1, sizeof(char *));
    char *copy = room ? malloc(word->size + 1) : NULL;
    if (!copy) {
        parser_wrong(parser, word, "memory for this");
        return NULL;
    }
    memcpy(copy, word->text, word->size);
    copy[word->size] = 0;
    scenario->string[scenario->strings++] = copy;
    return copy;
}

int parser_end_of_line(struct parser *parser)
{
    struct input_word word = input_next_word(&parser->cursor);
    return word.text ? parser_wrong(parser, &word, "the end of the line") : 0;
}

int parser_path(struct parser *parser, const struct input_word *word)
{
    static const char EXPECTED[] = "an absolute path (/locks/x) of at most 100 bytes";
    if (!word->text || word->size < 2 || word->size > 100 || word->text[0] != '/' ||
        word->text[word->size - 1] == '/') {
        return parser_wrong(parser, word, EXPECTED);
    }
    size_t start = 1;
    for (size_t i = 1; i <= word->size; i++) {
        if (i < word->size && word->text[i] != '/') {
            continue;
        }
        size_t length = i - start;
        if (length == 0 ||
            (word->text[start] == '.' && (length == 1 || (length == 2 && word->text[start + 1] == '.')))) {
            return parser_wrong(parser, word, EXPECTED);
        }
        start = i + 1;
    }
    return 0;
}

int parser_process(const struct parser *parser, const struct input_word *word)
{
    for (int i = 0; i < parser->scenario->options.processes; i++) {
        if (input_word_is(word, parser->scenario->options.name[i])) {
            return i;
        }
    }
    return -1;
}

int parser_lock(const struct parser *parser, const struct input_word *word)
{
    for (int i = 0; i < parser->scenario->options.locks; i++) {
        if (input_word_is(word, parser->scenario->lock_name[i])) {
            return i;
        }
    }
    return -1;
}

int parser_properties(struct parser *parser, check_mask *mask)
{
    struct input_word word = input_next_word(&parser->cursor);
    if (!word.text) {
        return parser_wrong(parser, &word, "the name of a property");
    }
    for (; word.text; word = input_next_word(&parser->cursor)) {
        char name[64] = "";
        if (word.size < sizeof name) {
            memcpy(name, word.text, word.size);
        }
        int position = check_position(name);
        int count;
        if (position < 0) {
            parser_wrong(parser, &word, "the name of a property (see lockstep list properties)");
            struct nearest nearest;
            nearest_begin(&nearest, word.text, word.size);
            const struct property *const *all = check_all(&count);
            for (int i = 0; i < count; i++) {
                nearest_look_at(&nearest, all[i]->name);
            }
            parser_suggest(parser, &nearest);
            return -1;
        }
        if (!parser->clock_word.text && check_all(&count)[position]->needs_clock) {
            parser->clock_word = word;
        }
        if (!parser->search_word.text && check_all(&count)[position]->needs_search) {
            parser->search_word = word;
        }
        LS_ASSERT(position < CHECK_PROPERTIES_MAX);
        *mask |= CHECK_BIT(position);
    }
    return 0;
}
