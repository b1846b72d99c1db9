/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* lockstep replay --step: the commands of a debugger for the run of a trace. docs/cli.md lists them. */
#include "base/assert.h"
#include "base/nearest.h"
#include "base/utf8.h"
#include "cli/cli.h"
#include "replay/stepper.h"
#include "report/state_text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define INPUT "<stdin>"
#define NUMBER_MAX 1000000000ull
#define LIST_AROUND 5 /* labels before the present step, and behind it */

struct session {
    const struct trace *trace;
    struct stepper *stepper;
    struct state_view view;
    FILE *out;   /* what a command prints, before it goes to standard output */
    char *bytes; /* the memory of `out` */
    size_t size;
    bool begun;        /* the head of the trace was printed */
    bool interactive;  /* standard input is a terminal */
    bool ended;        /* no further command */
    int line;          /* number of the line of the command, from 1 */
    const char *start; /* the line, for columns */
    char *last;        /* the last command, which an empty line repeats; owned, NULL = none */
};

/* ---- output ---- */

/* Puts out what was printed so far, without control characters. */
static void flush(struct session *session)
{
    if (fflush(session->out) == 0) {
        utf8_put_plain(stdout, session->bytes, session->size);
    }
    fseek(session->out, 0, SEEK_SET); /* the memory is used again; a shortage of it stays noted */
    fflush(stdout);
}

static int no_memory(void)
{
    fputs("lockstep replay: out of memory\n", stderr);
    return CLI_ENVIRONMENT;
}

static int tell_error(struct session *session, char *text, int status)
{
    flush(session);
    utf8_make_plain(text);
    fprintf(stderr, "%s\n", text);
    return status;
}

/* A word of a command line, or several with the blanks between them. */
struct word {
    const char *text; /* ends with the end of the line, not with the word */
    size_t size;      /* 0 = the line has ended */
};

/* Complains about a word: its place, what was expected there, and a clause with the reason. */
static int complain(struct session *session, struct word found, const char *expected, const char *why)
{
    struct input_error error;
    LS_ASSERT(found.text >= session->start);
    input_complain(&error, INPUT, session->line, (int)(found.text - session->start) + 1,
                   found.size > 0 ? found.text : NULL, found.size, "%s", expected);
    size_t used = strlen(error.text);
    snprintf(error.text + used, sizeof error.text - used, "%s", why);
    return tell_error(session, error.text, CLI_USAGE);
}

/* ---- words ---- */

static struct word next_word(struct word *rest)
{
    size_t blanks = strspn(rest->text, " \t");
    struct word word = {rest->text + blanks, strcspn(rest->text + blanks, " \t")};
    LS_ASSERT(blanks + word.size <= strlen(rest->text));
    rest->text = word.text + word.size;
    rest->size = strlen(rest->text);
    return word;
}

/* Returns the rest of the line without the blanks around it. */
static struct word all_words(struct word *rest)
{
    struct word words = {rest->text + strspn(rest->text, " \t"), 0};
    words.size = strlen(words.text);
    while (words.size > 0 && strchr(" \t", words.text[words.size - 1]) != NULL) {
        words.size--;
    }
    LS_ASSERT(words.size == 0 || strchr(" \t", words.text[0]) == NULL);
    rest->text = words.text + words.size;
    rest->size = 0;
    return words;
}

static bool is_number(struct word word)
{
    return word.size > 0 && strspn(word.text, "0123456789") >= word.size;
}

/* Returns the number, or `max` + 1 if it is larger. */
static uint64_t number_of(struct word word, uint64_t max)
{
    uint64_t number = 0;
    LS_ASSERT(is_number(word) && max <= NUMBER_MAX);
    for (size_t i = 0; i < word.size && number <= max; i++) {
        number = number * 10 + (uint64_t)(word.text[i] - '0');
    }
    return number <= max ? number : max + 1;
}

static bool is_text(struct word word, const char *text)
{
    return strlen(text) == word.size && memcmp(word.text, text, word.size) == 0;
}

/* Returns the index of the process with this name; -1 = none. */
static int process_of(const struct session *session, struct word word)
{
    const struct world_options *options = &session->stepper->run->setup.scenario->options;
    for (int i = 0; i < options->processes; i++) {
        if (is_text(word, options->name[i])) {
            return i;
        }
    }
    return -1;
}

static int expect_end(struct session *session, struct word *rest)
{
    struct word more = next_word(rest);
    return more.size == 0 ? 0 : complain(session, more, "the end of the line", "");
}

/* ---- what the stepper tells ---- */

