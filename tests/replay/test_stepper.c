/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* A stepper: the state at a position is the same whenever it is reached, bit for bit. It shows the text of a
 * replay. A run that has left its trace is a trace again. */
#include "replay/stepper.h"
#include "scenario/random.h"
#include "scenario/recipes.h"
#include "support/build_kind.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#define POSITIONS_MAX 2000
#define BACK_MS_MAX 100 /* of a step back in a trace of 1,000 steps */

static const char SEARCHED[] = "mutex /locks/x\nprocess a b: acquire release\nexplore loss<=1\n----\n";

/* A process waits for ever: a mark, and a circle of no step. */
static const char LASSO[] =
    "lockstep-trace 1\ntool 0\nrecipe broken-no-protection\nschedule search\nseed 0\n"
    "found can_always_be_served\nscenario 5 lasso.scn\n| world used\n| mutex /locks/x\n"
    "| process a: acquire release\n| explore loss<=1\n| ----\nchoices 16\n"
    "0 connect a s1\n0 deliver a session-connected\n0 a acquire\n2 cut a keep=0 apply=1 rc=-4\n"
    "- hopeless a\n0 deliver a session-connecting\n0 deliver a create-reply\n0 connect a s1\n"
    "0 deliver a session-connected\n0 apply s1 a create\n0 deliver a create-reply\n0 apply s1 a list\n"
    "0 deliver a list-reply\n0 apply s1 a get\n0 deliver a get-reply\n- cycle\nend 16\n";

/* A clock, and a script whose verbs are in no list of choices. */
static const char DIRECTED[] =
    "lockstep-trace 1\ntool 0\nrecipe mutex\nschedule directed\nseed 0\nfound difference\n"
    "scenario 5 directed.scn\n| mutex /locks/x\n| process a\n| a acquire\n| settle\n| ----\n"
    "choices 4\n- a acquire\n0 advance\n0 connect a s1\n0 deliver a session-connected\nend 4\n";

/* ---- what a stepper tells ---- */

struct hearing {
    char *text; /* what was shown */
    size_t size;
    FILE *out;
    struct run *run;
};

static void on_begin(void *ctx, struct run *run)
{
    ((struct hearing *)ctx)->run = run;
}

static void on_choice(void *ctx, const struct replay_step *step, bool shown)
{
    if (shown) {
        replay_print_choice(((struct hearing *)ctx)->out, step);
    }
}

static void on_step(void *ctx, const struct replay_step *step, bool shown)
{
    const struct hearing *hearing = ctx;
    if (shown) {
        replay_print_step(hearing->out, step, hearing->run);
    }
}

static struct hearing hearing;
static const struct stepper_listener LISTENER = {&hearing, on_begin, on_choice, on_step};

/* Returns what was shown since the last call; the caller frees it. */
static char *heard(void)
{
    fclose(hearing.out);
    char *text = hearing.text;
    hearing.out = open_memstream(&hearing.text, &hearing.size);
    return text;
}

static struct stepper stepper;
static struct trace trace;

static void open_trace(const char *bytes)
{
    struct input_error error;
    assert_int_equal(trace_read_bytes(&trace, "t", bytes, strlen(bytes), &error), 0);
    hearing.out = open_memstream(&hearing.text, &hearing.size);
    if (stepper_open(&stepper, &trace, &LISTENER) != 0) {
        fail_msg("%s", stepper.error.text);
    }
}

static void close_stepper(void)
{
    fclose(hearing.out);
    free(hearing.text);
    stepper_close(&stepper);
}

static void close_trace(void)
{
    close_stepper();
    trace_close(&trace);
}

/* ---- traces ---- */

