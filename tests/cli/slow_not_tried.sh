#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A pass that has tried less than its file asks for says so: faults that no run could have, steps of programs and ends of
# programs that no run came to. In a file of this repository the expected part has to say it too.
source "$(dirname "$0")/lib.sh"
check=("$LOCKSTEP" check --out "$scratch/reports")

# scenario NAME PROGRAM EXPLORE [LINE...]
scenario()
{
    local name=$1 program=$2 explore=$3
    shift 3
    printf 'world servers=1\nmutex /locks/x\nprocess a b: %s\nexplore %s\n----\nholds at_most_one_holder\n' "$program" "$explore" \
        >"$scratch/$name.scn"
    (($# == 0)) || printf '%s\n' "$@" >>"$scratch/$name.scn"
}

# A directory that is in use is never swept, and who waits behind it never comes to its end; the line and the last block say so.
scenario kept 'acquire' 'sweep<=1 loss<=1'
why='the directory was never empty after a use'
expect 0 "
  not tried: sweep ($why)
" "${check[@]}" "$scratch/kept.scn"
expect 0 "
not tried: sweep ($why) in $scratch/kept.scn
1 passed, 0 failed" "${check[@]}" "$scratch/kept.scn"
for options in '--workers 2' '--strategy bfs' '--symmetry' '--no-memo' '--no-layers' '--partial-order' '--bitstate 1M'; do
    # shellcheck disable=SC2086
    "${check[@]}" --json $options "$scratch/kept.scn" >"$scratch/output" 2>/dev/null || true
    [[ $options == --bitstate* ]] || grep -q '"not_tried":\["sweep"\]' "$scratch/output" ||
        { echo "with $options:"; cat "$scratch/output"; failed=1; }
done
expect 0 '"not_tried":["sweep"]' "${check[@]}" --json "$scratch/kept.scn"
expect 0 'not tried: sweep' "${check[@]}" --quiet "$scratch/kept.scn"

# The same from shards, and from a search that was stopped and goes on.
for i in 1 2 3; do "${check[@]}" --shard $i/3 "$scratch/kept.scn" >/dev/null; done
expect 0 "not tried: sweep ($why) in" "$LOCKSTEP" merge "$scratch"/reports/*-of-3.json
scenario again 'acquire release' 'loss<=2 sweep<=1' 'not-tried sweep'
"${check[@]}" --max-states 2000 --checkpoint "$scratch/kept" "$scratch/again.scn" >/dev/null && failed=1
expect 1 'not-tried: expected sweep, found that it was tried' "${check[@]}" --resume "$scratch/kept" "$scratch/again.scn"
scenario again 'acquire release' 'loss<=2 sweep<=1'
expect 0 '"not_tried":[]' "${check[@]}" --json "$scratch/again.scn"

# Steps and ends: nobody comes behind a lock that is never given back.
printf 'mutex /locks/x\nprocess a: acquire stop\nprocess b: acquire release\nprocess c asleep\nexplore loss<=0\n----\n' >"$scratch/steps.scn"
expect 0 '"not_tried":[]' "${check[@]}" --json "$scratch/steps.scn"
printf 'node /locks/x perms=1\nmutex /locks/x\nprocess a: acquire release\n----\n' >"$scratch/steps.scn"
expect 0 'not tried: a.release.2 (no run came to it, or it was passed over)' "${check[@]}" "$scratch/steps.scn"
printf 'mutex /locks/x\nprocess a: acquire acquire release release\nprocess b: acquire release write forever\n----\n' >"$scratch/steps.scn"
expect 0 'not tried: b.write.3 (no run came to it, or it was passed over)' "${check[@]}" --max-states 100000 "$scratch/steps.scn"

# A file that claims counts or what is not tried has to claim all of it, of the built-in mutex.
scenario claims 'acquire' 'sweep<=1 loss<=1' 'states 1'
expect 1 "not-tried: expected a line 'not-tried sweep', found none" "${check[@]}" "$scratch/claims.scn"
scenario claims 'acquire' 'sweep<=1 loss<=1' 'not-tried sweep'
expect 0 'not tried: sweep' "${check[@]}" "$scratch/claims.scn"
scenario claims 'acquire' 'sweep<=1 loss<=1' 'not-tried loss'
expect 1 'not-tried: expected loss, found that it was tried' "${check[@]}" "$scratch/claims.scn"
expect 0 '1 passed' "${check[@]}" --seed 2 "$scratch/claims.scn"
scenario claims 'acquire' 'sweep<=1 loss<=1' 'not-tried expire'
expect_line "$scratch/claims.scn:7:11: expected a fault with a budget, a step (a.release.2) or an end (a.end) of a program, found 'expire'" \
    "${check[@]}" "$scratch/claims.scn"

[[ -z $LOCKSTEP_SANITIZE ]] || finish

# suite PROGRAM PATTERN FILE...: of the suite's situations each says what it does not try with the built-in lock of its kind, and nothing else.
suite()
{
    local program=$1 pattern=$2 line file found
    shift 2
    "$program" check --out "$scratch/reports" --suite --filter "$pattern" --max-states 100000 --budget 0 --json >"$scratch/suite" 2>"$scratch/err" || failed=1
    while read -r line; do
        file=$(sed 's/.*"scenario":"\([^"]*\)".*/\1/' <<<"$line")
        found=$(sed 's/.*"not_tried":\[\([^]]*\)\].*/\1/; s/[",]/ /g' <<<"$line" | xargs -n1 2>/dev/null || true)
        same "$(sed -n 's/^not-tried //p' "$file" | xargs -n1)" "$found" "what $file does not try"
    done <"$scratch/suite"
    same "$#" "$(wc -l <"$scratch/suite")" "situations of ${program##*/}"
}

mapfile -t files < <(find scenarios/suite -name '*.scn' ! -path '*/redis/*')
suite "$LOCKSTEP" '*' "${files[@]}"
suite "$LOCKSTEP_BUILD_DIR/lockstep-redis" '*/redis/*' scenarios/suite/redis/*.scn
finish
