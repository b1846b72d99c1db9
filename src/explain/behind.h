/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Searches behind each choice that a run had, for the page of the run. */
#ifndef EXPLAIN_BEHIND_H
#define EXPLAIN_BEHIND_H

#include "explain/explain.h"

#define BEHIND_STATES_MAX 2000 /* default bound of the search behind one choice, in states */
#define BEHIND_STEPS_MAX 100

struct cJSON;

/* Searches behind the choices of a run, at most BEHIND_STEPS_MAX steps before the violation. Of `options`
 * only `property` and `states_max` count. Sets *behind to an object that the caller deletes:
 *
 * - `property`: name of the promise; `states_max`: the bound of the search behind one choice.
 * - `steps`: by step of `lockstep replay --json` an array, empty if nothing was searched there. It has
 *   [label, answer, states] for each choice.
 *
 * The answers are about all continuations behind the choice:
 *
 * - "breaks": the choice itself breaks the promise.
 * - "always": each continuation without new faults breaks it.
 * - "never": no continuation breaks it, also with the faults that the run still has.
 * - "sometimes": some break it, and some keep it.
 * - "undecided": a bound ended a search; or the promise is about waiting for ever, and some continuation
 *   keeps it.
 *
 * Returns EXPLAIN_DONE, EXPLAIN_HOLDS or EXPLAIN_UNFIT. *behind is NULL unless the result is EXPLAIN_DONE. */
enum explain_result explain_behind(const struct trace *trace, const struct explain_options *options,
                                   struct cJSON **behind, struct input_error *error);

#endif
