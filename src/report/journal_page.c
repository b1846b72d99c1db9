/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The page of a real run, drawn from its journal (trace/real_line.h, docs/real-run.md). A line of the journal
 * is a step. The journal has notes of the workers and of their parent. It has no message, no node and no
 * session, so the page has none.
 *
 * Definition. A worker is inside from `enter` to `leave` or its end. An overlap is an `enter` while another
 * worker is inside. A lost update is an acknowledged write with the basis of an earlier one.
 *
 * Claim. Each overlap on the page is a breach of mutual exclusion. For each lost update, at least one of the
 * two writes was lost.
 *
 * Why. A worker writes `enter` after its grant, and `leave` before its release. Of two writes with one basis,
 * at most one is on the chain of writes that leads to the counter.
 *
 * Not seen: updates that are lost in another way, because the counter is not in the journal. The audit of the
 * run itself sees them (src/real/audit.h). */
#include "report/page.h"
#include "report/report.h"
#include "report/steps.h"

#include "base/assert.h"
#include "report/fields.h"
#include "trace/real_line.h"

#include <cjson/cJSON.h>
#include <stdlib.h>
#include <string.h>

#define LOCK "mutex"
#define NAME_MAX_BYTES 16
#define LABEL_MAX 40
#define WHY_MAX 200
#define UNKNOWN "not recorded"

enum promise { NO_OVERLAP, NO_LOST_UPDATE, PROMISES };

static const struct {
    const char *name, *sentence;
} PROMISE[PROMISES] = {
    {"no overlap",
     "no two workers are inside at once (a run with --long-stops allows it: its counter compares "
     "fencing tokens)"},
    {"no lost update", "an acknowledged write stays in the chain of writes"},
};

struct worker {
    int incarnation;
    bool seen, alive, stopped, inside, doubts, waits;
    int64_t token;
    uint64_t id; /* of its section */
};

struct journal {
    const struct input *input;
    const struct real_line *line;
    int lines, workers;
    bool *waits; /* of a line: its worker is outside from here, and enters later */
    int *fork;   /* of a line: index of an earlier acknowledged write with its basis; -1 */
    struct worker worker[REAL_WORKERS_MAX]; /* as they are behind the present line */
    int times[PROMISES];                    /* number of violations */
    int first[PROMISES];                    /* step of the first violation */
    char why[PROMISES][WHY_MAX];            /* of the first violation */
};

static void name_worker(int slot, char name[NAME_MAX_BYTES])
{
    LS_ASSERT(slot >= 0 && slot < REAL_WORKERS_MAX);
    snprintf(name, NAME_MAX_BYTES, "worker%d", slot);
}

/* ---- what a line alone does not tell ---- */

/* Sets `waits`. A worker asks for the lock as soon as it is outside. So if it enters later, it waits from the
 * line on with which it is outside. */
static void find_waits(struct journal *journal)
{
    int entering[REAL_WORKERS_MAX]; /* incarnation of the next section; -1 = none */
    memset(entering, 0xff, sizeof entering);
    for (int i = journal->lines - 1; i >= 0; i--) {
        const struct real_line *line = &journal->line[i];
        bool outside = line->kind == REAL_STARTED || line->kind == REAL_LEAVE;
        journal->waits[i] = outside && entering[line->slot] == line->incarnation;
        if (line->kind == REAL_ENTER) {
            entering[line->slot] = line->incarnation;
        } else if (outside) {
            entering[line->slot] = -1;
        }
    }
}

static const struct real_line *sorted_lines; /* for by_basis() */

static int by_basis(const void *a, const void *b)
{
    int first = *(const int *)a, second = *(const int *)b;
    uint64_t one = sorted_lines[first].basis, other = sorted_lines[second].basis;
    return one != other ? (one > other) - (one < other) : first - second;
}

/* Finds acknowledged writes with one basis. Returns false if memory is short. */
static bool find_forks(struct journal *journal)
{
    int count = 0, *wrote = malloc((size_t)journal->lines * sizeof *wrote);
    for (int i = 0; wrote != NULL && i < journal->lines; i++) {
        journal->fork[i] = -1;
        if (journal->line[i].kind == REAL_WROTE && journal->line[i].id != 0) {
            wrote[count++] = i;
        }
    }
    sorted_lines = journal->line;
    if (wrote != NULL) {
        qsort(wrote, (size_t)count, sizeof *wrote, by_basis);
    }
    for (int i = 1; i < count; i++) {
        const struct real_line *line = &journal->line[wrote[i]], *before = &journal->line[wrote[i - 1]];
        journal->fork[wrote[i]] = line->basis == before->basis && line->id != before->id ? wrote[i - 1] : -1;
    }
    free(wrote);
    return wrote != NULL;
}

