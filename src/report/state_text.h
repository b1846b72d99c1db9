/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The state behind a step of a replay, as lines of text: for lockstep replay --step, and parts of it for the
 * JSON of a replay. The lines about the coordinator and the processes are those of world_describe(). */
#ifndef REPORT_STATE_TEXT_H
#define REPORT_STATE_TEXT_H

#include "replay/replay.h"

#define STATE_TEXT_BYTES (256u << 10)

/* A node, or a key, by which a process takes part in the line for a lock. */
struct contender {
    int64_t czxid;   /* the number of its creation; the line has this order */
    int64_t session; /* 0 = none */
    uint8_t process, lock;
    char path[WORLD_PATH_MAX]; /* empty = unknown */
};

/* Facts of a run that only its events show. Zero at the beginning of a run. */
struct state_view {
    uint8_t owners[WORLD_PROCESSES_MAX]; /* of a process: 1 + its highest owner that has asked for a lock */
    struct contender *line;              /* owned; sorted by czxid */
    size_t contenders, contenders_max;
    bool failed; /* memory was short: contenders are missing */
};

/* Forgets all, for the beginning of a run. */
void state_view_clear(struct state_view *view);
void state_view_close(struct state_view *view);

/* Notes the events of a step. */
void state_view_note(struct state_view *view, const struct replay_step *step);

/* An owner that believes that it holds, or does not know. */
struct state_belief {
    int process, lock, owner;
    enum ls_belief belief; /* LS_HELD or LS_UNKNOWN */
};

/* Returns the next belief behind *at, which is 0 at first, in *belief. Returns false behind the last. */
bool state_belief_next(const struct state_view *view, const struct run *run, int *at,
                       struct state_belief *belief);

/* Returns the word of a belief: "held" or "unknown". */
const char *state_belief_word(enum ls_belief belief);

/* Prints the state of the run: the lines of world_describe(), the beliefs, the line of contenders. With a
 * `part`, prints only some lines:
 *
 * - "beliefs" or "line": the lines of that list.
 * - Another word, such as a process, a lock, a server, a node or its number: lines with this word. If such a
 *   line is not indented, the indented lines below it too.
 *
 * Returns whether something was printed. */
bool state_print(FILE *out, const struct state_view *view, const struct run *run, const char *part);

#endif
