/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Goes to and fro in the run of a trace, and leaves the trace by other choices (lockstep replay --step).
 *
 * A position is the number of choices that were done, marks included; 0 is the beginning of the run. The
 * closing of a circle counts as a choice. To go back, the run begins anew and is replayed up to the position.
 * Claim: with the same list of choices, the state at a position is the same each time that it is reached.
 * Why: a replay depends on the trace alone (D4). Checked by tests/replay/test_stepper.c. */
#ifndef REPLAY_STEPPER_H
#define REPLAY_STEPPER_H

#include "replay/replay.h"

#define STEPPER_GO_ON_MAX 1000 /* limit of steps that one stepper_forward_to() adds */

/* Calls of a stepper to its listener, with its `ctx`; none is NULL. Each step that is done is told, also when
 * the run is done again; `shown` = the functions below are to show this one. As in struct replay_listener,
 * `choice` is called before the choice is made. */
struct stepper_listener {
    void *ctx;
    void (*begin)(void *ctx, struct run *run); /* the run begins, or begins anew */
    void (*choice)(void *ctx, const struct replay_step *step, bool shown);
    void (*step)(void *ctx, const struct replay_step *step, bool shown);
};

/* Facts about a step that was done once. */
struct stepper_fact {
    unsigned process;    /* index of the process of its action; WORLD_PROCESSES_MAX or more = none */
    check_mask violated; /* properties that are violated since this step */
};

/* A choice at the present position. */
struct stepper_choice {
    char label[WORLD_LABEL_MAX];
    char remark[WORLD_LABEL_MAX]; /* what the choice brings; empty = nothing to say */
    bool fault;                   /* world_is_fault() */
    bool taken;                   /* the trace takes it here */
};

#define STEPPER_CHOICES_MAX (WORLD_ACTIONS_MAX + 2)

struct stepper {
    struct trace trace; /* the present run; its texts belong to the trace of stepper_open() */
    size_t choices_max;
    char **label; /* labels that were added to the list, owned */
    size_t labels, labels_max;
    const struct stepper_listener *listener;
    struct replay_listener ear;
    struct replay *replay; /* NULL = it could not be opened again */
    struct run *run;
    int position;              /* -1 = the run is about to begin */
    bool shown;                /* of the step that is being done */
    bool left;                 /* the run has left its trace, and may go on behind the last choice */
    struct stepper_fact *fact; /* by position, `known` of them */
    size_t facts_max;
    int known;
    struct input_error error; /* the last complaint */
    struct stepper_choice choice[STEPPER_CHOICES_MAX];
};

enum stepper_answer {
    STEPPER_DONE,
    STEPPER_END,   /* no step follows; nothing was done */
    STEPPER_UNFIT, /* stepper->error is the complaint; the position is the one before */
    STEPPER_WRONG, /* of stepper_take(): the choice is not possible here; stepper->error is the reason */
    STEPPER_LOST,  /* memory is short; stepper->error is the complaint, and only stepper_close() may follow */
};

/* Opens a stepper at the beginning of a run, which is shown. The struct is zero before. The trace and the
 * listener must outlive the stepper. Returns 0; or -1 with the complaint in stepper->error and nothing to
 * close. */
int stepper_open(struct stepper *stepper, const struct trace *trace, const struct stepper_listener *listener);
void stepper_close(struct stepper *stepper);

/* ---- positions ---- */

/* Returns the position behind the action with this number, 0 for number 0; -1 if the list of choices has no
 * such action. */
int stepper_position_of(const struct stepper *stepper, uint64_t number);

/* Returns the number of the action that leads to a position; 0 if that choice is no action. */
uint64_t stepper_number(const struct stepper *stepper, int position);

/* Returns the position of the last choice. */
static inline int stepper_last(const struct stepper *stepper)
{
    return stepper->trace.choices;
}

/* Returns the label of the choice that leads to a position, from 1 to stepper_last(). */
static inline const char *stepper_label(const struct stepper *stepper, int position)
{
    return stepper->trace.choice[position - 1].label;
}

/* ---- moves ---- */

/* Does the next step and shows it. Behind the last choice of a run that has left its trace, does the first
 * that is possible of these, and adds it to the list:
 *
 * - a step of the default schedule, see world_default_action(),
 * - a step of a program, the first in the order of world_actions(), that no budget pays for,
 * - an end of a fault, the first in that order,
 * - the question for rest, unless it was the last choice. */
enum stepper_answer stepper_forward(struct stepper *stepper);

/* Does steps and shows them, up to one of this process, or to the end of the run, or until it has added
 * STEPPER_GO_ON_MAX steps. */
enum stepper_answer stepper_forward_to(struct stepper *stepper, unsigned process);

/* Goes to a position and shows the step that leads there. Ends earlier if a choice does not fit. */
enum stepper_answer stepper_go(struct stepper *stepper, int position);

/* Returns the last position before the present one that a step of this process leads to; 0 = none. */
int stepper_before(const struct stepper *stepper, unsigned process);

/* Goes through the whole run, shows nothing, and comes back. Sets *position to the first behind the present
 * one at which a further property is violated, or else to the first in the run; -1 = the run violates
 * nothing. A choice that does not fit ends the run for this purpose. Returns STEPPER_DONE or STEPPER_LOST. */
enum stepper_answer stepper_violation(struct stepper *stepper, int *position);

/* Goes to the end of the run, shows nothing, and stays there. Returns the result of a replay of the run. */
enum replay_result stepper_finish(struct stepper *stepper);

/* ---- choices ---- */

/* Fills in stepper->choice with the choices that are possible at this position, faults last, and with the
 * trace's next choice. If that is none of the possible ones, it comes first. Returns their number. */
int stepper_choices(struct stepper *stepper);

/* Takes a choice by its label, and shows it. If the trace takes another one here, the rest of the list is
 * dropped, and so are marks of a circle: the run has left its trace. Returns STEPPER_UNFIT, with nothing
 * changed, if the choices before it do not fit without these marks. */
enum stepper_answer stepper_take(struct stepper *stepper, const char *label);

/* Writes the whole run as a trace. Before that, goes through the run, shows nothing, and comes back. `found`
 * gets the names of the violated properties, or "nothing". Returns STEPPER_UNFIT, without writing, if a
 * choice does not fit. Returns STEPPER_LOST also if the file has an error, with errno set. */
enum stepper_answer stepper_write(struct stepper *stepper, FILE *file, char *found, size_t found_size);

#endif
