/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The client library of a small coordinator: registers that are changed by compare-and-set, each with a lease.
 *
 * A register has a version, which grows with each change, and a holder, 0 if it is free. A holder that does not renew its
 * lease loses the register some time. There are no sessions and no watches: a client reads again. A client has two
 * connections, which lose their requests one by one. A request that was sent before its connection broke may still be done
 * later; such requests of one client are done in their order.
 *
 * Calls return 0, or REG_LOST if the connection is down: then nothing was sent. Answers come in the order of the calls. */
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

/* REG_OK and REG_CONFLICT come with what the register has now; after REG_LOST nobody knows whether it was done. */
typedef void (*reg_done)(int rc, const struct reg_value *now, void *ctx);

/* Opens a connection, 0 or 1. The watcher is told when it is up, and down. */
struct reg *reg_open(int which, reg_watcher watcher, void *ctx);

/* No answer comes any more. */
void reg_close(struct reg *reg);

/* Gives the register another holder if its version is the expected one. A new version is the result. */
int reg_swap(struct reg *reg, const char *path, int64_t expected, uint32_t holder, reg_done done, void *ctx);

/* Renews the lease if the version is the expected one, which stays. */
int reg_renew(struct reg *reg, const char *path, int64_t expected, reg_done done, void *ctx);

int reg_read(struct reg *reg, const char *path, reg_done done, void *ctx);

#endif
