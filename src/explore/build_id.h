/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The identity of this program: a checkpoint of one build is not continued by another. */
#ifndef EXPLORE_BUILD_ID_H
#define EXPLORE_BUILD_ID_H

#define BUILD_ID_MAX 64

/* Writes the version and a hash of the program's file. If the file cannot be opened, the hash is 0. */
void build_id(char text[BUILD_ID_MAX]);

#endif
