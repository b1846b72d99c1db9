/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Searches behind the choices that a run had, for the page of the run. */
#ifndef EXPLAIN_BEHIND_H
#define EXPLAIN_BEHIND_H

#include "explain/explain.h"

#define BEHIND_STATES_MAX 2000 /* default bound of the search behind one choice, in states */
#define BEHIND_STEPS_MAX 100

struct cJSON;

/* Searches behind the choices of a run, from BEHIND_STEPS_MAX choices before the violation on. Of `options`
 * only `property` and `states_max` count. Sets *behind to an object that the caller deletes:
 *
 * - `property`: name of the promise; `states_max`: the bound of a search behind one choice.
 * - `steps`: element i is about the state behind the first i choices of the run. It is an array, empty if
 *   nothing was searched there, with [label, answer, states] for each enabled action.
 *
 * The answers are about all continuations behind the action:
 *
 * - "breaks": the action itself breaks the promise.
 * - "always": no continuation without new faults keeps it.
 * - "never": no continuation breaks it, also with the faults that the run still has.
 * - "sometimes": some continuation breaks it, and some continuation without new faults keeps it.
 * - "undecided": a bound or memory ended a search; or the promise is about waiting for ever, and some
 *   continuation keeps it.
 *
 * Returns EXPLAIN_DONE, EXPLAIN_HOLDS or EXPLAIN_UNFIT. *behind is NULL unless the result is EXPLAIN_DONE. */
enum explain_result explain_behind(const struct trace *trace, const struct explain_options *options,
                                   struct cJSON **behind, struct input_error *error);

#endif
