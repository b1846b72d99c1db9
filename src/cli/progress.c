/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "cli/progress.h"

#include "base/assert.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define LINE_MAX_BYTES 256
#define COLUMNS_DEFAULT 80

#define REFRESH_MS 200
#define SECONDS_BETWEEN_LINES 60
#define SECONDS_VARIABLE "LOCKSTEP_PROGRESS_SECONDS" /* replaces SECONDS_BETWEEN_LINES; from 1 on */

/* Times of cli_now_s(). */
static double begun_s;     /* of the last progress_begin() */
static double last_line_s; /* of the last line that stays, or else of the first begin; 0 = not begun */

static bool refreshes(void)
{
    return isatty(STDERR_FILENO);
}

static double between_lines_s(void)
{
    const char *text = getenv(SECONDS_VARIABLE);
    long seconds = text != NULL ? strtol(text, NULL, 10) : 0;
    return seconds >= 1 ? (double)seconds : SECONDS_BETWEEN_LINES;
}

void progress_begin(void)
{
    begun_s = cli_now_s();
    last_line_s = last_line_s > 0 ? last_line_s : begun_s;
    LS_ASSERT(last_line_s <= begun_s);
}

int progress_due_ms(void)
{
    double left_s = last_line_s + between_lines_s() - cli_now_s();
    return refreshes() ? REFRESH_MS : left_s > 0 ? (int)(left_s * 1000) + 1 : 1;
}

void progress_clear(void)
{
    if (refreshes()) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
}

/* The worker changes the count meanwhile. */
static uint64_t now_of(const uint64_t *count)
{
    return __atomic_load_n(count, __ATOMIC_RELAXED);
}

/* Writes 950, 12.3k, 456M, 1.2G. */
static const char *in_short(double value, char text[16])
{
    static const char UNITS[] = " kMGT";
    int unit = 0;
    while (value >= 999.5 && unit < 4) {
        value /= 1000;
        unit++;
    }
    LS_ASSERT(unit < (int)sizeof UNITS - 1);
    snprintf(text, 16, "%.*f%.*s", unit == 0 || value >= 99.95 ? 0 : 1, value, unit > 0, UNITS + unit);
    return text;
}

/* Writes the age of the checkpoint; "" if the search is not saved. */
static void describe_checkpoint(char text[32], const struct cli_job *job)
{
    const struct search_counts *search = &job->outcome->search;
    struct timespec now;
    uint64_t saved_ms = now_of(&search->saved_ms);
    text[0] = 0;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (__atomic_load_n(&search->saving, __ATOMIC_RELAXED)) {
        snprintf(text, 32, " keeping");
    } else if (saved_ms > 0) {
        snprintf(text, 32, " kept %.0fs ago", (double)now.tv_sec - (double)saved_ms / 1000);
    } else if (job->checkpoint[0] != 0) {
        snprintf(text, 32, " not kept yet");
    }
}

static void describe(char *line, size_t size, const struct cli_job *job, double seconds)
{
    const struct search_counts *search = &job->outcome->search;
    const char *slash = strrchr(job->scenario.input.name, '/');
    double states = (double)now_of(&search->states);
    double all = states + (double)now_of(&search->earlier_states);
    char text[6][16], kept[32];
    describe_checkpoint(kept, job);
    snprintf(line, size, "%.24s faults %d/%d: %s states %s/s %s transitions depth %s frontier %s %sB %.0fs%s",
             slash ? slash + 1 : job->scenario.input.name, __atomic_load_n(&search->faults, __ATOMIC_RELAXED),
             __atomic_load_n(&search->faults_last, __ATOMIC_RELAXED), in_short(states, text[0]),
             in_short(seconds > 0 ? all / seconds : 0, text[1]),
             in_short((double)now_of(&search->transitions), text[2]),
             in_short((double)now_of(&search->depth), text[3]),
             in_short((double)now_of(&search->frontier), text[4]),
             in_short((double)now_of(&search->memory_bytes), text[5]), seconds, kept);
}

/* Returns the width of the terminal. A longer line could not be erased. */
static int columns(void)
{
    struct winsize window;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0 ? window.ws_col
                                                                               : COLUMNS_DEFAULT;
}

/* Estimates the time left from the mean time of the finished scenarios. */
static void describe_rest(char text[48], int finished, int count)
{
    double left_s = finished > 0 ? (cli_now_s() - begun_s) / finished * (count - finished) : 0;
    text[0] = 0;
    if (count > 1 && left_s >= 90) {
        snprintf(text, 48, ", some %.0f minutes left", left_s / 60);
    } else if (count > 1 && finished > 0) {
        snprintf(text, 48, ", some %.0f seconds left", left_s);
    }
}

void progress_show(int finished, int count, const struct cli_job *job, double seconds)
{
    char line[LINE_MAX_BYTES] = "", rest[48];
    int used = 0;
    bool stays = !refreshes();
    if (stays && cli_now_s() < last_line_s + between_lines_s()) {
        return;
    }
    if (count > 1 || job == NULL) {
        used = snprintf(line, sizeof line, "%d of %d scenarios%s", finished, count, job != NULL ? "  " : "");
    }
    LS_ASSERT(finished <= count && used >= 0 && used < (int)sizeof line);
    if (job != NULL) {
        describe(line + used, sizeof line - (size_t)used, job, seconds);
    }
    if (stays) {
        describe_rest(rest, finished, count);
        fprintf(stderr, "progress: %s%s\n", line, rest);
        last_line_s = cli_now_s();
    } else {
        fprintf(stderr, "\r%.*s\033[K", columns() - 1, line);
    }
    fflush(stderr);
}
