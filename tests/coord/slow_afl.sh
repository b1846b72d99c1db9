#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# ./dev fuzz --with: AFL++ finds what is wrong with a broken recipe of a coordinator that no folder of src knows, from one byte of zero,
# and what it has found is a trace that replays.
source "$(dirname "$0")/../cli/lib.sh"
command -v afl-fuzz >/dev/null || exit 77
[[ -z $LOCKSTEP_SANITIZE && $LOCKSTEP_BUILD_DIR == */build/release ]] || exit 77 # it builds the target itself: once is enough

rm -rf build/fuzz/with
expect 1 ' findings' ./dev fuzz --with tests/coord/register.c --with tests/coord/recipe.c --recipe register-forgets --time 60 --jobs 1 --empty
trace=$(sed -n '/replay: lockstep replay /{ s/.*replay: .* replay //p; q }' "$scratch/output")
expect 1 ' is violated at step ' build/fuzz-with/fuzz/lockstep_with replay "$trace"
expect 2 "fuzz: --with is for the target session_loss" ./dev fuzz zk_calls --with tests/coord/register.c
finish
