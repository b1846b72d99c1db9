#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A leader latch that is no part of the library, by the recipe latch.c: it takes all situations of the suite that have an election, and
# keeps the promises there. The canaries e01 to e07 (tests/canary) are its mistakes.
source "$LOCKSTEP_SOURCE_DIR/tests/cli/lib.sh"
plain_build_only
situations=(scenarios/suite/election/*.scn)

"${CC:-cc}" -std=c11 -g -Wall -Wextra -Werror -shared -fPIC -Iinclude tests/kinds/latch.c -o "$scratch/latch.so"
expect 0 "${#situations[@]} passed, 0 failed" "$LOCKSTEP" check --suite --budget 0 --max-states 100000 --no-shrink \
    --out "$scratch" --recipe "$scratch/latch.so"
finish