/* Returns the trace of the first violation of a random run; the caller frees it. */
static char *record(const char *recipe, const char *text)
{
    static struct outcome outcome;
    struct scenario scenario;
    struct input_error error;
    char folder[] = "/tmp/lockstep-stepper-XXXXXX", *bytes = calloc(1, 1 << 20);
    assert_non_null(mkdtemp(folder));
    assert_int_equal(scenario_read_bytes(&scenario, "random.scn", text, strlen(text), &error), 0);
    struct run_setup setup = {.scenario = &scenario, .recipe = recipe_find(recipe)};
    memset(&outcome, 0, sizeof outcome);
    random_run(&setup, 1, 1000, folder, &outcome);
    assert_int_equal(outcome.verdict, VERDICT_VIOLATED);
    FILE *file = fopen(outcome.trace, "rb");
    assert_non_null(file);
    assert_true(fread(bytes, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    remove(outcome.trace);
    remove(folder);
    scenario_close(&scenario);
    return bytes;
}

/* ---- the same state at each position ---- */

static struct world_image *image[POSITIONS_MAX];
static char *shown[POSITIONS_MAX];

static struct world_image *state_now(void)
{
    struct world_image *now = world_save(hearing.run->world);
    assert_non_null(now);
    return now;
}

/* Expects the state of the first time, and the text. */
static void expect_position(int position)
{
    struct world_image *now = state_now();
    char *text = heard();
    assert_int_equal(stepper.position, position);
    if (!world_image_equal(now, image[position])) {
        fail_msg("another state at position %d", position);
    }
    assert_string_equal(text, shown[position]);
    world_image_free(now);
    free(text);
}

/* Goes forward to the end, and keeps the states and texts. Returns the last position. */
static int go_through(void)
{
    enum stepper_answer answer = STEPPER_DONE;
    while (answer == STEPPER_DONE) {
        assert_true(stepper.position < POSITIONS_MAX);
        image[stepper.position] = state_now();
        shown[stepper.position] = heard();
        answer = stepper_forward(&stepper);
    }
    assert_int_equal(answer, STEPPER_END);
    return stepper.position;
}

static void forget(int last)
{
    for (int i = 0; i <= last; i++) {
        world_image_free(image[i]);
        free(shown[i]);
    }
}

/* Expects that a replay prints the head, all that was shown, and the end. */
static void expect_replay(int last)
{
    char *stepped, *replayed;
    size_t size;
    struct input_error error;
    FILE *out = open_memstream(&stepped, &size);
    replay_print_head(out, &trace);
    for (int i = 0; i <= last; i++) {
        fputs(shown[i], out);
    }
    fputc('\n', out);
    replay_print_end(out, hearing.run);
    fclose(out);
    close_stepper();
    out = open_memstream(&replayed, &size);
    assert_int_not_equal(replay_trace(&trace, out, &error), REPLAY_UNFIT);
    fclose(out);
    assert_string_equal(stepped, replayed);
    free(stepped);
    free(replayed);
}

/* Goes back step by step, then here and there, then through the whole once more. */
static void expect_to_and_fro(const char *bytes)
{
    open_trace(bytes);
    int last = go_through();
    for (int i = last - 1; i >= 0; i--) {
        assert_int_equal(stepper_go(&stepper, i), STEPPER_DONE);
        expect_position(i);
    }
    for (int i = 0; i <= last; i++) {
        int position = (int)((unsigned)i * 7919u % (unsigned)(last + 1));
        assert_int_equal(stepper_go(&stepper, position), STEPPER_DONE);
        expect_position(position);
    }
    assert_int_equal(stepper_go(&stepper, last), STEPPER_DONE);
    expect_position(last);
    expect_replay(last);
    trace_close(&trace);
    forget(last);
}

static void back_is_the_same_state(void **state)
{
    (void)state;
    char *bytes = record("broken-no-protection", SEARCHED);
    expect_to_and_fro(bytes);
    expect_to_and_fro(LASSO);
    expect_to_and_fro(DIRECTED);
    free(bytes);
}

/* ---- positions ---- */

static void positions_have_numbers(void **state)
{
    (void)state;
    open_trace(LASSO);
    assert_int_equal(stepper_position_of(&stepper, 0), 0);
    assert_int_equal(stepper_position_of(&stepper, 4), 4);
    assert_int_equal(stepper_position_of(&stepper, 5), 6); /* a mark has no number */
    assert_int_equal(stepper_position_of(&stepper, 15), -1);
    assert_int_equal(stepper_number(&stepper, 5), 0);
    assert_int_equal(stepper_number(&stepper, 6), 5);
    int position;
    assert_int_equal(stepper_violation(&stepper, &position), STEPPER_DONE);
    assert_int_equal(position, 17); /* the end of the circle */
    assert_int_equal(stepper.position, 0);
    assert_int_equal(stepper_go(&stepper, 17), STEPPER_DONE);
    assert_int_equal(stepper_violation(&stepper, &position), STEPPER_DONE);
    assert_int_equal(position, 17);
    assert_int_equal(stepper_forward(&stepper), STEPPER_END);
    assert_int_equal(stepper_finish(&stepper), REPLAY_VIOLATED);
    close_trace();
}

static void steps_of_a_process_are_found(void **state)
{
    (void)state;
    open_trace(DIRECTED);
    assert_int_equal(stepper_forward_to(&stepper, 0), STEPPER_DONE);
    assert_int_equal(stepper.position, 1);
    assert_int_equal(stepper_forward_to(&stepper, 0), STEPPER_DONE); /* no process takes part in `advance` */
    assert_int_equal(stepper.position, 3);
    assert_int_equal(stepper_before(&stepper, 0), 1);
    assert_int_equal(stepper_before(&stepper, 1), 0);
    assert_int_equal(stepper_forward_to(&stepper, 1), STEPPER_END);
    assert_int_equal(stepper.position, 4);
    close_trace();
}

/* ---- other choices ---- */

/* Returns the number of a choice with this label, from 1; 0 = there is none. */
static int choice_with(const char *label)
{
    int count = stepper_choices(&stepper);
    for (int i = 0; i < count; i++) {
        if (strcmp(stepper.choice[i].label, label) == 0) {
            return i + 1;
        }
    }
    return 0;
}

static void choices_are_listed(void **state)
{
    (void)state;
    open_trace(DIRECTED);
    assert_int_equal(choice_with("a acquire"), 1); /* the script's */
    assert_true(stepper.choice[0].taken);
    close_trace();
    open_trace(LASSO);
    assert_int_equal(stepper_go(&stepper, 3), STEPPER_DONE);
    int cut = choice_with("cut a keep=0 apply=1 rc=-4");
    assert_true(cut > 1 && stepper.choice[cut - 1].taken && stepper.choice[cut - 1].fault);
    assert_false(stepper.choice[0].fault);
    assert_int_equal(stepper_go(&stepper, 4), STEPPER_DONE);
    assert_int_equal(choice_with("hopeless a"), 1);
    close_trace();
}

/* Writes the run as a trace, and reads it anew. Expects that its end is the present state. */
static void expect_saved(const char *expected)
{
    char found[1000], *bytes;
    size_t size;
    FILE *file = open_memstream(&bytes, &size);
    struct world_image *before = state_now();
    assert_int_equal(stepper_write(&stepper, file, found, sizeof found), STEPPER_DONE);
    fclose(file);
    assert_string_equal(found, expected);
    close_trace();
    open_trace(bytes);
    assert_string_equal(trace.found, expected);
    int last = go_through();
    struct world_image *after = state_now();
    assert_true(world_image_equal(before, after));
    assert_int_equal(stepper_finish(&stepper),
                     strcmp(expected, "nothing") == 0 ? REPLAY_HOLDS : REPLAY_VIOLATED);
    world_image_free(before);
    world_image_free(after);
    forget(last);
    free(bytes);
}

static void a_choice_leaves_the_trace(void **state)
{
    (void)state;
    open_trace(LASSO);
    assert_int_equal(stepper_go(&stepper, 3), STEPPER_DONE);
    assert_int_equal(stepper_take(&stepper, "apply s1 a create"), STEPPER_DONE);
    assert_true(stepper.left);
    assert_int_equal(stepper.position, 4);
    assert_int_equal(stepper_last(&stepper), 4);
    for (int i = 0; i < 100 && stepper_forward(&stepper) == STEPPER_DONE; i++) {
    }
    assert_string_equal(stepper_label(&stepper, stepper_last(&stepper)), "rest");
    assert_int_equal(stepper_forward(&stepper), STEPPER_END);
    expect_saved("nothing");
    close_trace();
}

/* The choice of the trace itself leaves nothing, and one that is not possible changes nothing. */
static void a_choice_may_be_the_same(void **state)
{
    (void)state;
    open_trace(LASSO);
    assert_int_equal(stepper_take(&stepper, "connect a s1"), STEPPER_DONE);
    assert_int_equal(stepper_take(&stepper, "deliver a create-reply"), STEPPER_WRONG);
    assert_int_equal(stepper_take(&stepper, "rest"), STEPPER_WRONG);
    assert_int_equal(stepper_take(&stepper, "expire a"), STEPPER_WRONG); /* without a budget */
    assert_int_equal(stepper_take(&stepper, "no label"), STEPPER_WRONG);
    assert_false(stepper.left);
    assert_int_equal(stepper_last(&stepper), 16);
    assert_int_equal(stepper.position, 1);
    close_trace();
}

/* The mark of a circle is dropped, so that faults are possible again; that of a process stays. */
static void a_circle_can_be_left(void **state)
{
    (void)state;
    char bytes[sizeof LASSO];
    memcpy(bytes, LASSO, sizeof LASSO);
    char *budget = strstr(bytes, "loss<=1");
    budget[6] = '2';
    open_trace(bytes);
    assert_int_equal(stepper_go(&stepper, 16), STEPPER_DONE);
    assert_int_equal(choice_with("cut a keep=0 apply=0 rc=-4"), 0); /* faults are over */
    assert_int_equal(stepper_go(&stepper, 15), STEPPER_DONE);
    assert_true(choice_with("cut a keep=0 apply=0 rc=-4") > 0);
    assert_int_equal(stepper_take(&stepper, "cut a keep=0 apply=0 rc=-4"), STEPPER_DONE);
    assert_int_equal(stepper_last(&stepper), 16);
    assert_string_equal(stepper_label(&stepper, 5), "hopeless a");
    assert_int_equal(stepper_finish(&stepper), REPLAY_HOLDS);
    expect_saved("nothing");
    close_trace();
}

/* ---- traces that do not fit ---- */

/* Replaces the first `old` by a text of the same length. */
static void overwrite(char *bytes, const char *old, const char *text)
{
    char *at = strstr(bytes, old);
    assert_non_null(at);
    assert_int_equal(strlen(old), strlen(text));
    while (*text != 0) {
        *at++ = *text++;
    }
}

static void drift_leaves_the_position(void **state)
{
    (void)state;
    char bytes[sizeof DIRECTED];
    memcpy(bytes, DIRECTED, sizeof DIRECTED);
    overwrite(bytes, "connect a s1", "connect a s9");
    open_trace(bytes);
    assert_int_equal(stepper_go(&stepper, 2), STEPPER_DONE);
    struct world_image *before = state_now();
    for (int i = 0; i < 2; i++) {
        assert_int_equal(stepper_forward(&stepper), STEPPER_UNFIT);
        assert_non_null(strstr(stepper.error.text, "found 'connect a s9'"));
        assert_int_equal(stepper.position, 2);
    }
    assert_int_equal(stepper_take(&stepper, "connect a s1"), STEPPER_DONE);
    assert_int_equal(stepper_go(&stepper, 2), STEPPER_DONE);
    struct world_image *after = state_now();
    assert_true(world_image_equal(before, after));
    world_image_free(before);
    world_image_free(after);
    close_trace();
}

/* A label with a control character, wherever it is printed. */
static void a_label_is_printed_plainly(void **state)
{
    (void)state;
    char bytes[sizeof DIRECTED];
    memcpy(bytes, DIRECTED, sizeof DIRECTED);
    overwrite(bytes, "advance", "\x1b[31mxy");
    open_trace(bytes);
    assert_int_equal(stepper_go(&stepper, 2), STEPPER_UNFIT);
    char *text = heard();
    assert_non_null(strstr(text, "    2  ?[31mxy\n"));
    assert_null(strchr(text, 0x1b));
    assert_null(strchr(stepper.error.text, 0x1b));
    free(text);
    close_trace();
}

/* ---- memory ---- */

static bool memory_is_short;

/* The linker wants these names. NOLINTBEGIN(bugprone-reserved-identifier) */
struct canon *__wrap_world_canon(struct world *world);
struct canon *__real_world_canon(struct world *world);

/* The mark of a circle needs memory. */
struct canon *__wrap_world_canon(struct world *world)
{
    return memory_is_short ? NULL : __real_world_canon(world);
}

/* NOLINTEND(bugprone-reserved-identifier) */

/* A mark that was passed once cannot be passed again. */
static void a_shortage_of_memory_ends_the_stepper(void **state)
{
    (void)state;
    open_trace(LASSO);
    assert_int_equal(stepper_finish(&stepper), REPLAY_VIOLATED);
    memory_is_short = true;
    assert_int_equal(stepper_go(&stepper, 15), STEPPER_DONE);
    assert_int_equal(stepper_forward(&stepper), STEPPER_UNFIT);
    assert_int_equal(stepper.position, 15);
    memory_is_short = false;
    assert_int_equal(stepper_go(&stepper, 17), STEPPER_DONE);
    memory_is_short = true;
    assert_int_equal(stepper_go(&stepper, 16), STEPPER_LOST);
    assert_non_null(strstr(stepper.error.text, "found 'cycle'"));
    memory_is_short = false;
    close_trace();
}

/* ---- time ---- */

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

/* Time of the processor, which other programs do not change. */
static void back_is_quick(void **state)
{
    (void)state;
    static const char MANY[] = "world used\nmutex /locks/x\nprocess a b c d e f g h i j k l m n o p\n"
                               "a acquire\nb acquire\nc acquire\nd acquire\ne acquire\nf acquire\n"
                               "g acquire\nh acquire\ni acquire\nj acquire\nk acquire\nl acquire\n"
                               "m acquire\nn acquire\no acquire\np acquire\nsettle\nrest\n----\n";
    char *bytes = record("broken-busy-wait", MANY);
    double most_ms = is_slow_build() ? 20 * BACK_MS_MAX : BACK_MS_MAX;
    open_trace(bytes);
    assert_int_equal(stepper_finish(&stepper), REPLAY_VIOLATED);
    assert_true(stepper.position > 500);
    double begin_ms = now_ms();
    for (int i = 0; i < 10; i++) {
        assert_int_equal(stepper_go(&stepper, stepper.position - 1), STEPPER_DONE);
    }
    double back_ms = (now_ms() - begin_ms) / 10 * 1000 / (stepper.position + 5);
    print_message("%.1f ms for a step back, for 1,000 steps\n", back_ms);
    assert_true(back_ms < most_ms);
    close_trace();
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(back_is_the_same_state),
        cmocka_unit_test(positions_have_numbers),
        cmocka_unit_test(steps_of_a_process_are_found),
        cmocka_unit_test(choices_are_listed),
        cmocka_unit_test(a_choice_leaves_the_trace),
        cmocka_unit_test(a_choice_may_be_the_same),
        cmocka_unit_test(a_circle_can_be_left),
        cmocka_unit_test(drift_leaves_the_position),
        cmocka_unit_test(a_label_is_printed_plainly),
        cmocka_unit_test(a_shortage_of_memory_ends_the_stepper),
        cmocka_unit_test(back_is_quick),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
