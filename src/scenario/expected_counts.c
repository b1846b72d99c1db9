/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "scenario/expected_counts.h"

#include "base/assert.h"
#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t found_of(const struct search_counts *counts, int count)
{
    LS_ASSERT(count == SCENARIO_STATES || count == SCENARIO_TRANSITIONS);
    return count == SCENARIO_STATES ? counts->states : counts->transitions;
}

bool counts_are_expected(struct outcome *outcome, const struct scenario *scenario)
{
    bool same = true;
    for (int i = 0; i < SCENARIO_COUNTS; i++) {
        uint64_t found = found_of(&outcome->search, i);
        if (scenario->count_given[i] && scenario->count[i] != found) {
            outcome_say(outcome, "  %s: expected %llu, found %llu\n", scenario_count_name(i),
                        (unsigned long long)scenario->count[i], (unsigned long long)found);
            same = false;
        }
    }
    if (outcome->search.unrenamed > 0 && scenario->count_given[SCENARIO_STATES]) {
        outcome_say(outcome,
                    "  states: %llu steps led to states that could not be renamed, so the count is not that "
                    "of the world\n",
                    (unsigned long long)outcome->search.unrenamed);
        same = false;
    }
    return same;
}

bool counts_stand_there(const struct scenario *scenario, const struct search_counts *counts)
{
    bool same = true;
    for (int i = 0; i < SCENARIO_COUNTS; i++) {
        same = same && scenario->count_given[i] && scenario->count[i] == found_of(counts, i);
    }
    return same;
}

/* Returns the index of the count that a line claims, and sets *number to the offset of its digits. Returns -1
 * for another line. */
static int count_of_line(const char *line, size_t *number)
{
    size_t blanks = strspn(line, " \t");
    for (int i = 0; i < SCENARIO_COUNTS; i++) {
        const char *name = scenario_count_name(i);
        size_t size = strlen(name);
        if (strncmp(line + blanks, name, size) == 0 && strchr(" \t", line[blanks + size]) != NULL) {
            *number = blanks + size + strspn(line + blanks + size, " \t");
            return i;
        }
    }
    return -1;
}

static void write_line(FILE *file, const char *line, size_t size, const struct search_counts *counts)
{
    size_t number = 0;
    int count = count_of_line(line, &number);
    if (count < 0) {
        fwrite(line, 1, size, file);
        return;
    }
    size_t digits = strspn(line + number, "0123456789");
    LS_ASSERT(number + digits <= size);
    fprintf(file, "%.*s%llu", (int)number, line, (unsigned long long)found_of(counts, count));
    fwrite(line + number + digits, 1, size - number - digits, file);
}

static void write_all(FILE *file, const struct scenario *scenario, const struct search_counts *counts)
{
    LS_ASSERT(scenario->exploring && scenario->groups == 1);
    const char *text = scenario->input.text;
    const struct scenario_group *claims = &scenario->group[0];
    size_t at = claims->expected_start;
    fwrite(text, 1, at, file);
    while (at < claims->expected_end) {
        size_t size = strcspn(text + at, "\n");
        size += at + size < scenario->input.size;
        write_line(file, text + at, size, counts);
        at += size;
    }
    LS_ASSERT(at <= scenario->input.size);
    if (at > 0 && text[at - 1] != '\n') {
        fputc('\n', file);
    }
    if (claims->unmarked) {
        fputs("----\n", file);
    }
    for (int i = 0; i < SCENARIO_COUNTS; i++) {
        if (!scenario->count_given[i]) {
            fprintf(file, "%s %llu\n", scenario_count_name(i), (unsigned long long)found_of(counts, i));
        }
    }
    fwrite(text + at, 1, scenario->input.size - at, file);
}

int counts_rewrite(const struct scenario *scenario, const struct search_counts *counts)
{
    char *bytes = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&bytes, &size);
    if (file == NULL) {
        return -1;
    }
    write_all(file, scenario, counts);
    int result = fclose(file) == 0 ? file_replace(scenario->input.name, bytes, size) : -1;
    free(bytes);
    return result;
}
