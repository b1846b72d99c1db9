/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Parses the command lines: what happens in a directed scenario. */

#include "base/assert.h"
#include "base/nearest.h"
#include "coord/coordinator.h"
#include "scenario/parser.h"

#include <stdio.h>
#include <string.h>

#define NOBODY 255

static int lock_argument(struct parser *parser, const struct input_word *word, uint8_t *out)
{
    int lock = parser_lock(parser, word);
    if (lock < 0) {
        return parser_wrong(parser, word, "the name of a lock");
    }
    LS_ASSERT(lock < parser->scenario->options.locks);
    *out = (uint8_t)lock;
    return 0;
}

/* Reads "granted: VERB" or "failed: VERB" behind the word "on". Returns 1, or -1 after a complaint. */
static int reaction(struct parser *parser, struct action *action)
{
    struct input_word word = input_next_word(&parser->cursor);
    bool failed = input_word_is(&word, "failed:");
    if (!failed && !input_word_is(&word, "granted:")) {
        return parser_wrong(parser, &word, "'granted:' or 'failed:'");
    }
    if ((failed ? ACTION_IS_ON_FAILED(action->modes) : ACTION_IS_ON_GRANTED(action->modes)) != 0) {
        return parser_wrong(parser, &word, "each of 'granted:' and 'failed:' once");
    }
    word = input_next_word(&parser->cursor);
    const struct verb *verb = verb_find(&word, true);
    if (!verb || (verb->flags & VERB_REACTS) == 0) {
        return parser_wrong(parser, &word, "acquire, release, cancel or close");
    }
    action->modes |= failed ? ACTION_ON_FAILED(verb->action) : ACTION_ON_GRANTED(verb->action);
    LS_ASSERT((failed ? ACTION_IS_ON_FAILED(action->modes) : ACTION_IS_ON_GRANTED(action->modes)) ==
              verb->action);
    return 1;
}

/* Reads one option of a client verb. Returns 1 if it was read, 0 if the word has no '=' and is no option of
 * this verb, -1 after a complaint. */
static int client_option(struct parser *parser, const struct verb *verb, const struct input_word *word,
                         struct action *action)
{
    struct input_word key, value;
    parser_split(word, '=', &key, &value);
    if (verb->action == ACTION_ACQUIRE && (verb->flags & VERB_BOTH) == 0 && input_word_is(word, "on")) {
        return reaction(parser, action);
    }
    if (!value.text) {
        bool nowait = (verb->flags & VERB_NOWAIT) && input_word_is(word, "nowait");
        bool flag = ((verb->flags & VERB_GUARDED) && input_word_is(word, "guarded")) ||
                    ((verb->flags & VERB_ANYWAY) && input_word_is(word, "anyway"));
        action->c = flag ? 1 : action->c;
        action->modes |= nowait ? ACTION_NOWAIT : 0;
        return flag || nowait;
    }
    if (input_word_is(&key, "owner") && (verb->flags & VERB_OWNER)) {
        int owner;
        if (parser_owner(parser, &value, &owner) != 0) {
            return -1;
        }
        if (parser->owner >= 0 && owner != parser->owner) {
            return parser_wrong(parser, word, "the owner whose program this is");
        }
        action->owner = (uint8_t)owner;
        return 1;
    }
    if (input_word_is(&key, "timeout") && (verb->flags & VERB_TIMEOUT)) {
        int ms;
        if (parser_duration(parser, &value, &ms) != 0) {
            return -1;
        }
        action->timeout_ms = ms;
        return 1;
    }
    if (input_word_is(&key, "place") && (verb->flags & VERB_PLACE)) {
        int64_t place;
        if (parser_integer(parser, &value, "a place in line from 1 to 99", 1, 99, &place) != 0) {
            return -1;
        }
        action->place = (int32_t)place;
        return 1;
    }
    if (input_word_is(&key, "capacity") && (verb->flags & VERB_CAPACITY)) {
        int64_t capacity;
        if (parser_integer(parser, &value, "a number from 1 to 1000", 1, 1000, &capacity) != 0) {
            return -1;
        }
        action->capacity = (int32_t)capacity;
        return 1;
    }
    return parser_wrong(parser, word,
                        verb->flags & VERB_TIMEOUT    ? "owner=N, timeout=DURATION or nowait"
                        : verb->flags & VERB_PLACE    ? "place=N"
                        : verb->flags & VERB_CAPACITY ? "capacity=N"
                        : verb->flags & VERB_ANYWAY   ? "owner=N or anyway"
                        : verb->flags & VERB_GUARDED  ? "owner=N, guarded or nowait"
                        : verb->flags & VERB_NOWAIT   ? "owner=N or nowait"
                        : verb->flags & VERB_OWNER    ? "owner=N"
                                                      : "no option");
}

