/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "report/state_text.h"

#include "base/array.h"
#include "base/assert.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LINE_BYTES 1024

/* ---- what the events say ---- */

void state_view_clear(struct state_view *view)
{
    memset(view->owners, 0, sizeof view->owners);
    view->contenders = 0;
    view->failed = false;
}

void state_view_close(struct state_view *view)
{
    free(view->line);
    *view = (struct state_view){0};
}

static void note_owner(struct state_view *view, const struct event *event)
{
    LS_ASSERT(event->kind == EVENT_ASKED);
    if (event->process < WORLD_PROCESSES_MAX && view->owners[event->process] <= event->owner &&
        event->owner < UINT8_MAX) {
        view->owners[event->process] = (uint8_t)(event->owner + 1);
    }
}

static void remove_contender(struct state_view *view, int64_t czxid)
{
    for (size_t i = 0; i < view->contenders; i++) {
        if (view->line[i].czxid == czxid) {
            view->contenders--;
            memmove(&view->line[i], &view->line[i + 1], (view->contenders - i) * sizeof view->line[0]);
            return;
        }
    }
}

static void add_contender(struct state_view *view, const struct event *event)
{
    if (!array_room(&view->line, view->contenders, &view->contenders_max, sizeof *view->line, 16)) {
        view->failed = true;
        return;
    }
    size_t at = view->contenders++;
    for (; at > 0 && view->line[at - 1].czxid > event->czxid; at--) {
        view->line[at] = view->line[at - 1];
    }
    LS_ASSERT(at < view->contenders_max);
    struct contender *contender = &view->line[at];
    *contender = (struct contender){event->czxid, event->session, event->process, event->lock, ""};
    snprintf(contender->path, sizeof contender->path, "%s", event->path != NULL ? event->path : "");
}

void state_view_note(struct state_view *view, const struct replay_step *step)
{
    for (int i = 0; i < step->events; i++) {
        const struct event *event = &step->event[i];
        if (event->kind == EVENT_ASKED) {
            note_owner(view, event);
        } else if (event->kind == EVENT_NODE_CREATED && event->node_role == 1) {
            add_contender(view, event);
        } else if (event->kind == EVENT_NODE_DELETED) {
            remove_contender(view, event->czxid);
        }
    }
}

/* ---- beliefs ---- */

bool state_belief_next(const struct state_view *view, const struct run *run, int *at,
                       struct state_belief *belief)
{
    const struct world_options *options = &run->setup.scenario->options;
    int end = options->processes * options->locks * UINT8_MAX;
    for (; *at < end; ++*at) {
        int process = *at / UINT8_MAX / options->locks, lock = *at / UINT8_MAX % options->locks,
            owner = *at % UINT8_MAX;
        LS_ASSERT(process < options->processes);
        if (owner >= view->owners[process]) {
            continue;
        }
        enum ls_belief found = world_belief(run->world, process, lock, owner);
        if (found != LS_NOT_HELD) {
            *belief = (struct state_belief){process, lock, owner, found};
            ++*at;
            return true;
        }
    }
    return false;
}

const char *state_belief_word(enum ls_belief belief)
{
    LS_ASSERT(belief != LS_NOT_HELD);
    return belief == LS_HELD ? "held" : "unknown";
}

/* ---- lines ---- */

struct state_printer {
    FILE *out;
    const struct state_view *view;
    const struct run *run;
    const char *part; /* NULL = all */
    bool printed;
};

static bool is_word_byte(char byte)
{
    return isalnum((unsigned char)byte) || ((unsigned char)byte & 0x80) != 0;
}

/* Returns whether the line has the word, and not only as a part of a longer word. */
static bool has_word(const char *line, const char *word)
{
    size_t size = strlen(word);
    for (const char *at = line; size > 0 && (at = strstr(at, word)) != NULL; at++) {
        bool begins = at == line || !is_word_byte(at[-1]) || !is_word_byte(word[0]);
        if (begins && (!is_word_byte(at[size]) || !is_word_byte(word[size - 1]))) {
            return true;
        }
    }
    return false;
}

