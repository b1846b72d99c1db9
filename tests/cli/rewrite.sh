#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# --rewrite puts in what was seen, keeps everything else, and refuses what violates a property.
source "$(dirname "$0")/lib.sh"
rewrite=("$LOCKSTEP" run --out "$scratch/reports" --rewrite)
f=$scratch/f.scn
cat >"$f" <<'TEXT'
# A comment that stays.

world used   # this one too
mutex /locks/x
process a b

a acquire
settle
----
[   99ms] a wrong line
holds at_most_one_holder

# And this.
b try
settle
a release
settle
----
TEXT
expect 0 '-[   99ms] a wrong line' "${rewrite[@]}" "$f"
same '1 passed, 0 failed' "$(tail -n 1 "$scratch/output")" 'last line'
cat >"$scratch/wanted" <<'TEXT'
# A comment that stays.

world used   # this one too
mutex /locks/x
process a b

a acquire
settle
----
[   60ms] a held     fence=5
holds at_most_one_holder

# And this.
b try
settle
a release
settle
----
TEXT
head -n 18 "$f" | diff "$scratch/wanted" - || failed=1
same 20 "$(wc -l <"$f")" 'lines of the rewritten file'
grep -q 'b failed   rc=busy' "$f" || { echo 'no line for the try'; failed=1; }
grep -q 'a freed' "$f" || { echo 'no line for the release'; failed=1; }

# Again: nothing to do, and the file is left alone.
cp "$f" "$scratch/copy"
expect 0 '1 passed, 0 failed' "${rewrite[@]}" "$f"
cmp "$f" "$scratch/copy" || failed=1

# A violation is never made the expected trace.
cat >"$scratch/lost.scn" <<'TEXT'
world used
mutex /locks/x
process a
a acquire
before deliver a create-reply
cut a
settle
----
TEXT
cp "$scratch/lost.scn" "$scratch/copy"
expect 1 'not rewritten' "${rewrite[@]}" --recipe broken-no-protection "$scratch/lost.scn"
cmp "$scratch/lost.scn" "$scratch/copy" || failed=1

# A file that ends in `----` has no line to write behind.
printf 'world used\nmutex /locks/x\nprocess a\na acquire\nsettle\n----' >"$scratch/short.scn"
expect 0 '  rewritten' "${rewrite[@]}" "$scratch/short.scn"
expect 0 '1 passed' "$LOCKSTEP" run "$scratch/short.scn"

# A claim that is not met fails after rewriting as before.
printf 'world used\nmutex /locks/x\nprocess a\nsettle\n----\nholds granted_in_order\n' >"$scratch/claim.scn"
expect 1 'granted_in_order: expected holds, found not-judged' "${rewrite[@]}" "$scratch/claim.scn"
printf 'world used\nmutex /locks/x\nprocess a\na acquire\nsettle\n----\nholds granted_in_order\n' >"$scratch/claim.scn"
expect 1 '  rewritten' "${rewrite[@]}" "$scratch/claim.scn"
same 1 "$(grep -c 'granted_in_order: expected holds, found not-judged' "$scratch/output")" 'how often an unmet claim is told'
# What cannot be followed is a mistake in the commands, and is not made the expected run; but what stands there may stay.
cat >"$f" <<'TEXT'
world used
mutex /locks/x
process a b

a acquire
settle
b cancel
resume a
before deliver b set-reply
----
TEXT
cp "$f" "$scratch/before"
expect 1 'not rewritten: a command cannot be followed (never, cannot, not-at-rest)' "${rewrite[@]}" "$f"
cmp "$f" "$scratch/before" || failed=1
printf '%s\n' '[   60ms] a held     fence=5' '[   60ms] - cannot   b cancel' '[   60ms] - cannot   resume a' \
    '[   60ms] - never    deliver b set-reply' >"$scratch/notes"
sed 's/60ms/61ms/' "$scratch/notes" >>"$f"
expect 0 '1 passed, 0 failed' "${rewrite[@]}" "$f"
same "$(<"$scratch/notes")" "$(sed '1,/^----/d' "$f")" 'what stood there, with other times'
finish
