/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The table of lockstep list scenarios --table: faults by the phase of the process that they met, in runs of
 * the directed scenarios. */

#include "cli/cli.h"

#include "base/assert.h"
#include "scenario/direct.h"

#include <lockstep/error.h>
#include <stdlib.h>
#include <string.h>

#define OWNERS 8

enum phase {
    PHASE_IDLE,
    PHASE_ACQUIRE, /* an acquire is pending, and no watch on a predecessor was set */
    PHASE_WAIT,    /* an acquire is pending, with a watch on a predecessor */
    PHASE_HOLD,
    PHASE_RELEASE, /* released, before EVENT_FREED */
    PHASES
};

static const char *const PHASE_NAMES[PHASES] = {"idle", "acquire", "wait", "hold", "release"};

enum row {
    ROW_LOSS,
    ROW_LATE,
    ROW_REFUSE,
    ROW_PARTITION,
    ROW_EXPIRE,
    ROW_PAUSE,
    ROW_CRASH,
    ROW_CANCEL,
    ROW_TIMEOUT,
    ROW_ALLOC,
    ROW_CALL,
    ROW_LAG,
    ROW_SERVER,
    ROW_SWEEP,
    ROW_REMOVE,
    ROWS
};

static const char *const ROW_NAMES[ROWS] = {"loss",  "late",  "refuse", "partition", "expire",
                                            "pause", "crash", "cancel", "timeout",   "alloc",
                                            "call",  "lag",   "server", "sweep",     "remove"};

/* The reason why a cell must stay empty. */
static const struct {
    enum row row;
    enum phase phase;
    const char *reason;
} REASONS[] = {
    {ROW_CANCEL, PHASE_HOLD, "only a pending acquire can be given up"},
    {ROW_CANCEL, PHASE_RELEASE, "only a pending acquire can be given up"},
    {ROW_TIMEOUT, PHASE_HOLD, "only a pending acquire has a deadline"},
    {ROW_TIMEOUT, PHASE_RELEASE, "only a pending acquire has a deadline"},
};

struct table {
    const struct scenario *scenario;
    enum phase phase[WORLD_PROCESSES_MAX][WORLD_LOCKS_MAX][OWNERS];
    bool met[ROWS][PHASES];  /* met in the present scenario */
    int count[ROWS][PHASES]; /* number of scenarios */
};

/* ---- phases ---- */

static void move_all(struct table *table, int process, int lock, enum phase from, enum phase to)
{
    LS_ASSERT(process < WORLD_PROCESSES_MAX && lock < WORLD_LOCKS_MAX && from != to);
    for (int l = 0; l < WORLD_LOCKS_MAX; l++) {
        for (int owner = 0; owner < OWNERS && (lock < 0 || l == lock); owner++) {
            if (table->phase[process][l][owner] == from) {
                table->phase[process][l][owner] = to;
            }
        }
    }
}

static void on_claim(struct table *table, const struct event *event, enum phase *phase)
{
    LS_ASSERT(*phase < PHASES);
    switch (event->kind) {
    case EVENT_ASKED:
        *phase = *phase == PHASE_HOLD ? PHASE_HOLD : PHASE_ACQUIRE;
        break;
    case EVENT_GRANTED:
        *phase = PHASE_HOLD;
        break;
    case EVENT_FAILED:
        table->met[ROW_TIMEOUT][*phase] |= event->rc == LS_ETIMEDOUT;
        *phase = PHASE_IDLE;
        break;
    case EVENT_RELEASED:
        *phase = event->depth == 0 ? PHASE_RELEASE : *phase;
        break;
    case EVENT_FREED:
        *phase = *phase == PHASE_RELEASE ? PHASE_IDLE : *phase;
        break;
    default:
        break;
    }
}

static void on_event(void *ctx, const struct event *event)
{
    struct table *table = ctx;
    if (event->process >= WORLD_PROCESSES_MAX) {
        return;
    }
    if (event->kind == EVENT_LOST) {
        move_all(table, event->process, -1, PHASE_HOLD, PHASE_IDLE);
    } else if (event->kind == EVENT_CRASHED) {
        memset(table->phase[event->process], 0, sizeof table->phase[event->process]);
    } else if (event->lock >= WORLD_LOCKS_MAX) {
        return;
    } else if (event->kind == EVENT_LOCK_CLOSED && event->rc == 0) {
        move_all(table, event->process, event->lock, PHASE_HOLD, PHASE_IDLE);
    } else if (event->kind == EVENT_WATCH_SET && event->watch == EVENT_WATCH_PREDECESSOR) {
        move_all(table, event->process, event->lock, PHASE_ACQUIRE, PHASE_WAIT);
    } else if (event->owner < OWNERS) {
        on_claim(table, event, &table->phase[event->process][event->lock][event->owner]);
    }
}

/* ---- faults ---- */