/* ---- a step ---- */

static bool add_line(cJSON *list, const char *text)
{
    return add_item(list, cJSON_CreateString(text));
}

static void note_change(struct journal *journal, int index)
{
    const struct real_line *line = &journal->line[index];
    struct worker *worker = &journal->worker[line->slot];
    LS_ASSERT(line->slot < journal->workers);
    bool begins = line->kind == REAL_STARTED, ends = line->kind == REAL_KILLED || line->kind == REAL_ENDED;
    bool enters = line->kind == REAL_ENTER;
    worker->seen = true;
    worker->incarnation = line->incarnation;
    worker->alive = !ends; /* a journal may have no line about the start */
    worker->stopped =
        !begins && !ends && line->kind != REAL_CONTINUED && (worker->stopped || line->kind == REAL_STOPPED);
    worker->inside = enters || (worker->inside && !ends && !begins && line->kind != REAL_LEAVE);
    worker->doubts = worker->inside && !enters && (worker->doubts || line->kind == REAL_DOUBTED);
    worker->waits = journal->waits[index] || (worker->waits && !enters && !ends && !begins);
    worker->token = enters ? line->token : worker->token;
    worker->id = enters ? line->id : worker->id;
}

/* Returns the name of the kind of event (lockstep/event.h) that a line stands for; NULL = none. */
static const char *event_of(const struct real_line *line)
{
    static const enum event_kind KINDS[REAL_KINDS] = {
        [REAL_ENTER] = EVENT_GRANTED,  [REAL_WRITES] = EVENT_KINDS,   [REAL_WROTE] = EVENT_EFFECT,
        [REAL_REFUSED] = EVENT_EFFECT, [REAL_DOUBTED] = EVENT_DOUBTS, [REAL_LEAVE] = EVENT_RELEASED,
        [REAL_STARTED] = EVENT_KINDS,  [REAL_STOPPED] = EVENT_PAUSED, [REAL_CONTINUED] = EVENT_RESUMED,
        [REAL_KILLED] = EVENT_CRASHED, [REAL_ENDED] = EVENT_STOPPED,
    };
    if (line->kind == REAL_STARTED && line->incarnation > 0) {
        return event_name(EVENT_RESTARTED);
    }
    return KINDS[line->kind] != EVENT_KINDS ? event_name(KINDS[line->kind]) : NULL;
}

static cJSON *event_object(const struct real_line *line, const char *kind)
{
    char name[NAME_MAX_BYTES];
    cJSON *object = cJSON_CreateObject();
    bool effect = line->kind == REAL_WROTE || line->kind == REAL_REFUSED;
    bool lock = line->kind <= REAL_LEAVE;
    name_worker(line->slot, name);
    if (object && add_string(object, "kind", kind) && add_string(object, "process", name) &&
        (!lock || add_string(object, "lock", LOCK)) && add_number(object, "owner", 0) &&
        (line->kind != REAL_ENTER || add_number(object, "depth", 1)) &&
        (line->kind != REAL_LEAVE || add_number(object, "depth", 0)) &&
        (!effect || add_number(object, "taken", line->kind == REAL_WROTE)) &&
        (!(effect || line->kind == REAL_ENTER) || add_number(object, "token", (double)line->token))) {
        return object;
    }
    cJSON_Delete(object);
    return NULL;
}

static bool add_events(const struct journal *journal, int index, cJSON *step)
{
    struct real_line asked = journal->line[index];
    const char *kind = event_of(&asked);
    cJSON *list = cJSON_AddArrayToObject(step, "events");
    bool added = list != NULL && (kind == NULL || add_item(list, event_object(&journal->line[index], kind)));
    asked.kind = REAL_DOUBTED; /* a worker's event without a value */
    return added && (!journal->waits[index] || add_item(list, event_object(&asked, event_name(EVENT_ASKED))));
}

