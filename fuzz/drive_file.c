/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A target as a plain program: runs files, or makes inputs itself, and tells at the end what came of them.
 *
 * --fuzz is a small fuzzer that needs nothing else: it keeps inputs that reach counters of the target which no other has
 * reached, and mutates them. The same seed and files make the same inputs, so that a test can use it. */
#include "base/rng.h"
#include "target.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INPUT_MAX (1u << 20)
#define MUTANT_MAX 4096 /* bytes */
#define RANDOM_MAX 400
#define POOL_MAX 4096
#define FINDING "build/reports/finding"

static uint8_t input[INPUT_MAX];
static size_t input_size;
static uint8_t counters[TARGET_COUNTERS], reached[TARGET_COUNTERS];
uint8_t *target_counters = counters;
bool target_verbose = true;

static struct {
    uint8_t *bytes;
    size_t size;
} pool[POOL_MAX];
static size_t pooled;

/* libFuzzer's name; a target whose bytes are no text has one. */
size_t __attribute__((weak)) LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

void target_count_edges(bool count)
{
    (void)count;
}

static int usage(const char *name)
{
    fprintf(
        stderr,
        "usage: %s FILE... | --each <LIST | --fuzz COUNT SEED [FILE...] | --random COUNT [SEED] | "
        "--empty COUNT\n\n"
        "Runs the target for each file; for so many mutants of them, guided by what they reach; for so "
        "many inputs of\n"
        "random bytes, or of none. --each reads names of files, one a line, and prints behind each how many "
        "counters of\n"
        "the target the files until then have reached. A finding is told, its input is left in " FINDING
        ",\nand the program aborts.\n",
        name);
    return 2;
}

/* ---- running ---- */

static void on_abort(int signal)
{
    static const char TEXT[] = "input: " FINDING "\n";
    (void)signal;
    (void)mkdir("build", 0777);
    (void)mkdir("build/reports", 0777);
    int file = open(FINDING, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file >= 0 && write(file, input, input_size) == (ssize_t)input_size) {
        (void)!write(STDERR_FILENO, TEXT, sizeof TEXT - 1);
    }
}

static void run_input(void)
{
    LLVMFuzzerTestOneInput(input, input_size);
}

static int read_input(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "%s:1:1: expected a file that can be read, found '%s'\n", path, strerror(errno));
        return 2;
    }
    input_size = fread(input, 1, sizeof input, file);
    fclose(file);
    return 0;
}

static void run_random(unsigned long count, uint64_t seed, uint32_t longest)
{
    struct rng rng;
    rng_seed(&rng, seed);
    for (unsigned long i = 0; i < count; i++) {
        input_size = longest > 0 ? rng_below(&rng, longest) : 0;
        for (size_t at = 0; at < input_size; at++) {
            input[at] = (uint8_t)rng_next(&rng);
        }
        run_input();
    }
}

/* ---- the small fuzzer ---- */

/* How many counters this input is the first to reach. */
static size_t reaches_more(void)
{
    size_t more = 0;
    for (size_t at = 0; at < TARGET_COUNTERS; at += 8) {
        uint64_t eight;
        memcpy(&eight, counters + at, sizeof eight);
        for (size_t i = at; eight != 0 && i < at + 8; i++) {
            more += counters[i] != 0 && reached[i] == 0;
            reached[i] |= counters[i];
            counters[i] = 0;
        }
    }
    return more;
}

static void keep_input(void)
{
    uint8_t *copy = pooled < POOL_MAX ? malloc(input_size + 1) : NULL;
    if (copy != NULL) {
        memcpy(copy, input, input_size);
        pool[pooled].bytes = copy;
        pool[pooled++].size = input_size;
    }
}

/* For texts: bytes are changed, put in, left out, repeated. */
static void mutate_bytes(struct rng *rng)
{
    for (uint32_t i = 1u << rng_below(rng, 4); i > 0; i--) {
        size_t at = rng_below(rng, (uint32_t)input_size + 1), much = 1 + rng_below(rng, 16);
        size_t left = input_size - at;
        switch (rng_below(rng, 5)) {
        case 0:
            if (left > 0) {
                input[at] = (uint8_t)rng_next(rng);
            }
            break;
        case 3:
            if (input_size + much < MUTANT_MAX) {
                memmove(input + at + much, input + at, left);
                for (size_t byte = 0; byte < much; byte++) {
                    input[at + byte] = (uint8_t)rng_next(rng);
                }
                input_size += much;
            }
            break;
        case 1:
            much = much < left ? much : left;
            memmove(input + at, input + at + much, left - much);
            input_size -= much;
            break;
        case 2:
            if (left > 0) {
                input[at] ^= (uint8_t)(1u << rng_below(rng, 8));
            }
            break;
        default:
            much = much < left ? much : left;
            if (input_size + much < MUTANT_MAX) {
                memmove(input + at + much, input + at, left);
                input_size += much;
            }
            break;
        }
    }
}

static void mutate(struct rng *rng)
{
    size_t chosen = rng_below(rng, (uint32_t)pooled);
    input_size = pool[chosen].size < MUTANT_MAX ? pool[chosen].size : MUTANT_MAX;
    memcpy(input, pool[chosen].bytes, input_size);
    if (LLVMFuzzerCustomMutator != NULL) {
        input_size = LLVMFuzzerCustomMutator(input, input_size, MUTANT_MAX, (unsigned)rng_next(rng));
    } else {
        mutate_bytes(rng);
    }
}

static int fuzz(unsigned long count, uint64_t seed, char **file, int files)
{
    struct rng rng;
    rng_seed(&rng, seed);
    for (int i = 0; i < files; i++) {
        if (read_input(file[i]) != 0) {
            return 2;
        }
        run_input();
        reaches_more();
        keep_input();
    }
    input_size = 0;
    keep_input();
    for (unsigned long i = 0; i < count; i++) {
        mutate(&rng);
        run_input();
        if (reaches_more() > 0) {
            keep_input();
        }
    }
    fprintf(stderr, "%zu inputs kept of %lu\n", pooled - (size_t)files, count);
    return 0;
}

static int run_files(char **file, int files)
{
    for (int i = 0; i < files; i++) {
        if (read_input(file[i]) != 0) {
            return 2;
        }
        run_input();
    }
    return 0;
}

/* More than fit on a command line. */
static int run_each(FILE *list)
{
    static char name[4096];
    size_t total = 0;
    while (fgets(name, sizeof name, list) != NULL) {
        name[strcspn(name, "\n")] = 0;
        if (read_input(name) != 0) {
            return 2;
        }
        run_input();
        total += reaches_more();
        printf("%s\t%zu\n", name, total);
    }
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "--help";
    unsigned long count = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    int rest = argc, status = 0;
    char **names = argv;
    bool makes = strcmp(what, "--fuzz") == 0 || strcmp(what, "--random") == 0 || strcmp(what, "--empty") == 0;
    bool each = strcmp(what, "--each") == 0;
    if (what[0] == '-' && !(each && argc == 2) && (!makes || argc < 3)) {
        return usage(argv[0]);
    }
    signal(SIGABRT, on_abort); /* the guard of a recipe, which comes next, hands over to it */
    if (LLVMFuzzerInitialize(&rest, &names) != 0) {
        return 2;
    }
    if (strcmp(what, "--fuzz") == 0) {
        status = fuzz(count, seed, argv + 4, argc > 4 ? argc - 4 : 0);
    } else if (makes) {
        run_random(count, seed, what[2] == 'r' ? RANDOM_MAX : 0);
    } else {
        status = each ? run_each(stdin) : run_files(argv + 1, argc - 1);
    }
    target_tell();
    return status;
}
