/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* lockstep new: makes a folder with a first recipe. */
#include "base/assert.h"
#include "base/file.h"
#include "cli/cli.h"
#include "scenario/recipes.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_SIZE_MAX 31

static const char HELP[] =
    "usage: lockstep new recipe NAME\n"
    "       lockstep-redis new redis-recipe NAME\n"
    "\n"
    "Makes the folder NAME with a recipe that keeps all promises, a scenario, and a Makefile that checks the "
    "one in the\n"
    "other. The recipe is the one of docs/your-own-recipe.md, or of docs/your-own-redis-recipe.md: change "
    "it, "
    "or put your own\nin its place.\n"
    "\n"
    "examples:\n"
    "  lockstep new recipe my_lock\n"
    "  make -C my_lock check      built, and searched in every order of events with at most one fault\n"
    "  make -C my_lock suite      in the situations of the standard suite\n";

static const char SCENARIO[] =
    "# Two clients take the lock once each, while a connection breaks and a session expires.\n"
    "\n"
    "mutex /locks/x\n"
    "process a b: acquire release\n"
    "explore loss<=1 expire<=1 total<=1\n";

static const char REDIS_SCENARIO[] = "# Two clients take the lock once each, while a connection breaks, a "
                                     "process crashes, or a lease ends too "
                                     "early.\n"
                                     "\n"
                                     "coordinator redis\n"
                                     "mutex /locks/x\n"
                                     "process a b: acquire release\n"
                                     "explore loss<=1 late<=1 crash<=1 pause<=1 expire<=1 total<=1\n";

struct kind {
    const char *word, *source,
        *installed; /* path of the first recipe in the source tree, and below the prefix of an installation */
    const char *scenario;
};

static const struct kind KINDS[] = {
    {"recipe", "examples/recipes/next_in_line.c", "share/lockstep/recipes/next_in_line.c", SCENARIO},
    {"redis-recipe", "examples/redis/leased.c", "share/lockstep/recipes/leased.c", REDIS_SCENARIO},
};

static int count_kinds(void)
{
    return recipe_find("redis_mutex") != NULL ? 2 : 1; /* only lockstep-redis has worlds of Redis */
}

/* Format: the paths of the program and of its headers, then seven times the name. */
static const char MAKEFILE[] = "LOCKSTEP ?= %s\n"
                               "CFLAGS += -std=c11 -g -O2 -Wall -Wextra -fPIC\n"
                               "CPPFLAGS += -I%s\n"
                               "\n"
                               "%s.so: %s.c\n"
                               "\t$(CC) $(CPPFLAGS) $(CFLAGS) -shared $< -o $@\n"
                               "\n"
                               "check: %s.so\n"
                               "\t$(LOCKSTEP) check --recipe ./%s.so first.scn\n"
                               "\n"
                               "suite: %s.so\n"
                               "\t$(LOCKSTEP) check --recipe ./%s.so --suite\n"
                               "\n"
                               "clean:\n"
                               "\trm -rf %s.so build\n"
                               "\n"
                               ".PHONY: check suite clean\n";

static bool is_name(const char *name)
{
    size_t size = strlen(name);
    bool right = size >= 1 && size <= NAME_SIZE_MAX && isalpha((unsigned char)name[0]);
    for (size_t i = 0; right && i < size; i++) {
        right = isalnum((unsigned char)name[i]) || name[i] == '_' || name[i] == '-';
    }
    return right;
}

static int cannot_write(const char *path)
{
    fprintf(stderr, "lockstep new: expected a path that can be written, found '%s': %s\n", path,
            strerror(errno));
    return CLI_ENVIRONMENT;
}

static int write_file(const char *folder, const char *name, const char *text, size_t size)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    LS_ASSERT(length > 0 && (size_t)length < sizeof path);
    if (file_replace(path, text, size) != 0) {
        return cannot_write(path);
    }
    printf("  %s\n", path);
    return CLI_OK;
}