static void describe(const struct real_line *line, char *text, size_t size)
{
    unsigned long long id = line->id, basis = line->basis;
    long long value = line->value, token = line->token;
    switch (line->kind) {
    case REAL_ENTER:
        snprintf(text, size, "is inside, section %llx, token %lld", id, token);
        break;
    case REAL_WRITES:
        snprintf(text, size, "writes %lld as %llx, built on %llx, token %lld", value, id, basis, token);
        break;
    case REAL_WROTE:
        snprintf(text, size, "the resource has taken %lld, write %llx, token %lld", value, id, token);
        break;
    case REAL_REFUSED:
        snprintf(text, size, "the resource refuses token %lld", token);
        break;
    case REAL_DOUBTED:
        snprintf(text, size, "does not believe any more, and does not write");
        break;
    case REAL_LEAVE:
        snprintf(text, size, "is outside, %lld ms after its last check", value);
        break;
    case REAL_STARTED:
        snprintf(text, size, "runs as process %lld", value);
        break;
    case REAL_STOPPED:
        snprintf(text, size, "stands still for %lld ms", value);
        break;
    case REAL_CONTINUED:
        snprintf(text, size, "goes on");
        break;
    case REAL_KILLED:
        snprintf(text, size, "is dead, by a signal");
        break;
    case REAL_ENDED:
    case REAL_KINDS:
        snprintf(text, size, "has ended with status %lld", value);
        break;
    }
}

static long long ms_of(const struct journal *journal, int index)
{
    return (long long)((journal->line[index].time_ns - journal->line[0].time_ns) / 1000000);
}

static bool add_text(const struct journal *journal, int index, cJSON *step)
{
    char what[160], text[200];
    describe(&journal->line[index], what, sizeof what);
    snprintf(text, sizeof text, "[%5lldms] %s", ms_of(journal, index), what);
    return add_line(cJSON_AddArrayToObject(step, "text"), text);
}

static bool add_violation(struct journal *journal, int step, cJSON *list, enum promise promise,
                          const char *why)
{
    cJSON *item = cJSON_CreateObject();
    LS_ASSERT(step > journal->first[promise] && step <= journal->lines);
    if (journal->times[promise]++ == 0) {
        journal->first[promise] = step;
        snprintf(journal->why[promise], WHY_MAX, "%s", why);
    }
    return add_item(list, item) && add_string(item, "property", PROMISE[promise].name) &&
           add_string(item, "why", why) && add_string(item, "promised", PROMISE[promise].sentence) &&
           add_number(item, "number", step);
}

static bool add_overlap(struct journal *journal, int index, cJSON *list)
{
    const struct real_line *line = &journal->line[index];
    char why[WHY_MAX];
    LS_ASSERT(line->kind == REAL_ENTER);
    for (int slot = 0; slot < journal->workers; slot++) {
        if (slot != line->slot && journal->worker[slot].inside) {
            snprintf(why, sizeof why, "worker%d is inside, token %lld, while worker%d is, token %lld",
                     line->slot, (long long)line->token, slot, (long long)journal->worker[slot].token);
            return add_violation(journal, index + 1, list, NO_OVERLAP, why);
        }
    }
    return true;
}

static bool add_violated(struct journal *journal, int index, cJSON *step)
{
    const struct real_line *line = &journal->line[index];
    cJSON *list = cJSON_AddArrayToObject(step, "violated");
    char why[WHY_MAX];
    if (list != NULL && journal->fork[index] >= 0) {
        const struct real_line *other = &journal->line[journal->fork[index]];
        snprintf(why, sizeof why, "worker%d's write %llx and worker%d's write %llx were both built on %llx",
                 line->slot, (unsigned long long)line->id, other->slot, (unsigned long long)other->id,
                 (unsigned long long)line->basis);
        return add_violation(journal, index + 1, list, NO_LOST_UPDATE, why);
    }
    return list != NULL && (line->kind != REAL_ENTER || add_overlap(journal, index, list));
}

static void describe_worker(const struct worker *worker, int slot, char *text, size_t size)
{
    char where[80];
    if (worker->inside) {
        snprintf(where, sizeof where, "inside, section %llx, token %lld%s", (unsigned long long)worker->id,
                 (long long)worker->token, worker->doubts ? ", does not believe any more" : "");
    } else {
        snprintf(where, sizeof where, "%s", !worker->alive ? "gone" : worker->waits ? "waits" : "outside");
    }
    snprintf(text, size, "worker%d.%d: %s%s", slot, worker->incarnation, where,
             worker->stopped ? ", stands still" : "");
}