/* Returns the index of the lock that a word behind a client verb names; -1 = none. With VERB_BOTH the word
 * NAME means the lock NAME.read; NAME.write is the next lock. */
static int lock_behind(const struct parser *parser, const struct verb *verb, const struct input_word *word)
{
    const struct scenario *scenario = parser->scenario;
    static const char suffix[] = ".read";
    if ((verb->flags & VERB_BOTH) == 0) {
        return parser_lock(parser, word);
    }
    for (int i = 0; i < scenario->options.locks; i++) {
        const char *name = scenario->lock_name[i];
        bool reader = scenario->options.lock[i].kind == LS_LOCK_READ_WRITE &&
                      scenario->options.lock[i].mode == LS_MODE_SHARED;
        if (reader && strlen(name) == word->size + sizeof suffix - 1 &&
            memcmp(name, word->text, word->size) == 0) {
            return i;
        }
    }
    return -1;
}

/* Reads "and LOCK". Returns 1 if it was read, 0 if the word does not begin it, -1 after a complaint. */
static int further_lock(struct parser *parser, const struct verb *verb, const struct input_word *word,
                        struct action *action)
{
    bool takes = verb->action == ACTION_ACQUIRE || verb->action == ACTION_RELEASE;
    if (!takes || (verb->flags & VERB_BOTH) || !input_word_is(word, "and")) {
        return 0;
    }
    struct input_word name = input_next_word(&parser->cursor);
    int lock = parser_lock(parser, &name);
    if (lock < 0 || action_has_lock(action, lock)) {
        return parser_wrong(parser, &name, "the name of another lock");
    }
    action_add_lock(action, lock);
    LS_ASSERT(action_has_lock(action, lock) && action_more_locks(action) < WORLD_LOCKS_MAX);
    parser->scenario->options.several = true;
    return 1;
}

static int check_capacity(struct parser *parser, const struct input_word *at, const struct action *action)
{
    const struct ls_lock_spec *spec = &parser->scenario->options.lock[action->lock];
    if (spec->capacity == 0) {
        return parser_wrong(parser, at, "the name of a semaphore");
    }
    if (action->capacity < (spec->count > 0 ? spec->count : 1)) {
        return parser_wrong(parser, at, "capacity=N, not below the count of the semaphore");
    }
    return 0;
}

int parser_client_verb(struct parser *parser, const struct verb *verb, struct action *action,
                       struct input_word *next)
{
    LS_ASSERT((verb->flags & VERB_CLIENT) != 0);
    struct scenario *scenario = parser->scenario;
    bool lock_given = false;
    *action = (struct action){.kind = verb->action, .process = NOBODY, .c = 0};
    if (verb->action == ACTION_ACQUIRE && (verb->flags & (VERB_TIMEOUT | VERB_BOTH | VERB_FOREVER))) {
        action->timeout_ms = -1;
    }
    if (verb->flags & VERB_PLACE) {
        action->place = 1;
    }
    if ((verb->flags & VERB_OWNER) && parser->owner >= 0) {
        action->owner = (uint8_t)parser->owner;
    }
    struct input_word word = input_next_word(&parser->cursor), at = word;
    while (word.text && verb->argument == ARGUMENT_LOCK) {
        int option = client_option(parser, verb, &word, action);
        if (option < 0) {
            return -1;
        }
        if (option == 0) {
            int more = lock_given ? further_lock(parser, verb, &word, action) : 0;
            if (more < 0) {
                return -1;
            }
            if (more == 0) {
                int lock = lock_given ? -1 : lock_behind(parser, verb, &word);
                if (lock < 0) {
                    break;
                }
                action->lock = (uint8_t)lock;
                lock_given = true;
            }
        }
        word = input_next_word(&parser->cursor);
    }
    if (verb->argument == ARGUMENT_LOCK && (verb->flags & VERB_BOTH) == 0 && !lock_given &&
        scenario->options.locks != 1) {
        return parser_wrong(parser, &at, "the name of a lock (there are several, or none yet)");
    }
    if ((verb->flags & VERB_BOTH) && !lock_given) {
        return parser_wrong(parser, &at, "the name of a read-write lock");
    }
    LS_ASSERT(verb->argument != ARGUMENT_LOCK || action->lock < scenario->options.locks);
    if ((verb->flags & VERB_CAPACITY) && check_capacity(parser, &at, action) != 0) {
        return -1;
    }
    scenario->options.resizes |= (verb->flags & VERB_CAPACITY) != 0;
    bool reacts = ACTION_IS_ON_GRANTED(action->modes) != 0 || ACTION_IS_ON_FAILED(action->modes) != 0;
    if (action_more_locks(action) > 0 && reacts) {
        return parser_wrong(parser, &word, "no 'on granted:' or 'on failed:' behind several locks");
    }
    parser->second = (struct action){.kind = ACTION_RELEASE,
                                     .process = NOBODY,
                                     .owner = action->owner,
                                     .lock = (uint8_t)(action->lock + 1)};
    LS_ASSERT((verb->flags & VERB_BOTH) == 0 || parser->second.lock < scenario->options.locks);
    if (verb->action == ACTION_ACQUIRE && action->timeout_ms >= 0 &&
        scenario->options.lock[action->lock].loss == LS_LOSS_WAITS) {
        return parser_wrong(parser, &at, "lead: whoever stands for election waits without a bound");
    }
    *next = word;
    return 0;
}

