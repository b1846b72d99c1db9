/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Loaded properties: judges from shared objects, as <lockstep/property.h> describes them.
 *
 * The state of a loaded property is stored in the table, 16 bytes in each record. Records of zeros are left
 * out, so the initial state takes no room. For each call the state is put together in a buffer with guard
 * bytes behind it. A judge that changes them damages nothing, and is reported. */
#ifndef CHECK_LOADED_H
#define CHECK_LOADED_H

#include "check/state.h"
#include <lockstep/property.h>

#define LOADED_WHY_MAX 320

/* Adds a property to check_all(), for the life of the program; all that it points to must live as long.
 * Returns its position, also if it was added before. On an error returns -1 and writes a clause with the
 * reason to `why`. Must not be called while a set exists. */
int loaded_add(const struct ls_property *property, char why[LOADED_WHY_MAX]);

/* Watches a range of variables of a loaded property: no call of its judge may change these bytes, because a
 * judge keeps all its state in its block. Copies them. A fifth range is ignored, and so is one for which
 * memory is short. */
void loaded_watch(int position, void *at, size_t size);

/* Returns the most records that the state of a property takes; 0 if it is built in. */
int loaded_records(const struct property *property);

/* Shows an event to a loaded property, as `observe` of a built-in one. */
void loaded_observe(const struct property *property, struct check_table *table,
                    const struct check_context *context, const struct event *event, struct check_note *note);

/* Visits the growing numbers of its state that the property's canon() names; none without one. */
void loaded_visit(struct check_table *table, const struct property *property, check_visit_fn visit,
                  void *ctx);

/* Lets *where be the name of the loaded property that is judging, NULL while none is. The name is valid for
 * ever. In shared memory that no third process writes to, it tells another process which property did not
 * return. With `where` NULL only this process knows. */
void loaded_say_where(const char *volatile *where);

/* Returns the name of the loaded property that is judging, NULL = none. Async-signal-safe. */
const char *loaded_judging(void);

/* Returns the first offence of a loaded property, after which nothing is judged; NULL = none. */
const char *loaded_trouble(void);

#endif
