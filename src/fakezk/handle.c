/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Handles: init, close in every state (F17 to F23), and questions about them. */
#include "base/assert.h"
#include "fakezk/enabled.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Returns `zh` if the entered client has it open. Otherwise returns NULL and, unless `zh` is NULL, reports
 * `call`: as a trouble if no client is entered, else as FAKEZK_MISUSED. */
struct _zhandle *handle_check(zhandle_t *zh, const char *call)
{
    fakezk.calls++;
    if (zh == NULL) {
        return NULL;
    }
    if (fakezk.entered < 0) {
        fakezk_note_trouble("%s: called while no process runs", call);
        return NULL;
    }
    struct zk_client *client = client_at(fakezk.entered);
    if (zh < client->handle || zh >= client->handle + FAKEZK_HANDLES_MAX || !zh->open) {
        struct fakezk_event event = {.kind = FAKEZK_MISUSED, .client = (uint8_t)fakezk.entered, .path = call};
        fakezk_emit(&event);
        return NULL;
    }
    return zh;
}

/* ---- calls that find no memory (F108) ---- */

void fakezk_fail_call(int client, int n)
{
    LS_ASSERT(n >= 0 && n <= UINT8_MAX);
    if (client_at(client)->fail_call != n) {
        client_mark(client)->fail_call = (uint8_t)n;
    }
}

int fakezk_failing_call(int client)
{
    return client_at(client)->fail_call;
}

bool handle_lacks_memory(int client)
{
    if (client_at(client)->fail_call == 0 || --client_mark(client)->fail_call > 0) {
        return false;
    }
    struct fakezk_event event = {.kind = FAKEZK_CALL_FAILED, .client = (uint8_t)client};
    fakezk_emit(&event);
    return true;
}

/* Returns the start of the chroot in a connect string; NULL = none, or "/". */
static const char *chroot_of(const char *host)
{
    const char *slash = strchr(host, '/');
    return slash != NULL && slash[1] != 0 ? slash : NULL;
}

static uint8_t intern_chroot(const char *slash)
{
    if (slash == NULL) {
        return 0;
    }
    LS_ASSERT(fakezk.chroots >= 1 && fakezk.chroots <= CHROOTS_MAX);
    for (int i = 1; i < fakezk.chroots; i++) {
        if (strcmp(fakezk.chroot[i], slash) == 0) {
            return (uint8_t)i;
        }
    }
    if (fakezk.chroots == CHROOTS_MAX || strlen(slash) >= FAKEZK_PATH_MAX) {
        fakezk_note_trouble("limit: too many or too long chroots");
        return 0;
    }
    strcpy(fakezk.chroot[fakezk.chroots], slash);
    return (uint8_t)fakezk.chroots++;
}

static int free_slot(int client)
{
    for (int slot = 0; slot < FAKEZK_HANDLES_MAX; slot++) {
        if (!handle_at(client, slot)->open) {
            return slot;
        }
    }
    return -1;
}

static void open_slot(int client, int slot, const char *host, watcher_fn fn, int timeout_ms,
                      const clientid_t *id, const void *context, int flags)
{
    struct _zhandle *zh = &client_mark(client)->handle[slot];
    LS_ASSERT(!zh->open && zh->session == 0 && head_request(client, slot) == NULL);
    zh->open = (flags & ZOO_READONLY) != 0 ? OPEN_READ_ONLY : OPEN_WRITABLE;
    zh->client = (uint8_t)client;
    zh->slot = (uint8_t)slot;
    zh->state = ZOO_NOTCONNECTED_STATE;
    zh->timeout_ms = timeout_ms;
    zh->chroot = intern_chroot(chroot_of(host));
    zh->watcher = code_pack_fn((code_fn)fn);
    zh->context = context;
    zh->next_server = (uint8_t)(client % fakezk.options.servers);
    zh->connect_ms = fakezk.options.timed ? clock_ms() + 4 * fakezk.options.latency_min_ms : 0;
    if (id != NULL && id->client_id != 0) {
        zh->id = *id;
        zh->session = (int32_t)(id->client_id & 0x7fffffff);
        if (zh->session > 0 && session_client(zh->session) != client) {
            log_mark()->adopted = 1;
        }
        bool known = memcmp(id->passwd, "lockstep-passwd", sizeof id->passwd) == 0;
        zh->stranger = !known; /* the server looks at the password after it has closed the older link (F32) */
        if (fakezk_session_id(zh->session) != id->client_id) {
            zh->session = INT32_MAX; /* no such session: the handshake will say expired (F18) */
        }
    }
}

