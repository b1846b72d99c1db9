/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Which program this is: what was found with one is not gone on with by another. */
#ifndef EXPLORE_BUILD_ID_H
#define EXPLORE_BUILD_ID_H

#define BUILD_ID_MAX 64

/* The version, and a hash over the program's file, which holds the recipes, the fakes and the judges: any change of them
 * shows. If the file cannot be read the hash is that of nothing. */
void build_id(char text[BUILD_ID_MAX]);

#endif
