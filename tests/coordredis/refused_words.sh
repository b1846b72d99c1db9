#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Words of a scenario that mean something to ZooKeeper alone are refused in worlds of Redis, where they would change nothing.
source "$(dirname "$0")/lib.sh"

# scenario LINE: a scenario with this line.
scenario()
{
    printf '%s\n' 'coordinator redis' "$1" 'mutex /locks/x' 'process a: acquire release' >"$scratch/words.scn"
}

options='replicas=, lag=, log=, evicts=, jump-ms=, rejection=, drift=, splits=, servers=, latency=, session-timeout=, seed=, '
options+='rc=, defects=, settings=, timed, untimed, keep-fresh or timers-first'
for word in tick=5ms used preset=7 crowd=3 containers=no fine callbacks-in-init; do
    scenario "world untimed $word"
    expect_line "$scratch/words.scn:2:15: expected $options, found '$word'" \
        "$redis" check --recipe redis_mutex "$scratch/words.scn"
done
for line in 'chroot /apps' 'node /locks/x/y'; do
    scenario "$line"
    expect_line "$scratch/words.scn:2:1: expected a header line (world, mutex, process, ...), a command or '----', found '${line%% *}'" \
        "$redis" check --recipe redis_mutex "$scratch/words.scn"
done

# On ZooKeeper they are options.
printf '%s\n' 'world untimed tick=100ms preset=7 crowd=3 containers=no fine callbacks-in-init' 'chroot /apps' \
    'mutex /locks/x' 'node /apps/locks/x/y' 'process a: acquire release' >"$scratch/words.scn"
expect 0 '1 passed' "$redis" check --out "$scratch/reports" "$scratch/words.scn"
finish
