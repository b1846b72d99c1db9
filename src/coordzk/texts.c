/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Labels of the fake's steps (D4), and what a delivery brings to its recipe. */
#include "coordzk/internal.h"

#include <stdio.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

/* ---- labels ---- */

static const char *process_name(int client)
{
    return the_host->options->name[client];
}

/* Which of its client's closing sessions this is: 0 for the first. */
static int closing_index(const struct action *action)
{
    int32_t sessions[COORD_SESSIONS_MAX];
    int count = fakezk_sessions(action->process, true, sessions, COORD_SESSIONS_MAX);
    for (int i = 0; i < count && i < COORD_SESSIONS_MAX; i++) {
        if (sessions[i] == action->session) {
            return i;
        }
    }
    return 0;
}

void texts_label(const struct action *action, char label[WORLD_LABEL_MAX])
{
    struct fakezk_step step;
    step_of_action(action, &step);
    char what[FAKEZK_PATH_MAX];
    int32_t owner;
    const char *verb = world_action_verb(action->kind);
    if (!fakezk_can_step(&step)) {
        snprintf(label, WORLD_LABEL_MAX, "%s (not enabled)", verb);
        return;
    }
    fakezk_describe_step(&step, what, sizeof what, &owner);
    if (action->kind == ACTION_CATCH_UP) {
        snprintf(label, WORLD_LABEL_MAX, "%s s%d %.80s", verb, action->server + 1, what);
    } else if (action->kind == ACTION_APPLY) {
        snprintf(label, WORLD_LABEL_MAX, "%s s%d %s %.80s", verb, action->server + 1,
                 process_name(action->process), what);
    } else if (action->kind == ACTION_CONNECT) {
        snprintf(label, WORLD_LABEL_MAX, "%s %s s%d", verb, process_name(action->process),
                 action->server + 1);
    } else if (owner > 0) {
        snprintf(label, WORLD_LABEL_MAX, "%s %s %.80s(node of %s)", verb, process_name(action->process), what,
                 process_name(owner - 1));
    } else {
        snprintf(label, WORLD_LABEL_MAX, "%s %s%s%.80s", verb, process_name(action->process),
                 what[0] != 0 ? " " : "", what);
    }
    int index = action->kind == ACTION_BURY ? closing_index(action) : action->handle;
    size_t size = strlen(label);
    if (index > 0) {
        snprintf(label + size, WORLD_LABEL_MAX - size, "/%d", index + 1);
    }
}

static bool is_one_of(const char *const *words, const char *word, size_t size)
{
    for (; *words != NULL; words++) {
        if (strlen(*words) == size && strncmp(*words, word, size) == 0) {
            return true;
        }
    }
    return false;
}

/* What fakezk_describe_step() says, with what is put behind it. */
bool texts_label_word(const char *word)
{
    static const char *const REQUESTS[] = {"create", "delete", "exists", "get",     "set",   "list", "sync",
                                           "multi",  "getacl", "setacl", "unwatch", "check", "auth", NULL};
    static const char *const OTHERS[] = {"close",
                                         "nothing",
                                         "reply",
                                         "refused",
                                         "deleted",
                                         "created",
                                         "changed",
                                         "child",
                                         "session-connected",
                                         "session-connecting",
                                         "session-read-only",
                                         "session-expired",
                                         "session-auth-failed",
                                         NULL};
    size_t size = strcspn(word, "/(");
    size_t stem = size > 6 && strncmp(word + size - 6, "-reply", 6) == 0 ? size - 6 : size;
    return is_one_of(REQUESTS, word, stem) || is_one_of(OTHERS, word, size);
}

/* ---- what a delivery brings ---- */

/* Codes that recipes tell apart have a name. */
static void name_code(int rc, char *text, size_t size)
{
    static const struct {
        int rc;
        const char *name;
    } NAMES[] = {
        {ZOK, "ok"},
        {ZCONNECTIONLOSS, "lost"},
        {ZOPERATIONTIMEOUT, "timed-out"},
        {ZCLOSING, "closing"},
        {ZINVALIDSTATE, "invalid-state"},
        {ZSESSIONEXPIRED, "expired"},
        {ZNONODE, "no-node"},
        {ZNODEEXISTS, "exists"},
        {ZNOAUTH, "no-permission"},
        {ZNOWATCHER, "no-watcher"},
        {ZNOCHILDRENFOREPHEMERALS, "parent-ephemeral"},
        {ZUNIMPLEMENTED, "unimplemented"},
        {ZBADARGUMENTS, "bad-arguments"},
    };
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        if (NAMES[i].rc == rc) {
            snprintf(text, size, "%s", NAMES[i].name);
            return;
        }
    }
    snprintf(text, size, "rc=%d", rc);
}

void texts_answer(const struct action *delivery, char text[WORLD_LABEL_MAX])
{
    struct fakezk_step step;
    step_of_action(delivery, &step);
    char what[FAKEZK_PATH_MAX], code[32];
    int32_t owner;
    fakezk_describe_step(&step, what, sizeof what, &owner);
    size_t size = strlen(what);
    text[0] = 0;
    if (size > 6 && strcmp(what + size - 6, "-reply") == 0) {
        int rc = fakezk_delivery_rc(step.client, step.handle);
        name_code(rc, code, sizeof code);
        bool named = rc != ZOK && strncmp(code, "rc=", 3) != 0;
        snprintf(text, WORLD_LABEL_MAX, named ? "%s (%d)" : "%s", code, rc);
    }
}

/* A reply with its code; a watch event with whose node it is about (unknown if it is found out at a reconnect); a session event. */
void texts_stimulus(const struct action *delivery, char text[WORLD_LABEL_MAX])
{
    struct fakezk_step step;
    step_of_action(delivery, &step);
    char what[FAKEZK_PATH_MAX], code[32];
    int32_t owner;
    fakezk_describe_step(&step, what, sizeof what, &owner);
    size_t size = strlen(what);
    if (fakezk_delivery_is_watch(step.client, step.handle)) {
        const char *whose = owner == 0 ? "unknown" : owner - 1 == delivery->process ? "own" : "other";
        snprintf(text, WORLD_LABEL_MAX, "%.60s %s", what, whose);
    } else if (size > 6 && strcmp(what + size - 6, "-reply") == 0) {
        name_code(fakezk_delivery_rc(step.client, step.handle), code, sizeof code);
        snprintf(text, WORLD_LABEL_MAX, "%.60s %s", what, code);
    } else {
        snprintf(text, WORLD_LABEL_MAX, "%.60s", what);
    }
}
