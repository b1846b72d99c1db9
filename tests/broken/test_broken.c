/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Every broken recipe violates the property that it names, in the smallest situation that shows it, and the
 * recipe without the defect passes the same situation with the same property judged. */
#include "broken/stage.h"

#define SEEDS 4

struct situation {
    const char *recipe;
    int processes;
    int servers;
    bool timed;
    /* Labels of actions, separated by ';'. "settle", "pass N" (milliseconds) and "rest" are the schedule's.
     * What begins with '?' is done if it can be: recipes differ in their requests. All end with "settle;
     * rest". NULL: what it does wrong goes on for ever, and a search shows it (tests/cli/live.sh). */
    const char *script;
};

#define BETWEEN_LIST_AND_WATCH                                                                               \
    "a acquire; settle; b acquire; apply s1 b create; deliver b create-reply; apply s1 b list;"              \
    "deliver b list-reply; c acquire; apply s1 c create; a release; apply s1 a delete; settle; c release"
#define LOST_CREATE(rc)                                                                                      \
    "a acquire; settle; a release; settle; a acquire; apply s1 a create; cut a keep=0 apply=0 rc=" rc
#define THREE_IN_LINE "a acquire; settle; b acquire; settle; c acquire; settle;"
#define LINE_MOVES "b acquire; settle; c acquire; settle; b release; settle; c release; settle;"
#define SESSION_ENDS "expire a; bury a; hang-up a;"

