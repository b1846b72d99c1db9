/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A target is one source that any fuzzer can drive: libFuzzer finds its functions by their names, and drive_afl.c and drive_file.c
 * call them. */
#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- what a target has ---- */

/* Once, before the first input. 0, or the process cannot go on; it has said why. */
int LLVMFuzzerInitialize(int *argc, char ***argv);

/* One input; a finding ends the process by abort(). Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* For people: what the inputs until now have done, on standard error. */
void target_tell(void);

/* ---- what a driver has ---- */

#define TARGET_COUNTERS 16384u /* a power of two */

/* Counters that are coverage besides edges, one byte each, cleared before each input; NULL = nobody wants them. May move from
 * one input to the next. */
extern uint8_t *target_counters;

/* Inputs are counted, and a finding is told in full. */
extern bool target_verbose;

/* Whether edges are coverage from here on, as they are when an input begins. What is done once for many inputs is none: the same
 * input would take two ways. */
void target_count_edges(bool count);

#endif
