/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Parses the header lines, which describe the situation. */

#include "base/assert.h"
#include "coord/coordinator.h"
#include "scenario/parser.h"
#include "sim/lock_kinds.h"

#include <stdio.h>
#include <string.h>

struct world_key {
    const char *name;
    int (*read)(struct parser *parser, const struct input_word *value);
};

static int read_int(struct parser *parser, const struct input_word *value, const char *expected, int64_t min,
                    int64_t max, int *out)
{
    int64_t number;
    if (parser_integer(parser, value, expected, min, max, &number) != 0) {
        return -1;
    }
    *out = (int)number;
    return 0;
}

static int read_servers(struct parser *parser, const struct input_word *value)
{
    return read_int(parser, value, "a number of servers from 1 to " PARSER_DIGITS(WORLD_SERVERS_MAX), 1,
                    WORLD_SERVERS_MAX, &parser->scenario->options.servers);
}

static int read_time(struct parser *parser, const struct input_word *value, int *out_ms)
{
    if (parser_duration(parser, value, out_ms) != 0) {
        return -1;
    }
    return *out_ms > 0 ? 0 : parser_wrong(parser, value, "a duration longer than nothing");
}

/* latency=10ms, or latency=5ms..20ms */
static int read_latency(struct parser *parser, const struct input_word *value)
{
    struct world_options *options = &parser->scenario->options;
    struct input_word low = *value, high = *value;
    for (size_t i = 0; value->text && i + 1 < value->size; i++) {
        if (value->text[i] == '.' && value->text[i + 1] == '.') {
            low.size = i;
            high.text += i + 2;
            high.size -= i + 2;
            high.column += (int)i + 2;
            break;
        }
    }
    if (read_time(parser, &low, &options->latency_min_ms) != 0 ||
        read_time(parser, &high, &options->latency_max_ms) != 0) {
        return -1;
    }
    if (options->latency_min_ms > options->latency_max_ms) {
        return parser_wrong(parser, value, "the smaller latency before the larger");
    }
    return 0;
}

static int read_session_timeout(struct parser *parser, const struct input_word *value)
{
    return read_time(parser, value, &parser->scenario->options.session_timeout_ms);
}

static int read_tick(struct parser *parser, const struct input_word *value)
{
    return read_time(parser, value, &parser->scenario->options.tick_ms);
}

static int read_seed(struct parser *parser, const struct input_word *value)
{
    int64_t seed;
    if (parser_integer(parser, value, "a number that is not negative", 0, INT64_MAX, &seed) != 0) {
        return -1;
    }
    parser->scenario->options.seed = (uint64_t)seed;
    return 0;
}

static int read_rc(struct parser *parser, const struct input_word *value)
{
    if (!input_word_is(value, "-4") && !input_word_is(value, "-7")) {
        return parser_wrong(parser, value, "-4 or -7");
    }
    parser->scenario->options.loss_rc = value->text[1] == '4' ? -4 : -7;
    parser->scenario->rc_given = true;
    return 0;
}

static int read_preset(struct parser *parser, const struct input_word *value)
{
    int preset;
    if (read_int(parser, value, "a 32-bit number", INT32_MIN, INT32_MAX, &preset) != 0) {
        return -1;
    }
    parser->scenario->options.sequence_preset = preset;
    return 0;
}

static int read_crowd(struct parser *parser, const struct input_word *value)
{
    return read_int(parser, value, "a number from 0 to 150", 0, WORLD_CROWD_MAX,
                    &parser->scenario->options.crowd);
}

static int read_containers(struct parser *parser, const struct input_word *value)
{
    if (!input_word_is(value, "yes") && !input_word_is(value, "no")) {
        return parser_wrong(parser, value, "yes or no");
    }
    parser->scenario->options.no_containers = value->text[0] == 'n';
    return 0;
}

