#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# --coverage: the table, marks that are never reached, growth over random runs, JSON; and searches that are the same with it.
source "$(dirname "$0")/lib.sh"
run=("$LOCKSTEP" run --out "$scratch/reports" --coverage)
check=("$LOCKSTEP" check --out "$scratch/reports")
file=scenarios/explore/given_up_2.scn

expect 0 'coverage of mutex' "${run[@]}" scenarios/mutex/create_reply_lost.scn
same '1 passed, 0 failed' "$(tail -n 1 "$scratch/output")" 'last line'
same x "$(awk '$1 == "event" { for (i = 1; i <= NF; i++) if ($i == "claim") c = i }
    $1 == "create-reply" && $2 == "lost" { print $(c + 1) }' "$scratch/output")" 'a lost reply in state claiming'
expect 0 'never reached: session-changes-without-a-word (src/lock/session.c:' "${run[@]}" \
    scenarios/mutex/create_reply_lost.scn
if grep -q 'never reached: lost-create-found' "$scratch/output"; then
    echo 'a mark that was reached is called never reached'
    failed=1
fi
expect 0 '0 of 0 marks were reached' "${run[@]}" --recipe textbook scenarios/explore/cancel_2.scn

# All scenarios of a call together, in whatever order they end.
"${run[@]}" --quiet --jobs 1 --filter 'cancel*' scenarios/mutex >"$scratch/one"
"${run[@]}" --quiet --jobs 4 --filter 'cancel*' scenarios/mutex >"$scratch/four"
cmp "$scratch/one" "$scratch/four" || failed=1

# Growth: a line for each power of two, and the last; the same each time.
expect 3 '        runs          steps       states  marks  pairs' "${run[@]}" --no-search --seeds 100 $file
same '1 2 4 8 16 32 64 100' "$(awk '/^ +[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+ +[0-9]+$/ { print $1 }' "$scratch/output" | xargs)" 'rows'
cp "$scratch/output" "$scratch/first"
expect 3 '' "${run[@]}" --no-search --seeds 100 $file
cmp "$scratch/first" "$scratch/output" || failed=1
# The search before random runs does not count as theirs.
"${run[@]}" --seeds 100 $file >"$scratch/both"
same "$(grep -E '^ +100 +[0-9]' "$scratch/first")" "$(grep -E '^ +100 +[0-9]' "$scratch/both")" 'what 100 runs cover after a search'

# A search is the same with it, with several workers too.
"${check[@]}" $file >"$scratch/plain"
"${check[@]}" --coverage $file >"$scratch/covered"
"${check[@]}" --coverage --workers 3 $file >"$scratch/three"
"${check[@]}" --coverage --no-memo $file >"$scratch/every"
cmp <(head -n 2 "$scratch/plain") <(head -n 2 "$scratch/covered") || failed=1
cmp <(sed 's/, depth [0-9]*)/)/' "$scratch/covered") <(sed 's/, depth [0-9]*)/)/' "$scratch/three") || failed=1 # workers meet states by other ways
cmp "$scratch/covered" "$scratch/every" || failed=1

# JSON: one object, with everything in it.
"${run[@]}" --json --no-search --seeds 4 $file >"$scratch/json" 2>/dev/null || true
same 1 "$(wc -l <"$scratch/json")" 'lines with --json'
for part in '"coverage":{"states":["none","claiming",' '"events":{"acquire' '"lost-create-found":' '"growth":[{"runs":1,"steps":' \
    '"limit":false}'; do
    grep -qF "$part" "$scratch/json" || { echo "the JSON object lacks $part" && failed=1; }
done
grep -q '"coverage"' <<<"$("$LOCKSTEP" run --json scenarios/mutex/create_reply_lost.scn)" && { echo 'not asked for' && failed=1; }
finish
