/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Faults of fuzz_redis_calls. Each reads its bytes of the input. A fault that is not possible does
 * nothing. */
#ifndef FUZZ_REDIS_FAULTS_H
#define FUZZ_REDIS_FAULTS_H

#include "redis_calls.h"

void fault_cut(int client);
void fault_hold(int client, uint8_t how);
void fault_crash(int client);
void fault_expire(uint8_t where);

/* A fault of a server, or the end of one. */
void fault_of_server(enum redis_fault fault);

/* Ends all faults that last. */
void fault_heal_all(void);

#endif
