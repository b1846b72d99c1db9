#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The program that writes reports/promise-matrix.md: the cells of a good and a broken recipe on each coordinator.
source "$(dirname "$0")/lib.sh"
! is_slow_build || exit 77
[[ -x $LOCKSTEP_BUILD_DIR/lockstep ]] || exit 77

# matrix FILE [OPTION...]: the page of some recipes and faults.
matrix()
{
    python3 dev.d/promise_matrix.py --build "$LOCKSTEP_BUILD_DIR" --scratch "$scratch/matrix" "${@:2}" >"$1"
}

# row FILE RECIPE COORDINATOR FAULT: the cells of that row of the recipe's table.
row()
{
    sed -n "/^## $2 on $3\$/,/^## /p" "$1" | grep "^| $4 |"
}

# cells EXPECTED FILE RECIPE COORDINATOR FAULT
cells()
{
    same "| $5 | $1 |" "$(row "${@:2}")" "$3 under $5"
}

options=(--recipe textbook --recipe broken-herd --recipe redis_mutex --recipe naive_setnx
    --fault none --fault expire --fault refuse --fault crash --fault flush --states 20000)
matrix "$scratch/page" "${options[@]}"

same '| fault | holder | effect | wake-up | orphan | herd | watch | order | release | told | work | served | fair | contract | node | reasons | states |' \
    "$(row "$scratch/page" textbook zookeeper fault)" 'heads of ZooKeeper'
same '| fault | holder | effect | orphan | release | work | contract | node | reasons | lease | states |' \
    "$(row "$scratch/page" naive_setnx redis fault)" 'heads of Redis'

# A good recipe holds; a loss that no run has is not judged.
cells '✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | · | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | 295' "$scratch/page" textbook zookeeper none
cells '✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | 9,561' "$scratch/page" textbook zookeeper expire
cells '✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | 11,730' "$scratch/page" redis_mutex redis expire
# A broken one breaks one promise, and only under the fault that it takes.
cells '✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | · | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | 375' "$scratch/page" broken-herd zookeeper none
cells '✓ | ✓ | ✓ | ✓ | **✗ 22** | ✓ | ✓ | ✓ | · | ✓ | ✓ | ✓ | ✓ | ✓ | ✓ | 12,614' "$scratch/page" broken-herd zookeeper crash
# Violations that need no fault do not hide the one that needs a crash, nor what holds.
cells '✓ | · | ✓ | ✓ | ✓ | ✓ | **✗ 13** | ✓ | **✗ 6** | 291' "$scratch/page" naive_setnx redis none
cells '**✗ 15** | · | ✓ | ✓ | ✓ | ✓ | **✗ 13** | ✓ | **✗ 6** | 6,371' "$scratch/page" naive_setnx redis crash
# A search that does not end says so. A recipe without scripts has none that a server can forget; Redis refuses no attempt.
cells '… | … | … | … | … | … | … | … | … | 20,000, not all' "$scratch/page" redis_mutex redis crash
cells '– | – | – | – | – | – | – | – | – | –' "$scratch/page" naive_setnx redis flush
same '' "$(row "$scratch/page" naive_setnx redis refuse)" 'a row of a fault that Redis does not have'
grep -qxF '| refuse | `world used`; `explore refuse<=1` | – (expected a fault that Redis has) |' "$scratch/page" ||
    { echo 'the page does not say why Redis has no refuse'; failed=1; }
same '| refuse | ✓ | ✓ | – | – |' "$(grep '^| refuse | [^`]*$' "$scratch/page" | head -n 1)" 'refuse, by fault'
same '| crash | ✓ | ✗ 1 | … | ✗ 3 |' "$(grep '^| crash | [^`]*$' "$scratch/page" | head -n 1)" 'crash, by fault'

# The world that a violation names shows a run of that length.
expect 1 'held_lease_is_renewed is violated at step 6 of 6' "$redis" check --verbose --recipe naive_setnx \
    --out "$scratch/reports" "$scratch/matrix/naive_setnx/none.held_lease_is_renewed.scn"

# The page is the same each time, and a mistake of a caller is no page.
matrix "$scratch/again" "${options[@]}"
cmp "$scratch/page" "$scratch/again" || failed=1
! matrix "$scratch/none" --recipe no_such_recipe 2>"$scratch/said" || { echo 'a recipe that nobody knows passes'; failed=1; }
grep -q 'no_such_recipe' "$scratch/said" || { cat "$scratch/said"; failed=1; }
finish
