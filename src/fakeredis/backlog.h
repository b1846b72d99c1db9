/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The last writes of a server, which its replica or its log may lack. A write is all that one command
 * changes. For each write the backlog holds an image of each changed key, as the key was before. Losing
 * writes puts the images back, the newest first.
 *
 * A server keeps `server->lag` writes at most. Older writes are safe: a failover or a restart keeps them. */
#ifndef FAKEREDIS_BACKLOG_H
#define FAKEREDIS_BACKLOG_H

#include "fakeredis/command.h"

/* Begins a new write, to which the next change of a key belongs. */
void backlog_begin(void);

/* Keeps an image of the key of this name, or of its absence. Must be called before each change of the key. */
void backlog_note(struct call *call, int database, struct bytes name);

/* Notes that a key expired, or that the server lost it. Losing older writes does not bring back an image of
 * the key with a lease. */
void backlog_forget(struct server *server, const struct key *key);

/* Makes all writes up to the last one of this connection safe. */
void backlog_confirm(struct server *server, int client, int connection);

/* Loses all writes that are kept, and reports each image by server->lost. */
void backlog_lose(struct server *server);

/* Makes all writes that are kept safe. */
void backlog_clear(struct server *server);

#endif
