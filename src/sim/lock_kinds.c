/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "sim/lock_kinds.h"

#include <stddef.h>

static const struct lock_kind KINDS[LS_LOCK_KINDS] = {
    [LS_LOCK_MUTEX] = {.word = "mutex",
                       .usage = "mutex PATH [as NAME]",
                       .help = "a lock; its name is the last part of the path",
                       .lock = {{"", LS_MODE_EXCLUSIVE}}},
    [LS_LOCK_SEMAPHORE] = {.word = "semaphore",
                           .usage = "semaphore PATH capacity=N [count=N] [as NAME]",
                           .help = "a lock of N units, of which one hold takes count",
                           .has_units = true,
                           .lock = {{"", LS_MODE_SHARED}}},
    [LS_LOCK_READ_WRITE] = {.word = "rwlock",
                            .usage = "rwlock PATH [as NAME]",
                            .help = "two locks, NAME.read and NAME.write: one writer, or readers",
                            .lock = {{".read", LS_MODE_SHARED}, {".write", LS_MODE_EXCLUSIVE}}},
    [LS_LOCK_ELECTION] = {.word = "election",
                          .usage = "election PATH [as NAME]",
                          .help = "a lock whose holder leads; it waits again by itself after a loss",
                          .loss = LS_LOSS_WAITS,
                          .lock = {{"", LS_MODE_EXCLUSIVE}}},
};

const struct lock_kind *lock_kind_at(unsigned kind)
{
    return kind < LS_LOCK_KINDS ? &KINDS[kind] : NULL;
}
