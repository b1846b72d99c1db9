/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The inverse of drive.h: an input that does what some run has done, for a fuzzer to begin with. */
#ifndef FUZZ_ENCODE_H
#define FUZZ_ENCODE_H

#include "fuzz/drive.h"

/* Writes the header of the world that comes nearest to this one, which is ZooKeeper's: clients, servers and faults
 * are the same as far as a header can say them. Without programs. */
void fuzz_encode_world(const struct world_options *options, uint8_t header[FUZZ_HEADER]);

/* Completes an input that begins with such a header so that it does the actions of a run: of the programs it takes the one that agrees
 * longest with what the client did. An action that is not possible there is done as nearly as may be (the same kind, by the same
 * client), or left out. Of `options` only the programs are looked at, and how many clients there are. `room` is at least FUZZ_HEADER.
 * Returns the bytes of the input; 0 if no world could be made. */
size_t fuzz_encode(struct fuzz_driver *driver, const struct world_options *options,
                   const struct action *action, int actions, uint8_t *out, size_t room);

#endif
