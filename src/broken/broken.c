/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

#include "broken/broken.h"
#include "broken/textbook.h"

/* identifier, name, broken property, summary, flag of struct textbook_defects */
#define BROKEN_LIST(X)                                                                                       \
    X(no_sort, "broken-no-sort", "at_most_one_holder",                                                       \
      "takes the first of the unsorted list of children for the head", trusts_first_child)                   \
    X(full_name_order, "broken-full-name-order", "at_most_one_holder",                                       \
      "orders contenders by their whole names, ids first", orders_by_full_name)                              \
    X(event_is_grant, "broken-event-is-grant", "at_most_one_holder",                                         \
      "takes the end of its predecessor for the lock, without looking again", wakeup_is_grant)               \
    X(any_event_is_grant, "broken-any-event-is-grant", "at_most_one_holder",                                 \
      "takes any call of its watcher for the lock, session events too", any_event_is_grant)                  \
    X(by_name_only, "broken-by-name-only", "at_most_one_holder",                                             \
      "finds its node again by name, whichever session it belongs to", trusts_name)                          \
    X(ignores_loss, "broken-ignores-loss", "at_most_one_believer",                                           \
      "goes on believing after its session is lost", keeps_belief)                                           \
    X(session_token, "broken-session-token", "no_stale_effect", "hands its session id out as fencing token", \
      token_is_session)                                                                                      \
    X(sequence_token, "broken-sequence-token", "no_stale_effect",                                            \
      "hands the sequence number out as fencing token, which starts again with the directory",               \
      token_is_sequence)                                                                                     \
    X(narrow_token, "broken-narrow-token", "no_stale_effect",                                                \
      "keeps 32 bits of its fencing token, which start again with each leader", token_is_narrow)             \
    X(guards_directory, "broken-guards-directory", "no_stale_effect",                                        \
      "guards its writes by the lock's directory, which outlives every hold", guards_directory)              \
    X(waits_for_absent, "broken-waits-for-absent", "no_lost_wakeup",                                         \
      "sleeps on a watch for a predecessor that is gone already", waits_for_absent)                          \
    X(mixed_orders, "broken-mixed-orders", "no_lost_wakeup",                                                 \
      "looks for its predecessor by whole name, but for the head by number", mixes_orders)                   \
    X(early_events, "broken-early-events", "no_lost_wakeup",                                                 \
      "misses the session events that come before init has returned its handle", misses_early_events)        \
    X(waits_for_answers, "broken-waits-for-answers", "no_lost_wakeup",                                       \
      "goes on after a lost session only when its old requests are answered", waits_for_answers)             \
    X(trusts_calls, "broken-trusts-calls", "no_lost_wakeup",                                                 \
      "waits for the answer to a call that was refused at once", trusts_calls)                               \
    X(no_protection, "broken-no-protection", "no_orphan_node",                                               \
      "creates again when the answer to a create was lost", forgets_lost_create)                             \
    X(minus_seven, "broken-minus-seven", "no_orphan_node",                                                   \
      "takes an operation timeout (-7) for not executed", minus_seven_is_no)                                 \
    X(no_sync, "broken-no-sync", "no_orphan_node",                                                           \
      "looks for its node without a sync, on a server that may be behind", skips_sync)                       \
    X(cancel_leaks, "broken-cancel-leaks", "no_orphan_node",                                                 \
      "leaves its node behind when an acquire ends without it", cancel_leaves_node)                          \
    X(cleanup_once, "broken-cleanup-once", "no_orphan_node",                                                 \
      "tries only once to remove the node of an ended acquire", gives_up_cleanup)                            \
    X(release_once, "broken-release-once", "no_orphan_node",                                                 \
      "tries only once to delete its node on release", gives_up_release)                                     \
    X(herd, "broken-herd", "at_most_one_wakeup_per_release", "watches the list of children", watches_parent) \
    X(watches_first, "broken-watches-first", "at_most_one_wakeup_per_release",                               \
      "watches the head of the line instead of the nearest predecessor", watches_first)                      \
    X(exists_watch, "broken-exists-watch", "no_watch_left_behind",                                           \
      "leaves a watch on each predecessor that is gone before it can be watched", exists_watch)              \
    X(keeps_watch, "broken-keeps-watch", "no_watch_left_behind",                                             \
      "leaves its watch behind when an acquire ends", leaves_watch)                                          \
    X(gives_up_place, "broken-gives-up-place", "granted_in_order",                                           \
      "queues again when its predecessor is gone before it can be watched", requeues_if_gone)                \
    X(never_deletes, "broken-never-deletes", "release_matches_acquire",                                      \
      "reports a release complete without deleting its node", never_deletes)                                 \
    X(depth, "broken-depth", "release_matches_acquire",                                                      \
      "frees the lock at the first release, however deep it is held", frees_at_first)                        \
    X(release_by_anyone, "broken-release-by-anyone", "release_matches_acquire",                              \
      "frees the lock for whoever asks", frees_for_anyone)                                                   \
    X(loss_untold, "broken-loss-untold", "every_loss_is_told",                                               \
      "tells the session after a lost one as a reconnection", hides_loss)                                    \
    X(suspension_untold, "broken-suspension-untold", "every_loss_is_told",                                   \
      "does not tell that its link is down", hides_suspension)                                               \
    X(forgets_timeout, "broken-forgets-timeout", "deadline_is_kept",                                         \
      "answers at the deadline only if it is connected", waits_out_outage)                                   \
    X(busy_wait, "broken-busy-wait", "bounded_work",                                                         \
      "lists the children again and again instead of watching", polls)                                       \
    X(retry_loop, "broken-retry-loop", "bounded_work",                                                       \
      "queues again at each wake-up, and so wakes the others", requeues_when_woken)                          \
    X(expects_create, "broken-expects-create", "can_always_be_served",                                       \
      "looks for the node of a lost create until it finds it", expects_create)                               \
    X(mutual_reset, "broken-mutual-reset", "served_under_weak_fairness",                                     \
      "queues again after a reconnection, and when its predecessor is gone because that one does", resets)   \
    X(tries_again, "broken-tries-again", "served_under_weak_fairness",                                       \
      "takes its node back when it is not the first, and tries again", tries_again)                          \
    X(steps_aside, "broken-steps-aside", "served_under_weak_fairness",                                       \
      "lets others go first, who let it go first", steps_aside)                                              \
    X(keeps_for_itself, "broken-keeps-for-itself", "served_under_weak_fairness",                             \
      "gives its node back only some time after the release, and takes the lock again until then",           \
      keeps_for_itself)                                                                                      \
    X(revokes_by_force, "broken-revokes-by-force", "at_most_one_believer",                                   \
      "takes a lock away by deleting its holder's node instead of asking for it", revokes_by_force)          \
    X(drops_node, "broken-drops-node", "hold_keeps_its_node",                                                \
      "deletes the node of its hold when a broken link is back, and goes on holding", drops_node)            \
    X(times_out_early, "broken-times-out-early", "answers_have_reasons",                                     \
      "tells waiters that their time is up when the link is down, whatever their deadline", times_out_early) \
    X(busy_if_new, "broken-busy-if-new", "answers_have_reasons",                                             \
      "tells a try that the lock is busy if its directory was missing", busy_if_new)                         \
    X(frees_silently, "broken-frees-silently", "answers_have_reasons",                                       \
      "does not answer a release whose session is lost on the way", frees_silently)                          \
    X(fails_at_once, "broken-fails-at-once", "answers_have_reasons",                                         \
      "answers every acquire as if it was closed", fails_at_once)                                            \
    X(no_margin, "broken-no-margin", "belief_ends_in_time",                                                  \
      "believes while it heard of no broken link, however long it was stopped", knows_no_margin)             \
    X(locks_twice, "broken-locks-twice", "contract_is_kept",                                                 \
      "takes the mutex that it holds when its predecessor is gone before it can be watched", locks_twice)    \
    X(asks_nobody, "broken-asks-nobody", "every_revocation_is_told",                                         \
      "does not answer a request to give the lock back if nobody stands at that place", asks_nobody)

