/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Sorts a fuzzer's findings. Each input runs in a process of its own, and its violation is shrunk unless the
 * user gives --no-shrink. Inputs whose traces have the same shape (shape_of()) are one finding. */

#include "base/array.h"
#include "base/assert.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/text.h"
#include "cli/cli.h"
#include "fuzz/drive.h"
#include "trace/file.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define INPUTS_MAX 100000
#define INPUT_BYTES_MAX (FUZZ_HEADER + FUZZ_DECISIONS_MAX)
#define HANG_S 20L    /* limit of processor time for the run of one input */
#define SHRINK_S 600L /* limit of processor time for shrinking; beyond it the finding stays as it is */
#define SHAPE_MAX 8192
#define DEFAULT_OUT "build/triage"

static const char HELP[] =
    "usage: lockstep triage [OPTION...] PATH...\n"
    "\n"
    "Sorts what a fuzzer of fuzz_session_loss or fuzz_recipe has found: files, or all files in folders and "
    "in folders below\n"
    "them that are called crashes or hangs, as AFL++ leaves them. Each input is run again and what it "
    "violates is shrunk.\n"
    "Findings are one if they violate the same property and their shortest runs have the same faults and "
    "client operations in\n"
    "the same order. For each one NAME.trace and NAME.scn are written, the latter as a regression test: it "
    "fails now; when\n"
    "the recipe is mended, `lockstep run --rewrite` takes down what happens then. Exit status 1 if there is "
    "a finding, 0 if no input shows any.\n"
    "\n"
    "  --recipe NAME   the recipe that was fuzzed (default: mutex), or a shared object with one: FILE.so\n"
    "  --out DIR       folder for what is written (default: build/triage)\n"
    "  --no-shrink     look for no shorter run: quicker, and more findings look different\n"
    "  --quiet         say nothing of inputs that show nothing\n"
    "\n"
    "examples:\n"
    "  lockstep triage build/fuzz/session_loss\n"
    "  lockstep triage --recipe build/release/recipes/naive_herd.so --out build/herd "
    "build/fuzz/recipe/main/crashes\n";

/* The report of the process that runs an input, in memory shared with it. */
struct report {
    struct outcome outcome;
    enum fuzz_end end;
    bool done;
};

struct finding {
    uint64_t shape;
    char name[80];
    int inputs;
};

struct triage {
    const struct cli_options *options;
    struct report *report;
    struct finding *finding;
    int findings;
    int inputs, without;
    int left_out; /* entries of folders: too many files, or a path that is too long */
    int status;
};

/* ---- one input, in a process of its own ---- */

static volatile int stop;

static void limit_time(long seconds)
{
    struct itimerval timer = {.it_value = {.tv_sec = seconds}};
    setitimer(ITIMER_VIRTUAL, &timer, NULL);
}

static void run_input(const struct triage *t, const uint8_t *bytes, size_t size)
{
    static struct fuzz_driver driver;
    limit_time(HANG_S);
    driver.recipe = t->options->found_recipe;
    t->report->end = fuzz_record(&driver, bytes, size, t->options->out, &t->report->outcome);
    limit_time(SHRINK_S);
    cli_prepare_failure(&t->report->outcome, !t->options->no_shrink, &stop);
    t->report->done = true;
}

static int run_apart(struct triage *t, const uint8_t *bytes, size_t size)
{
    int status = 0;
    memset(t->report, 0, sizeof *t->report);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        run_input(t, bytes, size);
        _exit(0);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid) {
        t->status = CLI_ENVIRONMENT;
    }
    return status;
}

/* ---- what a finding looks like ---- */

/* Returns whether a label is a step of the system: a scenario writes it behind `do`. */
static bool is_of_system(const char *label)
{
    static const char *const WORDS[] = {"apply ", "commit-late ", "catch-up ", "deliver ", "connect ",
                                        "bury ",  "hang-up ",     "give-up ",  "receive ", "handshake ",
                                        "rearm ", "linger ",      "fire ",     "advance"};
    for (size_t i = 0; i < sizeof WORDS / sizeof WORDS[0]; i++) {
        if (strncmp(label, WORDS[i], strlen(WORDS[i])) == 0) {
            return true;
        }
    }
    return false;
}