/* ---- faults ---- */

static int read_link(struct parser *parser, const struct input_word *value, int64_t *number)
{
    return parser_integer(parser, value, "which of the links, from 1 to " PARSER_DIGITS(WORLD_LINKS_MAX), 1,
                          WORLD_LINKS_MAX, number);
}

static int cut_option(struct parser *parser, const struct input_word *word, struct scenario_command *command)
{
    struct input_word key, value;
    int64_t number;
    parser_split(word, '=', &key, &value);
    if (input_word_is(&key, "keep") && value.text) {
        if (parser_integer(parser, &value, "a number of replies from 0 to 99", 0, 99, &number) != 0) {
            return -1;
        }
        command->action.keep = (uint8_t)number;
        return 0;
    }
    if (input_word_is(&key, "apply") && value.text) {
        if (parser_integer(parser, &value, "a number of requests from 0 to 99", 0, 99, &number) != 0) {
            return -1;
        }
        command->action.apply = (uint8_t)number;
        return 0;
    }
    if (input_word_is(&key, "rc") && value.text) {
        if (!input_word_is(&value, "-4") && !input_word_is(&value, "-7")) {
            return parser_wrong(parser, &value, "-4 or -7");
        }
        command->action.rc = value.text[1] == '4' ? -4 : -7;
        command->rc_given = true;
        return 0;
    }
    if (input_word_is(word, "late")) {
        command->action.modes |= ACTION_CUT_LATE;
        return 0;
    }
    if (input_word_is(&key, "link") && value.text) {
        if (read_link(parser, &value, &number) != 0) {
            return -1;
        }
        command->action.modes |= ACTION_CUT_LINK(number - 1);
        return 0;
    }
    return parser_wrong(parser, word, "keep=K, apply=J, rc=-4, rc=-7, late or link=N");
}

static int fault_options(struct parser *parser, const struct verb *verb, struct scenario_command *command)
{
    struct input_word word = input_next_word(&parser->cursor), key, value;
    for (; word.text; word = input_next_word(&parser->cursor)) {
        int64_t number;
        parser_split(&word, '=', &key, &value);
        if (verb->flags & VERB_CUT) {
            if (cut_option(parser, &word, command) != 0) {
                return -1;
            }
        } else if ((verb->flags & VERB_COUNT) && input_word_is(&key, "n")) {
            if (parser_integer(parser, &value, "a number from 1 to 255", 1, 255, &number) != 0) {
                return -1;
            }
            command->action.n = (int32_t)number;
        } else if ((verb->flags & VERB_LINK) && input_word_is(&key, "link")) {
            if (read_link(parser, &value, &number) != 0) {
                return -1;
            }
            command->action.nth = (uint8_t)(number - 1);
        } else if ((verb->flags & VERB_PERMS) && input_word_is(&key, "perms")) {
            uint8_t perms;
            if (parser_perms(parser, &value, &perms) != 0) {
                return -1;
            }
            command->action.perms = perms;
        } else {
            return parser_wrong(parser, &word,
                                verb->flags & VERB_COUNT   ? "n=N or the end of the line"
                                : verb->flags & VERB_PERMS ? "perms=N or the end of the line"
                                : verb->flags & VERB_LINK  ? "link=N or the end of the line"
                                                           : "the end of the line");
        }
    }
    LS_ASSERT((verb->flags & VERB_CUT) == 0 || verb->action == ACTION_CUT);
    if ((verb->flags & VERB_CUT) && !command->rc_given) {
        command->action.rc = parser->scenario->options.loss_rc;
    }
    if ((verb->flags & VERB_CUT) && action_cut_is_late(&command->action) && command->action.apply == 0) {
        return parser_wrong(parser, &word, "apply=J with late: the last of J requests is the late one");
    }
    return 0;
}