static bool is_wanted(const struct state_printer *printer, const char *line)
{
    return printer->part == NULL || has_word(line, printer->part);
}

static void print_line(struct state_printer *printer, const char *line)
{
    fprintf(printer->out, "%s\n", line);
    printer->printed = true;
}

/* Prints the wanted lines of world_describe(). If a wanted line is not indented, prints the indented lines
 * below it too. */
static void print_world(struct state_printer *printer)
{
    static char text[STATE_TEXT_BYTES];
    bool below = false;
    world_describe(printer->run->world, text, sizeof text);
    for (char *at = text, *end; *at != 0; at = end) {
        end = at + strcspn(at, "\n");
        if (*end != 0) {
            *end++ = 0;
        }
        bool wanted = is_wanted(printer, at);
        below = at[0] == ' ' ? below : wanted;
        if (wanted || below) {
            print_line(printer, at);
        }
    }
}

static const char *process_name(const struct run *run, int process)
{
    const struct world_options *options = &run->setup.scenario->options;
    LS_ASSERT(process >= 0);
    return process < options->processes ? options->name[process] : "nobody";
}

static const char *lock_name(const struct run *run, int lock)
{
    const struct scenario *scenario = run->setup.scenario;
    LS_ASSERT(lock >= 0);
    return lock < scenario->options.locks ? scenario->lock_name[lock] : "no lock";
}

/* Prints the title of a list if there is no part, or if the part is this title. Returns true in the second
 * case: the list is printed whole then. */
static bool is_whole(struct state_printer *printer, const char *title)
{
    bool named = printer->part != NULL && strcmp(printer->part, title) == 0;
    if (named || printer->part == NULL) {
        print_line(printer, title);
    }
    return named;
}

static void print_beliefs(struct state_printer *printer)
{
    const struct run *run = printer->run;
    bool whole = is_whole(printer, "beliefs");
    struct state_belief belief;
    char line[LINE_BYTES];
    for (int at = 0; state_belief_next(printer->view, run, &at, &belief);) {
        snprintf(line, sizeof line, "  %s %s owner %d: %s", process_name(run, belief.process),
                 lock_name(run, belief.lock), belief.owner, state_belief_word(belief.belief));
        if (whole || is_wanted(printer, line)) {
            print_line(printer, line);
        }
    }
}

/* Returns the place of a contender in the line for its lock, from 1. */
static int place_of(const struct state_view *view, size_t contender)
{
    int place = 0;
    LS_ASSERT(contender < view->contenders);
    for (size_t i = 0; i <= contender; i++) {
        place += view->line[i].lock == view->line[contender].lock;
    }
    return place;
}

static void print_contenders(struct state_printer *printer)
{
    const struct run *run = printer->run;
    bool whole = is_whole(printer, "line");
    char line[LINE_BYTES];
    for (size_t i = 0; i < printer->view->contenders; i++) {
        const struct contender *contender = &printer->view->line[i];
        snprintf(line, sizeof line, "  %s %d: %s, session %" PRId64 ", number %" PRId64 ", %s",
                 lock_name(run, contender->lock), place_of(printer->view, i),
                 process_name(run, contender->process), contender->session, contender->czxid,
                 contender->path);
        if (whole || is_wanted(printer, line)) {
            print_line(printer, line);
        }
    }
    if (printer->view->failed) {
        print_line(printer, "  (memory is short: contenders are missing)");
    }
}

bool state_print(FILE *out, const struct state_view *view, const struct run *run, const char *part)
{
    struct state_printer printer = {.out = out, .view = view, .run = run, .part = part};
    LS_ASSERT(part == NULL || part[0] != 0);
    bool listed = part != NULL && (strcmp(part, "beliefs") == 0 || strcmp(part, "line") == 0);
    if (!listed) {
        print_world(&printer);
    }
    if (!listed || part[0] == 'b') {
        print_beliefs(&printer);
    }
    if (!listed || part[0] == 'l') {
        print_contenders(&printer);
    }
    return printer.printed;
}
