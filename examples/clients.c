/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "clients.h"

#include <lockstep/error.h>
#include <stdio.h>

static int with_session(struct client *client)
{
    int err = ls_session_init(&client->session, client->env, client->hosts, 10000, NULL);
    if (err)
        return err;
    err = ls_session_start(&client->session);
    if (!err)
        err = client->run(client);
    ls_session_close(&client->session);
    return err;
}

static void *client_main(void *context)
{
    struct client *client = context;
    client->err = ls_env_pthread_open(&client->env);
    if (!client->err) {
        client->err = with_session(client);
        ls_env_pthread_close(client->env);
    }
    if (client->err)
        fprintf(stderr, "%s %d: %s\n", client->kind, client->number, ls_strerror(client->err));
    return NULL;
}

bool client_start(struct client *client)
{
    return pthread_create(&client->thread, NULL, client_main, client) == 0;
}

int client_join(struct client *client)
{
    pthread_join(client->thread, NULL);
    return client->err;
}
