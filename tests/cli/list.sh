#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# lockstep list says what there is; the reference page of the language names every word of it.
source "$(dirname "$0")/lib.sh"

expect 0 'mutex ' "$LOCKSTEP" list recipes
expect 0 'reentrant mutex with protected creation' "$LOCKSTEP" list recipes
expect 0 'breaks no_orphan_node' "$LOCKSTEP" list recipes
expect 0 'at_most_one_holder (always)' "$LOCKSTEP" list properties
expect 0 'at_most_one_believer (timed)' "$LOCKSTEP" list properties
expect 0 'restart-server s1' "$LOCKSTEP" list faults
expect 0 ' loss expire pause crash ' "$LOCKSTEP" list faults
expect 0 'process NAME...' "$LOCKSTEP" list verbs

# Every property has a broken recipe; of calls for several locks they are in tests/kinds/multi.sh, of leases in
# tests/coordredis/searches.sh.
while read -r property _; do
    grep -q "breaks $property\$" <("$LOCKSTEP" list recipes) ||
        grep -q "^caught [A-Z_]* $property " "$LOCKSTEP_SOURCE_DIR/tests/kinds/multi.sh" ||
        grep -q "^breaks [a-z_]* $property " "$LOCKSTEP_SOURCE_DIR/tests/coordredis/searches.sh" || { echo "nothing breaks $property"; failed=1; }
done < <("$LOCKSTEP" list properties | grep '^[a-z]')

page=docs/scenario-language.md
# Usage lines begin with two blanks: what stands before the next two is the usage.
while IFS= read -r usage; do
    first=${usage%% *}
    if [[ $first == a ]]; then
        usage=${usage#a }
        first="a ${usage%% *}"
    fi
    grep -qF "\`$first" "$page" || { echo "$page does not describe '$first'"; failed=1; }
done < <("$LOCKSTEP" list verbs | sed -n 's/^  \(.*[^ ]\)  *.*/\1/p' | sed 's/   .*//')
for fault in $("$LOCKSTEP" list faults | tail -n 1); do
    grep -q "^| \`$fault\` |" "$page" || [[ $fault == total ]] || { echo "$page does not name '$fault'"; failed=1; }
done
for word in $("$LOCKSTEP" run - <<<'world nothing' 2>&1 | sed 's/.*expected //; s/, found.*//; s/,//g; s/=//g; s/ or / /'); do
    grep -q "\`$word[\`=]" "$page" || { echo "$page does not name the option '$word'"; failed=1; }
done
for word in $("$LOCKSTEP" run - <<<'show what-is-no-group' 2>&1 | sed 's/.*expected //; s/, found.*//; s/,//g; s/ or / /'); do
    grep -q "^| \`$word\` |" "$page" || { echo "$page does not name the group '$word'"; failed=1; }
done
for option in $("$LOCKSTEP" run --help | grep -o '^  --[a-z]*'); do
    grep -q "^| \`$option" docs/cli.md || { echo "docs/cli.md does not name $option"; failed=1; }
done

# The table counts what the runs did.
cat >"$scratch/f.scn" <<'TEXT'
# One of each. And no more.
world used
mutex /locks/x
process a b
a acquire
cut a
settle
----

b acquire timeout=1s
settle
pause b
resume b
partition a
heal a
advance 2s
a release
crash a
----
TEXT
expect 0 'One of each.' "$LOCKSTEP" list scenarios "$scratch"
expect 0 '1 directed scenarios' "$LOCKSTEP" list scenarios --table "$scratch"
row()
{
    sed -n "s/^$1  *//p" "$scratch/output" | tr -s ' '
}
same '- 1 - -' "$(row timeout)" 'timeout'
same '- - - 1' "$(row crash)" 'crash'
same '- 1 - -' "$(row pause)" 'pause'
same '- - 1 -' "$(row partition)" 'partition'
same '- - - -' "$(row expire)" 'expire'
grep -q '^- cancel, hold: only a pending acquire can be given up$' "$scratch/output" || { cat "$scratch/output"; failed=1; }
grep -q '^- expire, wait: no scenario$' "$scratch/output" || failed=1
! grep -q '^- crash, release' "$scratch/output" || failed=1
finish
