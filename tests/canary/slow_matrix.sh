#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# reports/kill-matrix.md says what is so of some canaries, drawn anew each time: each is caught, its mended twin passes the whole suite,
# and what the page says of it is what is found. `./dev zoo --check` asks all. Only the plain build does it: the others would take
# hours for the same answer.
source "$(dirname "$0")/../cli/lib.sh"
[[ -z $LOCKSTEP_SANITIZE && $LOCKSTEP_BUILD_DIR == */release ]] || exit 77
source dev.d/zoo.sh
drawn=$(zoo_names "$LOCKSTEP_BUILD_DIR/canary" | drawn 4)
echo "drawn:" $drawn
# shellcheck disable=SC2086 # several names
zoo_collect "$LOCKSTEP" "$LOCKSTEP_BUILD_DIR/canary" "$scratch" $drawn
same '' "$(<"$scratch/wrong")" 'what is wrong'
zoo_page "$scratch" >"$scratch/page"
for name in $drawn; do
    same "$(grep "^| $name " reports/kill-matrix.md)" "$(grep "^| $name " "$scratch/page")" "the page's lines of $name"
done
finish
