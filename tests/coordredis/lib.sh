# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Sourced by the tests of recipes in worlds of Redis.
source "$(dirname "${BASH_SOURCE[0]}")/../cli/lib.sh"
redis=$LOCKSTEP_BUILD_DIR/lockstep-redis
[[ -x $redis ]] || { echo "no program $redis" && exit 1; }
here=tests/coordredis/scenarios

# breaks RECIPE PROPERTY FILE: the search finds that, and the trace replays. $steps is how many steps it takes.
breaks()
{
    local trace
    expect 1 "violated $2" "$redis" check --verbose --recipe "$1" --out "$scratch/reports" "$here/$3"
    trace=$(sed -n 's/^shrunk: .* replay \([^ ]*\) .*/\1/p' "$scratch/output" | head -n 1)
    [[ -n $trace ]] || { echo "$1: no shrunk trace" && failed=1; }
    expect 1 ' is violated' "$redis" replay "$trace"
    steps=$(sed -nE "s/^$2 is violated at step ([0-9]+) of .*/\1/p" "$scratch/output")
}