/* Returns A for the first process that appears in a trace, B for the next and so on, so that findings do not
 * differ only in names. Fuzzed processes have names of one letter. */
static char letter_of(char name, char seen[FUZZ_CLIENTS_MAX + 1])
{
    char *at = strchr(seen, name);
    size_t count = strlen(seen);
    LS_ASSERT(count <= FUZZ_CLIENTS_MAX);
    if (at == NULL && count < FUZZ_CLIENTS_MAX) {
        at = &seen[count];
        *at = name;
    }
    return at != NULL ? (char)('A' + (at - seen)) : '?';
}

static void add_to_shape(char *shape, const char *label, char seen[FUZZ_CLIENTS_MAX + 1])
{
    size_t used = strlen(shape);
    for (const char *at = label; *at != 0 && used + 2 < SHAPE_MAX; at++) {
        bool alone = (at == label || at[-1] == ' ') && (at[1] == ' ' || at[1] == 0);
        bool client = alone && *at >= 'a' && *at < 'a' + FUZZ_CLIENTS_MAX;
        shape[used++] = client ? letter_of(*at, seen) : *at;
    }
    if (used + 1 < SHAPE_MAX) {
        shape[used++] = '\n';
    }
    shape[used] = 0;
}

static uint64_t shape_of(const struct trace *trace)
{
    static char shape[SHAPE_MAX];
    char seen[FUZZ_CLIENTS_MAX + 1] = "";
    snprintf(shape, sizeof shape, "%s\n", trace->found);
    for (int i = 0; i < trace->choices; i++) {
        if (!is_of_system(trace->choice[i].label)) {
            add_to_shape(shape, trace->choice[i].label, seen);
        }
    }
    uint64_t hash = 0;
    for (const char *at = shape; *at != 0; at++) {
        hash = hash_mix(hash ^ (uint8_t)*at);
    }
    return hash;
}

/* ---- what is written ---- */

/* Writes the header lines of the trace's scenario. Leaves out the programs and the budgets: choices become
 * commands instead. */
static void write_header(FILE *file, const struct trace *trace)
{
    for (const char *line = trace->text; *line != 0 && !text_begins(line, "----");) {
        const char *end = strchr(line, '\n');
        size_t size = end != NULL ? (size_t)(end - line) : strlen(line);
        const char *colon = text_begins(line, "process ") ? memchr(line, ':', size) : NULL;
        if (size > 0 && line[0] != '#' && !text_begins(line, "explore ")) {
            fprintf(file, "%.*s\n", (int)(colon != NULL ? colon - line : (ptrdiff_t)size), line);
        }
        line += size + (end != NULL);
    }
}

static void write_commands(FILE *file, const struct trace *trace)
{
    for (int i = 0; i < trace->choices; i++) {
        const char *label = trace->choice[i].label;
        if (strcmp(label, TRACE_REST) != 0) {
            fprintf(file, "%s%s\n", is_of_system(label) ? "do " : "", label);
        }
    }
}

/* Sets *text to the reason of the violation in the story of the outcome, or else to a general one. Returns
 * its length. */
static int why(const struct outcome *outcome, const char **text)
{
    static const char MARK[] = " is violated at step ";
    const char *mark = strstr(outcome->story, MARK), *colon = mark != NULL ? strchr(mark, ':') : NULL;
    if (colon == NULL) {
        *text = "a property is violated";
        return (int)strlen(*text);
    }
    *text = colon + 2;
    return (int)strcspn(*text, "\n");
}

