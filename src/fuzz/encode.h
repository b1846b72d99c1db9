/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The inverse of drive.h: makes an input that repeats a given run, for a fuzzer to begin with. */
#ifndef FUZZ_ENCODE_H
#define FUZZ_ENCODE_H

#include "fuzz/drive.h"

/* Writes the header of the nearest world to this ZooKeeper world: the same clients, servers and faults as far
 * as a header can express them. Chooses no programs. */
void fuzz_encode_world(const struct world_options *options, uint8_t header[FUZZ_HEADER]);

/* Completes an input that begins with such a header, so that it does the actions of a run. For each client it
 * chooses the program that agrees longest with the client's actions. An action that is not possible is
 * replaced by one of the same kind and client, or left out. Of `options` only the programs and the number of
 * clients are used. `room` is at least FUZZ_HEADER. Returns the size of the input; 0 if no world could be
 * made. */
size_t fuzz_encode(struct fuzz_driver *driver, const struct world_options *options,
                   const struct action *action, int actions, uint8_t *out, size_t room);

#endif
