/* SPDX-License-Identifier: Apache-2.0
 * Copyright the lockstep authors */

/* Z60: one retry policy runs inside another, and neither looks at the deadline.
 *
 * Source: CURATOR-559. The search for a protected node retries by a policy of its own, inside the operation
 * that the caller's policy retries: 20 times 20 tries in place of 20.
 *
 * A is cut off while it asks for the lock with a deadline. Each try fails, and the inner policy pauses and
 * tries again. When the inner policy is exhausted, the outer one calls it again. The recipe looks at the
 * deadline when both policies are exhausted or the servers are back. The caller is answered far too late.
 *
 * One client, a long outage and a clock are enough. A search of all orders has no clock, so a situation with
 * a clock shows it. FIXED has a timer for the deadline, whatever is retried.
 *
 * Caught by deadline_is_kept. */
#define CLAIM_FIELDS uint16_t tries; /* since the deadline, during an outage */
#include "skeleton/known_by_name.h"

#define RETRIES 20 /* of each policy */
#define RETRY_MS 100

static bool retries(struct claim *claim)
{
#ifndef FIXED
    struct recipe *r = claim->recipe;
    if (!r->connected && claim->tries < RETRIES * RETRIES) {
        claim->tries++;
        return ls_env_timer_start(r->env, &claim->deadline, "retry-timer", RETRY_MS, on_deadline, claim) == 0;
    }
#else
    (void)claim;
#endif
    return false;
}

static const struct variation variation = {.puts_off = retries};

CANARY(.name = "z60-retries-inside-retries",
       .summary = "one retry policy runs inside another, and the deadline waits for both",
       .breaks = "deadline_is_kept");
