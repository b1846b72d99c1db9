#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The strategies of random schedules: each finds an easy bug, and what it finds replays and can be run again by its seed.
source "$(dirname "$0")/lib.sh"
run=("$LOCKSTEP" run --verbose --out "$scratch/reports" --no-search)
file=scenarios/explore/mutex_2.scn

for strategy in uniform pct swarm mixed; do
    expect 1 'violated no_orphan_node' "${run[@]}" --strategy $strategy --seeds 500 --recipe broken-no-protection $file
    line=$(sed -n 's/^violated no_orphan_node .*(\([a-z]*\) schedule, seed \([0-9]*\))$/\1 \2/p' "$scratch/output")
    [[ $strategy == mixed ]] || same $strategy "${line% *}" 'the schedule that is told'
    trace=$(sed -n 's/^replay: .* replay //p' "$scratch/output")
    if [[ $strategy == swarm ]] && ! grep -qE '^  seed [0-9]+ draws .*, (uniform|by priorities)$' "$scratch/output"; then
        echo 'what the swarm draws is not told'
        failed=1
    fi
    expect 1 'no_orphan_node is violated' "$LOCKSTEP" replay "$trace"
    expect 1 'no_orphan_node is violated' "$LOCKSTEP" replay "${trace%.trace}.min.trace"
    expect 0 '' grep -x "schedule ${line% *}" "$trace"
    # The seed alone, with the same strategy: the same choices.
    sed '/^seed /d' "$trace" >"$scratch/first"
    expect 1 "replay: $LOCKSTEP" "${run[@]}" --strategy $strategy --seeds 1 --seed "${line#* }" \
        --recipe broken-no-protection $file
    same "$(<"$scratch/first")" "$(sed '/^seed /d' "$(sed -n 's/^replay: .* replay //p' "$scratch/output")")" \
        'the run of the seed alone'
done

# The right recipe gets random schedules alone, which is no proof.
expect 3 '200 random schedules, which is no proof' "${run[@]}" --strategy swarm --seeds 200 $file
expect 3 '0 passed, 0 failed, 1 skipped' "${run[@]}" --strategy pct --depth 1 --seeds 1 scenarios/explore/cancel_2.scn

expect_line "lockstep run: expected uniform, pct, swarm or mixed after --strategy, found 'dfs'" \
    "$LOCKSTEP" run --verbose --strategy dfs $file
expect_line "lockstep run: expected a number from 1 to 16 after --depth, found '17'" "$LOCKSTEP" run --depth 17 $file
expect_line "lockstep run: expected --seeds N with --strategy, --depth and --no-search, found 'no --seeds'" \
    "$LOCKSTEP" run --verbose --strategy pct $file
expect_line "lockstep check: expected dfs or bfs after --strategy, found 'pct'" "$LOCKSTEP" check --strategy pct $file
finish
