/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The last writes of a server, which its replica or its log may lack. A write is all that one command
 * changes. For each write the keys that it changed are kept as they were before. To lose writes is to put
 * these back, the newest first.
 *
 * A server keeps `server->lag` writes at most. Older ones are safe. */
#ifndef FAKEREDIS_BACKLOG_H
#define FAKEREDIS_BACKLOG_H

#include "fakeredis/command.h"

/* The next change of a key belongs to a new write. */
void backlog_begin(void);

/* Keeps the key of this name as it is. To be called before a change of the key. */
void backlog_note(struct call *call, int database, struct bytes name);

/* The lease of a key has ended: to lose writes from before does not bring the key back. */
void backlog_forget(struct server *server, const struct key *key);

/* All writes up to the last one of this connection are safe. */
void backlog_confirm(struct server *server, int client, int connection);

/* Loses all writes that are kept. */
void backlog_lose(struct server *server);

/* All writes that are kept are safe. */
void backlog_clear(struct server *server);

#endif