static bool add_state(const struct journal *journal, cJSON *step)
{
    char text[160];
    cJSON *list = cJSON_AddArrayToObject(step, "state");
    bool added = list != NULL;
    for (int slot = 0; added && slot < journal->workers; slot++) {
        if (journal->worker[slot].seen) {
            describe_worker(&journal->worker[slot], slot, text, sizeof text);
        } else {
            snprintf(text, sizeof text, "worker%d: not started", slot);
        }
        added = add_line(list, text);
    }
    return added;
}

/* Adds the workers that are inside and have not written `doubted` there: they believe that they hold. */
static bool add_beliefs(const struct journal *journal, cJSON *step)
{
    cJSON *list = cJSON_AddArrayToObject(step, "beliefs");
    bool added = list != NULL;
    for (int slot = 0; added && slot < journal->workers; slot++) {
        const struct worker *worker = &journal->worker[slot];
        char name[NAME_MAX_BYTES];
        if (worker->inside && !worker->doubts) {
            cJSON *item = cJSON_CreateObject();
            name_worker(slot, name);
            added = add_item(list, item) && add_string(item, "process", name) &&
                    add_string(item, "lock", LOCK) && add_number(item, "owner", 0) &&
                    add_string(item, "belief", "held");
        }
    }
    return added;
}

static void label_of(const struct real_line *line, char label[LABEL_MAX])
{
    snprintf(label, LABEL_MAX, "worker%d %s", line->slot, real_kind_word(line->kind));
}

static bool add_what(const struct real_line *line, cJSON *step)
{
    char name[NAME_MAX_BYTES], label[LABEL_MAX];
    bool fault = line->kind == REAL_KILLED || line->kind == REAL_STOPPED;
    bool heals = line->kind == REAL_CONTINUED || (line->kind == REAL_STARTED && line->incarnation > 0);
    name_worker(line->slot, name);
    label_of(line, label);
    return add_string(step, "label", label) && add_string(step, "remark", "") &&
           add_string(step, "kind", real_kind_word(line->kind)) && add_string(step, "process", name) &&
           (!fault || cJSON_AddTrueToObject(step, "fault")) &&
           (!heals || cJSON_AddTrueToObject(step, "heals"));
}

/* Adds one choice, the label of the next line; none behind the last line. */
static bool add_choices(const struct journal *journal, int next, cJSON *step)
{
    char label[LABEL_MAX];
    cJSON *list = cJSON_AddArrayToObject(step, "choices");
    if (list == NULL || next >= journal->lines) {
        return list != NULL;
    }
    label_of(&journal->line[next], label);
    return add_line(list, label);
}

/* Returns the object of a line; NULL if memory is short. */
static cJSON *step_object(struct journal *journal, int index)
{
    LS_ASSERT(index >= 0 && index < journal->lines);
    cJSON *step = cJSON_CreateObject();
    bool added = step != NULL && add_number(step, "step", index + 1) &&
                 add_number(step, "number", index + 1) && add_what(&journal->line[index], step) &&
                 add_number(step, "now_ms", (double)ms_of(journal, index)) &&
                 add_events(journal, index, step) && add_text(journal, index, step) &&
                 add_violated(journal, index, step);
    note_change(journal, index);
    if (added && add_state(journal, step) && add_beliefs(journal, step) &&
        add_choices(journal, index + 1, step)) {
        return step;
    }
    cJSON_Delete(step);
    return NULL;
}

/* ---- the beginning and the end ---- */

static cJSON *first_step(const struct journal *journal)
{
    static const char *const LISTS[] = {"events", "text", "violated", "beliefs"};
    cJSON *step = cJSON_CreateObject();
    bool added = step != NULL && add_number(step, "step", 0) && add_number(step, "number", 0) &&
                 add_string(step, "label", "") && add_string(step, "remark", "") &&
                 add_number(step, "now_ms", 0) && add_state(journal, step) && add_choices(journal, 0, step);
    for (size_t i = 0; added && i < sizeof LISTS / sizeof LISTS[0]; i++) {
        added = cJSON_AddArrayToObject(step, LISTS[i]) != NULL;
    }
    if (!added) {
        cJSON_Delete(step);
    }
    return added ? step : NULL;
}

