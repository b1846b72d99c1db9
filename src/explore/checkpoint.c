/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "explore/checkpoint.h"

#include "base/assert.h"
#include "explore/build_id.h"
#include "explore/savefile.h"
#include "state/visited.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define MAGIC "lockstep saved 2"
#define MAGIC_BYTES 16
#define STACKS_MAX 1000000u
#define FINGERPRINTS_AT_ONCE 65536u
/* Least pause before the next write, in durations of the last one; none if every_s is 0. */
#define REST_AFTER 50

/* Numbers of a checkpoint, in the order of the file. */
enum number {
    NUMBER_STAGE,
    NUMBER_SET,
    NUMBER_LAYER,
    NUMBER_SUM_STATES, /* sums over the sets of run constants before this one */
    NUMBER_SUM_TRANSITIONS,
    NUMBER_SUM_DEPTH,
    NUMBER_STATES,
    NUMBER_TRANSITIONS,
    NUMBER_DEPTH,
    NUMBER_EARLIER_STATES,
    NUMBER_EARLIER_TRANSITIONS,
    NUMBER_LIVE_STATES,
    NUMBER_LIVE_TRANSITIONS,
    NUMBER_LIVE_BYTES,
    NUMBER_UNRENAMED,
    NUMBERS
};

/* The work that is left. Stacks and fingerprints follow only in the first stage. */
enum stage {
    STAGE_STATES,
    STAGE_LIVE, /* the layers of this set are complete, its liveness (liveness.h) is not judged */
    STAGE_DONE,
    STAGES
};

struct identity {
    char *build, *options, *scenario; /* owned */
    size_t build_size, options_size, scenario_size;
};

/* Lies in memory that all workers share. Its pointers are set before the workers are forked. */
struct checkpoint {
    const char *path; /* the file to write; NULL = none */
    double every_s, due_s;
    int error;
    /* The file to continue from. */
    bool resumes;
    const char *from;
    uint64_t number[NUMBERS];
    struct check_stats stats;
    struct tried tried;
    struct stack *stack; /* owned */
    size_t stacks;
    atomic_size_t taken;
    struct savefile_reader reader; /* its next bytes are the fingerprints */
};

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- writing ---- */

static void put_head(struct savefile_writer *file, const struct search *search)
{
    char build[BUILD_ID_MAX];
    const struct input *input = &search->run->setup.scenario->input;
    build_id(build);
    savefile_put(file, MAGIC, MAGIC_BYTES);
    savefile_put_bytes(file, build, strlen(build));
    savefile_put_bytes(file, search->options->identity, strlen(search->options->identity));
    savefile_put_bytes(file, input->text, input->size);
}

static void put_numbers(struct savefile_writer *file, const struct search *search, enum stage stage)
{
    const struct search_counts *counts = search->counts;
    const uint64_t number[NUMBERS] = {
        [NUMBER_STAGE] = stage,
        [NUMBER_SET] = (uint64_t)search->set,
        [NUMBER_LAYER] = (uint64_t)counts->faults,
        [NUMBER_SUM_STATES] = search->sums.states,
        [NUMBER_SUM_TRANSITIONS] = search->sums.transitions,
        [NUMBER_SUM_DEPTH] = search->sums.depth,
        [NUMBER_STATES] = counts->states,
        [NUMBER_TRANSITIONS] = counts->transitions,
        [NUMBER_DEPTH] = counts->depth,
        [NUMBER_EARLIER_STATES] = counts->earlier_states,
        [NUMBER_EARLIER_TRANSITIONS] = counts->earlier_transitions,
        [NUMBER_LIVE_STATES] = counts->live_states,
        [NUMBER_LIVE_TRANSITIONS] = counts->live_transitions,
        [NUMBER_LIVE_BYTES] = counts->live_bytes,
        [NUMBER_UNRENAMED] = counts->unrenamed,
    };
    LS_ASSERT(search->set >= 0 && counts->faults >= 0);
    for (int i = 0; i < NUMBERS; i++) {
        savefile_put_number(file, number[i]);
    }
}