static int server_argument(struct parser *parser, struct scenario_command *command)
{
    struct input_word word = input_next_word(&parser->cursor);
    int servers = parser->scenario->options.servers;
    if (!word.text || word.size != 2 || word.text[0] != 's' || word.text[1] < '1' ||
        word.text[1] > '0' + servers) {
        char expected[48];
        snprintf(expected, sizeof expected, servers > 1 ? "a server, s1 to s%d" : "the server s%d", servers);
        return parser_wrong(parser, &word, expected);
    }
    command->action.server = (uint8_t)(word.text[1] - '1');
    LS_ASSERT(command->action.server < WORLD_SERVERS_MAX);
    return 0;
}

static int process_argument(struct parser *parser, const struct verb *verb, struct scenario_command *command)
{
    struct input_word word = input_next_word(&parser->cursor);
    if (verb->action == ACTION_HEAL && input_word_is(&word, "all")) {
        command->step = STEP_HEAL_ALL;
        return 0;
    }
    int process = parser_process(parser, &word);
    if (process < 0) {
        return parser_wrong(parser, &word, "the name of a process");
    }
    command->action.process = (uint8_t)process;
    command->action.n = verb->flags & VERB_COUNT ? 1 : 0;
    if (verb->flags & VERB_LOCK) {
        word = input_next_word(&parser->cursor);
        bool only = !word.text && parser->scenario->options.locks == 1;
        return only ? 0 : lock_argument(parser, &word, &command->action.lock);
    }
    return verb->flags & VERB_SERVER ? server_argument(parser, command) : 0;
}

static int path_argument(struct parser *parser, struct scenario_command *command)
{
    struct input_word word = input_next_word(&parser->cursor);
    if (parser_path(parser, &word) != 0) {
        return -1;
    }
    command->text = parser_keep(parser, &word);
    return command->text ? 0 : -1;
}

/* Returns the kind of action with this verb that the coordinator of the scenario has; -1 if there is none. */
static int kind_of_verb(const struct parser *parser, const struct input_word *word)
{
    const struct coordinator *coordinator = coordinator_find(parser->scenario->options.coordinator);
    for (int kind = 0; kind < ACTION_KINDS; kind++) {
        if (coordinator_has_kind(coordinator, (unsigned)kind) &&
            input_word_is(word, world_action_verb(kind))) {
            return kind;
        }
    }
    return -1;
}

/* Returns whether a word names a server or a process. A `/` and the characters behind it do not count: `a/2`
 * is the second handle of `a`. */
static bool is_place(const struct parser *parser, const struct input_word *word)
{
    struct input_word name, handle;
    parser_split(word, '/', &name, &handle);
    bool server = name.size == 2 && name.text[0] == 's' && name.text[1] >= '1' &&
                  name.text[1] < '1' + parser->scenario->options.servers;
    return server || parser_process(parser, &name) >= 0;
}

/* Refuses the `at`-th word of a label in these cases:
 *
 * - Word 0 is no verb of an action, and names no process or server.
 * - Word 1 of a step (TRAIT_STEP) names no process or server.
 * - The first later word of a step that names neither is unknown to the coordinator's label_word().
 *
 * Word 0 sets *kind to the kind with this verb, or to -1. The word of the third case sets *kind to -1, so
 * that the words behind it are not checked. */
static int check_label_word(struct parser *parser, const struct input_word *word, int at, int *kind)
{
    LS_ASSERT(at >= 0 && *kind >= -1 && *kind < ACTION_KINDS);
    const struct coordinator *coordinator = coordinator_find(parser->scenario->options.coordinator);
    if (at == 0) {
        *kind = kind_of_verb(parser, word);
        return *kind >= 0 || is_place(parser, word)
                   ? 0
                   : parser_wrong(parser, word,
                                  "the verb of an action, or a process (deliver a create-reply)");
    }
    if (*kind < 0 || !action_kind_has((unsigned)*kind, TRAIT_STEP) || is_place(parser, word)) {
        return 0;
    }
    if (at == 1) {
        return parser_wrong(parser, word, "a process or a server");
    }
    char text[WORLD_LABEL_MAX];
    snprintf(text, sizeof text, "%.*s", (int)word->size, word->text);
    *kind = -1;
    bool known = coordinator->label_word == NULL || coordinator->label_word(text);
    return known ? 0
                 : parser_wrong(parser, word,
                                "what an action is about (create, create-reply, session-expired)");
}

