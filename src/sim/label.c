/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Writes the labels of actions, and finds the action that a label stands for. Labels name roles (D4). */
#include "base/assert.h"
#include "sim/world.h"

#include <lockstep/error.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *process_name(int p)
{
    return the_world.options.name[p];
}

const char *label_lock_name(int lock)
{
    const char *name = the_world.options.lock[lock].name;
    return name != NULL ? name : strrchr(the_world.lock_path[lock], '/') + 1;
}

static int session_index(const struct action *expire)
{
    struct action out[COORD_SESSIONS_MAX];
    struct action_list sessions = {.out = out, .room = COORD_SESSIONS_MAX};
    the_world.coordinator->list(&sessions, expire->process, COORD_SESSIONS);
    for (int i = 0; i < sessions.count; i++) {
        if (out[i].session == expire->session) {
            return i;
        }
    }
    return 0;
}

static void nth(char *label, int index)
{
    size_t size = strlen(label);
    if (index > 0) {
        snprintf(label + size, WORLD_LABEL_MAX - size, "/%d", index + 1);
    }
}

static int timers_of_same_name(const struct action *action)
{
    const char *name = timer_name(timer_at(action->process, action->timer));
    int before = 0;
    for (int i = 0; i < action->timer; i++) {
        before += strcmp(timer_name(timer_at(action->process, i)), name) == 0;
    }
    return before;
}

static bool takes_locks(const struct action *action)
{
    return action->kind == ACTION_ACQUIRE || action->kind == ACTION_RELEASE;
}

static void label_client(const struct action *action, char *label)
{
    bool is_try = action->kind == ACTION_ACQUIRE && action->timeout_ms == 0;
    bool about_lock = action_has(action, TRAIT_LOCK) && the_world.options.locks > 1;
    int size = snprintf(label, WORLD_LABEL_MAX, "%s %s%s%s", process_name(action->process),
                        is_try ? "try" : world_action_verb(action->kind), about_lock ? " " : "",
                        about_lock ? label_lock_name(action->lock) : "");
    for (int i = 1; i <= action_more_locks(action); i++) {
        size += snprintf(label + size, WORLD_LABEL_MAX - (size_t)size, " and %s",
                         label_lock_name(action_lock_at(action, i)));
    }
    if (action_has(action, TRAIT_LOCK) && action->owner > 0) {
        size += snprintf(label + size, WORLD_LABEL_MAX - (size_t)size, " owner=%d", action->owner);
    }
    if (action->kind == ACTION_ACQUIRE && action->timeout_ms > 0) {
        snprintf(label + size, WORLD_LABEL_MAX - (size_t)size, " timeout=%dms", action->timeout_ms);
    }
    if (action->kind == ACTION_WRITE && action->guarded != 0) {
        snprintf(label + size, WORLD_LABEL_MAX - (size_t)size, " guarded");
    }
    if (action->kind == ACTION_RELEASE && action->anyway != 0) {
        snprintf(label + size, WORLD_LABEL_MAX - (size_t)size, " anyway");
    }
    if (action->kind == ACTION_REVOKE && action->place > 1) {
        snprintf(label + size, WORLD_LABEL_MAX - (size_t)size, " place=%d", action->place);
    }
    if (action->kind == ACTION_RESIZE) {
        snprintf(label + size, WORLD_LABEL_MAX - (size_t)size, " capacity=%d", action->capacity);
    }
}

/* Appends the index of a link among those of the process; nothing for the first. */
static void add_link(char *label, int nth)
{
    size_t size = strlen(label);
    if (nth > 0) {
        snprintf(label + size, WORLD_LABEL_MAX - size, " link=%d", nth + 1);
    }
}

static bool is_at_server(const struct action *action)
{
    return coordinator_is_at_server(the_world.coordinator, action->kind);
}

