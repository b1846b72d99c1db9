#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The example of the page about traces is a trace: it replays to the violations that it names.
source "${BASH_SOURCE[0]%/*}/lib.sh"
awk '/^```/ { inside = !inside; next } inside' docs/trace-format.md >"$scratch/example.trace"
found=$(sed -n 's/^found //p' "$scratch/example.trace")
[[ -n $found ]] || { echo 'the page has no example'; failed=1; }
for property in $found; do
    expect 1 "$property is violated at step " "$LOCKSTEP" replay "$scratch/example.trace"
done
finish
