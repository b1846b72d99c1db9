/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "explore/self_check.h"

#include <stdio.h>

static void label_of(struct search *search, const struct action *action, char label[WORLD_LABEL_MAX])
{
    world_label(search->run->world, action, label);
}

static bool doubt_marks(struct search *search, const struct world_image *before, const char *label,
                        uint64_t depth)
{
    char block[WORLD_LABEL_MAX];
    if (!world_unmarked_write(search->run->world, before, block)) {
        return true;
    }
    search->wrong_step = depth;
    snprintf(search->wrong, sizeof search->wrong, "'%s' wrote to %s, which nobody had marked", label, block);
    return false;
}

/* Does a step in the world. Findings of the judges are dropped. Returns the fingerprint behind the step. */
static uint64_t do_step(struct search *search, const struct action *action, uint64_t depth)
{
    struct check_stats stats;
    check_stats_copy(&stats, &search->run->stats);
    run_do(search->run, action, depth);
    check_stats_copy(&search->run->stats, &stats);
    return world_fingerprint(search->run->world);
}

static bool ends_elsewhere(struct search *search, uint64_t depth, const char *label, const char *how)
{
    search->wrong_step = depth;
    snprintf(search->wrong, sizeof search->wrong,
             "'%s' ends in another state %s: it depends on something outside the world", label, how);
    return false;
}

/* Checks that a step ends in the same state without the names that the recipe says it does not look at. */
static bool doubt_unread(struct search *search, const struct action *action, uint64_t depth,
                         const char *label, uint64_t expected)
{
    return !world_drop_unread(search->run->world, action) || do_step(search, action, depth) == expected ||
           ends_elsewhere(search, depth, label, "if its list lacks names that the recipe does not look at");
}

bool distrust_step(struct search *search, const struct action *action, uint64_t depth, uint64_t expected)
{
    struct world *world = search->run->world;
    char label[WORLD_LABEL_MAX];
    label_of(search, action, label);
    struct world_image *before = world_save(world);
    if (before == NULL) {
        return true;
    }
    struct check_stats stats;
    check_stats_copy(&stats, &search->run->stats);
    run_do(search->run, action, depth);
    check_stats_copy(&search->run->stats, &stats);
    bool right = doubt_marks(search, before, label, depth);
    if (right && world_fingerprint(world) != expected) {
        right = ends_elsewhere(search, depth, label, "than is remembered");
    }
    world_restore(world, before);
    if (right && do_step(search, action, depth) != expected) {
        right = ends_elsewhere(search, depth, label, "when it is done again");
    }
    world_restore(world, before);
    right = right && doubt_unread(search, action, depth, label, expected);
    world_restore(world, before);
    world_fingerprint(world);
    world_image_free(before);
    return right;
}

/* Does both steps from the image. Returns false if the second is not enabled behind the first. Writes the
 * fingerprint behind them. Writes to *judged whether a step violates a property; if the first does, the
 * second is not done. Drops findings. */
static bool do_both(struct search *search, const struct world_image *image,
                    const struct action *const step[2], uint64_t depth, uint64_t *fingerprint, bool *judged)
{
    struct check_stats stats;
    check_stats_copy(&stats, &search->run->stats);
    struct world *world = search->run->world;
    world_restore(world, image);
    run_do(search->run, step[0], depth);
    *judged = run_violated(search->run);
    bool possible = *judged || world_enabled(world, step[1]);
    if (possible && !*judged) {
        run_do(search->run, step[1], depth + 1);
        *judged = run_violated(search->run);
    }
    check_stats_copy(&search->run->stats, &stats);
    *fingerprint = world_fingerprint(world);
    return possible;
}

static bool doubt_pair(struct search *search, const struct world_image *image, const struct action *first,
                       const struct action *other, uint64_t depth)
{
    const struct action *before[] = {first, other}, *behind[] = {other, first};
    uint64_t fingerprint[2];
    bool judged[2];
    bool possible = do_both(search, image, before, depth, &fingerprint[0], &judged[0]) &&
                    do_both(search, image, behind, depth, &fingerprint[1], &judged[1]);
    if (possible && (judged[0] || judged[1] || fingerprint[0] == fingerprint[1])) {
        return true;
    }
    char label[WORLD_LABEL_MAX];
    world_restore(search->run->world, image);
    search->wrong_step = depth;
    label_of(search, first, label);
    int size = snprintf(search->wrong, sizeof search->wrong,
                        "it makes a difference whether '%s' goes before '", label);
    label_of(search, other, label);
    snprintf(search->wrong + size, sizeof search->wrong - (size_t)size, "%s'", label);
    return false;
}

bool distrust_order(struct search *search, const struct action *action, uint64_t depth)
{
    static struct action actions[WORLD_ACTIONS_MAX];
    struct world *world = search->run->world;
    struct world_image *image = world_save(world);
    bool right = true;
    if (image == NULL) {
        return true;
    }
    int count = world_actions(world, actions);
    for (int i = 0; right && i < count; i++) {
        right =
            world_same_action(&actions[i], action) || doubt_pair(search, image, action, &actions[i], depth);
    }
    world_restore(world, image);
    world_fingerprint(world);
    world_image_free(image);
    return right;
}

bool distrust_path(struct search *search, const struct action *path, uint64_t length)
{
    struct world *world = search->run->world;
    struct check_stats stats;
    check_stats_copy(&stats, &search->run->stats);
    uint64_t here = world_fingerprint(world);
    struct world_image *image = world_save(world);
    if (image == NULL) {
        return true;
    }
    world_restore(world, search->start);
    bool same = true;
    for (uint64_t i = 0; same && i < length; i++) {
        same = world_enabled(world, &path[i]);
        if (same) {
            run_do(search->run, &path[i], i + 1);
        }
    }
    check_stats_copy(&search->run->stats, &stats);
    same = same && world_fingerprint(world) == here;
    if (!same) {
        search->wrong_step = length;
        snprintf(search->wrong, sizeof search->wrong,
                 "a state at depth %llu is another one when it is reached from the start",
                 (unsigned long long)length);
    }
    world_restore(world, image);
    world_fingerprint(world);
    world_image_free(image);
    return same;
}