static const struct situation situations[] = {
    {"broken-no-sort", 3, 1, false, THREE_IN_LINE},
    {"broken-full-name-order", 2, 1, false, "b acquire; settle; a acquire"},
    {"broken-event-is-grant", 3, 1, false, THREE_IN_LINE "b cancel"},
    {"broken-any-event-is-grant", 2, 1, false,
     "a acquire; settle; b acquire; settle; cut b keep=0 apply=0 rc=-4"},
    {"broken-by-name-only", 2, 1, false,
     "b acquire; settle; b release; settle; a acquire; apply s1 a create; expire a; cut a keep=0 apply=0 "
     "rc=-4;"
     "deliver a session-connecting; deliver a create-reply; connect a s1; deliver a session-expired;"
     "fire a reopen-timer; connect a s1; deliver a session-connected; ?apply s1 a list; ?deliver a "
     "list-reply;"
     "?apply s1 a get; ?deliver a get-reply; ?apply s1 a list; ?deliver a list-reply"},
    {"broken-ignores-loss", 2, 1, true, "a acquire; settle; b acquire; settle; partition a; pass 4100"},
    {"broken-session-token", 1, 1, false, "a acquire; settle; a release; settle; a acquire"},
    {"broken-sequence-token", 1, 1, false,
     "a acquire; settle; a release; settle; sweep x; settle; a acquire"},
    {"broken-narrow-token", 1, 3, false,
     "a acquire; settle; a release; settle; restart-server s1; settle; a acquire"},
    {"broken-guards-directory", 2, 1, false,
     "a acquire; settle; remove /locks/x; b acquire; settle; a write guarded"},
    {"broken-waits-for-absent", 3, 1, false, BETWEEN_LIST_AND_WATCH},
    {"broken-mixed-orders", 2, 1, false, "b acquire; settle; a acquire; settle; b release"},
    {"broken-early-events", 3, 1, false, LINE_MOVES "a acquire"},
    {"broken-waits-for-answers", 3, 1, false,
     LINE_MOVES SESSION_ENDS
     "a acquire; deliver a session-connecting; connect a s1; deliver a session-expired;"
     "fire a reopen-timer"},
    {"broken-trusts-calls", 3, 1, false,
     LINE_MOVES "a acquire; apply s1 a create;" SESSION_ENDS "connect a s1"},
    {"broken-no-protection", 1, 1, false, LOST_CREATE("-4")},
    {"broken-minus-seven", 1, 1, false, LOST_CREATE("-7")},
    {"broken-no-sync", 1, 2, false,
     "a acquire; settle; a release; settle; lag s2; a acquire; apply s1 a create; cut a keep=0 apply=0 rc=-4;"
     "deliver a session-connecting; deliver a create-reply; connect a s2; settle; thaw s2"},
    {"broken-cancel-leaks", 2, 1, false, "a acquire; settle; b acquire; settle; b cancel"},
    {"broken-cleanup-once", 2, 1, false,
     "a acquire; settle; b acquire; settle; b cancel; apply s1 b unwatch; deliver b unwatch-reply;"
     "cut b keep=0 apply=0 rc=-4"},
    {"broken-release-once", 2, 1, false,
     "a acquire; settle; b acquire; settle; a release; cut a keep=0 apply=0 rc=-4"},
    {"broken-herd", 3, 1, false, THREE_IN_LINE "a release"},
    {"broken-watches-first", 3, 1, false, THREE_IN_LINE "a release"},
    {"broken-exists-watch", 3, 1, false, BETWEEN_LIST_AND_WATCH},
    {"broken-keeps-watch", 2, 1, false, "a acquire; settle; b acquire; settle; b cancel"},
    {"broken-gives-up-place", 3, 1, false, BETWEEN_LIST_AND_WATCH},
    {"broken-never-deletes", 1, 1, false, "a acquire; settle; a release"},
    {"broken-depth", 1, 1, false, "a acquire; settle; a acquire; settle; a release"},
    {"broken-release-by-anyone", 1, 1, false, "a acquire; settle; a release owner=1"},
    {"broken-loss-untold", 1, 1, false, "a acquire; settle; expire a"},
    {"broken-suspension-untold", 1, 1, false, "a acquire; settle; cut a keep=0 apply=0 rc=-4"},
    {"broken-forgets-timeout", 2, 1, true,
     "a acquire; settle; b acquire timeout=3s; settle; partition b; pass 3300; heal b"},
    {"broken-busy-wait", 2, 1, false, "a acquire; settle; b acquire"},
    {"broken-retry-loop", 4, 1, false, THREE_IN_LINE "d acquire; settle; a release"},
    {"broken-expects-create", 2, 1, false, NULL},
    {"broken-mutual-reset", 2, 1, false, NULL},
    {"broken-tries-again", 2, 1, false, NULL},
    {"broken-steps-aside", 2, 1, false, NULL},
    {"broken-keeps-for-itself", 2, 1, false, NULL},
    {"broken-revokes-by-force", 2, 1, true, "a acquire; settle; b acquire; settle; b revoke"},
    {"broken-drops-node", 1, 1, false, "a acquire; settle; cut a keep=0 apply=0 rc=-4"},
    {"broken-times-out-early", 2, 1, false,
     "a acquire; settle; b acquire; settle; cut b keep=0 apply=0 rc=-4; settle; a release; settle"},
    {"broken-busy-if-new", 1, 1, false, "settle; a try; settle; ?a release"},
    {"broken-frees-silently", 1, 1, false, "a acquire; settle; a release;" SESSION_ENDS},
    {"broken-fails-at-once", 2, 1, false, "a acquire; settle; ?a release; settle; b acquire"},
    {"broken-no-margin", 1, 1, true, "a acquire; settle; pause a; pass 7000; resume a"},
    {"broken-locks-twice", 3, 1, false, BETWEEN_LIST_AND_WATCH},
    {"broken-asks-nobody", 1, 1, false, "settle; a revoke"},
};
/* Of some the run's constants are part. */
static const struct {
    const char *recipe;
    bool callbacks_in_init;
    unsigned defects;
} constants[] = {{"broken-early-events", true, 0},
                 {"broken-waits-for-answers", false, WORLD_DEFECT_DROP_AT_CLOSE}};

enum { SITUATIONS = sizeof situations / sizeof situations[0] };

static void play_label(struct stage *stage, const char *label, bool optional)
{
    struct action action;
    const char *why = "";
    int rc = world_find(stage->world, label, &action, &why);
    if (rc == 0)
        rc = world_apply(stage->world, &action);
    if (rc != 0 && !optional)
        fail_msg("\"%s\" cannot be done: %s", label, why);
}

static void play(struct stage *stage, const char *script)
{
    char *copy = strdup(script);
    char *rest = NULL;
    for (char *word = strtok_r(copy, ";", &rest); word; word = strtok_r(NULL, ";", &rest)) {
        word += strspn(word, " ");
        bool optional = *word == '?';
        stage->stats.step++;
        if (*word == 0)
            continue;
        if (strcmp(word, "settle") == 0)
            world_settle(stage->world, STAGE_STEPS_MAX, NULL, NULL);
        else if (strncmp(word, "pass ", 5) == 0)
            world_pass_time(stage->world, atoi(word + 5), STAGE_STEPS_MAX, NULL, NULL);
        else
            play_label(stage, word + optional, optional);
    }
    world_settle(stage->world, STAGE_STEPS_MAX, NULL, NULL);
    world_rest(stage->world);
    free(copy);
}

