#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# In ten canaries, lockstep debug stands in the function that the mended form changes, at a step of the shortest trace. From there
# lockstep-back comes to the step before within a second.
source "$(dirname "$0")/lib.sh"
source tests/cli/lib_debug.sh
may_trace

count=0
for source in $(canaries_with_function | drawn 10); do
    in_canary "$source"
    count=$((count + 1))
done
echo "$count canaries"
((count >= 10)) || failed=1
fast_enough
finish
