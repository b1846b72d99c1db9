/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* How the textbook asks a holder to give a lock back: a list, and then a set of the node at a place in the
 * line. The textbook's own holders never listen, and no request is repeated. The lock and the place are
 * fields of the state, so a process asks one holder at a time. */
#include "broken/textbook.h"
#include <lockstep/error.h>
#include <stdio.h>
#include <string.h>

static const char REQUEST[] = "__REVOKE__";

static struct textbook *enter(const void *data, struct outbox *out)
{
    struct textbook *book = (struct textbook *)(uintptr_t)data;
    ls_env_callback_enter(book->env);
    textbook_enter(book, out);
    return book;
}

static void leave(struct textbook *book)
{
    struct ls_env *env = book->env;
    textbook_leave(book);
    ls_env_callback_leave(env);
}

static int meaning(int rc)
{
    if (rc == ZOK)
        return LS_OK;
    return rc == ZNONODE ? LS_ENOENT : rc == ZCONNECTIONLOSS || rc == ZOPERATIONTIMEOUT ? LS_EUNSURE : LS_EZK;
}

static void end(struct textbook *book, int rc)
{
    textbook_report(
        book, &(struct ls_report){.kind = LS_REPORT_ASKED, .lock = book->asked_lock, .rc = meaning(rc)});
    book->asked_place = 0;
}

static void on_set(int rc, const struct Stat *stat, const void *data)
{
    struct outbox out;
    (void)stat;
    struct textbook *book = enter(data, &out);
    end(book, rc);
    leave(book);
}

static void on_removed(int rc, const void *data)
{
    on_set(rc, NULL, data);
}

static int ask(struct textbook *book, const char *name)
{
    char path[TEXTBOOK_PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", textbook_folder(book, book->asked_lock), name);
    if (textbook_defects_of(book)->revokes_by_force)
        return zoo_adelete(book->zh, path, -1, on_removed, book);
    return zoo_aset(book->zh, path, REQUEST, (int)strlen(REQUEST), -1, on_set, book);
}

/* Returns the place of a contender in the line, 1 for the head. */
static int place_of(const struct String_vector *children, const char *name)
{
    int before = 0;
    for (int i = 0; i < children->count; i++) {
        int64_t sequence = attempt_sequence_of(children->data[i]);
        before += sequence >= 0 && sequence < attempt_sequence_of(name);
    }
    return before + 1;
}

static void on_listed(int rc, const struct String_vector *children, const void *data)
{
    struct outbox out;
    struct textbook *book = enter(data, &out);
    const char *name = NULL;
    for (int i = 0; rc == ZOK && i < children->count; i++)
        if (attempt_sequence_of(children->data[i]) >= 0 &&
            place_of(children, children->data[i]) == book->asked_place)
            name = children->data[i];
    if (rc == ZOK)
        rc = name ? ask(book, name) : ZNONODE;
    if (rc == ZNONODE && textbook_defects_of(book)->asks_nobody)
        book->asked_place = 0; /* the caller gets no answer */
    else if (rc != ZOK)
        end(book, rc);
    leave(book);
}

int textbook_revocable(void *state, int lock)
{
    (void)state;
    (void)lock;
    return LS_EUNSUPPORTED;
}

int textbook_revoke(void *state, int lock, int place)
{
    struct textbook *book = state;
    struct outbox out;
    int rc = LS_ECLOSED;
    if (lock < 0 || lock >= book->config->lock_count || place < 1 || place > UINT8_MAX)
        return LS_EINVAL;
    textbook_enter(book, &out);
    if (book->asked_place) {
        rc = LS_EALREADY;
    } else if (book->connected) {
        book->asked_lock = (uint8_t)lock;
        book->asked_place = (uint8_t)place;
        rc = zoo_aget_children(book->zh, book->config->lock_paths[lock], 0, on_listed, book) == ZOK ? LS_OK
                                                                                                    : LS_EZK;
        book->asked_place = rc ? 0 : book->asked_place;
    }
    textbook_leave(book);
    return rc;
}
