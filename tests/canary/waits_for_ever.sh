#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A recipe that breaks its contract in some run and lets a process wait for ever in another one: a file that asks about the waits
# alone finds them.
source "$LOCKSTEP_SOURCE_DIR/tests/cli/lib.sh"
plain_build_only

expect 1 'violates can_always_be_served' "$LOCKSTEP" check --max-states 100000 --no-shrink --out "$scratch" \
    --recipe "$LOCKSTEP_BUILD_DIR/canary/z54_event_after_re_check.so" scenarios/suite/everybody_is_served.scn
finish
