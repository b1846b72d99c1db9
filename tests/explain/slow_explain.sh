#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The faults that `lockstep explain` names are those of the stories: of each canary in a situation that catches it, and of each recipe
# of the exam in its own scenario. The tables tests/canary/explain.tsv and tests/exam/explain.tsv were written from the stories.
source "$(dirname "$0")/../cli/lib.sh"
source tests/explain/lib_explain.sh
plain_build_only

while IFS=$'\t' read -r name situation story _; do
    ask "$name" "$LOCKSTEP_BUILD_DIR/canary/$name.so" "scenarios/suite/$situation.scn" - "$story"
done < <(rows tests/canary/explain.tsv)
echo "canaries: $right of $asked"
same "$(find tests/canary -maxdepth 1 -name '*.c' | wc -l)" "$asked" 'rows of tests/canary/explain.tsv'
same "$asked" "$right" 'canaries that are explained as their stories tell'

right=0
asked=0
[[ -f $LOCKSTEP_BUILD_DIR/exam/try_does_not_begin_again.so ]] || cmake --build "$LOCKSTEP_BUILD_DIR" --target exam >/dev/null
while IFS=$'\t' read -r name property story _; do
    ask "$name" "$LOCKSTEP_BUILD_DIR/exam/$name.so" "tests/exam/$name.scn" "$property" "$story"
done < <(rows tests/exam/explain.tsv)
echo "exam: $right of $asked"
same "$(find tests/exam -maxdepth 1 -name '*.c' | wc -l)" "$asked" 'rows of tests/exam/explain.tsv'
same "$asked" "$right" 'recipes of the exam that are explained as their stories tell'
finish