static void put_stats(struct savefile_writer *file, const struct check_stats *stats)
{
    savefile_put_number(file, stats->violated);
    for (int i = 0; i < CHECK_PROPERTIES_MAX; i++) {
        const struct check_finding *finding = &stats->finding[i];
        savefile_put_number(file, finding->premises);
        savefile_put_number(file, finding->violated);
        savefile_put_number(file, finding->step);
        savefile_put_number(file, finding->event_kind);
        savefile_put_number(file, finding->process);
        savefile_put_number(file, (uint64_t)finding->now_ms);
        savefile_put_bytes(file, finding->why, strnlen(finding->why, CHECK_WHY_MAX));
    }
}

static void put_tried(struct savefile_writer *file, const struct search *search)
{
    const struct tried *tried = &search->run->tried;
    savefile_put_number(file, tried->faults);
    savefile_put_number(file, tried->ended);
    savefile_put_number(file, tried->container);
    for (int p = 0; p < search->run->setup.scenario->options.processes; p++) {
        savefile_put_number(file, tried->step[p]);
    }
}

static void put_stacks(struct savefile_writer *file, const struct checkpoint *c, const struct stack *stacks,
                       int count)
{
    size_t taken = atomic_load(&c->taken);
    taken = taken < c->stacks ? taken : c->stacks;
    LS_ASSERT(taken <= c->stacks && count >= 0);
    savefile_put_number(file, (uint64_t)count + c->stacks - taken);
    for (int i = 0; i < count; i++) {
        savefile_put_bytes(file, stacks[i].bytes, stacks[i].size);
    }
    for (size_t i = taken; i < c->stacks; i++) {
        savefile_put_bytes(file, c->stack[i].bytes, c->stack[i].size);
    }
}

static void put_fingerprints(struct savefile_writer *file, const struct visited *visited)
{
    static uint64_t fingerprint[FINGERPRINTS_AT_ONCE];
    uint64_t at = 0;
    size_t count;
    savefile_put_number(file, visited_count(visited));
    while ((count = visited_copy(visited, &at, fingerprint, FINGERPRINTS_AT_ONCE)) > 0) {
        savefile_put(file, fingerprint, count * sizeof *fingerprint);
        run_beat();
    }
}

static void note_time(struct search *search, double began)
{
    struct checkpoint *c = search->checkpoint;
    double now = now_s();
    LS_ASSERT(now >= began);
    double rest = c->every_s > 0 ? (now - began) * REST_AFTER : 0;
    c->due_s = now + (c->every_s > rest ? c->every_s : rest);
    if (c->error == 0) {
        search->counts->saved_ms = (uint64_t)(now * 1000);
    }
    search->counts->saving_ms += (uint64_t)((now - began) * 1000);
}

void checkpoint_save(struct search *search, const struct check_stats *stats, const struct stack *stacks,
                     int count)
{
    struct checkpoint *c = search->checkpoint;
    struct savefile_writer file;
    double began = now_s();
    LS_ASSERT(count >= 0 && checkpoint_is_wanted(search));
    search->counts->saving = true;
    savefile_create(&file, c->path);
    put_head(&file, search);
    put_numbers(&file, search, STAGE_STATES);
    put_stats(&file, stats);
    put_tried(&file, search);
    put_stacks(&file, c, stacks, count);
    put_fingerprints(&file, search->visited);
    c->error = savefile_finish(&file) == 0 ? 0 : errno;
    note_time(search, began);
    search->counts->saving = false;
}

static void save_stage(struct search *search, enum stage stage)
{
    struct savefile_writer file;
    double began = now_s();
    if (!checkpoint_is_wanted(search)) {
        return;
    }
    savefile_create(&file, search->checkpoint->path);
    put_head(&file, search);
    put_numbers(&file, search, stage);
    put_stats(&file, &search->run->stats);
    put_tried(&file, search);
    search->checkpoint->error = savefile_finish(&file) == 0 ? 0 : errno;
    note_time(search, began);
}

void checkpoint_save_layers(struct search *search)
{
    save_stage(search, STAGE_LIVE);
}

void checkpoint_save_end(struct search *search)
{
    save_stage(search, STAGE_DONE);
}

bool checkpoint_is_wanted(const struct search *search)
{
    return search->checkpoint != NULL && search->checkpoint->path != NULL;
}