static void label_by_traits(const struct action *action, const char *verb, char *label)
{
    bool locks = the_world.options.locks > 1;
    if (action_has(action, TRAIT_MEMORY)) {
        snprintf(label, WORLD_LABEL_MAX, "%s %s n=%d", verb, process_name(action->process), action->n);
    } else if (action_has(action, TRAIT_CONTENDER)) {
        snprintf(label, WORLD_LABEL_MAX, "%s %s%s%s", verb, process_name(action->process), locks ? " " : "",
                 locks ? label_lock_name(action->lock) : "");
    } else if (action_has(action, TRAIT_DIRECTORY)) {
        snprintf(label, WORLD_LABEL_MAX, "%s %s", verb, label_lock_name(action->lock));
    } else if (action_has(action, TRAIT_SERVER)) {
        snprintf(label, WORLD_LABEL_MAX, "%s s%d", verb, action->server + 1);
    } else if (is_at_server(action)) {
        snprintf(label, WORLD_LABEL_MAX, "%s %s s%d", verb, process_name(action->process),
                 action->server + 1);
    } else if (action_has(action, TRAIT_ON_PROCESS)) {
        snprintf(label, WORLD_LABEL_MAX, "%s %s", verb, process_name(action->process));
        nth(label, action->kind == ACTION_EXPIRE ? session_index(action) : 0);
    } else {
        snprintf(label, WORLD_LABEL_MAX, "%s", verb);
    }
}

static void label_fault(const struct action *action, char *label)
{
    const char *verb = world_action_verb(action->kind);
    switch (action->kind) {
    case ACTION_CUT:
        snprintf(label, WORLD_LABEL_MAX, "cut %s keep=%d apply=%d rc=%d%s", process_name(action->process),
                 action->keep, action->apply, action->rc != 0 ? action->rc : the_world.options.loss_rc,
                 action_cut_is_late(action) ? " late" : "");
        add_link(label, action_cut_link(action));
        break;
    case ACTION_REFUSE:
        snprintf(label, WORLD_LABEL_MAX, "%s %s", verb, process_name(action->process));
        add_link(label, action->nth);
        break;
    case ACTION_FOREIGN:
        snprintf(label, WORLD_LABEL_MAX, "%s %.100s", verb, the_world.text[action->text]);
        if (action->perms != 0) {
            size_t size = strlen(label);
            snprintf(label + size, WORLD_LABEL_MAX - size, " perms=%d", action->perms);
        }
        break;
    case ACTION_REMOVE:
        snprintf(label, WORLD_LABEL_MAX, "%s %.100s", verb, the_world.text[action->text]);
        break;
    default:
        label_by_traits(action, verb, label);
        break;
    }
}

void world_label(struct world *world, const struct action *action, char label[WORLD_LABEL_MAX])
{
    (void)world;
    if (action->kind == ACTION_FIRE) {
        snprintf(label, WORLD_LABEL_MAX, "fire %s %.80s", process_name(action->process),
                 timer_name(timer_at(action->process, action->timer)));
        nth(label, timers_of_same_name(action));
    } else if (action->kind == ACTION_ADVANCE) {
        snprintf(label, WORLD_LABEL_MAX, action->ms > 0 ? "advance %dms" : "advance", action->ms);
    } else if (action_has(action, TRAIT_STEP)) {
        the_world.coordinator->label(action, label);
    } else if (action_has(action, TRAIT_VERB)) {
        label_client(action, label);
    } else {
        label_fault(action, label);
    }
}

#define WORDS_MAX 12

struct words {
    char text[WORLD_LABEL_MAX];
    char *word[WORDS_MAX];
    int count;
};

static int fail(const char **why, int rc, const char *format, const char *what)
{
    snprintf(the_world.why, sizeof the_world.why, format, what);
    *why = the_world.why;
    return rc;
}

static bool split(const char *label, struct words *words)
{
    if (strlen(label) >= sizeof words->text) {
        return false;
    }
    strcpy(words->text, label);
    words->count = 0;
    char *save = NULL;
    for (char *w = strtok_r(words->text, " ", &save); w != NULL; w = strtok_r(NULL, " ", &save)) {
        if (words->count == WORDS_MAX) {
            return false;
        }
        words->word[words->count++] = w;
    }
    return words->count > 0;
}

static int find_process(const char *name)
{
    for (int p = 0; p < the_world.options.processes; p++) {
        if (strcmp(process_name(p), name) == 0) {
            return p;
        }
    }
    return -1;
}

static int find_lock(const char *name)
{
    for (int lock = 0; lock < the_world.options.locks; lock++) {
        if (strcmp(label_lock_name(lock), name) == 0) {
            return lock;
        }
    }
    return -1;
}

