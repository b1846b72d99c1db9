/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The calls of the clients of fuzz_redis_calls, and the checks of their callbacks. */
#ifndef FUZZ_REDIS_CLIENT_H
#define FUZZ_REDIS_CLIENT_H

#include "redis_calls.h"

#include <hiredis/async.h>

/* Replies of each type, and calls, up to now. */
extern unsigned long client_replies[REDIS_REPLY_ERROR + 1], client_calls;

/* Opens a connection: `how` says to which server, and which callbacks it has. */
void client_connect_to(uint8_t how);

/* The open connection with this number, modulo how many there are; NULL = there is none. */
redisAsyncContext *client_context(int client, uint8_t which);

/* A call of this kind, with the bytes of the input that it reads. */
void client_call(int client, enum redis_operation kind);

#endif