bool checkpoint_is_due(const struct search *search)
{
    return checkpoint_is_wanted(search) && now_s() >= search->checkpoint->due_s;
}

int checkpoint_error(const struct search *search)
{
    return search->checkpoint != NULL ? search->checkpoint->error : 0;
}

/* ---- reading ---- */

static void free_identity(struct identity *identity)
{
    free(identity->build);
    free(identity->options);
    free(identity->scenario);
}

static bool take_identity(struct savefile_reader *file, struct identity *identity)
{
    char magic[MAGIC_BYTES];
    *identity = (struct identity){0};
    return savefile_take(file, magic, sizeof magic) && memcmp(magic, MAGIC, sizeof magic) == 0 &&
           (identity->build = (char *)savefile_take_bytes(file, &identity->build_size)) != NULL &&
           (identity->options = (char *)savefile_take_bytes(file, &identity->options_size)) != NULL &&
           (identity->scenario = (char *)savefile_take_bytes(file, &identity->scenario_size)) != NULL;
}

static bool take_finding(struct savefile_reader *file, struct check_finding *finding)
{
    uint64_t violated, event_kind, process, now_ms;
    size_t size = 0;
    if (!savefile_take_number(file, &finding->premises) || !savefile_take_number(file, &violated) ||
        !savefile_take_number(file, &finding->step) || !savefile_take_number(file, &event_kind) ||
        !savefile_take_number(file, &process) || !savefile_take_number(file, &now_ms)) {
        return false;
    }
    unsigned char *why = savefile_take_bytes(file, &size);
    bool well = why != NULL && size < CHECK_WHY_MAX && violated <= 1 && event_kind < EVENT_KINDS &&
                process <= UINT8_MAX;
    if (well) {
        finding->violated = violated != 0;
        finding->event_kind = (uint8_t)event_kind;
        finding->process = (uint8_t)process;
        finding->now_ms = (int64_t)now_ms;
        memcpy(finding->why, why, size + 1);
    }
    free(why);
    return well;
}

static bool take_stats(struct savefile_reader *file, struct check_stats *stats)
{
    uint64_t violated;
    if (!savefile_take_number(file, &violated) || violated >> CHECK_PROPERTIES_MAX != 0) {
        return false;
    }
    stats->violated = violated;
    for (int i = 0; i < CHECK_PROPERTIES_MAX; i++) {
        if (!take_finding(file, &stats->finding[i])) {
            return false;
        }
    }
    return true;
}

/* Reads a number; false if it has more than `bits` bits. */
static bool take_bits(struct savefile_reader *file, int bits, uint32_t *out)
{
    uint64_t number;
    bool taken = savefile_take_number(file, &number) && number >> bits == 0;
    *out = taken ? (uint32_t)number : 0;
    return taken;
}

static bool take_tried(struct savefile_reader *file, const struct world_options *options, struct tried *tried)
{
    uint32_t container = 0;
    bool taken = take_bits(file, WORLD_FAULTS, &tried->faults) &&
                 take_bits(file, options->processes, &tried->ended) && take_bits(file, 1, &container);
    tried->container = container != 0;
    for (int p = 0; taken && p < options->processes; p++) {
        taken = take_bits(file, options->program[p].count, &tried->step[p]);
    }
    return taken;
}

static bool take_numbers(struct savefile_reader *file, uint64_t number[NUMBERS])
{
    for (int i = 0; i < NUMBERS; i++) {
        if (!savefile_take_number(file, &number[i])) {
            return false;
        }
    }
    return number[NUMBER_STAGE] < STAGES && number[NUMBER_SET] < INT32_MAX &&
           number[NUMBER_LAYER] < INT32_MAX;
}

static bool take_stacks(struct savefile_reader *file, struct checkpoint *c)
{
    uint64_t count;
    if (!savefile_take_number(file, &count) || count > STACKS_MAX) {
        return false;
    }
    c->stack = calloc((size_t)count + 1, sizeof *c->stack);
    for (; c->stack != NULL && c->stacks < count; c->stacks++) {
        struct stack *stack = &c->stack[c->stacks];
        stack->bytes = savefile_take_bytes(file, &stack->size);
        if (stack->bytes == NULL) {
            return false;
        }
        stack->max = stack->size;
    }
    return c->stack != NULL;
}