static bool option(const char *word, const char *name, int32_t *value)
{
    size_t size = strlen(name);
    if (strncmp(word, name, size) != 0 || word[size] != '=') {
        return false;
    }
    char *end;
    long number = strtol(word + size + 1, &end, 10);
    if (end == word + size + 1 || number > INT32_MAX || number < INT32_MIN) {
        return false;
    }
    if (strcmp(end, "s") == 0) {
        number *= 1000;
    } else if (*end != 0 && strcmp(end, "ms") != 0) {
        return false;
    }
    *value = (int32_t)number;
    return true;
}

/* Returns the kind of action with this word that the coordinator has; -1 = none. If `with`, the kind has at
 * least one of the traits; otherwise it has none of them. */
static int find_kind(const char *word, unsigned traits, bool with)
{
    for (int k = 0; k < ACTION_KINDS; k++) {
        if (action_kind_has((unsigned)k, traits) == with && strcmp(world_action_verb(k), word) == 0 &&
            coordinator_has_kind(the_world.coordinator, (unsigned)k)) {
            return k;
        }
    }
    return -1;
}

static int parse_client(const struct words *words, int p, struct action *action, const char **why)
{
    const char *verb = words->count > 1 ? words->word[1] : "";
    bool is_try = strcmp(verb, "try") == 0;
    int kind = is_try ? ACTION_ACQUIRE : find_kind(verb, TRAIT_VERB, true);
    if (kind < 0) {
        return fail(why, LS_EINVAL, "expected a client verb, found \"%.60s\"", verb);
    }
    *action = (struct action){.kind = (uint8_t)kind, .process = (uint8_t)p};
    action->c = kind == ACTION_ACQUIRE && !is_try ? -1 : kind == ACTION_REVOKE;
    for (int i = 2; i < words->count; i++) {
        int32_t value;
        int lock = find_lock(words->word[i]);
        bool more = strcmp(words->word[i], "and") == 0 && i > 2 && i + 1 < words->count;
        if (lock >= 0) {
            action->lock = (uint8_t)lock;
        } else if (more && takes_locks(action) && action_more_locks(action) < WORLD_LOCKS_MAX - 1 &&
                   find_lock(words->word[i + 1]) >= 0) {
            action_add_lock(action, find_lock(words->word[++i]));
        } else if (option(words->word[i], "owner", &value) && value >= 0 && value < 256) {
            action->owner = (uint8_t)value;
        } else if ((kind == ACTION_ACQUIRE && option(words->word[i], "timeout", &value) && value >= 0) ||
                   (kind == ACTION_REVOKE && option(words->word[i], "place", &value) && value > 0) ||
                   (kind == ACTION_RESIZE && option(words->word[i], "capacity", &value) && value > 0)) {
            action->c = value;
        } else if ((kind == ACTION_WRITE && strcmp(words->word[i], "guarded") == 0) ||
                   (kind == ACTION_RELEASE && strcmp(words->word[i], "anyway") == 0)) {
            action->c = 1;
        } else {
            return fail(why, LS_EINVAL, "expected a lock, owner=N or timeout=T, found \"%.60s\"",
                        words->word[i]);
        }
    }
    return 0;
}

static int parse_cut(const struct words *words, struct action *action, const char **why)
{
    for (int i = 2; i < words->count; i++) {
        int32_t value;
        const char *word = words->word[i];
        if (option(word, "keep", &value) && value >= 0 && value < 256) {
            action->keep = (uint8_t)value;
        } else if (option(word, "apply", &value) && value >= 0 && value < 256) {
            action->apply = (uint8_t)value;
        } else if (option(word, "rc", &value) && (value == -4 || value == -7)) {
            action->rc = value;
        } else if (strcmp(word, "late") == 0) {
            action->modes |= ACTION_CUT_LATE;
        } else if (option(word, "link", &value) && value >= 1 && value <= WORLD_LINKS_MAX) {
            action->modes |= ACTION_CUT_LINK(value - 1);
        } else {
            return fail(why, LS_EINVAL,
                        "expected keep=K, apply=J, rc=-4, rc=-7, late or link=N, found \"%.60s\"", word);
        }
    }
    action->rc = action->rc != 0 ? action->rc : the_world.options.loss_rc;
    return 0;
}

