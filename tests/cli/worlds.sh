#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The small worlds behind the standard suite: as far as a budget goes, the same for every number of jobs, gone on with, and a world
# that fails is reduced and written as a scenario.
source "$(dirname "$0")/lib.sh"
plain_build_only
check=("$LOCKSTEP" check --verbose --suite --filter 'worlds/*' --out "$scratch/reports")

# A budget in states ends at the same world, however many are searched at once; the first nine classes fit, the tenth does not.
expect 0 'worlds: 379 searched, ' "${check[@]}" --budget 262000 --jobs 1
said=$(<"$scratch/output")
for jobs in 2 5; do
    expect 0 "$said" "${check[@]}" --budget 262000 --jobs $jobs
done
[[ $said == *'
  not exhausted: one-client-one-turn/all-2  (1 of 4 worlds, 26804 states)
  next: worlds/one-client-one-turn/all-2/deadline; 410 classes are not begun'* ]] || { echo "$said"; failed=1; }

# Without a filter whole classes are exhausted; --budget 0 leaves all worlds out, and so does a filter without a budget.
expect 0 '
  exhausted: one-client-one-turn/all-1  (4 worlds, ' "$LOCKSTEP" check --verbose --suite --max-states 2000 --budget 100000 --out "$scratch/reports"
mapfile -t situations < <(grep -L "^coordinator" scenarios/suite/*.scn scenarios/suite/*/*.scn)
same "${#situations[@]} passed, 0 failed" "$(tail -n 1 "$scratch/output")" 'the last line'
grep -q '^  not exhausted: one-client-two-turns/all-1  (' "$scratch/output" || { cat "$scratch/output"; failed=1; }
"$LOCKSTEP" check --verbose --suite --filter three_clients.scn --out "$scratch/reports" >"$scratch/output"
"$LOCKSTEP" check --verbose --suite --filter three_clients.scn --budget 0 --out "$scratch/reports" >>"$scratch/output"
! grep worlds "$scratch/output" || failed=1
expect 0 'worlds: 1 searched, ' "$LOCKSTEP" check --verbose --suite --filter worlds/random-times/3 --out "$scratch/reports"

# A recipe that knows no mutex has no worlds, and that is said.
expect 0 'left out the small worlds: they are for recipes of a mutex on ZooKeeper
0 passed, 0 failed' "${check[@]}" --recipe rwlock --budget 1000

# Stopped and gone on with is the same as in one go; another build or other options are refused.
"$LOCKSTEP" check --verbose --suite --filter three_clients.scn --budget 0 --checkpoint "$scratch/kept" --out "$scratch/reports" >/dev/null
whole=("$LOCKSTEP" check --verbose --suite --filter '[tw][ho]r*' --max-states 1000 --out "$scratch/reports")
expect 0 'worlds: ' "${whole[@]}" --budget 10000 --checkpoint "$scratch/stopped"
first=$(sed -n 's/^worlds: .* searched, \([0-9]*\) states.*/\1/p' "$scratch/output")
next=$(sed -n 's/^  next: \([^;]*\);.*/\1/p' "$scratch/output")
expect 0 'worlds: ' "${whole[@]}" --budget 20000 --resume "$scratch/stopped"
both=$(grep -E '^(worlds|  not exhausted|  next)' "$scratch/output")
total=$(sed -n 's/^worlds: .* searched, \([0-9]*\) states.*/\1/p' "$scratch/output")
((total > first)) || { echo "$first states, and then $total"; failed=1; }
[[ $both != *"next: $next;"* ]] || { echo 'it did not go on'; failed=1; }
expect 0 'worlds: ' "${whole[@]}" --budget "$total"
same "$both" "$(grep -E '^(worlds|  not exhausted|  next)' "$scratch/output")" 'what was done in one go'
expect 2 "found 'one of another build or with other options'" "${whole[@]}" --filter 'worlds/o*' --budget 1 --resume "$scratch/stopped"
sed -i '2s/.*/another/' "$scratch/stopped/worlds.kept"
expect 2 "found 'one of another build or with other options'" "${whole[@]}" --budget 1 --resume "$scratch/stopped"
sed -i '1s/.*/else/' "$scratch/stopped/worlds.kept"
expect 2 "found 'one that is damaged'" "${whole[@]}" --budget 1 --resume "$scratch/stopped"

# The same without any situation of the suite: then the folder has no checkpoint of a scenario.
expect 0 'worlds: ' "${check[@]}" --max-states 1000 --budget 10000 --checkpoint "$scratch/alone"
first=$(sed -n 's/^worlds: .* searched, \([0-9]*\) states.*/\1/p' "$scratch/output")
expect 0 'worlds: ' "${check[@]}" --max-states 1000 --budget 10000 --resume "$scratch/alone"
total=$(sed -n 's/^worlds: .* searched, \([0-9]*\) states.*/\1/p' "$scratch/output")
((total > first)) || { echo "$first states, and then $total"; failed=1; }
expect 2 "found '$scratch/nothing'" "${check[@]}" --budget 1 --resume "$scratch/nothing"

# A pattern that matches neither a situation nor a world is a mistake, whatever the budget.
for budget in 0 1m; do
    expect_line "lockstep check: expected a pattern for at least one scenario after --filter, found 'worlds/no-such*'" \
        "$LOCKSTEP" check --suite --filter 'worlds/no-such*' --budget $budget
done

# A world that fails is reduced to the smallest that fails, is a scenario like any other, and fails alone.
expect 1 'FAIL  worlds/one-client-one-turn/cancel-1/acquire' "${check[@]}" --budget 100000 --recipe broken-cancel-leaks
grep -q 'worlds/one-client-one-turn/all-1/acquire fails first' "$scratch/output" || { cat "$scratch/output"; failed=1; }
same 1 "$(find "$scratch/reports" -name '*.scn' | wc -l)" 'scenarios that were written'
same "$(sed -n 's/^  this world is written as //p' "$scratch/output")" "$(echo "$scratch"/reports/*.scn)" 'where'
[[ -f $(sed -n 's/^replay: .* replay //p' "$scratch/output") ]] || { echo 'no trace'; failed=1; }
expect 1 'violated no_orphan_node' "$LOCKSTEP" check --verbose --recipe broken-cancel-leaks --out "$scratch/again" "$scratch"/reports/*.scn
expect 1 '"no_orphan_node":"violated"' "${check[@]}" --budget 100000 --json --recipe broken-cancel-leaks
expect 1 '"first_failing":"worlds/one-client-one-turn/all-1/acquire"' "${check[@]}" --budget 100000 --json --recipe broken-cancel-leaks
same 1 "$(grep -c '"verdict":"violated"' "$scratch/output")" 'failing worlds'
# Two clients are needed to see two holders.
expect 1 'violated at_most_one_holder' "${check[@]}" --budget 5000000 --recipe broken-full-name-order
written=$(sed -n 's/^  this world is written as //p' "$scratch/output")
same 2 "$(sed -n 's/^process \([^:]*\).*/\1/p' "$written" | wc -w)" 'clients'
expect 1 'FAIL  worlds/' "${check[@]}" --budget 20000 --keep-going --quiet --no-shrink --recipe broken-cancel-leaks
same "$(grep -c '^FAIL  worlds' "$scratch/output")" "$(grep '^FAIL  worlds' "$scratch/output" | cut -d' ' -f3 | sort -u | wc -l)" \
    'reduced worlds that are different'

# A random world that fails is told with its schedule, and names what it violates in other runs too.
random=("$LOCKSTEP" check --verbose --suite --filter 'worlds/random-orders/*' --budget 20000000 --out "$scratch/reports")
expect 1 'FAIL  worlds/random-orders/' "${random[@]}" --recipe broken-no-sort
expect 1 'also, in another run' "${random[@]}" --recipe broken-no-sort
expect 1 'FAIL  worlds/random-times/' "${check[@]}" --filter 'worlds/random-times/*' --budget 500000 --recipe broken-no-margin
expect 0 '  tried: random-times/0-to-199  (200 worlds, ' "${check[@]}" --filter 'worlds/random-times/*' --budget 100000

# Behind a situation that fails no world is searched.
expect 1 'worlds: none was searched, because a situation fails' "$LOCKSTEP" check --verbose --suite --filter cancel.scn --budget 1000 \
    --no-shrink --out "$scratch/reports" --recipe broken-cancel-leaks

# A budget in time ends the enumeration in time, which is no limit.
before=$SECONDS
expect 0 'worlds: ' "${check[@]}" --budget 2s
((SECONDS - before <= 20)) || { echo "2 s took $((SECONDS - before)) s"; failed=1; }

expect_line "lockstep check: expected a number of states, or a duration (45s, 3m, 1h) after --budget, found '3x'" \
    "$LOCKSTEP" check --verbose --suite --budget 3x
expect_line "lockstep check: expected --suite with --budget and --keep-going, found 'none'" "$LOCKSTEP" check --budget 3m scenarios/explore
finish