/* Reads the words of a label and joins them by single blanks. */
static int label_argument(struct parser *parser, struct scenario_command *command)
{
    char label[WORLD_LABEL_MAX];
    size_t size = 0;
    int words = 0, kind = -1;
    struct input_word first = input_next_word(&parser->cursor), word = first;
    while (word.text && size + word.size + 1 < sizeof label) {
        size += (size_t)snprintf(label + size, sizeof label - size, "%s%.*s", size > 0 ? " " : "",
                                 (int)word.size, word.text);
        LS_ASSERT(size < sizeof label);
        if (check_label_word(parser, &word, words++, &kind) != 0) {
            return -1;
        }
        word = input_next_word(&parser->cursor);
    }
    if (size == 0 || word.text) {
        return parser_wrong(parser, &first, "the label of an action (deliver a create-reply)");
    }
    command->text = parser_keep(parser, &(struct input_word){.text = label, .size = size});
    return command->text ? 0 : -1;
}

static int duration_argument(struct parser *parser, struct scenario_command *command)
{
    struct input_word word = input_next_word(&parser->cursor);
    return parser_duration(parser, &word, &command->ms);
}

static int argument(struct parser *parser, const struct verb *verb, struct scenario_command *command)
{
    struct input_word word;
    switch ((enum verb_argument)verb->argument) {
    case ARGUMENT_PROCESS:
        return process_argument(parser, verb, command);
    case ARGUMENT_SERVER:
        return server_argument(parser, command);
    case ARGUMENT_SWEPT:
        word = input_next_word(&parser->cursor);
        return lock_argument(parser, &word, &command->action.lock);
    case ARGUMENT_PATH:
        return path_argument(parser, command);
    case ARGUMENT_DURATION:
        return duration_argument(parser, command);
    case ARGUMENT_LABEL:
        return label_argument(parser, command);
    case ARGUMENT_NONE:
    case ARGUMENT_LOCK:
        break;
    }
    return 0;
}

static int client_command(struct parser *parser, int process, struct scenario_command *command)
{
    struct input_word word = input_next_word(&parser->cursor), next = {0};
    const struct verb *verb = verb_find(&word, true);
    if (!verb) {
        return parser_wrong(parser, &word,
                            "acquire, try, release, downgrade, cancel, write, revocable, revoke, resize, "
                            "close, open, stop or start");
    }
    if (parser_client_verb(parser, verb, &command->action, &next) != 0) {
        return -1;
    }
    if (ACTION_IS_ON_GRANTED(command->action.modes) != 0 || ACTION_IS_ON_FAILED(command->action.modes) != 0) {
        return parser_wrong(parser, &next, "no 'on granted:' or 'on failed:' outside of a program");
    }
    LS_ASSERT(process < parser->scenario->options.processes);
    command->action.process = (uint8_t)process;
    command->both = (verb->flags & VERB_BOTH) != 0;
    parser->second.process = (uint8_t)process;
    return next.text ? parser_wrong(parser, &next, "the name of a lock, an option or the end of the line")
                     : 0;
}

static int unknown_command(struct parser *parser, const struct input_word *word)
{
    int count;
    const struct verb *all = verb_all(&count);
    struct nearest nearest;
    nearest_begin(&nearest, word->text, word->size);
    for (int i = 0; i < count; i++) {
        if ((all[i].flags & VERB_CLIENT) == 0) {
            nearest_look_at(&nearest, verb_name(&all[i]));
        }
    }
    parser_wrong(parser, word, "a command (see lockstep list verbs) or the name of a process");
    parser_suggest(parser, &nearest);
    return -1;
}

int parser_command(struct parser *parser, const struct input_word *first, struct scenario_command *command)
{
    int process = parser_process(parser, first);
    memset(command, 0, sizeof *command);
    command->line = first->line;
    command->step = STEP_ACTION;
    if (process >= 0) {
        return client_command(parser, process, command);
    }
    const struct verb *verb = verb_find(first, false);
    const char *coordinator = parser->scenario->options.coordinator;
    if (!verb || !coordinator_has_kind(coordinator_find(coordinator), verb->action)) {
        return unknown_command(parser, first);
    }
    LS_ASSERT((verb->flags & VERB_CLIENT) == 0 && verb->step <= STEP_HEAL_ALL);
    command->step = verb->step;
    command->action.kind = verb->action;
    command->action.process = NOBODY;
    if (argument(parser, verb, command) != 0) {
        return -1;
    }
    return fault_options(parser, verb, command);
}