zhandle_t *zookeeper_init(const char *host, watcher_fn fn, int recv_timeout, const clientid_t *clientid,
                          void *context, int flags)
{
    int client = fakezk.entered;
    if (client < 0) {
        fakezk_note_trouble("zookeeper_init: called while no process runs");
        return NULL;
    }
    if (host == NULL || (chroot_of(host) != NULL && !path_valid(chroot_of(host), false))) {
        errno = EINVAL;
        return NULL;
    }
    int slot = free_slot(client);
    if (slot < 0) {
        fakezk_note_trouble("limit: more than %d handles in one process", FAKEZK_HANDLES_MAX);
        return NULL;
    }
    if (handle_lacks_memory(client)) {
        errno = ENOMEM;
        return NULL;
    }
    open_slot(client, slot, host, fn, recv_timeout, clientid, context, flags);
    if (fakezk.options.callbacks_in_init) {
        handle_at(client, slot)->connect_ms = 0;
        struct zk_seen seen = see(client, slot);
        int server = seen.zh->next_server;
        if (can_connect(&seen, server)) {
            link_connect(client, slot, server);
            if (fakezk.options.fine) {
                link_handshake(client, slot);
            }
            deliver_next(client, slot);
        }
    }
    return handle_at(client, slot);
}

zhandle_t *zookeeper_init2(const char *host, watcher_fn fn, int recv_timeout, const clientid_t *clientid,
                           void *context, int flags, log_callback_fn log_callback)
{
    (void)log_callback;
    return zookeeper_init(host, fn, recv_timeout, clientid, context, flags);
}

void handle_finish_close(int client, int slot)
{
    struct pack pack = client_pack(client);
    server_watch_drop(client, slot);
    watch_close(client, slot);
    pack_clear(&pack, LIST_REQUEST + slot);
    pack_clear(&pack, LIST_MESSAGE + slot);
    memset(&client_mark(client)->handle[slot], 0, sizeof(struct _zhandle));
}

void handle_drain(int client, int slot)
{
    LS_ASSERT(!handle_at(client, slot)->link && head_request(client, slot) == NULL);
    struct pack pack = client_pack(client);
    client_mark(client)->handle[slot].closing = 1;
    bool call = (fakezk.options.defects & FAKEZK_DEFECT_DROP_AT_CLOSE) == 0;
    while (call && pack_first(&pack, LIST_MESSAGE + slot) != NULL) {
        deliver_next(client, slot);
    }
    handle_finish_close(client, slot);
}

/* Returns whether a close ends a live session at the leader. If not, the servers do not hear of it (F22). */
static bool reaches_leader(const struct _zhandle *zh)
{
    LS_ASSERT(zh->open && !zh->closing);
    return zh->link && zh->half <= HALF_REARM && !zh->severed && !client_at(zh->client)->partitioned &&
           !server_at(zh->server)->frozen && fakezk_session_live(zh->session);
}

int zookeeper_close(zhandle_t *handle)
{
    struct _zhandle *zh = handle_check(handle, "zookeeper_close");
    if (zh == NULL || zh->closing) {
        return tell_code(ZBADARGUMENTS);
    }
    int client = zh->client;
    int slot = zh->slot;
    link_close(client, slot, reaches_leader(zh));
    if (zh->busy) {
        zh->closing = 2; /* the rest follows behind the running callback (F23, F36) */
    } else {
        handle_drain(client, slot);
    }
    return ZOK;
}

int zoo_state(zhandle_t *handle)
{
    struct _zhandle *zh = handle_check(handle, "zoo_state");
    if (zh == NULL) {
        return 0;
    }
    if (zh->half > HALF_REARM) {
        return tell_state(ZOO_ASSOCIATING_STATE);
    }
    return tell_state(zh->lags ? ZOO_CONNECTED_STATE : zh->state);
}

const clientid_t *zoo_client_id(zhandle_t *handle)
{
    struct _zhandle *zh = handle_check(handle, "zoo_client_id");
    return zh != NULL ? &zh->id : NULL;
}

int zoo_recv_timeout(zhandle_t *handle)
{
    struct _zhandle *zh = handle_check(handle, "zoo_recv_timeout");
    return zh != NULL ? zh->timeout_ms : 0;
}

const void *zoo_get_context(zhandle_t *handle)
{
    struct _zhandle *zh = handle_check(handle, "zoo_get_context");
    return zh != NULL ? zh->context : NULL;
}

void zoo_set_context(zhandle_t *handle, void *context)
{
    struct _zhandle *zh = handle_check(handle, "zoo_set_context");
    if (zh != NULL) {
        client_mark(zh->client);
        zh->context = context;
    }
}

watcher_fn zoo_set_watcher(zhandle_t *handle, watcher_fn new_fn)
{
    struct _zhandle *zh = handle_check(handle, "zoo_set_watcher");
    if (zh == NULL) {
        return NULL;
    }
    watcher_fn old = (watcher_fn)code_unpack_fn(zh->watcher);
    client_mark(zh->client);
    zh->watcher = code_pack_fn((code_fn)new_fn);
    return old;
}

int is_unrecoverable(zhandle_t *handle)
{
    struct _zhandle *zh = handle_check(handle, "is_unrecoverable");
    return tell_code(zh != NULL && zh->state < 0 ? ZINVALIDSTATE : ZOK);
}
