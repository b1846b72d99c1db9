#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The target for recipes in shared objects, with as many mutants as the other targets have in targets.sh.
source "$(dirname "$0")/../cli/lib.sh"
! is_slow_build || exit 77
corpus=()
for file in fuzz/corpus/session_loss/*; do
    corpus+=("$PWD/$file")
done
if ! (cd "$scratch" && LOCKSTEP_RECIPE=$LOCKSTEP_BUILD_DIR/recipes/next_in_line.so \
    "$LOCKSTEP_BUILD_DIR/fuzz/fuzz_recipe" --fuzz 60000 1 "${corpus[@]}") >"$scratch/out" 2>&1; then
    tail -n 30 "$scratch/out"
    failed=1
fi
tail -n 2 "$scratch/out"
finish
