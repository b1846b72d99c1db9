/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Opens gdb on the replay of a trace. The run is replayed once before, in a process of its own, for the
 * labels and the number of its steps. The text of that replay and the script debug_gdb.py are handed to gdb
 * as files in memory. No path becomes a part of a gdb command: paths are words of command lines. The script
 * gets numbers and the name of a function alone. */
#include "replay/replay.h"

#include "base/assert.h"
#include "cli/cli.h"
#include "scenario/loaded_properties.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define FUNCTION_MAX 128
#define DIGITS_MAX 9
#define WORDS_MAX 64

extern const char cli_debug_gdb_py[];

static const char HELP[] =
    "usage: lockstep debug [OPTION...] TRACE[@STEP[:FUNCTION]] [-- GDB-ARGUMENT...]\n"
    "\n"
    "Opens gdb on the replay of a trace, in the function of the recipe that the world calls in that step. "
    "STEP "
    "is the number\n"
    "that lockstep replay prints before the step; 0 is the beginning of the run. Without it, gdb stops in "
    "the "
    "step that\n"
    "violates a property. With FUNCTION, it stops where the step first reaches that function.\n"
    "\n"
    "In gdb, lockstep-next, lockstep-back and lockstep-goto N move to other steps, lockstep-where shows the "
    "step, and\n"
    "lockstep-help lists these commands. Exit status: that of gdb; 2 if the trace cannot be read or no "
    "longer "
    "fits the\n"
    "program, or has no such step; 4 if there is no gdb, or it may not trace.\n"
    "\n"
    "  --recipe FILE.so    the recipe, or the name of one, in place of the trace's own\n"
    "  --property FILE.so  judge it by the property of this shared object too\n"
    "  --function NAME     as FUNCTION behind the step\n"
    "  --batch FILE        do the gdb commands of this file, and end\n"
    "\n"
    "examples:\n"
    "  cc -std=c11 -D_GNU_SOURCE -O0 -g -fPIC -shared -Iinclude mine.c -o mine.so\n"
    "  lockstep check --recipe ./mine.so --out build/one scenarios/suite/three_clients.scn\n"
    "  lockstep debug build/one/XXXXXXXX.min.trace\n"
    "  lockstep debug build/one/XXXXXXXX.min.trace@12:on_created\n"
    "  lockstep debug build/one/XXXXXXXX.min.trace@12 -- -tui\n";

/* The wishes of the command line. */
struct request {
    char *trace;          /* path */
    bool given;           /* a step is given */
    uint64_t step;        /* number of the step */
    const char *function; /* "" = where the recipe is called first */
    int words;            /* of the command line, without those for gdb */
    char **gdb_argument;
    int gdb_arguments;
};

/* The run as a replay prints it. */
struct told {
    int fd;             /* of the file in memory that has the text */
    uint64_t last;      /* number of the last step */
    uint64_t violating; /* first step that violates a property, or that crashes; UINT64_MAX = none does */
    bool crashed;       /* a signal has ended the replay, in the last step */
};

/* ---- the command line ---- */

/* Returns whether the text can be the name of a function in C, or of a part that a compiler has split off
 * (`f.part.0`). */
static bool is_name(const char *text)
{
    size_t size = strlen(text);
    bool first = isalpha((unsigned char)text[0]) || text[0] == '_';
    for (size_t i = 0; i < size && first; i++) {
        first = isalnum((unsigned char)text[i]) || strchr("_.", text[i]) != NULL;
    }
    return first && size <= FUNCTION_MAX;
}

static int complain_of_function(const char *found)
{
    return cli_usage_error("debug", "the name of a function", found);
}

/* Reads STEP or STEP:FUNCTION, which stands behind the last '@' of a word. */
static int read_place(char *text, struct request *request)
{
    size_t digits = strspn(text, "0123456789");
    bool function = text[digits] == ':';
    LS_ASSERT(!request->given);
    if (digits == 0 || digits > DIGITS_MAX || (text[digits] != 0 && !function)) {
        return cli_usage_error("debug", "the number of a step, or STEP:FUNCTION, behind '@'", text);
    }
    request->given = true;
    request->step = strtoull(text, NULL, 10);
    if (!function) {
        return 0;
    }
    request->function = text + digits + 1;
    return is_name(request->function) ? 0 : complain_of_function(request->function);
}

/* Splits TRACE@PLACE, unless the whole word is the name of a file. */
static int read_word(char *word, struct request *request)
{
    char *at = strrchr(word, '@');
    request->trace = word;
    if (at == NULL || access(word, F_OK) == 0) {
        return 0;
    }
    *at = 0;
    if (access(word, F_OK) != 0) {
        bool place = at[1] >= '0' && at[1] <= '9';
        *at = place ? 0 : '@'; /* without a step behind it, '@' is a part of the path, which does not exist */
        return 0;
    }
    return read_place(at + 1, request);
}