static bool add_workers(const struct journal *journal, cJSON *head)
{
    cJSON *list = cJSON_AddArrayToObject(head, "processes");
    bool added = list != NULL;
    for (int slot = 0; added && slot < journal->workers; slot++) {
        char name[NAME_MAX_BYTES];
        name_worker(slot, name);
        added = add_line(list, name);
    }
    return added;
}

static bool add_lock(cJSON *head)
{
    cJSON *list = cJSON_AddArrayToObject(head, "locks"), *lock = cJSON_CreateObject();
    return add_item(list, lock) && add_string(lock, "name", LOCK) && add_string(lock, "path", "") &&
           add_number(lock, "group", 0) && add_number(lock, "capacity", 1);
}

static cJSON *head_object(const struct journal *journal)
{
    cJSON *head = cJSON_CreateObject();
    if (head && add_number(head, "format", STEPS_FORMAT) && add_string(head, "version", LOCKSTEP_VERSION) &&
        add_string(head, "scenario", journal->input->name) && add_string(head, "recipe", UNKNOWN) &&
        add_string(head, "coordinator", "a real server") && add_string(head, "schedule", "journal") &&
        add_string(head, "seed", UNKNOWN) && add_string(head, "without", "") &&
        add_string(head, "found", "") && cJSON_AddTrueToObject(head, "timed") &&
        add_number(head, "servers", 0) && add_workers(journal, head) && add_lock(head) &&
        add_string(head, "text", "the journal of a real run: docs/real-run.md\n")) {
        return head;
    }
    cJSON_Delete(head);
    return NULL;
}

static cJSON *end_object(const struct journal *journal)
{
    cJSON *end = cJSON_CreateObject(), *list = end ? cJSON_AddArrayToObject(end, "violated") : NULL;
    bool added = list != NULL && add_number(end, "actions", journal->lines);
    for (int p = 0; p < PROMISES; p++) {
        char why[WHY_MAX + 40];
        if (added && journal->times[p] > 0) {
            cJSON *item = cJSON_CreateObject();
            snprintf(why, sizeof why, "%d time%s; first, %s", journal->times[p],
                     journal->times[p] == 1 ? "" : "s", journal->why[p]);
            added = add_item(list, item) && add_string(item, "property", PROMISE[p].name) &&
                    add_string(item, "why", why) && add_string(item, "promised", PROMISE[p].sentence) &&
                    add_number(item, "number", journal->first[p]);
        }
    }
    if (!added) {
        cJSON_Delete(end);
    }
    return added ? end : NULL;
}

static bool draw(struct journal *journal, FILE *out, const char *again)
{
    struct page *page = page_open(again);
    if (page == NULL) {
        return false;
    }
    page_head(page, head_object(journal));
    page_step(page, first_step(journal));
    for (int i = 0; i < journal->lines; i++) {
        page_step(page, step_object(journal, i));
    }
    page_end(page, end_object(journal));
    bool written = page_write(page, out);
    page_close(page);
    return written;
}

static bool prepare(struct journal *journal, int lines)
{
    LS_ASSERT(lines > 0);
    journal->lines = lines;
    journal->waits = calloc((size_t)lines, sizeof *journal->waits);
    journal->fork = calloc((size_t)lines, sizeof *journal->fork);
    for (int i = 0; i < lines; i++) {
        int slot = journal->line[i].slot;
        journal->workers = slot >= journal->workers ? slot + 1 : journal->workers;
    }
    if (journal->waits == NULL || journal->fork == NULL) {
        return false;
    }
    find_waits(journal);
    return find_forks(journal);
}

int report_journal_page(FILE *out, const struct input *input, const char *again, struct input_error *error)
{
    struct journal journal = {.input = input};
    struct real_line *line;
    int lines = real_lines_read(&line, input, error), result = lines > 0 ? 0 : -1;
    journal.line = line;
    if (lines > 0 && !(prepare(&journal, lines) && draw(&journal, out, again))) {
        result = input_complain_words(error, input->name, 1, 1, "'out of memory'", "memory");
    }
    free(journal.waits);
    free(journal.fork);
    free(lines > 0 ? line : NULL);
    return result;
}
