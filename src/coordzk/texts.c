/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Labels of the fake's steps (D4), and texts of the answers that deliveries bring. */
#include "base/assert.h"
#include "coordzk/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zookeeper/zookeeper.h>

#define DUMP_BYTES (256u << 10)

static const char *process_name(int client)
{
    return the_host->options->name[client];
}

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

/* Returns the length of the request's name in that of a reply: 6 for "create-reply"; 0 = no reply. */
static size_t stem_of_reply(const char *what, size_t size)
{
    static const char END[] = "-reply";
    size_t end = sizeof END - 1;
    return size > end && strncmp(what + size - end, END, end) == 0 ? size - end : 0;
}

/* Returns true for the words of fakezk_describe_step(), also with a suffix such as "/2". */
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
    size_t stem = stem_of_reply(word, size);
    return is_one_of(REQUESTS, word, stem > 0 ? stem : size) || is_one_of(OTHERS, word, size);
}

/* Writes the name of a code in NAMES or, if it has none, "rc=" and the number. */
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

/* A delivery; `code` and `rc` are valid for replies only. */
struct delivery {
    struct fakezk_step step;
    char what[FAKEZK_PATH_MAX], code[32];
    int32_t owner; /* see fakezk_describe_step() */
    bool is_reply;
    int rc;
};

static void look_at(const struct action *action, struct delivery *delivery)
{
    step_of_action(action, &delivery->step);
    fakezk_describe_step(&delivery->step, delivery->what, sizeof delivery->what, &delivery->owner);
    delivery->is_reply = stem_of_reply(delivery->what, strlen(delivery->what)) > 0;
    if (delivery->is_reply) {
        delivery->rc = fakezk_delivery_rc(delivery->step.client, delivery->step.handle);
        name_code(delivery->rc, delivery->code, sizeof delivery->code);
    }
}

#define NAMES_TOLD_MAX 8 /* names of a list that are written, at most */
#define DIGITS 10        /* digits of a sequence number */

/* Writes the first NAMES_TOLD_MAX names of a list in their order, and behind the name of an ephemeral node
 * its process. Of a sequential node, writes the number alone. Then writes how many more names there are. */
static void say_names(const struct delivery *delivery, char *text, size_t size)
{
    const char *name[NAMES_TOLD_MAX];
    int owner[NAMES_TOLD_MAX];
    int count =
        fakezk_delivery_names(delivery->step.client, delivery->step.handle, NAMES_TOLD_MAX, name, owner);
    size_t used = 0;
    for (int i = 0; i < count && i < NAMES_TOLD_MAX && used < size; i++) {
        size_t length = strlen(name[i]);
        bool numbered = length > DIGITS && strspn(name[i] + length - DIGITS, "0123456789") == DIGITS;
        const char *shown = numbered ? name[i] + length - DIGITS : name[i];
        int more = snprintf(text + used, size - used, "%s %.20s%s%s%s", i == 0 ? ":" : ",", shown,
                            owner[i] >= 0 ? " (" : "", owner[i] >= 0 ? process_name(owner[i]) : "",
                            owner[i] >= 0 ? ")" : "");
        used += (size_t)more;
    }
    if (count > NAMES_TOLD_MAX && used < size) {
        snprintf(text + used, size - used, " and %d more", count - NAMES_TOLD_MAX);
    } else if (count == 0) {
        snprintf(text, size, ": no children");
    }
}

void texts_answer(const struct action *action, char text[WORLD_LABEL_MAX])
{
    struct delivery delivery;
    look_at(action, &delivery);
    text[0] = 0;
    if (delivery.is_reply) {
        bool named = delivery.rc != ZOK && strncmp(delivery.code, "rc=", 3) != 0;
        int used = snprintf(text, WORLD_LABEL_MAX, named ? "%s (%d)" : "%s", delivery.code, delivery.rc);
        say_names(&delivery, text + used, WORLD_LABEL_MAX - (size_t)used);
    }
}

/* Writes the stimulus of a delivery: its word and, for a reply, the code. For a watch event the second word
 * says whose node the event is about; "unknown" = fakezk_describe_step() gives no owner, as for changes of
 * data and of children, and for an event that was found at a reconnect. */
void texts_stimulus(const struct action *action, char text[WORLD_LABEL_MAX])
{
    struct delivery delivery;
    look_at(action, &delivery);
    if (fakezk_delivery_is_watch(delivery.step.client, delivery.step.handle)) {
        const char *whose = delivery.owner == 0                     ? "unknown"
                            : delivery.owner - 1 == action->process ? "own"
                                                                    : "other";
        snprintf(text, WORLD_LABEL_MAX, "%.60s %s", delivery.what, whose);
    } else {
        snprintf(text, WORLD_LABEL_MAX, "%.60s%s%s", delivery.what, delivery.is_reply ? " " : "",
                 delivery.is_reply ? delivery.code : "");
    }
}

/* Returns true for the codes that requests get at the end of a link, of a session or of a handle. Refused
 * credentials are left out. */
static bool is_without_answer(int rc)
{
    return rc == ZCONNECTIONLOSS || rc == ZOPERATIONTIMEOUT || rc == ZCLOSING || rc == ZSESSIONEXPIRED;
}

static void detail_of_delivery(const struct action *action, struct coord_detail *detail)
{
    struct delivery delivery;
    look_at(action, &delivery);
    if (delivery.is_reply) {
        detail->carries = COORD_REPLY;
        detail->lost = is_without_answer(delivery.rc);
        return;
    }
    bool is_watch = fakezk_delivery_is_watch(delivery.step.client, delivery.step.handle);
    detail->carries = is_watch ? COORD_NOTICE : COORD_LINK;
}

void texts_detail(const struct action *action, struct coord_detail *detail)
{
    LS_ASSERT(detail->carries == COORD_NOTHING);
    switch (action->kind) {
    case ACTION_DELIVER:
        detail_of_delivery(action, detail);
        break;
    case ACTION_APPLY:
    case ACTION_LINGER:
        detail->carries = COORD_REQUEST;
        detail->server = action->kind == ACTION_APPLY ? action->server : 0;
        break;
    case ACTION_CONNECT:
    case ACTION_HANDSHAKE:
    case ACTION_CATCH_UP:
        detail->server = action->server;
        break;
    default:
        break;
    }
}

/* Writes fakezk_dump() with the names of processes for the numbers of clients. */
void texts_dump(char *text, size_t size)
{
    static const char CLIENT[] = "client ";
    static char dump[DUMP_BYTES];
    size_t used = 0;
    text[0] = 0;
    fakezk_dump(dump, sizeof dump);
    for (char *line = strtok(dump, "\n"); line != NULL && used < size; line = strtok(NULL, "\n")) {
        char *rest = line;
        bool names = strncmp(line, CLIENT, sizeof CLIENT - 1) == 0;
        long client = names ? strtol(line + sizeof CLIENT - 1, &rest, 10) : 0;
        used += (size_t)snprintf(text + used, size - used, "%s%s%s\n", names ? CLIENT : "",
                                 names ? process_name((int)client) : "", rest);
    }
}