static int parse_expire(const char *name, struct action *action, const char **why)
{
    char process[WORLD_NAME_MAX + 8];
    snprintf(process, sizeof process, "%s", name);
    char *slash = strchr(process, '/');
    int index = 0;
    if (slash != NULL) {
        index = atoi(slash + 1) - 1;
        *slash = 0;
    }
    int p = find_process(process);
    if (p < 0) {
        return fail(why, LS_EINVAL, "expected a process, found \"%.60s\"", name);
    }
    struct action out[COORD_SESSIONS_MAX];
    struct action_list sessions = {.out = out, .room = COORD_SESSIONS_MAX};
    the_world.coordinator->list(&sessions, p, COORD_SESSIONS);
    if (index < 0 || index >= sessions.count) {
        return fail(why, LS_ENOENT, "%.60s has no such live session", name);
    }
    action->process = (uint8_t)p;
    action->session = out[index].session;
    return 0;
}

static int parse_server(const char *word, struct action *action, const char **why)
{
    int s = word[0] == 's' ? atoi(word + 1) : 0;
    if (s < 1 || s > the_world.options.servers) {
        return fail(why, LS_EINVAL, "expected a server s1 .. sN, found \"%.60s\"", word);
    }
    action->server = (uint8_t)(s - 1);
    return 0;
}

static int parse_path(struct world *world, const struct words *words, struct action *action, const char **why)
{
    const char *path = words->word[1];
    int slot = path[0] == '/' ? world_text(world, path) : LS_EINVAL;
    if (slot < 0) {
        return fail(why, LS_EINVAL, "expected an absolute path, found \"%.60s\"", path);
    }
    action->process = EVENT_PROCESS_NONE;
    action->text = (uint8_t)slot;
    int32_t value;
    if (words->count > 2) {
        if (action->kind != ACTION_FOREIGN || !option(words->word[2], "perms", &value) || value < 1 ||
            value > 31) {
            return fail(why, LS_EINVAL, "expected perms=1 .. 31, found \"%.60s\"", words->word[2]);
        }
        action->perms = value;
    }
    return 0;
}

static int parse_contender(const struct words *words, struct action *action, const char **why)
{
    const char *word = words->count > 2 ? words->word[2] : NULL;
    int lock = word != NULL ? find_lock(word) : 0;
    if (lock < 0 || (word == NULL && the_world.options.locks > 1) || words->count > 3) {
        return fail(why, LS_EINVAL, "expected a lock, found \"%.60s\"", word != NULL ? word : "");
    }
    action->lock = (uint8_t)lock;
    return 0;
}

static int parse_on_process(const struct words *words, struct action *action, const char **why)
{
    int p = find_process(words->word[1]);
    if (p < 0) {
        return fail(why, LS_EINVAL, "expected a process, found \"%.60s\"", words->word[1]);
    }
    action->process = (uint8_t)p;
    if (action->kind == ACTION_CUT) {
        return parse_cut(words, action, why);
    }
    if (action_has(action, TRAIT_CONTENDER)) {
        return parse_contender(words, action, why);
    }
    if (is_at_server(action)) {
        return words->count == 3
                   ? parse_server(words->word[2], action, why)
                   : fail(why, LS_EINVAL, "expected a server behind \"%.60s\", and no more", words->word[1]);
    }
    int32_t value;
    if (action->kind == ACTION_REFUSE && words->count > 2) {
        if (!option(words->word[2], "link", &value) || value < 1 || value > WORLD_LINKS_MAX) {
            return fail(why, LS_EINVAL, "expected link=N, found \"%.60s\"", words->word[2]);
        }
        action->nth = (uint8_t)(value - 1);
        return 0;
    }
    if (action_has(action, TRAIT_MEMORY)) {
        action->n = 1;
        if (words->count > 2) {
            if (!option(words->word[2], "n", &value) || value < 1 || value > 255) {
                return fail(why, LS_EINVAL, "expected n=1 .. 255, found \"%.60s\"", words->word[2]);
            }
            action->n = value;
        }
    } else if (words->count > 2) {
        return fail(why, LS_EINVAL, "expected the end of the line, found \"%.60s\"", words->word[2]);
    }
    return 0;
}