/* Writes "wrap, immortal or half-list"; "no word" if the list is empty. */
static void list_words(const struct coord_word *known, char *text, size_t size)
{
    size_t used = known[0].word == NULL ? (size_t)snprintf(text, size, "no word") : 0;
    for (int i = 0; known[i].word != NULL && used < size; i++) {
        const char *before = i == 0 ? "" : known[i + 1].word != NULL ? ", " : " or ";
        used += (size_t)snprintf(text + used, size - used, "%s%s", before, known[i].word);
    }
    LS_ASSERT(used < size);
}

/* Reads words with commas between them into bits. */
static int read_words(struct parser *parser, const struct input_word *value, const struct coord_word *known,
                      unsigned *bits)
{
    struct input_word rest = *value, name;
    do {
        unsigned bit = 0;
        struct input_word here = rest;
        parser_split(&here, ',', &name, &rest);
        for (int i = 0; known[i].word != NULL; i++) {
            bit |= input_word_is(&name, known[i].word) ? known[i].bit : 0;
        }
        if (bit == 0) {
            char expected[160];
            list_words(known, expected, sizeof expected);
            return parser_wrong(parser, &name, expected);
        }
        *bits |= bit;
    } while (rest.text);
    return 0;
}

static int read_defects(struct parser *parser, const struct input_word *value)
{
    return read_words(parser, value, coordinator_find(parser->scenario->options.coordinator)->defects,
                      &parser->scenario->options.defects);
}

static int read_settings(struct parser *parser, const struct input_word *value)
{
    return read_words(parser, value, coordinator_find(parser->scenario->options.coordinator)->settings,
                      &parser->scenario->options.settings);
}

static const struct world_key WORLD_KEYS[] = {
    {"servers", read_servers}, {"latency", read_latency},   {"session-timeout", read_session_timeout},
    {"tick", read_tick},       {"seed", read_seed},         {"rc", read_rc},
    {"preset", read_preset},   {"crowd", read_crowd},       {"containers", read_containers},
    {"defects", read_defects}, {"settings", read_settings},
};

static int read_mode(struct parser *parser, const struct input_word *word, bool timed)
{
    if (parser->mode_given && parser->scenario->options.timed != timed) {
        return parser_wrong(parser, word, "one of timed and untimed");
    }
    parser->scenario->options.timed = timed;
    parser->scenario->mode_line = word->line;
    parser->scenario->mode_column = word->column;
    parser->mode_given = true;
    return 0;
}

/* Returns the index-th option that only this coordinator has; NULL behind the last. */
static const struct coord_option *own_option(const struct parser *parser, int index)
{
    LS_ASSERT(index >= 0 && index <= WORLD_OWN_OPTIONS_MAX);
    const struct coordinator *coordinator = coordinator_find(parser->scenario->options.coordinator);
    bool known = coordinator->options != NULL && coordinator->options[index].name != NULL;
    return known ? &coordinator->options[index] : NULL;
}

/* Returns true if the coordinator of the scenario refuses this word of the header. */
static bool is_refused(const struct parser *parser, const struct input_word *word)
{
    const char *const *refused = coordinator_find(parser->scenario->options.coordinator)->refused_words;
    bool found = false;
    for (; refused != NULL && *refused != NULL && !found; refused++) {
        found = input_word_is(word, *refused);
    }
    return found;
}

static size_t add_word(const struct parser *parser, const char *name, const char *end, char *text,
                       size_t size)
{
    struct input_word word = {.text = name, .size = strlen(name)};
    int used = is_refused(parser, &word) ? 0 : snprintf(text, size, "%s%s", name, end);
    LS_ASSERT(used >= 0 && (size_t)used < size);
    return (size_t)used;
}