static void open_situation(struct stage *stage, const struct situation *situation,
                           const struct ls_recipe *recipe, uint64_t seed)
{
    struct world_options options;
    stage_options(&options, recipe, situation->processes, situation->servers, situation->timed, seed);
    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++) {
        if (strcmp(constants[i].recipe, situation->recipe) == 0) {
            options.callbacks_in_init = constants[i].callbacks_in_init;
            options.defects = constants[i].defects;
        }
    }
    stage_open(stage, &options);
}

static const struct ls_recipe *recipe_named(const char *name)
{
    for (int i = 0; i < broken_recipes_count; i++)
        if (strcmp(broken_recipes[i]->name, name) == 0)
            return broken_recipes[i];
    return NULL;
}

static bool is_caught(const struct situation *situation, const struct ls_recipe *recipe, uint64_t seed)
{
    struct stage stage;
    open_situation(&stage, situation, recipe, seed);
    play(&stage, situation->script);
    bool caught = stage_violates(&stage, recipe->breaks);
    stage_close(&stage);
    return caught;
}

/* One seed is enough: what a list's order hides in one it shows in another. */
static void every_broken_recipe_is_caught(void **state)
{
    (void)state;
    for (int i = 0; i < SITUATIONS; i++) {
        const struct ls_recipe *recipe = recipe_named(situations[i].recipe);
        bool caught = false;
        assert_non_null(recipe);
        if (!situations[i].script)
            continue;
        for (uint64_t seed = 1; seed <= SEEDS && !caught; seed++)
            caught = is_caught(&situations[i], recipe, seed);
        if (!caught)
            fail_msg("%s is not caught violating %s", recipe->name, recipe->breaks);
    }
}

/* What no other property sees. */
static void some_are_caught_by_one_property_alone(void **state)
{
    static const char *const alone[] = {"broken-drops-node", "broken-times-out-early", "broken-busy-if-new",
                                        "broken-frees-silently", "broken-no-margin"};
    (void)state;
    for (size_t i = 0; i < sizeof alone / sizeof alone[0]; i++) {
        const struct ls_recipe *recipe = recipe_named(alone[i]);
        const struct situation *situation = situations;
        while (strcmp(situation->recipe, alone[i]) != 0)
            situation++;
        struct stage stage;
        open_situation(&stage, situation, recipe, 1);
        play(&stage, situation->script);
        assert_int_equal(stage.stats.violated, CHECK_BIT(check_position(recipe->breaks)));
        stage_close(&stage);
    }
}

static void without_the_defect_it_passes(void **state)
{
    (void)state;
    for (int i = 0; i < SITUATIONS; i++) {
        const char *breaks = recipe_named(situations[i].recipe)->breaks;
        for (uint64_t seed = 1; situations[i].script && seed <= SEEDS; seed++) {
            struct stage stage;
            open_situation(&stage, &situations[i], &textbook_recipe, seed);
            play(&stage, situations[i].script);
            stage_assert_clean(&stage, situations[i].recipe);
            if (check_position(breaks) >= 0 && stage_verdict(&stage, breaks) != CHECK_HOLDS)
                fail_msg("%s: %s is not judged", situations[i].recipe, breaks);
            stage_close(&stage);
        }
    }
}

static void each_recipe_has_one_situation_and_each_property_a_recipe(void **state)
{
    int count;
    const struct property *const *all = check_all(&count);
    (void)state;
    assert_int_equal(broken_recipes_count, SITUATIONS);
    for (int i = 0; i < SITUATIONS; i++) {
        const struct property *property = check_find(broken_recipes[i]->breaks);
        assert_string_equal(situations[i].recipe, broken_recipes[i]->name);
        assert_true((situations[i].script == NULL) == (property && property->needs_search));
    }
    for (int i = 0; i < count; i++) {
        /* tests/kinds/multi.sh, tests/coordredis/searches.sh */
        int found = (all[i]->modes & (PROPERTY_SEVERAL | PROPERTY_LEASES)) != 0;
        for (int r = 0; r < broken_recipes_count; r++)
            found += strcmp(broken_recipes[r]->breaks, all[i]->name) == 0;
        if (!found)
            fail_msg("no broken recipe violates %s", all[i]->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_recipe_has_one_situation_and_each_property_a_recipe),
        cmocka_unit_test(every_broken_recipe_is_caught),
        cmocka_unit_test(some_are_caught_by_one_property_alone),
        cmocka_unit_test(without_the_defect_it_passes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
