/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Judges of other people, as <lockstep/property.h> describes them.
 *
 * The state of one lies in the table as records of 16 bytes each; those that are zero are left out, so that the initial state
 * takes no room. It is put together for each call, with room behind it that must stay as it is: a judge that writes there
 * spoils nothing, and is told of. */
#ifndef CHECK_LOADED_H
#define CHECK_LOADED_H

#include <check/state.h>
#include <lockstep/property.h>

#define LOADED_WHY_MAX 320

/* Adds it to check_all(), for the life of the program, as what it points to must live. The same one again is the one from
 * before. Returns its position, or -1: `why` is a clause that says what is wrong with it. Not while a set exists. */
int loaded_add(const struct ls_property *property, char why[LOADED_WHY_MAX]);

/* A judge keeps nothing outside of its state: no call of it may change these bytes, its variables. They are copied; up to four
 * ranges for one. */
void loaded_watch(int position, void *at, size_t size);

/* Records that the state of a property can take; 0 if it is built in. */
int loaded_records(const struct property *property);

/* As `observe` of a property that is built in. */
void loaded_observe(const struct property *property, struct check_table *table,
                    const struct check_context *context, const struct event *event, struct check_note *note);

/* The numbers of its state that grow, as check_set_visit(). */
void loaded_visit(struct check_table *table, const struct property *property, check_visit_fn visit,
                  void *ctx);

/* From now on *where is the name of the loaded property that is judging, NULL while none is. The name lives for
 * ever. Where *where is in shared memory, which no third process may write to, another process can tell which
 * property did not come back. With `where` NULL only this process knows. */
void loaded_say_where(const char *volatile *where);

/* The loaded property that is judging, NULL = none. Async-signal-safe. */
const char *loaded_judging(void);

/* What a loaded property did that none may do: from then on nothing is judged. NULL: nothing. */
const char *loaded_trouble(void);

#endif