static const char *world_words(const struct parser *parser, char *text, size_t size)
{
    static const char *const FLAGS[] = {"timed", "untimed",           "used",
                                        "fine",  "callbacks-in-init", "keep-fresh"};
    const struct coord_option *own;
    size_t used = 0;
    for (int i = 0; (own = own_option(parser, i)) != NULL; i++) {
        used += add_word(parser, own->name, "=, ", text + used, size - used);
    }
    for (size_t i = 0; i < sizeof WORLD_KEYS / sizeof WORLD_KEYS[0]; i++) {
        used += add_word(parser, WORLD_KEYS[i].name, "=, ", text + used, size - used);
    }
    for (size_t i = 0; i < sizeof FLAGS / sizeof FLAGS[0]; i++) {
        used += add_word(parser, FLAGS[i], i + 1 < sizeof FLAGS / sizeof FLAGS[0] ? ", " : " or ",
                         text + used, size - used);
    }
    add_word(parser, "timers-first", "", text + used, size - used);
    return text;
}

/* Returns 1 if the value was read, 0 if the coordinator has no such option, -1 after a complaint. */
static int read_own_option(struct parser *parser, const struct input_word *key,
                           const struct input_word *value)
{
    const struct coord_option *own;
    for (int i = 0; (own = own_option(parser, i)) != NULL; i++) {
        char expected[64];
        int64_t number;
        if (!input_word_is(key, own->name)) {
            continue;
        }
        snprintf(expected, sizeof expected, "a number from %d to %d", own->least, own->most);
        if (parser_integer(parser, value, expected, own->least, own->most, &number) != 0) {
            return -1;
        }
        LS_ASSERT(i < WORLD_OWN_OPTIONS_MAX);
        parser->scenario->options.own[i] = (int32_t)number;
        return 1;
    }
    return 0;
}

static int read_world_flag(struct parser *parser, const struct input_word *word)
{
    struct world_options *options = &parser->scenario->options;
    char words[400];
    if (input_word_is(word, "timed") || input_word_is(word, "untimed")) {
        return read_mode(parser, word, word->text[0] == 't');
    }
    if (input_word_is(word, "used")) {
        options->used_directory = true;
        return 0;
    }
    if (input_word_is(word, "callbacks-in-init")) {
        options->callbacks_in_init = true;
        return 0;
    }
    if (input_word_is(word, "fine")) {
        options->fine = true;
        parser->fine_word = *word;
        return 0;
    }
    if (input_word_is(word, "timers-first")) {
        options->timers_first = true;
        return 0;
    }
    if (input_word_is(word, "keep-fresh")) {
        options->keep_fresh = true;
        return 0;
    }
    return parser_wrong(parser, word, world_words(parser, words, sizeof words));
}

static int read_world(struct parser *parser)
{
    struct input_word word = input_next_word(&parser->cursor), key, value;
    for (; word.text; word = input_next_word(&parser->cursor)) {
        const struct world_key *found = NULL;
        char words[400];
        parser_split(&word, '=', &key, &value);
        if (is_refused(parser, &key)) {
            return parser_wrong(parser, &word, world_words(parser, words, sizeof words));
        }
        for (size_t i = 0; value.text && i < sizeof WORLD_KEYS / sizeof WORLD_KEYS[0]; i++) {
            if (input_word_is(&key, WORLD_KEYS[i].name)) {
                found = &WORLD_KEYS[i];
            }
        }
        int own = value.text && !found ? read_own_option(parser, &key, &value) : 0;
        if (own < 0 ||
            (own == 0 && (found ? found->read(parser, &value) : read_world_flag(parser, &word)) != 0)) {
            return -1;
        }
    }
    return 0;
}

static void usual_options(struct parser *parser)
{
    const struct coord_option *own;
    for (int i = 0; (own = own_option(parser, i)) != NULL; i++) {
        LS_ASSERT(i < WORLD_OWN_OPTIONS_MAX && own->usual >= own->least && own->usual <= own->most);
        parser->scenario->options.own[i] = own->usual;
    }
}

