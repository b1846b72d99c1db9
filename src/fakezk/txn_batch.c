/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The batch: the transactions of the one write that the leader is carrying out. Each use of the batch begins
 * with batch_clear(), so the batch is no part of a world's state. */
#include "fakezk/internal.h"

#include <string.h>

static _Alignas(8) unsigned char batch_bytes[BATCH_BYTES];
static size_t batch_used;

void batch_clear(void)
{
    batch_used = 0;
}

bool batch_ends(size_t at)
{
    return at >= batch_used;
}

struct zk_txn *batch_add(int kind, int32_t zxid, const char *path, const void *data, int32_t data_size)
{
    size_t path_size = strlen(path);
    size_t bytes = data_size > 0 ? (size_t)data_size : 0;
    size_t size = (sizeof(struct zk_txn) + path_size + 1 + bytes + 7) & ~(size_t)7;
    if (batch_used + size > sizeof batch_bytes) {
        fakezk_note_trouble("limit: a transaction is too large (%s)", path);
        return NULL;
    }
    struct zk_txn *txn = (struct zk_txn *)(batch_bytes + batch_used);
    memset(txn, 0, size);
    batch_used += size;
    txn->rec.size = (uint16_t)size;
    txn->rec.tag = (uint8_t)kind;
    txn->zxid = zxid;
    txn->data_size = data_size;
    txn->path_size = (uint16_t)path_size;
    memcpy(txn->bytes, path, path_size);
    if (bytes > 0) {
        memcpy(txn->bytes + path_size + 1, data, bytes);
    }
    return txn;
}

struct zk_txn *batch_at(size_t *at)
{
    if (batch_ends(*at)) {
        return NULL;
    }
    struct zk_txn *txn = (struct zk_txn *)(batch_bytes + *at);
    *at += txn->rec.size;
    return txn;
}
