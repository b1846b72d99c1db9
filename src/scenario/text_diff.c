/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "scenario/text_diff.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>

#define LINES_MAX 3000
#define AROUND 3 /* equal lines shown before and after */

struct line {
    const char *text;
    size_t size;
};

struct lines {
    struct line *line;
    int count;
};

static int split(const char *text, struct lines *lines)
{
    int count = 0;
    for (const char *at = text; *at; at++) {
        count += *at == '\n' || at[1] == 0;
    }
    lines->line = calloc((size_t)count + 1, sizeof *lines->line);
    lines->count = 0;
    while (lines->line && *text) {
        size_t size = strcspn(text, "\n");
        lines->line[lines->count++] = (struct line){text, size};
        text += size + (text[size] == '\n');
    }
    LS_ASSERT(lines->line == NULL || lines->count == count);
    return lines->line ? 0 : -1;
}

static bool equal(const struct line *a, const struct line *b)
{
    return a->size == b->size && memcmp(a->text, b->text, a->size) == 0;
}

/* Both texts as one list of lines: lines of only one text are marked, deletions before insertions. */
struct script {
    struct lines old, found;
    int head, tail;   /* numbers of equal lines at both ends */
    uint16_t *common; /* cell (i, j): length of the longest common subsequence of the rests from there */
    char *mark;       /* ' ', '-' or '+' */
    struct line *line;
    int count;
};

static uint16_t *cell(struct script *s, int i, int j)
{
    int width = s->found.count - s->head - s->tail + 1;
    LS_ASSERT(i >= 0 && j >= 0 && j < width);
    return &s->common[(size_t)i * (size_t)width + (size_t)j];
}

static void measure(struct script *s, int rows, int columns)
{
    for (int i = rows - 1; i >= 0; i--) {
        for (int j = columns - 1; j >= 0; j--) {
            if (equal(&s->old.line[s->head + i], &s->found.line[s->head + j])) {
                *cell(s, i, j) = (uint16_t)(*cell(s, i + 1, j + 1) + 1);
            } else {
                uint16_t down = *cell(s, i + 1, j), right = *cell(s, i, j + 1);
                *cell(s, i, j) = down > right ? down : right;
            }
        }
    }
}

static void add(struct script *s, char mark, const struct line *line)
{
    LS_ASSERT(s->count < s->old.count + s->found.count);
    s->mark[s->count] = mark;
    s->line[s->count++] = *line;
}

static void walk(struct script *s, int rows, int columns)
{
    int i = 0, j = 0;
    for (int k = 0; k < s->head; k++) {
        add(s, ' ', &s->old.line[k]);
    }
    while (i < rows || j < columns) {
        const struct line *old = &s->old.line[s->head + i], *found = &s->found.line[s->head + j];
        if (i < rows && j < columns && equal(old, found)) {
            add(s, ' ', old);
            i++;
            j++;
        } else if (i < rows && (j == columns || *cell(s, i + 1, j) >= *cell(s, i, j + 1))) {
            add(s, '-', old);
            i++;
        } else {
            add(s, '+', found);
            j++;
        }
    }
    for (int k = s->old.count - s->tail; k < s->old.count; k++) {
        add(s, ' ', &s->old.line[k]);
    }
    LS_ASSERT(s->count >= s->old.count && s->count >= s->found.count);
}

static bool near_change(const struct script *s, int k)
{
    for (int i = k - AROUND; i <= k + AROUND; i++) {
        if (i >= 0 && i < s->count && s->mark[i] != ' ') {
            return true;
        }
    }
    return false;
}

static void say_hunk(struct outcome *outcome, const struct script *s, int from, int to, int old_line,
                     int found_line)
{
    LS_ASSERT(from < to && to <= s->count);
    int old_count = 0, found_count = 0;
    for (int k = from; k < to; k++) {
        old_count += s->mark[k] != '+';
        found_count += s->mark[k] != '-';
    }
    outcome_say(outcome, "@@ -%d,%d +%d,%d @@\n", old_line, old_count, found_line, found_count);
    for (int k = from; k < to; k++) {
        outcome_say(outcome, "%c%.*s\n", s->mark[k], (int)s->line[k].size, s->line[k].text);
    }
}

static void say(struct outcome *outcome, const struct script *s)
{
    int old_line = 1, found_line = 1;
    outcome_say(outcome, "--- expected\n+++ found\n");
    for (int k = 0; k < s->count;) {
        int end = k;
        while (end < s->count && near_change(s, end)) {
            end++;
        }
        if (end > k) {
            say_hunk(outcome, s, k, end, old_line, found_line);
        }
        end += end == k;
        for (; k < end; k++) {
            old_line += s->mark[k] != '+';
            found_line += s->mark[k] != '-';
        }
    }
}

static void compare(struct outcome *outcome, struct script *s)
{
    int shorter = s->old.count < s->found.count ? s->old.count : s->found.count;
    while (s->head < shorter && equal(&s->old.line[s->head], &s->found.line[s->head])) {
        s->head++;
    }
    while (s->tail < shorter - s->head &&
           equal(&s->old.line[s->old.count - 1 - s->tail], &s->found.line[s->found.count - 1 - s->tail])) {
        s->tail++;
    }
    int rows = s->old.count - s->head - s->tail, columns = s->found.count - s->head - s->tail;
    LS_ASSERT(rows >= 0 && columns >= 0);
    if (rows > LINES_MAX || columns > LINES_MAX) {
        outcome_say(outcome, "  expected and found differ in more than %d lines\n", LINES_MAX);
        return;
    }
    size_t total = (size_t)s->old.count + (size_t)s->found.count + 1;
    s->common = calloc((size_t)(rows + 1) * (size_t)(columns + 1), sizeof *s->common);
    s->mark = calloc(total, 1);
    s->line = calloc(total, sizeof *s->line);
    if (s->common && s->mark && s->line) {
        measure(s, rows, columns);
        walk(s, rows, columns);
        say(outcome, s);
    }
}

void diff_say(struct outcome *outcome, const char *old, const char *found)
{
    struct script script = {0};
    if (strcmp(old, found) == 0) {
        return;
    }
    outcome->diff_at = (int)strlen(outcome->text);
    if (split(old, &script.old) == 0 && split(found, &script.found) == 0) {
        compare(outcome, &script);
    }
    outcome->diff_size = (int)strlen(outcome->text) - outcome->diff_at;
    LS_ASSERT(outcome->diff_size >= 0);
    free(script.common);
    free(script.mark);
    free(script.line);
    free(script.old.line);
    free(script.found.line);
}
