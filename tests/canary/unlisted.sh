#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Ten mistakes that no list of published bugs has (unlisted/unlisted.c): the suite, which was widened by situations for any recipe,
# catches each. A situation that does is named here, so that it takes seconds.
source "$(dirname "$0")/../cli/lib.sh"
situations=(cancel_and_loss two_losses cancel again_and_again released_by_another_owner two_locks again_and_again
    numbers_pass_16_bits held_deep_and_expiry holder_behind_a_frozen_follower)
# Builds that watch themselves take the first six: they are up to twenty times slower, and find the same.
last=10
[[ -z $LOCKSTEP_SANITIZE ]] || last=6
for ((bug = 1; bug <= last; bug++)); do
    expect 1 '0 passed, 1 failed' "$LOCKSTEP" check --suite --filter "${situations[bug - 1]}.scn" --no-shrink \
        --out "$scratch/reports" --recipe "$LOCKSTEP_BUILD_DIR/unlisted/unlisted-$bug.so"
    expect 0 '1 passed, 0 failed' "$LOCKSTEP" check --suite --filter "${situations[bug - 1]}.scn" \
        --out "$scratch/reports" --recipe "$LOCKSTEP_BUILD_DIR/recipes/next_in_line.so"
done
finish