/* Takes the words behind "--" off the command line. */
static int take_gdb_arguments(int argc, char **argv, struct request *request)
{
    int end = 1;
    while (end < argc && strcmp(argv[end], "--") != 0) {
        end++;
    }
    request->words = end;
    request->gdb_argument = argv + (end < argc ? end + 1 : end);
    request->gdb_arguments = end < argc ? argc - end - 1 : 0;
    if (request->gdb_arguments > WORDS_MAX / 2) {
        return cli_usage_error("debug", "at most 32 words behind '--'", request->gdb_argument[WORDS_MAX / 2]);
    }
    argv[end] = NULL;
    return 0;
}

static bool is_readable_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, R_OK) == 0;
}

static int read_request(struct cli_options *options, struct request *request)
{
    if (options->paths != 1) {
        return cli_usage_error("debug", "one trace", options->paths > 1 ? options->path[1] : "");
    }
    if (strcmp(options->path[0], "-") == 0) {
        return cli_usage_error("debug", "a trace in a file", "-");
    }
    if (read_word(options->path[0], request) != 0) {
        return CLI_USAGE;
    }
    if (options->function != NULL) {
        request->function = options->function;
    }
    if (request->function[0] != 0 && !is_name(request->function)) {
        return complain_of_function(request->function);
    }
    if (options->batch != NULL && !is_readable_file(options->batch)) {
        return cli_usage_error("debug", "a readable file with gdb commands after --batch", options->batch);
    }
    return 0;
}

/* ---- the run, replayed before ---- */

static int complain_of_memory(void)
{
    fprintf(stderr, "lockstep debug: expected memory for a run, found '%s'\n", strerror(errno));
    return CLI_ENVIRONMENT;
}

/* In a child: replays the trace into a file, line by line, since a recipe may crash. Does not return. */
static void replay_aside(const struct trace *trace, int fd)
{
    struct input_error error;
    FILE *out = fdopen(fd, "w");
    if (out == NULL || setvbuf(out, NULL, _IOLBF, 0) != 0) {
        _exit(complain_of_memory());
    }
    cli_guard_replay(trace);
    enum replay_result result = replay_trace(trace, out, &error);
    if (fflush(out) != 0) {
        _exit(complain_of_memory());
    }
    if (result == REPLAY_UNFIT) {
        fprintf(stderr, "%s\n", error.text);
        _exit(CLI_USAGE);
    }
    _exit(CLI_OK);
}

/* Returns the exit status of the child; 0 also if a signal has ended it. */
static int await(pid_t child, struct told *told)
{
    int status = 0;
    LS_ASSERT(child > 0);
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            return complain_of_memory();
        }
    }
    told->crashed = WIFSIGNALED(status);
    if (told->crashed) {
        fprintf(stderr, "the replay ends with a signal: %s\n", strsignal(WTERMSIG(status)));
        return 0;
    }
    return WEXITSTATUS(status);
}

/* Notes the number of the step that the line is about; or, if the line names a violating step, that
 * number. */
static void note_line(struct told *told, const char *line)
{
    static const char VIOLATED[] = " is violated at step ";
    char *end;
    unsigned long long number = strtoull(line, &end, 10);
    const char *violated = strstr(line, VIOLATED);
    if (end - line >= 5 && line[4] != ' ' && end[0] == ' ' && end[1] == ' ') {
        told->last = number;
    } else if (line[0] != ' ' && violated != NULL) {
        number = strtoull(violated + sizeof VIOLATED - 1, NULL, 10);
        told->violating = number < told->violating ? number : told->violating;
    }
}

/* Reads the numbers in the text of a replay, whose head ends with an empty line. */
static int read_told(struct told *told)
{
    char *line = NULL;
    size_t size = 0;
    bool head = true;
    int copy = dup(told->fd);
    FILE *in = copy >= 0 && lseek(copy, 0, SEEK_SET) == 0 ? fdopen(copy, "r") : NULL;
    if (in == NULL) {
        return complain_of_memory();
    }
    while (getline(&line, &size, in) > 0) {
        if (!head) {
            note_line(told, line);
        }
        head = head && line[0] != '\n';
    }
    free(line);
    fclose(in);
    told->violating = told->crashed ? told->last : told->violating;
    return 0;
}

