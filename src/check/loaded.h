/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Loaded properties: judges from shared objects, as <lockstep/property.h> describes them.
 *
 * The state of a loaded property is stored in the table, 16 bytes in each record. Records of zeros are left
 * out, so the initial state takes no room. For each call the state is put together in a buffer with guard
 * bytes behind it. If a judge changes these bytes, loaded_trouble() names its property. */
#ifndef CHECK_LOADED_H
#define CHECK_LOADED_H

#include "check/state.h"
#include <lockstep/property.h>

#define LOADED_WHY_MAX 320

/* Adds a property to check_all(), for the life of the program; all that it points to must live as long.
 * Returns its position, also if it was added before. On an error returns -1 and writes a clause with the
 * reason to `why`. Must not be called while a set exists. */
int loaded_add(const struct ls_property *property, char why[LOADED_WHY_MAX]);

/* Copies a range of variables of a loaded property, which its observe() must not change. Ignores a fifth
 * range of a property, and a range for which memory is short. */
void loaded_watch(int position, void *at, size_t size);

/* Returns the most records that the state of a property takes; 0 if it is built in. */
int loaded_records(const struct property *property);

/* Shows an event to a loaded property, as `observe` of a built-in one. */
void loaded_observe(const struct property *property, struct check_table *table,
                    const struct check_context *context, const struct event *event, struct check_note *note);

/* Visits the growing numbers of its state that the property's canon() names; without canon(), none. */
void loaded_visit(struct check_table *table, const struct property *property, check_visit_fn visit,
                  void *ctx);

/* Sets *where to NULL. From now on, *where is the name of the loaded property that is judging, NULL while
 * none is. It may be in shared memory. With `where` NULL, a variable of this process takes its place. */
void loaded_say_where(const char *volatile *where);

/* Returns the name of the loaded property that is judging, NULL = none. Async-signal-safe. */
const char *loaded_judging(void);

/* Returns the last offence of a loaded property, which has set check_table.full; NULL = none. */
const char *loaded_trouble(void);

#endif
