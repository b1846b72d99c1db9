/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The client library of a small coordinator: registers with leases, which clients change by
 * compare-and-set.
 *
 * A register has a version, which grows with each change, and a holder, 0 if it is free. A holder that does
 * not renew its lease loses the register some time. There are no sessions and no watches: a client reads
 * again. A client has two connections, which break one by one. A request that was sent before its
 * connection broke may still be done later. Such requests of one client are done in their order.
 *
 * Calls return 0, or REG_LOST if the connection is down, and nothing was sent. Answers come in the order of
 * the calls. */
#ifndef TESTS_COORD_REGISTER_H
#define TESTS_COORD_REGISTER_H

#include <stdbool.h>
#include <stdint.h>

enum { REG_OK = 0, REG_CONFLICT = -1, REG_LOST = -2 };

#define REG_CONNECTIONS 2

struct reg; /* a connection */

struct reg_value {
    int64_t version;
    uint32_t holder;
    uint32_t reserved; /* 0 */
};

typedef void (*reg_watcher)(struct reg *reg, bool up, void *ctx);

/* Callback of a request. With REG_OK and REG_CONFLICT, *now is the state of the register. REG_LOST = the
 * request may or may not have been done. */
typedef void (*reg_done)(int rc, const struct reg_value *now, void *ctx);

/* Opens connection 0 or 1. The watcher is called when the connection is up, and when it is down. */
struct reg *reg_open(int which, reg_watcher watcher, void *ctx);

/* Closes the connection. No answer comes any more. */
void reg_close(struct reg *reg);

/* Gives the register another holder, and a new version, if its version is the expected one. */
int reg_swap(struct reg *reg, const char *path, int64_t expected, uint32_t holder, reg_done done, void *ctx);

/* Renews the lease if the version is the expected one. The version stays. */
int reg_renew(struct reg *reg, const char *path, int64_t expected, reg_done done, void *ctx);

int reg_read(struct reg *reg, const char *path, reg_done done, void *ctx);

#endif