static int write_scenario(const struct triage *t, const struct finding *finding, const struct trace *trace)
{
    char path[OUTCOME_TRACE_MAX], *text = NULL;
    const char *cause;
    size_t size = 0;
    int length = why(&t->report->outcome, &cause);
    FILE *file = open_memstream(&text, &size);
    if (file == NULL) {
        return -1;
    }
    fprintf(file, "# A fuzzer's finding, %s: %.*s.\n\n", trace->found, length, cause);
    write_header(file, trace);
    fprintf(file, "show nothing\n\n");
    write_commands(file, trace);
    fprintf(file, "settle\nrest\n----\n");
    snprintf(path, sizeof path, "%s/%s.scn", t->options->out, finding->name);
    int rc = fclose(file) == 0 ? file_replace(path, text, size) : -1;
    free(text);
    return rc;
}

static int keep_trace(const struct triage *t, const struct finding *finding, const char *from)
{
    char path[OUTCOME_TRACE_MAX];
    snprintf(path, sizeof path, "%s/%s.trace", t->options->out, finding->name);
    return rename(from, path);
}

/* ---- sorting ---- */

static struct finding *find(struct triage *t, uint64_t shape)
{
    for (int i = 0; i < t->findings; i++) {
        if (t->finding[i].shape == shape) {
            return &t->finding[i];
        }
    }
    return NULL;
}

static struct finding *add(struct triage *t, uint64_t shape, const char *what)
{
    LS_ASSERT(find(t, shape) == NULL);
    if (!array_resize(&t->finding, (size_t)t->findings + 1, sizeof *t->finding)) {
        t->status = CLI_ENVIRONMENT;
        return NULL;
    }
    struct finding *finding = &t->finding[t->findings++];
    int size = (int)strcspn(what, " ");
    *finding = (struct finding){.shape = shape};
    snprintf(finding->name, sizeof finding->name, "%.*s-%08x", size, what, (unsigned)(shape >> 32));
    return finding;
}

static void drop_files(const struct outcome *outcome)
{
    unlink(outcome->trace);
    if (outcome->shrunk[0] != 0) {
        unlink(outcome->shrunk);
    }
}

static void sort_violation(struct triage *t, const char *path)
{
    const struct outcome *outcome = &t->report->outcome;
    const char *best = outcome->shrunk[0] != 0 ? outcome->shrunk : outcome->trace;
    struct input_error error;
    struct trace trace;
    if (trace_read(&trace, best, &error) != 0) {
        fprintf(stderr, "%s\n", error.text);
        t->status = CLI_ENVIRONMENT;
        return;
    }
    uint64_t shape = shape_of(&trace);
    struct finding *finding = find(t, shape);
    if (finding == NULL && (finding = add(t, shape, trace.found)) != NULL) {
        if (write_scenario(t, finding, &trace) != 0 || keep_trace(t, finding, best) != 0) {
            fprintf(stderr, "%s:1:1: expected a folder that can be written, found '%s'\n", t->options->out,
                    strerror(errno));
            t->status = CLI_ENVIRONMENT;
        }
        printf("%s  from %s\n  replay: lockstep replay %s/%s.trace\n", finding->name, path, t->options->out,
               finding->name);
    }
    if (finding != NULL) {
        finding->inputs++;
    }
    drop_files(outcome);
    trace_close(&trace);
}

/* Sorts an input whose process did not end in order, by the status of the process. */
static void sort_death(struct triage *t, const char *path, int status)
{
    bool hang = WIFSIGNALED(status) && WTERMSIG(status) == SIGVTALRM;
    const char *what = hang ? "hang" : "crash";
    uint64_t shape = hash_mix((uint64_t)status + 1);
    struct finding *finding = find(t, shape);
    if (finding == NULL && (finding = add(t, shape, what)) != NULL) {
        printf("%s  from %s: %s\n", finding->name, path,
               WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "it ended");
    }
    if (finding != NULL) {
        finding->inputs++;
    }
}

static void take_file(struct triage *t, const char *path)
{
    static uint8_t bytes[INPUT_BYTES_MAX];
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "%s:1:1: expected a file that can be read, found '%s'\n", path, strerror(errno));
        t->status = CLI_USAGE;
        return;
    }
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    t->inputs++;
    int status = run_apart(t, bytes, size);
    if (t->report->end == FUZZ_VIOLATED) {
        sort_violation(t, path); /* also if shrinking it has failed */
    } else if (!t->report->done) {
        sort_death(t, path, status);
    } else {
        t->without++;
        if (!t->options->quiet) {
            printf("nothing  from %s\n", path);
        }
    }
}

