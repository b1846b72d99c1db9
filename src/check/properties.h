/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* The properties, one file each. */
#ifndef CHECK_PROPERTIES_H
#define CHECK_PROPERTIES_H

#include "check/state.h"

extern const struct property check_at_most_one_holder;
extern const struct property check_at_most_one_believer;
extern const struct property check_no_stale_effect;
extern const struct property check_no_lost_wakeup;
extern const struct property check_no_orphan_node;
extern const struct property check_at_most_one_wakeup_per_release;
extern const struct property check_no_watch_left_behind;
extern const struct property check_granted_in_order;
extern const struct property check_release_matches_acquire;
extern const struct property check_every_loss_is_told;
extern const struct property check_deadline_is_kept;
extern const struct property check_bounded_work;
extern const struct property check_can_always_be_served;
extern const struct property check_served_under_weak_fairness;
extern const struct property check_contract_is_kept;
extern const struct property check_hold_keeps_its_node;
extern const struct property check_answers_have_reasons;
extern const struct property check_belief_ends_in_time;
extern const struct property check_every_revocation_is_told;
extern const struct property check_all_or_none;
extern const struct property check_held_lease_is_renewed;

#endif