static void on_begin(void *ctx, struct run *run)
{
    struct session *session = ctx;
    LS_ASSERT(run != NULL);
    state_view_clear(&session->view);
    if (!session->begun) {
        replay_print_head(session->out, session->trace);
    }
    session->begun = true;
}

/* Writes the line of the choice before it is made, because a recipe that is linked in may crash in it. */
static void on_choice(void *ctx, const struct replay_step *step, bool shown)
{
    struct session *session = ctx;
    if (shown) {
        replay_print_choice(session->out, step);
        flush(session);
    }
}

static void on_step(void *ctx, const struct replay_step *step, bool shown)
{
    struct session *session = ctx;
    state_view_note(&session->view, step);
    LS_ASSERT(session->begun);
    if (!shown) {
        return;
    }
    if (step->label[0] == 0) {
        fprintf(session->out, "%5d  the beginning of the run\n", 0);
    }
    replay_print_step(session->out, step, session->stepper->run);
}

/* ---- moves ---- */

/* Returns 0, or a status after a complaint. */
static int tell_answer(struct session *session, enum stepper_answer answer)
{
    LS_ASSERT(answer != STEPPER_WRONG); /* of stepper_take() alone, see tell_take() */
    if (answer == STEPPER_DONE) {
        return 0;
    }
    if (answer == STEPPER_END) {
        replay_print_end(session->out, session->stepper->run);
        return 0;
    }
    session->ended = answer == STEPPER_LOST;
    return tell_error(session, session->stepper->error.text,
                      answer == STEPPER_LOST ? CLI_ENVIRONMENT : CLI_USAGE);
}

/* Reads [N] or [PROCESS]. *count becomes N, or 1 without N. *process becomes -1 without a process. */
static int read_distance(struct session *session, struct word *rest, uint64_t *count, int *process)
{
    struct word word = next_word(rest);
    *count = 1;
    *process = word.size > 0 && !is_number(word) ? process_of(session, word) : -1;
    if (is_number(word)) {
        *count = number_of(word, NUMBER_MAX);
    }
    bool wrong = word.size > 0 && *process < 0 && (!is_number(word) || *count < 1 || *count > NUMBER_MAX);
    return wrong ? complain(session, word, "a number of steps, at least 1, or the name of a process", "")
                 : expect_end(session, rest);
}

static int do_next(struct session *session, struct word *rest)
{
    uint64_t count;
    int process;
    int status = read_distance(session, rest, &count, &process);
    if (status != 0) {
        return status;
    }
    enum stepper_answer answer = STEPPER_DONE;
    if (process >= 0) {
        return tell_answer(session, stepper_forward_to(session->stepper, (unsigned)process));
    }
    while (count-- > 0 && answer == STEPPER_DONE) {
        answer = stepper_forward(session->stepper);
    }
    return tell_answer(session, answer);
}

static int do_back(struct session *session, struct word *rest)
{
    uint64_t count;
    int process, here = session->stepper->position;
    int status = read_distance(session, rest, &count, &process);
    if (status != 0) {
        return status;
    }
    int position = process >= 0             ? stepper_before(session->stepper, (unsigned)process)
                   : count > (uint64_t)here ? 0
                                            : here - (int)count;
    return tell_answer(session, stepper_go(session->stepper, position));
}

static int do_goto(struct session *session, struct word *rest)
{
    struct word word = next_word(rest);
    int position = is_number(word) ? stepper_position_of(session->stepper, number_of(word, NUMBER_MAX)) : -1;
    if (position < 0) {
        return complain(session, word, "the number of a step of the run, or 0", "");
    }
    int status = expect_end(session, rest);
    return status != 0 ? status : tell_answer(session, stepper_go(session->stepper, position));
}

static int do_violation(struct session *session, struct word *rest)
{
    int status = expect_end(session, rest);
    if (status != 0) {
        return status;
    }
    int position = -1;
    enum stepper_answer answer = stepper_violation(session->stepper, &position);
    if (answer != STEPPER_DONE) {
        return tell_answer(session, answer);
    }
    if (position < 0) {
        fputs("the run violates no property\n", session->out);
        return 0;
    }
    return tell_answer(session, stepper_go(session->stepper, position));
}

/* ---- looking ---- */

/* Returns whether the scenario has a process, a lock or a server of this name. The state may have no line
 * about it. */