enum variant {
    VARIANT_NONE,
    VARIANT_textbook = VARIANT_NONE,
#define VARIANT(id, name, breaks, summary, defect) VARIANT_##id,
    BROKEN_LIST(VARIANT)
#undef VARIANT
        VARIANTS
};

const struct textbook_defects textbook_variants[VARIANTS] = {
#define DEFECTS(id, name, breaks, summary, defect) [VARIANT_##id] = {.defect = true},
    BROKEN_LIST(DEFECTS)
#undef DEFECTS
};

/* Is true if the recipe has canon(). Three recipes hand out other numbers than whole zxids as fencing tokens,
 * but a renaming ranks tokens among zxids. One recipe depends on the order of an unsorted list. */
#define SHOWS_NUMBERS(id)                                                                                    \
    (VARIANT_##id != VARIANT_session_token && VARIANT_##id != VARIANT_sequence_token &&                      \
     VARIANT_##id != VARIANT_narrow_token && VARIANT_##id != VARIANT_no_sort)

/* Each variant has a start() of its own, because no argument of start() names the variant. */
#define RECIPE(id, recipe_name, broken_property, recipe_summary)                                             \
    {                                                                                                        \
        .name = (recipe_name), .summary = (recipe_summary), .breaks = (broken_property),                     \
        .state_size = sizeof(struct textbook), .start = start_##id, .stop = textbook_stop,                   \
        .acquire = textbook_acquire, .cancel = textbook_cancel, .release = textbook_release,                 \
        .query = textbook_query, .idle = textbook_idle, .guard = textbook_guard, .handle = textbook_handle,  \
        .revocable = textbook_revocable, .revoke = textbook_revoke, .states = textbook_states,               \
        .states_now = textbook_states_now, .reentrant = true,                                                \
        .canon = SHOWS_NUMBERS(id) ? textbook_canon : NULL,                                                  \
    }

#define START(id, name, breaks, summary, defect)                                                             \
    static int start_##id(void *state, struct ls_env *env, const struct ls_recipe_config *config)            \
    {                                                                                                        \
        return textbook_start(state, env, config, VARIANT_##id);                                             \
    }
BROKEN_LIST(START)
#undef START

static int start_textbook(void *state, struct ls_env *env, const struct ls_recipe_config *config)
{
    return textbook_start(state, env, config, VARIANT_NONE);
}

const struct ls_recipe textbook_recipe =
    RECIPE(textbook, "textbook", NULL, "a correct reentrant mutex in the plainest form");

#define DEFINE(id, name, breaks, summary, defect)                                                            \
    static const struct ls_recipe recipe_##id = RECIPE(id, name, breaks, summary);
BROKEN_LIST(DEFINE)
#undef DEFINE

const struct ls_recipe *const broken_recipes[] = {
#define ENTRY(id, name, breaks, summary, defect) &recipe_##id,
    BROKEN_LIST(ENTRY)
#undef ENTRY
};
const int broken_recipes_count = VARIANTS - 1;
_Static_assert(sizeof broken_recipes / sizeof broken_recipes[0] == VARIANTS - 1, "each variant is a recipe");