static int parse_fault(struct world *world, const struct words *words, int kind, struct action *action,
                       const char **why)
{
    *action = (struct action){.kind = (uint8_t)kind};
    if (!action_has(action, TRAIT_ON_PROCESS | TRAIT_SERVER | TRAIT_DIRECTORY | TRAIT_PATH)) {
        action->process = EVENT_PROCESS_NONE;
        return words->count == 1
                   ? 0
                   : fail(why, LS_EINVAL, "expected the end of the line, found \"%.60s\"", words->word[1]);
    }
    if (words->count < 2) {
        return fail(why, LS_EINVAL, "expected whom after \"%.60s\", found the end of the line",
                    words->word[0]);
    }
    if (kind == ACTION_EXPIRE) {
        return parse_expire(words->word[1], action, why);
    }
    if (action_has(action, TRAIT_DIRECTORY)) {
        int lock = find_lock(words->word[1]);
        action->process = EVENT_PROCESS_NONE;
        action->lock = (uint8_t)lock;
        return lock >= 0 ? 0 : fail(why, LS_EINVAL, "expected a lock, found \"%.60s\"", words->word[1]);
    }
    if (action_has(action, TRAIT_SERVER)) {
        action->process = EVENT_PROCESS_NONE;
        return parse_server(words->word[1], action, why);
    }
    return action_has(action, TRAIT_PATH) ? parse_path(world, words, action, why)
                                          : parse_on_process(words, action, why);
}

static int find_system(struct world *world, const char *label, int kind, struct action *action,
                       const char **why)
{
    struct action actions[WORLD_ACTIONS_MAX];
    int count = world_actions(world, actions);
    for (int i = 0; i < count; i++) {
        char other[WORLD_LABEL_MAX];
        if (actions[i].kind == kind) {
            world_label(world, &actions[i], other);
            if (strcmp(other, label) == 0) {
                *action = actions[i];
                return 0;
            }
        }
    }
    return fail(why, LS_ENOENT, "\"%.100s\" cannot happen now", label);
}

static int find_advance(const struct words *words, struct action *action, const char **why)
{
    *action = (struct action){.kind = ACTION_ADVANCE, .process = EVENT_PROCESS_NONE};
    if (words->count > 1) {
        char text[WORLD_LABEL_MAX + 8];
        int32_t value;
        snprintf(text, sizeof text, "by=%s", words->word[1]);
        if (!option(text, "by", &value) || value < 1) {
            return fail(why, LS_EINVAL, "expected a duration, found \"%.60s\"", words->word[1]);
        }
        action->ms = value;
    }
    return 0;
}

int world_find(struct world *world, const char *label, struct action *action, const char **why)
{
    struct words words;
    *why = "";
    if (!split(label, &words)) {
        return fail(why, LS_EINVAL, "expected a label, found \"%.60s\"", label);
    }
    int rc = LS_EINVAL;
    int p = find_process(words.word[0]);
    int kind = find_kind(words.word[0], TRAIT_VERB, false);
    bool of_system = kind >= 0 && action_kind_has((unsigned)kind, TRAIT_SYSTEM);
    if (kind < 0 && p < 0) {
        return fail(why, LS_EINVAL, "expected a process or a verb, found \"%.60s\"", words.word[0]);
    }
    if (kind < 0 || (p >= 0 && words.count > 1 && find_process(words.word[1]) < 0 && of_system)) {
        rc = parse_client(&words, p, action, why);
    } else if (kind == ACTION_ADVANCE) {
        rc = find_advance(&words, action, why);
    } else if (of_system) {
        return find_system(world, label, kind, action, why);
    } else {
        rc = parse_fault(world, &words, kind, action, why);
    }
    if (rc == 0 && !world_enabled(world, action)) {
        return fail(why, LS_ENOENT, "\"%.100s\" cannot happen now", label);
    }
    return rc;
}

int world_text(struct world *world, const char *path)
{
    for (int i = 0; i < world->texts; i++) {
        if (strcmp(world->text[i], path) == 0) {
            return i;
        }
    }
    size_t size = strlen(path) + 1;
    char *copy =
        world->texts < TEXTS_MAX && size < WORLD_PATH_MAX ? arena_constant(&world->arena, size) : NULL;
    if (copy == NULL) {
        return LS_ENOMEM;
    }
    memcpy(copy, path, size);
    world->text[world->texts] = copy;
    return world->texts++;
}