/* ---- where they lie ---- */

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static bool is_findings(const char *name)
{
    return strcmp(name, "crashes") == 0 || strcmp(name, "hangs") == 0;
}

/* Takes the files in folders named crashes or hangs, at most `depth` levels below this folder. With `flat`,
 * also takes the files in this folder. Leaves out hidden files and README.txt. */
static void take_folder(struct triage *t, const char *path, bool flat, int depth)
{
    struct dirent **entry;
    LS_ASSERT(depth >= 0);
    int count = scandir(path, &entry, NULL, by_name);
    for (int i = 0; i < count; i++) {
        const char *name = entry[i]->d_name;
        char below[OUTCOME_TRACE_MAX];
        struct stat stat_of;
        bool fits = snprintf(below, sizeof below, "%s/%s", path, name) < (int)sizeof below;
        bool looks = name[0] != '.' && strcmp(name, "README.txt") != 0;
        t->left_out += looks && !fits;
        if (looks && fits && stat(below, &stat_of) == 0) {
            if (S_ISREG(stat_of.st_mode) && flat && t->inputs == INPUTS_MAX) {
                t->left_out++;
            } else if (S_ISREG(stat_of.st_mode) && flat) {
                take_file(t, below);
            } else if (S_ISDIR(stat_of.st_mode) && depth > 0) {
                take_folder(t, below, is_findings(name), depth - 1);
            }
        }
        free(entry[i]);
    }
    if (count >= 0) {
        free(entry);
    }
}

static void take(struct triage *t, const char *path)
{
    struct stat stat_of;
    if (stat(path, &stat_of) == 0 && S_ISDIR(stat_of.st_mode)) {
        bool afl = false;
        char below[OUTCOME_TRACE_MAX];
        struct stat other;
        snprintf(below, sizeof below, "%s/crashes", path);
        afl = stat(below, &other) == 0;
        snprintf(below, sizeof below, "%s/main", path);
        afl |= stat(below, &other) == 0;
        take_folder(t, path, !afl, 3);
    } else {
        take_file(t, path);
    }
}

/* ---- the command ---- */

static int tell(const struct triage *t)
{
    LS_ASSERT(t->findings + t->without <= t->inputs);
    for (int i = 0; i < t->findings; i++) {
        printf("%6d  %s\n", t->finding[i].inputs, t->finding[i].name);
    }
    if (t->left_out > 0) {
        printf("%d left out: more than %d inputs, or a path of more than %d bytes\n", t->left_out, INPUTS_MAX,
               OUTCOME_TRACE_MAX - 1);
    }
    printf("%d inputs, %d without a finding, %d findings\n", t->inputs, t->without, t->findings);
    return t->findings > 0 ? CLI_VIOLATED : t->status;
}

int cli_triage(int argc, char **argv)
{
    struct cli_options options;
    struct triage t = {.options = &options};
    int status = cli_options(&options, "triage", OPTION_RECIPE | OPTION_OUT | OPTION_NO_SHRINK | OPTION_QUIET,
                             argc, argv);
    if (status != 0) {
        return status;
    }
    if (options.help) {
        fputs(HELP, stdout);
        return CLI_OK;
    }
    if (options.paths == 0) {
        return cli_usage_error("triage", "a file or folder with inputs", "");
    }
    if (!options.out_given) {
        options.out = DEFAULT_OUT;
    }
    t.report = mmap(NULL, sizeof *t.report, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (t.report == MAP_FAILED || file_make_folder(options.out) != 0) {
        fprintf(stderr, "%s:1:1: expected a folder that can be made, found '%s'\n", options.out,
                strerror(errno));
        return CLI_ENVIRONMENT;
    }
    for (int i = 0; i < options.paths; i++) {
        take(&t, options.path[i]);
    }
    status = tell(&t);
    free(t.finding);
    munmap(t.report, sizeof *t.report);
    return status;
}
