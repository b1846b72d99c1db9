/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Scenario files: whatever the bytes, reading them ends with a scenario or one line of complaint; and the same text with its
 * words one blank apart and without comments is the same scenario. */
#include "scenario/scenario.h"
#include "target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long inputs, scenarios;

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    return 0;
}

/* The words of one line, one blank apart, without its comment. Returns how many bytes were written. */
static size_t print_line(const char *line, size_t size, char *out)
{
    size_t used = 0;
    for (size_t at = 0; at < size;) {
        while (at < size && (line[at] == ' ' || line[at] == '\t')) {
            at++;
        }
        size_t start = at;
        while (at < size && line[at] != ' ' && line[at] != '\t') {
            at++;
        }
        if (at == start || line[start] == '#') {
            break;
        }
        if (used > 0) {
            out[used++] = ' ';
        }
        memcpy(out + used, line + start, at - start);
        used += at - start;
    }
    return used;
}

/* Up to the first `----`; what is expected is a text, which keeps its blanks. */
static char *print(const char *text, size_t size, size_t *printed)
{
    char *out = malloc(size + 1);
    size_t used = 0, at = 0, end = size;
    if (out == NULL) {
        abort();
    }
    bool expected = false;
    while (at < end) {
        const char *line = text + at, *newline = memchr(line, '\n', end - at);
        size_t length = newline != NULL ? (size_t)(newline - line) : end - at;
        expected |= length >= 4 && memcmp(line, "----", 4) == 0;
        if (expected) {
            memcpy(out + used, line, length);
            used += length;
        } else {
            used += print_line(line, length, out + used);
        }
        if (newline != NULL) {
            out[used++] = '\n';
        }
        at += length + 1;
    }
    *printed = used;
    return out;
}

/* Strings have other addresses: what they say is compared. */
static bool same_string(const char *a, const char *b)
{
    return (a == NULL) == (b == NULL) && (a == NULL || strcmp(a, b) == 0);
}

static bool same(const struct scenario *a, const struct scenario *b)
{
    const struct world_options *x = &a->options, *y = &b->options;
    bool equal = x->processes == y->processes && x->locks == y->locks && x->servers == y->servers &&
                 x->timed == y->timed && x->latency_min_ms == y->latency_min_ms &&
                 x->latency_max_ms == y->latency_max_ms && x->seed == y->seed && x->defects == y->defects &&
                 x->sequence_preset == y->sequence_preset && x->budget_total == y->budget_total &&
                 memcmp(x->budget, y->budget, sizeof x->budget) == 0 &&
                 memcmp(x->name, y->name, sizeof x->name) == 0 && a->exploring == b->exploring &&
                 a->constants == b->constants && a->show == b->show && a->properties == b->properties &&
                 a->holds == b->holds && a->violates == b->violates && a->commands == b->commands &&
                 a->groups == b->groups && same_string(x->chroot, y->chroot) &&
                 same_string(x->contents, y->contents);
    for (int i = 0; equal && i < x->locks; i++) {
        equal = same_string(x->lock_path[i], y->lock_path[i]);
    }
    for (int i = 0; equal && i < a->commands; i++) {
        const struct scenario_command *p = &a->command[i], *q = &b->command[i];
        equal = p->step == q->step && p->ms == q->ms && same_string(p->text, q->text) &&
                memcmp(&p->action, &q->action, sizeof p->action) == 0;
    }
    return equal;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct scenario first, second;
    struct input_error error;
    size_t printed;
    inputs++;
    if (scenario_read_bytes(&first, "input", (const char *)data, size, &error) != 0) {
        if (error.text[0] == 0 || strchr(error.text, '\n') != NULL) {
            abort();
        }
        return 0;
    }
    scenarios++;
    if (!first.exploring && first.groups > 1) {
        scenario_close(
            &first); /* commands stand between expected parts: their blanks are not told apart here */
        return 0;
    }
    char *text = print((const char *)data, size, &printed);
    if (scenario_read_bytes(&second, "printed", text, printed, &error) != 0) {
        fprintf(stderr, "%s\n%.*s\n", error.text, (int)printed, text);
        abort();
    }
    if (!same(&first, &second)) {
        fprintf(stderr, "%.*s\nis another scenario when it is printed\n", (int)printed, text);
        abort();
    }
    free(text);
    scenario_close(&first);
    scenario_close(&second);
    return 0;
}

void target_tell(void)
{
    fprintf(stderr, "%lu inputs, %lu of them scenarios\n", inputs, scenarios);
}