static bool is_known(const struct session *session, struct word word)
{
    const struct scenario *scenario = session->stepper->run->setup.scenario;
    bool known = process_of(session, word) >= 0;
    char server[16];
    for (int i = 0; i < scenario->options.locks; i++) {
        known = known || is_text(word, scenario->lock_name[i]);
    }
    for (int i = 0; i < scenario->options.servers; i++) {
        snprintf(server, sizeof server, "s%d", i + 1);
        known = known || is_text(word, server);
    }
    return known;
}

static int do_print(struct session *session, struct word *rest)
{
    struct word words = all_words(rest);
    char *part = words.size > 0 ? strndup(words.text, words.size) : NULL;
    if (words.size > 0 && part == NULL) {
        return no_memory();
    }
    bool printed = state_print(session->out, &session->view, session->stepper->run, part);
    bool known = printed || is_known(session, words);
    if (known && !printed) {
        fprintf(session->out, "nothing about %s\n", part);
    }
    free(part);
    return known ? 0 : complain(session, words, "a part of the state (print shows all of it)", "");
}

/* Prints one choice on a line; `number` counts from 1. */
static void print_choice(FILE *out, const struct stepper_choice *choice, int number)
{
    LS_ASSERT(number > 0 && number <= STEPPER_CHOICES_MAX);
    fprintf(out, "%c%5d  %s%s%s\n", choice->taken ? '>' : ' ', number, choice->label,
            choice->remark[0] != 0 ? ": " : "", choice->remark);
}

static int do_choices(struct session *session, struct word *rest)
{
    int status = expect_end(session, rest);
    if (status != 0) {
        return status;
    }
    int count = stepper_choices(session->stepper);
    bool faults = false;
    for (int i = 0; i < count; i++) {
        const struct stepper_choice *choice = &session->stepper->choice[i];
        if (choice->fault && !faults) {
            fputs("faults\n", session->out);
            faults = true;
        }
        print_choice(session->out, choice, i + 1);
    }
    if (count == 0) {
        fputs("no choice is possible here\n", session->out);
    }
    return 0;
}

/* Prints the label of a choice, with its number and the properties that are known to be violated there. */
static void print_label(const struct session *session, int position)
{
    const struct stepper *stepper = session->stepper;
    LS_ASSERT(position >= 0 && position <= stepper_last(stepper));
    int known, violated[CHECK_PROPERTIES_MAX];
    const struct property *const *all = check_all(&known);
    uint64_t number = stepper_number(stepper, position);
    char shown[24] = "-";
    if (number > 0 || position == 0) {
        snprintf(shown, sizeof shown, "%llu", (unsigned long long)number);
    }
    fprintf(session->out, "%c%5s  %s\n", position == stepper->position ? '*' : ' ', shown,
            position == 0 ? "the beginning of the run" : stepper_label(stepper, position));
    check_mask mask = position < stepper->known ? stepper->fact[position].violated : 0;
    for (int i = 0, count = mask != 0 ? check_violated(&stepper->run->stats, mask, violated) : 0; i < count;
         i++) {
        fprintf(session->out, "%*s! %s\n", REPLAY_INDENT + 1, "", all[violated[i]]->name);
    }
}

static int do_list(struct session *session, struct word *rest)
{
    int status = expect_end(session, rest);
    int here = session->stepper->position, last = stepper_last(session->stepper);
    if (status != 0) {
        return status;
    }
    int from = here > LIST_AROUND ? here - LIST_AROUND : 0;
    int end = last - here > LIST_AROUND ? here + LIST_AROUND : last;
    for (int i = from; i <= end; i++) {
        print_label(session, i);
    }
    if (here > last) {
        fprintf(session->out, "*%5s  the circle is closed\n", "-");
    }
    return 0;
}

/* ---- leaving the trace ---- */

/* Tells the answer of stepper_take(); `before`: the run had left its trace before. */
static int tell_take(struct session *session, enum stepper_answer answer, bool before, struct word word)
{
    struct stepper *stepper = session->stepper;
    if (answer == STEPPER_WRONG) {
        char why[INPUT_ERROR_MAX];
        snprintf(why, sizeof why, ": %.600s", stepper->error.text);
        return complain(session, word, "a choice that is possible here (choices lists them)", why);
    }
    if (answer == STEPPER_DONE && !before && stepper->left) {
        fputs("the run has left its trace: later choices are dropped, and next goes on by itself\n",
              session->out);
    }
    return tell_answer(session, answer);
}

