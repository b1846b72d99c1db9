/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The inverse of drive.h: makes an input that repeats a given run, as far as possible. */
#ifndef FUZZ_ENCODE_H
#define FUZZ_ENCODE_H

#include "fuzz/drive.h"

/* Writes a header with the clients, servers and settings of this ZooKeeper world, as far as a header can
 * express them. Allows all faults that a header can allow. All clients get the first program. */
void fuzz_encode_world(const struct world_options *options, uint8_t header[FUZZ_HEADER]);

/* Completes an input that begins with the header of fuzz_encode_world(), so that it does the actions of a
 * run, as far as there is room. For each client chooses the program that agrees longest with its program in
 * `options`; if it has none there, with its verbs in the run. An action that is not possible is replaced by
 * one of the same kind and client, or left out. Of `options` only the programs and the number of clients
 * count. `room` is the size of `out`, FUZZ_HEADER at least. Returns the size of the input; 0 if no world
 * could be made. */
size_t fuzz_encode(struct fuzz_driver *driver, const struct world_options *options,
                   const struct action *action, int actions, uint8_t *out, size_t room);

#endif