static bool take_fingerprints(struct savefile_reader *file, struct search *search)
{
    static uint64_t fingerprint[FINGERPRINTS_AT_ONCE];
    uint64_t left;
    if (!savefile_take_number(file, &left) || left > file->left / sizeof *fingerprint ||
        left != search->counts->states) {
        return false;
    }
    if (!visited_reserve(search->visited, left)) {
        search->limit = "the memory for states is too small for those of the checkpoint (see --max-memory)";
        return false;
    }
    while (left > 0) {
        size_t count = left < FINGERPRINTS_AT_ONCE ? (size_t)left : FINGERPRINTS_AT_ONCE;
        if (!savefile_take(file, fingerprint, count * sizeof *fingerprint)) {
            return false;
        }
        for (size_t i = 0; i < count; i++) {
            if (visited_add(search->visited, fingerprint[i]) != VISITED_NEW) {
                return false;
            }
        }
        left -= count;
        run_beat();
    }
    return true;
}

static int complain(const char *path, const char *what, char found[CHECKPOINT_TEXT_MAX])
{
    snprintf(found, CHECKPOINT_TEXT_MAX, "%.1000s%s%.300s", path, what[0] != 0 ? ": " : "", what);
    return -1;
}

static int compare(const char *path, const struct identity *is, const char *options,
                   const struct scenario *scenario, char expected[CHECKPOINT_TEXT_MAX],
                   char found[CHECKPOINT_TEXT_MAX])
{
    char build[BUILD_ID_MAX];
    build_id(build);
    if (strcmp(is->build, build) != 0) {
        snprintf(expected, CHECKPOINT_TEXT_MAX, "a checkpoint of this build of lockstep (%s)", build);
        return complain(path, is->build, found);
    }
    if (strcmp(is->options, options) != 0) {
        snprintf(expected, CHECKPOINT_TEXT_MAX, "the options of the checkpoint %.600s (%.600s)", path,
                 is->options);
        return complain(options, "", found);
    }
    if (is->scenario_size != scenario->input.size ||
        memcmp(is->scenario, scenario->input.text, is->scenario_size) != 0) {
        snprintf(expected, CHECKPOINT_TEXT_MAX, "the scenario of the checkpoint %.1000s, word for word",
                 path);
        return complain(scenario->input.name, "", found);
    }
    return 0;
}

int checkpoint_check(const char *path, const char *identity, const struct scenario *scenario,
                     char expected[CHECKPOINT_TEXT_MAX], char found[CHECKPOINT_TEXT_MAX])
{
    struct savefile_reader file;
    struct identity is = {0};
    snprintf(expected, CHECKPOINT_TEXT_MAX, "a checkpoint");
    if (savefile_open(&file, path) != 0 && errno != EBADMSG) {
        return complain(path, strerror(errno), found);
    }
    bool read = file.block != NULL && take_identity(&file, &is);
    bool whole = file.block != NULL && savefile_close(&file);
    int result = read && whole ? compare(path, &is, identity, scenario, expected, found)
                               : complain(path, "damaged or incomplete", found);
    free_identity(&is);
    return result;
}

void checkpoint_is_wrong(struct search *search, const char *why)
{
    snprintf(search->wrong, sizeof search->wrong, "%.300s cannot be gone on with: %s",
             search->checkpoint->from, why);
}

static bool read_up_to_fingerprints(struct search *search)
{
    struct checkpoint *c = search->checkpoint;
    char expected[CHECKPOINT_TEXT_MAX], found[CHECKPOINT_TEXT_MAX];
    struct identity is;
    if (savefile_open(&c->reader, c->from) != 0) {
        checkpoint_is_wrong(search, strerror(errno));
        return false;
    }
    c->resumes = true;
    bool read =
        take_identity(&c->reader, &is) &&
        compare(c->from, &is, search->options->identity, search->run->setup.scenario, expected, found) == 0 &&
        take_numbers(&c->reader, c->number) && take_stats(&c->reader, &c->stats) &&
        take_tried(&c->reader, &search->run->setup.scenario->options, &c->tried) &&
        (c->number[NUMBER_STAGE] != STAGE_STATES || take_stacks(&c->reader, c));
    free_identity(&is);
    if (!read) {
        checkpoint_is_wrong(search, "it is damaged");
    }
    return read;
}

