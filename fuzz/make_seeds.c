/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Inputs for fuzz_session_loss and fuzz_recipe to begin with, from scenario files and traces: what was done
 * there, as decisions (src/fuzz/encode.h). A scenario is run with our mutex, a trace is followed with its
 * own recipe; if that is in a shared object, as far as our mutex goes the same way. And inputs for
 * fuzz_redis_calls, from scripts: a client connects and runs the script twice. */
#include "fuzz/encode.h"
#include "redis_calls.h"
#include "replay/shrink_attempt.h"
#include "scenario/direct.h"
#include "scenario/recipes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ACTIONS_MAX 4096
#define SEED_MAX 2048 /* bytes of an input */

static struct fuzz_driver driver;
static struct {
    const struct ls_recipe *recipe;
    struct world_options options; /* its texts are gone */
    uint8_t header[FUZZ_HEADER];  /* of its world */
    struct action action[ACTIONS_MAX];
    int actions;
} seen;

/* ---- what is done ---- */

static void keep(void *ctx, const struct run *run, const struct action *action)
{
    (void)ctx;
    (void)run;
    if (seen.actions < ACTIONS_MAX) {
        seen.action[seen.actions++] = *action;
    }
}

/* While the texts of a world are there. */
static void keep_world(const struct ls_recipe *recipe, const struct world_options *options)
{
    seen.recipe = recipe;
    seen.options = *options;
    fuzz_encode_world(options, seen.header);
}

static int look_at_scenario(const char *path, struct input_error *error)
{
    static struct scenario scenario;
    static struct outcome outcome;
    struct input_mistakes mistakes;
    if (scenario_read(&scenario, path, &mistakes) != 0) {
        *error = mistakes.mistake[0];
        return -1;
    }
    keep_world(recipe_find(RECIPE_DEFAULT), &scenario.options);
    struct run_setup setup = {.scenario = &scenario, .recipe = seen.recipe, .part = true};
    struct direct_options options = {.watch = keep};
    if (!scenario.exploring) {
        direct_run(&setup, &options, &outcome);
    }
    scenario_close(&scenario);
    return 0;
}

/* The longest part of it that can still be done. */
static void follow(struct attempt *attempt)
{
    struct attempt_list in, out;
    if (attempt_list_init(attempt, &in) != 0) {
        return;
    }
    if (attempt_list_init(attempt, &out) == 0) {
        struct attempt_how as_it_is = {0};
        if (attempt_list_trace(attempt, &in) == 0) {
            attempt_follow(attempt, &in, as_it_is, in.count, &out);
        }
        for (int i = 0; i < out.count && seen.actions < ACTIONS_MAX; i++) {
            if (out.choice[i].action.kind != ATTEMPT_REST) {
                seen.action[seen.actions++] = out.choice[i].action;
            }
        }
        attempt_list_close(&out);
    }
    attempt_list_close(&in);
}

static int look_at_trace(const char *path, struct input_error *error)
{
    static struct trace trace;
    static struct attempt attempt;
    if (trace_read(&trace, path, error) != 0) {
        return -1;
    }
    if (recipe_find(trace.recipe) == NULL) {
        snprintf(trace.recipe, sizeof trace.recipe, "%s", RECIPE_DEFAULT);
    }
    int rc = attempt_open(&attempt, &trace, error);
    if (rc == 0) {
        keep_world(attempt.run.setup.recipe, &attempt.scenario.options);
        follow(&attempt);
        attempt_close(&attempt);
    }
    trace_close(&trace);
    return rc;
}

/* ---- what is written ---- */

/* The name of the file behind that of its folder: files of two folders may have the same. */
static void put_name(const char *folder, const char *path, char *name, size_t size)
{
    const char *last = strrchr(path, '/'), *first = last;
    while (first != NULL && first > path && first[-1] != '/') {
        first--;
    }
    if (last == NULL || first == last) {
        snprintf(name, size, "%s/%s", folder, last != NULL ? last + 1 : path);
    } else {
        snprintf(name, size, "%s/%.*s-%s", folder, (int)(last - first), first, last + 1);
    }
}

