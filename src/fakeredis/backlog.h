/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The last writes of a server, `server->lag` at most, which its replica or its log may lack. While the
 * replicas are detached, they lack each write, so that all are kept. A write is all that one command changes;
 * EXEC and a script are one command. For each write the backlog holds an image of each key that the command
 * changed, as the key was before the write. If writes are lost, the images are put back, the newest first,
 * except those of backlog_forget(). A write that the backlog does not have is safe: backlog_lose() does not
 * lose it. */
#ifndef FAKEREDIS_BACKLOG_H
#define FAKEREDIS_BACKLOG_H

#include "fakeredis/command.h"

/* Begins a new write, to which the next changes belong. */
void backlog_begin(void);

/* Keeps an image of the key of this name, or of its absence, if the server has a backlog and the present
 * write has no such image. Call it before a command changes the key. */
void backlog_note(struct call *call, int database, struct bytes name);

/* Notes that a key expires, or that the server loses it: images of the key with a lease are not put back. */
void backlog_forget(struct server *server, const struct key *key);

/* Makes all writes up to this connection's last one safe. If server->log_lags, only from the loss of the
 * server: its log may lack them all the same. */
void backlog_confirm(struct server *server, int client, int connection);

/* Detached replicas hear the server again, and all writes that they have missed. So does the same with all
 * writes up to the last one of them. */
void backlog_attach(struct server *server);

/* Loses the writes of the backlog that no replica has for sure, or (`confirmed`) all of them. Reports each
 * image by server->lost. */
void backlog_lose(struct server *server, bool confirmed);

/* Makes all writes of the backlog safe. */
void backlog_clear(struct server *server);

#endif