static int replay_before(const struct trace *trace, struct told *told)
{
    *told = (struct told){.fd = memfd_create("lockstep-replay", 0), .violating = UINT64_MAX};
    pid_t child = told->fd >= 0 ? fork() : -1;
    if (child < 0) {
        return complain_of_memory();
    }
    if (child == 0) {
        replay_aside(trace, told->fd);
    }
    int status = await(child, told);
    return status != 0 ? status : read_told(told);
}

/* If the request names no step, chooses the violating one. Refuses a step behind the last. */
static int choose_step(struct request *request, const struct told *told)
{
    char expected[64], found[32];
    if (!request->given && told->violating == UINT64_MAX) {
        return cli_usage_error("debug", "TRACE@STEP, because the run violates no property", request->trace);
    }
    if (!request->given) {
        request->step = told->violating;
    }
    if (request->step <= told->last) {
        return 0;
    }
    snprintf(expected, sizeof expected, "a step from 0 to %llu behind '@'", (unsigned long long)told->last);
    snprintf(found, sizeof found, "%llu", (unsigned long long)request->step);
    return cli_usage_error("debug", expected, found);
}

/* ---- gdb ---- */

/* Returns a file in memory with the script, and before it a line with numbers and a function that the script
 * starts from; -1 with errno set. */
static int write_script(const struct request *request, const struct told *told)
{
    int fd = memfd_create("lockstep-script", 0);
    LS_ASSERT(request->function[0] == 0 || is_name(request->function));
    if (fd < 0) {
        return -1;
    }
    int written = dprintf(fd, "python\nlockstep_start = (%d, %d, %llu, '%s')\n%s\nend\n", told->fd, fd,
                          (unsigned long long)request->step, request->function, cli_debug_gdb_py);
    if (written < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

struct words {
    char *word[WORDS_MAX + 1];
    int count;
};

static void add(struct words *words, const char *word)
{
    LS_ASSERT(words->count < WORDS_MAX);
    words->word[words->count++] = (char *)(uintptr_t)word;
    words->word[words->count] = NULL;
}

static void add_two(struct words *words, const char *option, const char *value)
{
    add(words, option);
    add(words, value);
}

/* Adds the command line of the replay, which gdb runs. */
static void add_replay(struct words *words, const struct cli_options *options, const struct request *request,
                       const char *program)
{
    const struct loaded_property *loaded;
    add_two(words, "--args", program);
    add(words, "replay");
    if (options->recipe_given) {
        add_two(words, "--recipe", options->recipe);
    }
    for (int i = 0; (loaded = property_loaded(i)) != NULL; i++) {
        add_two(words, "--property", loaded->path);
    }
    add_two(words, "--", request->trace);
}

/* Becomes gdb. Returns an exit status if that fails. */
static int become_gdb(const struct cli_options *options, const struct request *request,
                      const struct told *told)
{
    char script[64], program[PATH_MAX];
    struct words words = {.count = 0};
    int fd = write_script(request, told);
    if (fd < 0 || !cli_program_path(program)) {
        return complain_of_memory();
    }
    snprintf(script, sizeof script, "/proc/self/fd/%d", fd);
    add_two(&words, "gdb", "-q");
    if (options->batch != NULL) {
        add(&words, "-batch");
    }
    add_two(&words, "-x", script);
    if (options->batch != NULL) {
        add_two(&words, "-x", options->batch);
    }
    for (int i = 0; i < request->gdb_arguments; i++) {
        add(&words, request->gdb_argument[i]);
    }
    add_replay(&words, options, request, program);
    setenv("SHELL", "/bin/sh", 1); /* gdb quotes the words of the inferior for a Bourne shell */
    execvp(words.word[0], words.word);
    fprintf(stderr, "lockstep debug: expected gdb in PATH, found '%s': install gdb\n", strerror(errno));
    return CLI_ENVIRONMENT;
}

int cli_debug(int argc, char **argv)
{
    struct cli_options options;
    struct trace trace;
    struct told told;
    struct request request = {.function = ""};
    const uint64_t allowed = OPTION_RECIPE | OPTION_PROPERTY | OPTION_FUNCTION | OPTION_BATCH;
    int status = take_gdb_arguments(argc, argv, &request);
    if (status != 0) {
        return status;
    }
    status = cli_options(&options, "debug", allowed, request.words, argv);
    if (status != 0) {
        return status;
    }
    if (options.help) {
        fputs(HELP, stdout);
        return CLI_OK;
    }
    if (read_request(&options, &request) != 0 || cli_read_trace(&options, &trace) != 0) {
        return CLI_USAGE;
    }
    status = replay_before(&trace, &told);
    trace_close(&trace);
    if (status == 0) {
        status = choose_step(&request, &told);
    }
    return status != 0 ? status : become_gdb(&options, &request, &told);
}