/* Writes the template, with the folder's name as the name of the recipe. */
static int write_recipe(const char *folder, FILE *template)
{
    char name[NAME_SIZE_MAX + 3], *text = NULL, line[1024];
    LS_ASSERT(strlen(folder) <= NAME_SIZE_MAX);
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    while (out != NULL && fgets(line, sizeof line, template) != NULL) {
        if (strncmp(line, "    .name = \"", 13) == 0) {
            fprintf(out, "    .name = \"%s\",\n", folder);
        } else {
            fputs(line, out);
        }
    }
    if (out == NULL || fclose(out) != 0) {
        free(text);
        return cannot_write(folder);
    }
    snprintf(name, sizeof name, "%s.c", folder);
    int status = write_file(folder, name, text, size);
    free(text);
    return status;
}

struct parts {
    const struct kind *kind;
    char program[PATH_MAX];
    char include[PATH_MAX];
    FILE *template;
};

static int no_header(void)
{
    fprintf(stderr,
            "lockstep new: expected <lockstep/recipe.h> (package liblockstep-dev) beside the program, found "
            "none\n");
    return CLI_ENVIRONMENT;
}

static int find_parts(struct parts *parts)
{
    char path[PATH_MAX];
    if (!cli_program_path(parts->program) ||
        !cli_find_data(parts->include, "include/lockstep/recipe.h", "include/lockstep/recipe.h")) {
        return no_header();
    }
    char *end = strstr(parts->include, "/lockstep/recipe.h");
    if (end == NULL) {
        return no_header(); /* a symbolic link to a file of another name */
    }
    *end = 0;
    bool found = cli_find_data(path, parts->kind->source, parts->kind->installed);
    parts->template = found ? fopen(path, "r") : NULL;
    if (parts->template == NULL) {
        fprintf(stderr, "lockstep new: expected the recipe to begin with beside the program, found none\n");
        return CLI_ENVIRONMENT;
    }
    return CLI_OK;
}

static int write_makefile(const char *n, const struct parts *parts)
{
    char text[sizeof MAKEFILE + (size_t)2 * PATH_MAX + (size_t)7 * NAME_SIZE_MAX];
    int size = snprintf(text, sizeof text, MAKEFILE, parts->program, parts->include, n, n, n, n, n, n, n);
    LS_ASSERT(size > 0 && (size_t)size < sizeof text);
    return write_file(n, "Makefile", text, (size_t)size);
}

static int fill_folder(const char *name, const struct parts *parts)
{
    int status = write_recipe(name, parts->template);
    if (status == CLI_OK) {
        status = write_file(name, "first.scn", parts->kind->scenario, strlen(parts->kind->scenario));
    }
    if (status == CLI_OK) {
        status = write_makefile(name, parts);
    }
    if (status == CLI_OK) {
        printf("next: make -C %s check\n", name);
    }
    return status;
}

static int make_recipe(const struct kind *kind, const char *name)
{
    struct parts parts = {.kind = kind};
    int status = find_parts(&parts);
    if (status != CLI_OK) {
        return status;
    }
    if (mkdir(name, 0777) == 0) {
        status = fill_folder(name, &parts);
    } else if (errno == EEXIST) {
        status = cli_usage_error("new", "a folder that is not there yet", name);
    } else {
        status = cannot_write(name);
    }
    fclose(parts.template);
    return status;
}

static const struct kind *find_kind(const char *word)
{
    for (int i = 0; i < count_kinds(); i++) {
        if (strcmp(KINDS[i].word, word) == 0) {
            return &KINDS[i];
        }
    }
    return NULL;
}

int cli_new(int argc, char **argv)
{
    struct cli_options options;
    int status = cli_options(&options, "new", 0, argc, argv);
    if (status != 0) {
        return status;
    }
    if (options.help) {
        fputs(HELP, stdout);
        return CLI_OK;
    }
    const char *word = options.paths < 1 ? "the end of the line" : options.path[0];
    const struct kind *kind = find_kind(word);
    if (kind == NULL) {
        return cli_usage_error("new", count_kinds() > 1 ? "recipe or redis-recipe" : "recipe", word);
    }
    if (options.paths != 2 || !is_name(options.path[1])) {
        return cli_usage_error("new", "one name of at most 31 letters, digits, - and _ after recipe",
                               options.paths < 2   ? "the end of the line"
                               : options.paths > 2 ? options.path[2]
                                                   : options.path[1]);
    }
    return make_recipe(kind, options.path[1]);
}
