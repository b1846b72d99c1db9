/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "cli/html.h"

#include "base/assert.h"
#include "report/index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Writes DIR/NAME. */
static int write_file(const char *folder, const char *name, const char *text, size_t size)
{
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/%s", folder, name) >= (int)sizeof path) {
        errno = ENAMETOOLONG;
        return cli_cannot_write(folder);
    }
    return cli_write_out(path, text, size);
}

/* ---- pages of runs ---- */

/* Names the page of a trace by the hexadecimal digits with which the name of the trace begins. */
static void name_page(const char *trace, char page[REPORT_PAGE_MAX])
{
    const char *slash = strrchr(trace, '/'), *base = slash != NULL ? slash + 1 : trace;
    snprintf(page, REPORT_PAGE_MAX, "%.*s.html", (int)strspn(base, "0123456789abcdef"), base);
    LS_ASSERT(page[0] != '.');
}

static int replay_into(const struct cli_options *options, const char *path, const char *page)
{
    struct input_error error;
    struct trace trace;
    char again[PATH_MAX * 2], *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        return cli_cannot_write("(memory)");
    }
    if (trace_read(&trace, path, &error) != 0) {
        fprintf(stderr, "%s\n", error.text);
        return CLI_ENVIRONMENT;
    }
    cli_guard_replay(&trace);
    snprintf(again, sizeof again, "%s replay %s", cli_program(), path);
    enum replay_result result = report_page(out, &trace, again, NULL, &error);
    if (fclose(out) != 0 || result == REPLAY_UNFIT) {
        fprintf(stderr, "%s\n", result == REPLAY_UNFIT ? error.text : "out of memory");
        return CLI_ENVIRONMENT;
    }
    return write_file(options->html, page, text, size);
}

/* Draws a trace in a process of its own, because a recipe that is linked in may end its process. */
static int draw_trace(const struct cli_options *options, const char *path, const char *page)
{
    int status;
    LS_ASSERT(path[0] != 0 && page[0] != 0);
    fflush(NULL); /* otherwise the child would write it again */
    pid_t child = fork();
    if (child == 0) {
        _exit(replay_into(options, path, page));
    }
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (child < 0) {
        return cli_cannot_write(page);
    }
    bool drawn = WIFEXITED(status) && WEXITSTATUS(status) == CLI_OK;
    if (!drawn && WIFSIGNALED(status)) {
        fprintf(stderr, "%s: no page, because its replay died: %s\n", path, strsignal(WTERMSIG(status)));
    }
    return drawn ? CLI_OK : CLI_ENVIRONMENT;
}

static int draw_item(const struct cli_options *options, struct report_item *item)
{
    const char *trace = report_fails(item) ? report_trace(item->outcome) : "";
    if (trace[0] == 0) {
        return CLI_OK;
    }
    name_page(trace, item->page);
    int status = draw_trace(options, trace, item->page);
    if (status != CLI_OK) {
        item->page[0] = 0;
    }
    return status;
}

/* ---- the index ---- */

/* Writes the call with the options of cli_given(), --filter and the paths. */
static void write_command(FILE *out, const struct cli_options *options, const char *command)
{
    char given[PATH_MAX];
    fprintf(out, "%s %s", cli_program(), command);
    for (int i = 0; cli_given(options, i, given, sizeof given); i++) {
        fprintf(out, " %s", given);
    }
    if (options->filter != NULL) {
        fprintf(out, " --filter=%s", options->filter);
    }
    for (int i = 0; i < options->paths; i++) {
        fprintf(out, " %s", options->path[i]);
    }
}

static void write_worlds(FILE *out, const struct cli_options *options, const struct enumeration *worlds)
{
    struct cli_options loud = *options;
    loud.quiet = loud.json = false;
    if (worlds != NULL) {
        enumerate_tell(out, &loud, worlds);
    }
}

static int write_index(const struct cli_options *options, struct report_index *index, const char *command,
                       const struct enumeration *worlds)
{
    char *texts[3] = {NULL, NULL, NULL};
    size_t size[3];
    FILE *out[3];
    for (int i = 0; i < 3; i++) {
        out[i] = open_memstream(&texts[i], &size[i]);
        if (out[i] == NULL) {
            return cli_cannot_write("(memory)");
        }
    }
    write_command(out[0], options, command);
    write_worlds(out[1], options, worlds);
    bool written = fclose(out[0]) == 0 && fclose(out[1]) == 0;
    index->command = texts[0];
    index->worlds = texts[1];
    if (written) {
        report_index(out[2], index);
    }
    written = fclose(out[2]) == 0 && written;
    int status =
        written ? write_file(options->html, "index.html", texts[2], size[2]) : cli_cannot_write("(memory)");
    for (int i = 0; i < 3; i++) {
        free(texts[i]);
    }
    return status;
}

int cli_write_html(const struct cli_options *options, const char *command,
                   const struct report_context *context, struct report_item *items, int count,
                   const struct enumeration *worlds)
{
    struct report_index index = {.context = context, .items = items, .count = count};
    int status = CLI_OK;
    LS_ASSERT(options->html != NULL && count >= 0);
    for (int i = 0; i < count; i++) {
        int drawn = draw_item(options, &items[i]);
        status = status == CLI_OK ? drawn : status;
    }
    int written = write_index(options, &index, command, worlds);
    return status == CLI_OK ? written : status;
}