static int do_take(struct session *session, struct word *rest)
{
    struct word words = all_words(rest);
    struct stepper *stepper = session->stepper;
    bool before = stepper->left;
    int count = stepper_choices(stepper);
    char label[WORLD_LABEL_MAX];
    uint64_t number = is_number(words) ? number_of(words, STEPPER_CHOICES_MAX) : 0;
    if (words.size == 0 || words.size >= sizeof label ||
        (is_number(words) && (number < 1 || number > (uint64_t)count))) {
        return complain(session, words, "the number or the label of a choice (choices lists them)", "");
    }
    snprintf(label, sizeof label, "%.*s", (int)words.size, words.text);
    if (number > 0) {
        snprintf(label, sizeof label, "%s", stepper->choice[number - 1].label);
    }
    return tell_take(session, stepper_take(stepper, label), before, words);
}

static int write_file(struct session *session, const char *path)
{
    struct stepper *stepper = session->stepper;
    LS_ASSERT(path[0] != 0);
    char found[CHECK_PROPERTIES_MAX * TRACE_WORD_MAX], *bytes = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&bytes, &size);
    if (file == NULL) {
        return no_memory();
    }
    enum stepper_answer answer = stepper_write(stepper, file, found, sizeof found);
    bool whole = fclose(file) == 0 && answer != STEPPER_LOST;
    int status = CLI_OK;
    session->ended = answer == STEPPER_LOST;
    if (answer == STEPPER_UNFIT) {
        status = tell_answer(session, answer);
    } else if (!whole) {
        status = no_memory();
    } else {
        flush(session);
        status = cli_write_out(path, bytes, size);
    }
    free(bytes);
    if (status == CLI_OK) {
        fprintf(session->out, "violates %s\nreplay: %s replay %s\n", found, cli_program(), path);
    }
    return status;
}

static int do_save(struct session *session, struct word *rest)
{
    struct word words = all_words(rest);
    if (words.size == 0) {
        return complain(session, words, "a file", "");
    }
    char *path = strndup(words.text, words.size);
    int status = path != NULL ? write_file(session, path) : no_memory();
    free(path);
    return status;
}

/* ---- the table of commands ---- */

static int do_help(struct session *session, struct word *rest);

static int do_quit(struct session *session, struct word *rest)
{
    int status = expect_end(session, rest);
    session->ended = status == 0;
    return status;
}

static const struct command {
    const char *name, *arguments, *help;
    int (*run)(struct session *session, struct word *rest);
} COMMANDS[] = {
    {"next", "[N | PROCESS]", "the next step; N steps; on to the next step of a process", do_next},
    {"back", "[N | PROCESS]", "a step back; N steps; back to the last step of a process", do_back},
    {"goto", "N", "to the step with this number; 0 = the beginning of the run", do_goto},
    {"violation", "", "to the next step that violates a property, from the last one to the first",
     do_violation},
    {"print", "[PART]", "the state; a part: a process, lock, server or node, beliefs, line", do_print},
    {"choices", "", "what can happen here; > marks what the trace takes", do_choices},
    {"take", "N | LABEL", "takes a choice; if the trace takes another one, the run leaves it", do_take},
    {"save", "FILE", "writes the whole run as a trace", do_save},
    {"list", "", "the labels around; * marks the present step", do_list},
    {"help", "", "this list", do_help},
    {"quit", "", "ends; so does the end of the input", do_quit},
};

#define COMMANDS_COUNT ((int)(sizeof COMMANDS / sizeof COMMANDS[0]))

static int do_help(struct session *session, struct word *rest)
{
    int status = expect_end(session, rest);
    for (int i = 0; status == 0 && i < COMMANDS_COUNT; i++) {
        fprintf(session->out, "  %-9s %-13s  %s\n", COMMANDS[i].name, COMMANDS[i].arguments,
                COMMANDS[i].help);
    }
    if (status == 0) {
        fputs("Beginnings of commands suffice, such as n. An empty line repeats the last command.\n",
              session->out);
    }
    return status;
}

/* Returns the command that begins with this word, NULL if there is none. No two commands begin with the same
 * letter. */
static const struct command *find(struct word word)
{
    for (int i = 0; i < COMMANDS_COUNT; i++) {
        if (word.size > 0 && word.size <= strlen(COMMANDS[i].name) &&
            memcmp(COMMANDS[i].name, word.text, word.size) == 0) {
            return &COMMANDS[i];
        }
    }
    return NULL;
}

static int unknown(struct session *session, struct word word)
{
    struct nearest nearest;
    nearest_begin(&nearest, word.text, word.size);
    for (int i = 0; i < COMMANDS_COUNT; i++) {
        nearest_look_at(&nearest, COMMANDS[i].name);
    }
    return complain(session, word, "a command (help lists them)", nearest_text(&nearest));
}