/* Returns the row of a fault, by the name of the fault's budget, or else of its verb; -1 = none. */
static int row_of(const struct action *action)
{
    int fault = world_fault_of(action);
    const char *name =
        fault >= 0 ? world_fault_name((enum world_fault)fault) : world_action_verb(action->kind);
    for (int row = 0; row < ROWS && action_has(action, TRAIT_BREAKS); row++) {
        if (strcmp(ROW_NAMES[row], name) == 0) {
            return row;
        }
    }
    return -1;
}

static void meet(struct table *table, int row, int process, int lock)
{
    LS_ASSERT(row >= 0 && row < ROWS && process < WORLD_PROCESSES_MAX);
    for (int l = 0; l < WORLD_LOCKS_MAX; l++) {
        for (int owner = 0; owner < OWNERS && (lock < 0 || l == lock); owner++) {
            table->met[row][table->phase[process][l][owner]] = true;
        }
    }
}

static void on_action(void *ctx, const struct run *run, const struct action *action)
{
    struct table *table = ctx;
    int row = row_of(action);
    (void)run;
    if (row < 0) {
        return;
    }
    if (action->kind == ACTION_CANCEL && action->owner < OWNERS) {
        LS_ASSERT(action->process < WORLD_PROCESSES_MAX && action->lock < WORLD_LOCKS_MAX);
        table->met[row][table->phase[action->process][action->lock][action->owner]] = true;
        return;
    }
    int lock = action->kind == ACTION_SWEEP ? action->lock : -1;
    for (int p = 0; p < table->scenario->options.processes; p++) {
        if (action->process == p || action->process >= WORLD_PROCESSES_MAX) {
            meet(table, row, p, lock);
        }
    }
}

/* ---- printing ---- */

static void print(const struct table *table, int scenarios)
{
    printf("%-10s", "");
    for (int phase = PHASE_ACQUIRE; phase < PHASES; phase++) {
        printf(" %8s", PHASE_NAMES[phase]);
    }
    putchar('\n');
    for (int row = 0; row < ROWS; row++) {
        printf("%-10s", ROW_NAMES[row]);
        for (int phase = PHASE_ACQUIRE; phase < PHASES; phase++) {
            LS_ASSERT(table->count[row][phase] >= 0 && table->count[row][phase] <= scenarios);
            if (table->count[row][phase] > 0) {
                printf(" %8d", table->count[row][phase]);
            } else {
                printf(" %8s", "-");
            }
        }
        putchar('\n');
    }
    printf("%d directed scenarios\n", scenarios);
}

static const char *reason_of(int row, int phase)
{
    for (size_t i = 0; i < sizeof REASONS / sizeof REASONS[0]; i++) {
        if ((int)REASONS[i].row == row && (int)REASONS[i].phase == phase) {
            return REASONS[i].reason;
        }
    }
    return NULL;
}

static void print_empty_cells(const struct table *table)
{
    for (int row = 0; row < ROWS; row++) {
        for (int phase = PHASE_ACQUIRE; phase < PHASES; phase++) {
            if (table->count[row][phase] == 0) {
                const char *reason = reason_of(row, phase);
                printf("- %s, %s: %s\n", ROW_NAMES[row], PHASE_NAMES[phase], reason ? reason : "no scenario");
            }
        }
    }
}

/* ---- the whole ---- */

static void run_one(const struct cli_options *options, struct table *table, const struct scenario *scenario,
                    struct outcome *outcome)
{
    struct run_setup setup = {.scenario = scenario, .recipe = cli_recipe(options, scenario)};
    struct direct_options direct = {.watch = on_action, .watch_event = on_event, .watch_ctx = table};
    LS_ASSERT(!scenario->exploring);
    table->scenario = scenario;
    memset(table->phase, 0, sizeof table->phase);
    memset(table->met, 0, sizeof table->met);
    memset(outcome, 0, sizeof *outcome);
    direct_run(&setup, &direct, outcome);
    for (int row = 0; row < ROWS; row++) {
        for (int phase = 0; phase < PHASES; phase++) {
            table->count[row][phase] += table->met[row][phase];
        }
    }
}

int cli_print_table(const struct cli_options *options, struct cli_job *jobs, int count)
{
    struct table *table = calloc(1, sizeof *table);
    struct outcome *outcome = calloc(1, sizeof *outcome);
    int status = CLI_OK, directed = 0;
    for (int i = 0; table && outcome && i < count && status == CLI_OK; i++) {
        if (!jobs[i].scenario.exploring) {
            run_one(options, table, &jobs[i].scenario, outcome);
            directed++;
            if (outcome->verdict == VERDICT_ERROR) {
                fprintf(stderr, "%s:\n%s", jobs[i].scenario.input.name, outcome->text);
                status = CLI_ENVIRONMENT;
            }
        }
    }
    if (!table || !outcome) {
        fputs("lockstep list: out of memory\n", stderr);
        status = CLI_ENVIRONMENT;
    }
    if (status == CLI_OK) {
        print(table, directed);
        print_empty_cells(table);
    }
    free(table);
    free(outcome);
    return status;
}