/* Reads the line `coordinator`, which must come first because it defines the options of the line `world`. */
static int read_coordinator(struct parser *parser)
{
    struct input_word word = input_next_word(&parser->cursor);
    struct world_options *options = &parser->scenario->options;
    struct coord_word known[COORDINATORS_MAX + 1] = {0};
    char expected[160];
    const struct coordinator *coordinator;
    if (parser->begun) {
        return parser_wrong(parser, &word, "one line 'coordinator NAME', before all others");
    }
    for (int i = 0; (coordinator = coordinator_at(i)) != NULL; i++) {
        LS_ASSERT(i < COORDINATORS_MAX);
        known[i].word = coordinator->name;
        if (word.text && input_word_is(&word, coordinator->name)) {
            options->coordinator = coordinator->name;
            usual_options(parser);
            return parser_end_of_line(parser);
        }
    }
    list_words(known, expected, sizeof expected);
    parser->scenario->foreign = word.text != NULL;
    return parser_wrong(parser, &word, expected);
}

int parser_new_name(struct parser *parser, const struct input_word *word)
{
    static const char EXPECTED[] =
        "a new name of 1 to 15 letters, digits, '-' or '_' that is no word of the language";
    if (!word->text || word->size >= WORLD_NAME_MAX || verb_is_reserved(word) ||
        parser_process(parser, word) >= 0 || parser_lock(parser, word) >= 0) {
        return parser_wrong(parser, word, EXPECTED);
    }
    for (size_t i = 0; i < word->size; i++) {
        char c = word->text[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
              (c == '-' && i > 0))) {
            return parser_wrong(parser, word, EXPECTED);
        }
    }
    return 0;
}

static int read_chroot(struct parser *parser)
{
    struct input_word path = input_next_word(&parser->cursor);
    if (parser_path(parser, &path) != 0 || parser_end_of_line(parser) != 0) {
        return -1;
    }
    parser->scenario->options.chroot = parser_keep(parser, &path);
    return parser->scenario->options.chroot ? 0 : -1;
}

/* Reads [perms=N] and the end of the line. */
static int read_perms(struct parser *parser, uint8_t *perms)
{
    struct input_word key, value, word = input_next_word(&parser->cursor);
    if (!word.text) {
        return 0;
    }
    parser_split(&word, '=', &key, &value);
    if (!input_word_is(&key, "perms") || !value.text) {
        return parser_wrong(parser, &word, "perms=N or the end of the line");
    }
    return parser_perms(parser, &value, perms) == 0 ? parser_end_of_line(parser) : -1;
}

static int read_node(struct parser *parser)
{
    struct world_options *options = &parser->scenario->options;
    struct input_word path = input_next_word(&parser->cursor);
    int nodes = 0;
    while (nodes < WORLD_NODES_MAX && options->node[nodes]) {
        nodes++;
    }
    if (nodes == WORLD_NODES_MAX) {
        return parser_wrong(parser, &path, "at most " PARSER_DIGITS(WORLD_NODES_MAX) " nodes");
    }
    if (parser_path(parser, &path) != 0 || read_perms(parser, &options->node_perms[nodes]) != 0) {
        return -1;
    }
    options->node[nodes] = parser_keep(parser, &path);
    return options->node[nodes] ? 0 : -1;
}

static int read_contents(struct parser *parser)
{
    static const char EXPECTED[] = "a text of at most 64 bytes in double quotes";
    struct input_word text = input_rest_of_line(&parser->cursor);
    if (!text.text || text.size < 2 || text.size > 66 || text.text[0] != '"' ||
        text.text[text.size - 1] != '"' || memchr(text.text + 1, '"', text.size - 2)) {
        return parser_wrong(parser, &text, EXPECTED);
    }
    text.text++;
    text.size -= 2;
    parser->scenario->options.contents = parser_keep(parser, &text);
    return parser->scenario->options.contents ? 0 : -1;
}