/* ---- lines ---- */

/* Complains about a byte that is no text. */
static int refuse_byte(struct session *session, const char *line, size_t at)
{
    struct input_error error;
    char found[32];
    snprintf(found, sizeof found, "the byte 0x%02x", (unsigned char)line[at]);
    input_complain_words(&error, INPUT, session->line, (int)at + 1, found,
                         "UTF-8 without control characters");
    return tell_error(session, error.text, CLI_USAGE);
}

/* Returns the offset of the first byte that is neither a tab nor UTF-8 without control characters; `size` =
 * there is none. */
static size_t text_size(const char *line, size_t size)
{
    size_t at = utf8_plain(line, size);
    while (at < size && line[at] == '\t') {
        at++;
        at += utf8_plain(line + at, size - at);
    }
    LS_ASSERT(at <= size);
    return at;
}

static int obey(struct session *session, const char *line)
{
    struct word rest = {line, strlen(line)};
    struct word word = next_word(&rest);
    const struct command *command = find(word);
    session->start = line;
    int status = command != NULL ? command->run(session, &rest) : unknown(session, word);
    flush(session);
    return status;
}

/* Keeps a command, so that an empty line repeats it. */
static int keep(struct session *session, const char *line)
{
    char *copy = strdup(line);
    if (copy == NULL) {
        return no_memory();
    }
    free(session->last);
    session->last = copy;
    return 0;
}

/* Does the command of a line. An empty line repeats the last command that has succeeded. A line that begins
 * with # is a remark. */
static int do_line(struct session *session, const char *line, size_t size)
{
    size_t text = text_size(line, size), blanks = strspn(line, " \t");
    if (text < size) {
        return refuse_byte(session, line, text);
    }
    if (line[blanks] == 0) {
        return session->last != NULL ? obey(session, session->last) : 0;
    }
    if (line[blanks] == '#') {
        return 0;
    }
    int status = obey(session, line);
    return status == 0 ? keep(session, line) : status;
}

static void prompt(const struct session *session)
{
    if (session->interactive) {
        printf("step %llu> ", (unsigned long long)session->stepper->run->steps);
        fflush(stdout);
    }
}

/* Returns 0, or the status of the line at which a script ends. */
static int read_lines(struct session *session)
{
    char *line = NULL;
    size_t room = 0;
    int status = 0;
    ssize_t size;
    prompt(session);
    while (!session->ended && (size = getline(&line, &room, stdin)) >= 0) {
        size -= size > 0 && line[size - 1] == '\n';
        line[size] = 0;
        session->line++;
        status = do_line(session, line, (size_t)size);
        session->ended = session->ended || (status != 0 && !session->interactive);
        if (!session->ended) {
            prompt(session);
        }
    }
    if (session->interactive && !session->ended) {
        putchar('\n');
    }
    free(line);
    if (!session->ended && !feof(stdin)) {
        return no_memory(); /* or standard input cannot be read */
    }
    return session->ended ? status : 0;
}

/* Returns the status of a replay of the whole run. */
static int finish(struct session *session)
{
    enum replay_result result = stepper_finish(session->stepper);
    if (result == REPLAY_UNFIT) {
        return tell_error(session, session->stepper->error.text, CLI_USAGE);
    }
    return result == REPLAY_VIOLATED ? CLI_VIOLATED : CLI_OK;
}

static int hold_session(struct session *session)
{
    struct stepper_listener listener = {session, on_begin, on_choice, on_step};
    if (stepper_open(session->stepper, session->trace, &listener) != 0) {
        return tell_error(session, session->stepper->error.text, CLI_USAGE);
    }
    if (session->interactive) {
        fputs("help lists the commands\n", session->out);
    }
    flush(session);
    int status = read_lines(session);
    status = status != 0 ? status : finish(session);
    stepper_close(session->stepper);
    return status == CLI_OK && ferror(session->out) ? no_memory() : status;
}

int cli_replay_step(const struct trace *trace)
{
    static struct stepper stepper; /* too large for a stack that recipes share */
    struct session session = {.trace = trace, .stepper = &stepper, .interactive = isatty(STDIN_FILENO)};
    LS_ASSERT(stepper.replay == NULL);
    session.out = open_memstream(&session.bytes, &session.size);
    if (session.out == NULL) {
        return no_memory();
    }
    int status = hold_session(&session);
    fclose(session.out);
    state_view_close(&session.view);
    free(session.bytes);
    free(session.last);
    return status;
}