static int write_seed(const char *folder, const char *path, const uint8_t *bytes, size_t size)
{
    char name[4096];
    put_name(folder, path, name, sizeof name);
    FILE *file = size > 0 ? fopen(name, "wb") : NULL;
    if (file == NULL) {
        fprintf(stderr, "%s: expected a folder to write into, found '%s'\n", folder, strerror(errno));
        return 1;
    }
    bool written = fwrite(bytes, 1, size, file) == size;
    written = fclose(file) == 0 && written;
    return written ? 0 : 1;
}

static int write_seen(const char *folder, const char *path)
{
    uint8_t bytes[SEED_MAX];
    driver.recipe = seen.recipe;
    memcpy(bytes, seen.header, sizeof seen.header);
    size_t size = fuzz_encode(&driver, &seen.options, seen.action, seen.actions, bytes, sizeof bytes);
    return write_seed(folder, path, bytes, size);
}

/* A script with one key and one argument, twice; then all steps. Bytes of a text stand for themselves. */
static int make_script(const char *folder, const char *path)
{
    static const uint8_t begin[REDIS_HEADER + 4] = {
        0, 1, 20, 0, REDIS_CALL | REDIS_CONNECT << 3, 0, REDIS_CALL | REDIS_RUN << 3, 9};
    static char text[SEED_MAX / 2 - 32];
    uint8_t bytes[SEED_MAX];
    FILE *file = fopen(path, "rb");
    size_t length = file != NULL ? fread(text, 1, sizeof text, file) : 0, used = sizeof begin;
    if (file == NULL || fclose(file) != 0 || length == sizeof text) {
        fprintf(stderr, "%s:1:1: expected a script of less than %zu bytes\n", path, sizeof text);
        return 2;
    }
    memcpy(bytes, begin, sizeof begin);
    for (int times = 0; times < 2; times++) {
        const uint8_t head[] = {redis_operation(REDIS_SCRIPT, 0), 0, 0, (uint8_t)length,
                                (uint8_t)(length >> 8)};
        const uint8_t tail[] = {2 << 3, 0, (uint8_t)(5 + times)};
        memcpy(bytes + used, head, sizeof head);
        memcpy(bytes + used + sizeof head, text, length);
        memcpy(bytes + used + sizeof head + length, tail, sizeof tail);
        used += sizeof head + length + sizeof tail;
    }
    bytes[used++] = redis_operation(REDIS_RUN, 0);
    bytes[used++] = 99;
    return write_seed(folder, path, bytes, used);
}

static bool ends_with(const char *path, const char *end)
{
    size_t size = strlen(path), length = strlen(end);
    return size > length && strcmp(path + size - length, end) == 0;
}

static int make_seed(const char *folder, const char *path)
{
    struct input_error error;
    seen.actions = 0;
    if (ends_with(path, ".lua")) {
        return make_script(folder, path);
    }
    bool is_trace = ends_with(path, ".trace");
    if ((is_trace ? look_at_trace(path, &error) : look_at_scenario(path, &error)) != 0) {
        fprintf(stderr, "%s\n", error.text);
        return 2;
    }
    return write_seen(folder, path);
}

int main(int argc, char **argv)
{
    int worst = 0;
    if (argc < 3 || argv[1][0] == '-') {
        fprintf(
            stderr,
            "usage: %s FOLDER FILE...\n\nWrites an input for fuzz_session_loss into the folder for each "
            "scenario (.scn) and "
            "trace (.trace), and one for fuzz_redis_calls for each script (.lua), under its folder's and its "
            "own name.\n",
            argv[0]);
        return 2;
    }
    for (int i = 2; i < argc; i++) {
        int status = make_seed(argv[1], argv[i]);
        worst = status > worst ? status : worst;
    }
    fuzz_close(&driver);
    return worst;
}