bool checkpoint_open(struct search *search)
{
    LS_ASSERT(search->checkpoint == NULL);
    const struct explore_options *options = search->options;
    if (options->checkpoint == NULL && options->resume == NULL) {
        return true;
    }
    struct checkpoint *c = mmap(NULL, sizeof *c, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (c == MAP_FAILED) {
        snprintf(search->wrong, sizeof search->wrong, "memory is short");
        return false;
    }
    search->checkpoint = c;
    c->path = options->checkpoint;
    c->from = options->resume;
    c->every_s = options->checkpoint_every_s;
    c->due_s = now_s() + c->every_s;
    return c->from == NULL || read_up_to_fingerprints(search);
}

void checkpoint_close(struct search *search)
{
    struct checkpoint *c = search->checkpoint;
    if (c == NULL) {
        return;
    }
    if (c->resumes) {
        savefile_close(&c->reader);
    }
    for (size_t i = 0; i < c->stacks; i++) {
        stack_free(&c->stack[i]);
    }
    free(c->stack);
    munmap(c, sizeof *c);
    search->checkpoint = NULL;
}

/* ---- continuing ---- */

bool checkpoint_resumes(const struct search *search)
{
    return search->checkpoint != NULL && search->checkpoint->resumes;
}

bool checkpoint_layers_done(const struct search *search)
{
    return checkpoint_resumes(search) && search->checkpoint->number[NUMBER_STAGE] == STAGE_LIVE;
}

bool checkpoint_is_done(const struct search *search)
{
    return checkpoint_resumes(search) && search->checkpoint->number[NUMBER_STAGE] == STAGE_DONE;
}

int checkpoint_set(const struct search *search)
{
    LS_ASSERT(checkpoint_resumes(search));
    return (int)search->checkpoint->number[NUMBER_SET];
}

int checkpoint_layer(const struct search *search)
{
    LS_ASSERT(checkpoint_resumes(search));
    return (int)search->checkpoint->number[NUMBER_LAYER];
}

static void set_counts(struct search *search, const uint64_t number[NUMBERS])
{
    struct search_counts *counts = search->counts;
    search->sums.states = number[NUMBER_SUM_STATES];
    search->sums.transitions = number[NUMBER_SUM_TRANSITIONS];
    search->sums.depth = number[NUMBER_SUM_DEPTH];
    counts->states = number[NUMBER_STATES];
    counts->transitions = number[NUMBER_TRANSITIONS];
    counts->depth = number[NUMBER_DEPTH];
    counts->earlier_states = number[NUMBER_EARLIER_STATES];
    counts->earlier_transitions = number[NUMBER_EARLIER_TRANSITIONS];
    counts->live_states = number[NUMBER_LIVE_STATES];
    counts->live_transitions = number[NUMBER_LIVE_TRANSITIONS];
    counts->live_bytes = number[NUMBER_LIVE_BYTES];
    counts->unrenamed = number[NUMBER_UNRENAMED];
}

bool checkpoint_enter(struct search *search)
{
    struct checkpoint *c = search->checkpoint;
    bool stateless = c->number[NUMBER_STAGE] != STAGE_STATES;
    LS_ASSERT(c->resumes);
    c->resumes = false;
    set_counts(search, c->number);
    search->run->stats = c->stats;
    search->run->tried = c->tried;
    bool well = (stateless || take_fingerprints(&c->reader, search)) && c->reader.left == 0;
    bool whole = savefile_close(&c->reader);
    if (search->limit == NULL && (!well || !whole)) {
        checkpoint_is_wrong(search, "it is damaged");
    }
    return well && whole;
}

const struct stack *checkpoint_take(const struct search *search)
{
    struct checkpoint *c = search->checkpoint;
    if (c == NULL || atomic_load(&c->taken) >= c->stacks) {
        return NULL;
    }
    size_t index = atomic_fetch_add(&c->taken, 1);
    return index < c->stacks ? &c->stack[index] : NULL;
}
