/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Guarded writes: an application's use of the guard of a lock (D12).
 *
 * The resource is the data of the node at the lock's path. A write is one multi: the recipe's guard, which
 * checks that the contender node of the hold exists, and a set. A code may not tell
 * whether the write had an effect. Then the process sends the write again with the same guard, over the next
 * link or in the next session. That is harmless: once the hold is over, the guard lets the multi fail.
 *
 * The process's heap keeps a write until the write has ended, because the client library writes results
 * there. */
#include "coordzk/internal.h"

#include "base/assert.h"

#include <lockstep/error.h>
#include <stdio.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

struct guarded {
    struct guarded *next;
    uint8_t process;
    uint8_t lock;
    uint8_t owner;
    uint8_t sent;               /* 1: sent, and not answered */
    int64_t token;              /* position of the hold's token */
    char path[FAKEZK_PATH_MAX]; /* path of the guard */
    char data[48];              /* names the writer, as the world reads it in the log */
    zoo_op_t ops[2];            /* the guard, and the set */
    zoo_op_result_t results[2];
};

#define DATA_FORMAT "lock %d owner %d token %lld"

static const struct ls_recipe *recipe(void)
{
    return the_host->options->recipe;
}

static void drop(struct guarded *write)
{
    struct guarded *before = the_host->kept(write->process);
    LS_ASSERT(before != NULL && !write->sent);
    if (before == write) {
        the_host->keep(write->process, write->next);
    } else {
        while (before->next != write) {
            before = before->next;
        }
        before->next = write->next;
    }
    the_host->free(write->process, write);
}

bool guarded_waits(int client, int owner)
{
    const struct guarded *write = the_host->kept(client);
    while (write != NULL && owner >= 0 && write->owner != owner) {
        write = write->next;
    }
    return write != NULL;
}

static void tell(const struct guarded *write, int rc)
{
    struct event event = the_host->event_of(EVENT_WRITTEN, write->process);
    event.lock = write->lock;
    event.owner = write->owner;
    event.rc = rc;
    event.token = write->token;
    the_host->event(&event);
}

static void end(struct guarded *write, int rc)
{
    LS_ASSERT(!write->sent);
    tell(write, rc);
    drop(write);
}

/* Returns true if a code tells of a link, a session or a call that failed, and not whether the write had an
 * effect. */
static bool is_unanswered(int rc)
{
    return rc == ZCONNECTIONLOSS || rc == ZOPERATIONTIMEOUT || rc == ZSESSIONEXPIRED || rc == ZSESSIONMOVED ||
           rc == ZCLOSING || rc == ZINVALIDSTATE || rc == ZMARSHALLINGERROR;
}

static int meaning(const struct guarded *write, int rc)
{
    if (rc == ZOK) {
        return LS_OK;
    }
    if (rc == ZNOAUTH) {
        return LS_ENOAUTH;
    }
    return write->results[0].err == ZNONODE ? LS_ELOST : LS_EZK;
}

static void answered(struct guarded *write, int rc)
{
    LS_ASSERT(write->sent == 1);
    write->sent = 0;
    if (!is_unanswered(rc)) {
        end(write, meaning(write, rc));
    }
}

static void on_answered(int rc, const void *data)
{
    answered((struct guarded *)(uintptr_t)data, rc);
}

/* Sends a write for a recipe without multi(), unless there is no handle or it is dead: zoo_amulti() on a dead
 * handle would end the process (F16). In a world nothing comes between is_unrecoverable() and the call. */
static int send_plainly(struct guarded *write)
{
    zhandle_t *zh = recipe()->handle(the_host->state(write->process));
    if (zh == NULL || is_unrecoverable(zh) != ZOK) {
        return LS_ECLOSED;
    }
    int rc = zoo_amulti(zh, 2, write->ops, write->results, on_answered, write);
    if (rc != ZOK) {
        return is_unanswered(rc) ? LS_ECLOSED : LS_EZK;
    }
    return LS_OK;
}

/* Sends a write. After LS_ECLOSED the write waits for guarded_resume(). Another error ends the write. */
static void issue(struct guarded *write)
{
    LS_ASSERT(!write->sent || the_host->kept(write->process) != NULL);
    memset(write->results, 0, sizeof write->results);
    write->sent = 1;
    int rc = recipe()->multi == NULL ? send_plainly(write)
                                     : recipe()->multi(the_host->state(write->process), 2, write->ops,
                                                       write->results, on_answered, write);
    if (rc == LS_OK) {
        return;
    }
    write->sent = 0;
    if (rc != LS_ECLOSED) {
        end(write, rc);
    }
}

static void append(struct guarded *write)
{
    LS_ASSERT(write->next == NULL);
    struct guarded *last = the_host->kept(write->process);
    while (last != NULL && last->next != NULL) {
        last = last->next;
    }
    if (last == NULL) {
        the_host->keep(write->process, write);
    } else {
        last->next = write;
    }
}

void guarded_start(int client, int lock, int owner, int64_t position)
{
    struct guarded *write = the_host->alloc(client, sizeof *write);
    if (write == NULL) {
        return;
    }
    write->process = (uint8_t)client;
    write->lock = (uint8_t)lock;
    write->owner = (uint8_t)owner;
    write->token = position;
    LS_ASSERT(!write->sent && write->next == NULL);
    append(write);
    int rc = recipe()->guard(the_host->state(client), lock, owner, &write->ops[0], write->path,
                             sizeof write->path);
    if (rc != 0) {
        end(write, rc);
        return;
    }
    int size = snprintf(write->data, sizeof write->data, DATA_FORMAT, lock, owner, (long long)position);
    LS_ASSERT(size > 0 && (size_t)size < sizeof write->data);
    zoo_set_op_init(&write->ops[1], the_host->config->lock_paths[lock], write->data, size, -1, NULL);
    issue(write);
}

/* In a new session no write is under way, even if an answer from the old one is still due (F21). */
void guarded_resume(int client, bool new_session)
{
    struct guarded *next;
    for (struct guarded *write = the_host->kept(client); write != NULL; write = next) {
        next = write->next;
        if (new_session || !write->sent) {
            issue(write);
        }
    }
}

void guarded_observe(const struct fakezk_event *from)
{
    int lock, owner;
    long long token;
    char data[sizeof((struct guarded *)0)->data] = "";
    if (from->data_size > 0 && from->data_size < (int32_t)sizeof data) {
        memcpy(data, from->data, (size_t)from->data_size);
    }
    bool by_guard = from->code == 1 || from->cause == 1;
    if (!by_guard || sscanf(data, DATA_FORMAT, &lock, &owner, &token) != 3) {
        return;
    }
    struct event event = the_host->event_of(EVENT_EFFECT, from->client);
    event.lock = (uint8_t)lock;
    event.owner = (uint8_t)owner;
    event.taken = from->code;
    event.token = event.guard_czxid = token;
    if (event.taken == 1) {
        the_host->effect(lock, token);
    }
    the_host->event(&event);
}

int guarded_ask(int client, int lock, int owner)
{
    char path[FAKEZK_PATH_MAX];
    zoo_op_t op;
    return recipe()->guard(the_host->state(client), lock, owner, &op, path, sizeof path);
}