static int read_show(struct parser *parser)
{
    static const struct {
        const char *name;
        unsigned bits;
    } GROUPS[] = {
        {"asks", SHOW_ASKS},       {"belief", SHOW_BELIEF},     {"faults", SHOW_FAULTS},
        {"nodes", SHOW_NODES},     {"requests", SHOW_REQUESTS}, {"sessions", SHOW_SESSIONS},
        {"watches", SHOW_WATCHES}, {"rest", SHOW_REST},         {"all", SHOW_ALL},
    };
    struct input_word word = input_next_word(&parser->cursor);
    if (input_word_is(&word, "nothing")) {
        parser->scenario->show = 0;
        return parser_end_of_line(parser);
    }
    do {
        unsigned bits = 0;
        for (size_t i = 0; i < sizeof GROUPS / sizeof GROUPS[0]; i++) {
            bits |= input_word_is(&word, GROUPS[i].name) ? GROUPS[i].bits : 0;
        }
        if (bits == 0) {
            return parser_wrong(
                parser, &word,
                "asks, belief, faults, nodes, requests, sessions, watches, rest, all or nothing");
        }
        LS_ASSERT((bits & SHOW_NEVER) == 0);
        parser->scenario->show |= bits;
        word = input_next_word(&parser->cursor);
    } while (word.text);
    return 0;
}

static int read_named_properties(struct parser *parser)
{
    return parser_properties(parser, &parser->scenario->properties);
}

int parser_check_clock(struct parser *parser)
{
    const struct scenario *scenario = parser->scenario;
    if (scenario->options.fine && scenario->options.timed) {
        return parser_wrong(parser, &parser->fine_word, "a world without a clock (untimed) for this");
    }
    if (parser->search_word.text && (!scenario->exploring || scenario->options.timed)) {
        return parser_wrong(parser, &parser->search_word, "a property that is judged without a search");
    }
    if (!parser->clock_word.text || !scenario->exploring || scenario->options.timed) {
        return 0;
    }
    return parser_wrong(parser, &parser->clock_word, "a property that is judged without a clock");
}

int parser_header(struct parser *parser, const struct input_word *word)
{
    static const struct {
        const char *name;
        int (*read)(struct parser *parser);
    } LINES[] = {
        {"coordinator", read_coordinator},
        {"world", read_world},
        {"chroot", read_chroot},
        {"contents", read_contents},
        {"process", parser_process_line},
        {"explore", parser_explore},
        {"show", read_show},
        {"properties", read_named_properties},
        {"node", read_node},
    };
    for (size_t i = 0; i < sizeof LINES / sizeof LINES[0]; i++) {
        if (input_word_is(word, LINES[i].name) && !is_refused(parser, word)) {
            int rc = LINES[i].read(parser);
            parser->begun = true;
            return rc == 0 ? 1 : -1;
        }
    }
    const struct lock_kind *kind;
    for (unsigned k = 0; (kind = lock_kind_at(k)) != NULL; k++) {
        if (input_word_is(word, kind->word)) {
            parser->begun = true;
            int rc = parser_lock_line(parser, (enum ls_lock_kind)k);
            parser->lock_is_wrong |= rc != 0;
            return rc == 0 ? 1 : -1;
        }
    }
    return 0;
}

bool parser_has_program(const struct parser *parser)
{
    const struct world_options *options = &parser->scenario->options;
    int process = 0;
    while (process < options->processes && options->program[process].count == 0) {
        process++;
    }
    return process < options->processes;
}

int parser_finish_headers(struct parser *parser, const struct input_word *where)
{
    struct scenario *scenario = parser->scenario;
    struct world_options *options = &scenario->options;
    bool programmed = parser_has_program(parser);
    LS_ASSERT(options->locks <= WORLD_LOCKS_MAX && options->processes <= WORLD_PROCESSES_MAX);
    if (options->locks == 0) {
        return parser_wrong(parser, where, "a line 'mutex PATH' before this");
    }
    if (options->processes == 0) {
        return parser_wrong(parser, where, "a line 'process NAME' before this");
    }
    if (parser->explore_given && !programmed) {
        return parser_wrong(parser, where,
                            "a process with a program (process a b: acquire release) before this");
    }
    scenario->exploring = programmed;
    if (!parser->mode_given) {
        options->timed = !scenario->exploring;
    }
    return parser_check_budgets(parser) == 0 ? parser_check_clock(parser) : -1;
}
