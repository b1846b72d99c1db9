#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# --property FILE.so: a judge of one's own is listed, judges, is reported everywhere, stands in traces, and counts in searches.
# What cannot be used is refused in one line.
source "${BASH_SOURCE[0]%/*}/lib.sh"
source "${BASH_SOURCE[0]%/*}/lib_export.sh"
example=$LOCKSTEP_BUILD_DIR/properties/nobody_overtakes_twice.so
name=nobody_overtakes_twice

# make NAME [DEFINE...]: $scratch/NAME.so from my_property.c.
make()
{
    "${compilers[0]}" -std=c11 -Wall -Wextra -Werror -Iinclude -fPIC -shared -o "$scratch/$1.so" "${@:2}" tests/cli/my_property.c
}

# scenario FILE LINE...: two turns of two clients; the lines stand before the faults.
scenario()
{
    printf 'world used\nmutex /locks/x\nprocess a b: acquire release acquire release\n' >"$1"
    printf '%s\n' "${@:2}" >>"$1"
}

# counts: states and transitions in what a search said.
counts()
{
    grep -oE '[0-9]+ states, [0-9]+ transitions' "$scratch/output" | sed -n 1p
}

scenario "$scratch/two.scn" "properties $name" 'explore loss<=0' '----'
scenario "$scratch/all.scn" 'explore loss<=0' '----'
make two_grants
make five_grants -DGRANTS_MAX=5 '-DNAME="at_most_five_grants"'
make five_shown -DGRANTS_MAX=5 '-DNAME="at_most_five_grants"' -DCANON

# ---- it is listed ----
expect 0 "$name (always, loaded)" "$LOCKSTEP" list properties --property "$example"
expect 0 'at_most_two_grants (always, loaded)' "$LOCKSTEP" list properties --property "$example" --property "$scratch/two_grants.so"
expect 0 '  counts:   grants to others while somebody stands in line' "$LOCKSTEP" list properties --property "$example"
expect_line "lockstep list: expected properties with --property, found 'verbs'" "$LOCKSTEP" list verbs --property "$example"

# ---- it judges, and all reports say so ----
expect 0 '1 passed, 0 failed' "$LOCKSTEP" check --verbose --property "$example" --out "$scratch/r" "$scratch/two.scn"
expect 0 "\"properties\":{\"$name\":\"holds\"}" "$LOCKSTEP" check --json --property "$example" --out "$scratch/r" "$scratch/two.scn"
expect 1 "violated $name  step " "$LOCKSTEP" check --verbose --recipe broken-full-name-order --property "$example" --out "$scratch/r" --junit "$scratch/junit.xml" \
    "$scratch/two.scn"
grep -q '^  [ab] was granted x twice while [ab] stood in line (czxid [0-9]*)$' "$scratch/output" || { echo 'the sentence is missing'; failed=1; }
grep -q '[ab] was granted x twice while [ab] stood in line' "$scratch/junit.xml" || { echo 'JUnit says something else'; failed=1; }
trace=$(sed -n 's/^replay: .* replay //p' "$scratch/output")
min=$(sed -nE "s/^shrunk: .* replay (.*)  \($name in .*/\1/p" "$scratch/output")
expect 1 "\"$name\":\"violated\"" "$LOCKSTEP" check --json --recipe broken-full-name-order --property "$example" --out "$scratch/r" "$scratch/two.scn"

# Besides those of the file, in scripts and random schedules too. What nobody has asked for is not judged.
write_small "$scratch/small.scn"
expect 0 "\"$name\":\"not-judged\"" "$LOCKSTEP" run --json --property "$example" "$scratch/small.scn"
expect 0 '"at_most_one_holder":"holds"' "$LOCKSTEP" run --json --property "$example" "$scratch/small.scn"
scenario "$scratch/claims.scn" "properties $name" 'explore loss<=0' '----' "holds $name no_orphan_node"
expect 0 '1 passed, 0 failed' "$LOCKSTEP" check --verbose --property "$example" "$scratch/claims.scn"
expect_line "$scratch/claims.scn:4:12: expected the name of a property (see lockstep list properties), found '$name'" \
    "$LOCKSTEP" check --verbose "$scratch/claims.scn"
sed "s/$name/no_orphan_node/g" "$scratch/claims.scn" >"$scratch/other.scn"
expect 1 'violated at_most_two_grants' "$LOCKSTEP" check --verbose --no-shrink --property "$scratch/two_grants.so" --out "$scratch/r" "$scratch/other.scn"
grep -q 'got x as number 3$' "$scratch/output" || { echo 'at_most_two_grants says something else'; failed=1; }
printf 'mutex /locks/x\nprocess a b\n%s----\n' "$(printf 'a acquire\nsettle\na release\nsettle\n%.0s' 1 2 3)"$'\n' >"$scratch/script.scn"
"$LOCKSTEP" run --verbose --rewrite "$scratch/script.scn" >/dev/null
expect 1 'violated at_most_two_grants' "$LOCKSTEP" run --verbose --no-shrink --property "$scratch/two_grants.so" --out "$scratch/r" "$scratch/script.scn"
expect 0 '1 passed, 0 failed' "$LOCKSTEP" run --verbose --property "$scratch/five_grants.so" --seeds 20 --out "$scratch/r" "$scratch/script.scn"
make timed -DMODES=LS_PROPERTY_TIMED
expect 1 'violated at_most_two_grants' "$LOCKSTEP" run --verbose --no-shrink --property "$scratch/timed.so" --out "$scratch/r" "$scratch/script.scn"
expect 0 '1 passed, 0 failed' "$LOCKSTEP" check --verbose --property "$scratch/timed.so" "$scratch/all.scn"
make named -DMODES=0
expect 0 '1 passed, 0 failed' "$LOCKSTEP" check --verbose --property "$scratch/named.so" "$scratch/all.scn"
sed "s/$name/at_most_two_grants/" "$scratch/two.scn" >"$scratch/named.scn"
expect 1 'violated at_most_two_grants' "$LOCKSTEP" check --verbose --no-shrink --property "$scratch/named.so" --out "$scratch/r" "$scratch/named.scn"

# ---- traces ----
expect 1 "property $name of $example" "$LOCKSTEP" replay "$trace"
expect 1 "$name is violated at step " "$LOCKSTEP" replay "$min"
same "property $name $example" "$(grep '^property' "$min")" 'what a shrunk trace says'
expect 0 'no choice can be left out of it' "$LOCKSTEP" shrink --property "$name" --out "$scratch/short.trace" "$trace"
expect 1 "$name is violated at step " "$LOCKSTEP" replay "$scratch/short.trace"
sed -E "s#^(property $name) .*#\1 $scratch/moved.so#" "$min" >"$scratch/moved.trace"
expected="$scratch/moved.trace:7:1: expected a shared object with the property $name (--property names another place): "
expected+="$scratch/moved.so: cannot open shared object file: No such file or directory, found '$scratch/moved.so'"
for command in replay shrink export; do
    expect_line "$expected" "$LOCKSTEP" "$command" "$scratch/moved.trace"
done
expect 1 "$name is violated at step " "$LOCKSTEP" replay --property "$example" "$scratch/moved.trace"
expect 0 "$name: while a contender" "$LOCKSTEP" shrink --property "$example" --property "$name" --out "$scratch/again.trace" "$scratch/moved.trace"
same "property $name $example" "$(grep '^property' "$scratch/again.trace")" 'what a trace says that was shrunk with another file'
cp "$scratch/two_grants.so" "$scratch/moved.so"
expect_line "${expected%%"$scratch/moved.so: "*}its property is called at_most_two_grants, found '$scratch/moved.so'" \
    "$LOCKSTEP" replay "$scratch/moved.trace"
make one_grant -DGRANTS_MAX=1 '-DNAME="at_most_one_grant"'
expect 1 'at_most_one_grant is violated at step ' "$LOCKSTEP" replay --property "$scratch/one_grant.so" "$min"
loaded=(--property "$example")
fails_and_passes "$min" "$name"

# Who waits for ever is asked without other people's judges, also without those that show no numbers; the circle closes in a replay.
expect 1 'violated served_under_weak_fairness' "$LOCKSTEP" check --verbose --recipe broken-expects-create --property "$scratch/five_grants.so" --out "$scratch/r" \
    scenarios/explore/live_once_2.scn
expect 1 'served_under_weak_fairness is violated' "$LOCKSTEP" replay "$(sed -n 's/^replay: .* replay //p' "$scratch/output")"

# ---- searches ----
# Its state is part of what makes states different. What shows its numbers is renamed; what does not is compared as it is, and so
# is all else.
expect 0 passed "$LOCKSTEP" check --verbose "$scratch/all.scn"
without=$(counts)
expect 0 passed "$LOCKSTEP" check --verbose --property "$scratch/five_shown.so" "$scratch/all.scn"
shown=$(counts)
expect 0 passed "$LOCKSTEP" check --verbose --property "$scratch/five_shown.so" --no-renaming "$scratch/all.scn"
plain=$(counts)
expect 0 passed "$LOCKSTEP" check --verbose --property "$scratch/five_grants.so" "$scratch/all.scn"
same "$plain" "$(counts)" 'a search with a property that shows no numbers'
for options in --no-memo '--workers 2' '--strategy bfs' --exact; do
    # shellcheck disable=SC2086
    expect 0 passed "$LOCKSTEP" check --verbose $options --property "$scratch/five_shown.so" "$scratch/all.scn"
    same "$shown" "$(counts)" "a search with $options"
done
((${without%% *} < ${shown%% *} && ${shown%% *} < ${plain%% *})) || { echo "states: $without, $shown, $plain"; failed=1; }
expect 0 'no symmetry: processes, their order or their numbers matter in this world, recipe or property' \
    "$LOCKSTEP" check --verbose --symmetry --property "$scratch/five_shown.so" "$scratch/all.scn"
same "$shown" "$(counts)" 'a search that asks for symmetry'
# A file's counts are those without it.
{ cat "$scratch/all.scn" && echo 'states 5'; } >"$scratch/counts.scn"
expect 1 'is not what the file expects' "$LOCKSTEP" check --verbose --out "$scratch/r" "$scratch/counts.scn"
expect 0 '1 passed' "$LOCKSTEP" check --verbose --property "$example" "$scratch/counts.scn"
expect 0 'not rewritten' "$LOCKSTEP" check --verbose --rewrite --property "$example" "$scratch/counts.scn"
same 'states 5' "$(tail -n 1 "$scratch/counts.scn")" 'what --rewrite writes'

# ---- shards and checkpoints know which properties there were ----
for shard in 1 2; do
    expect 0 'parts done' "$LOCKSTEP" check --verbose --shard $shard/2 --property "$example" --property "$scratch/five_grants.so" --out "$scratch/s" "$scratch/two.scn"
done
expect 0 "\"properties\":{\"$name\":\"holds\",\"at_most_five_grants\":\"holds\"}" "$LOCKSTEP" merge --json "$scratch"/s/shard-*.json
expect 0 'parts done' "$LOCKSTEP" check --verbose --shard 2/2 --property "$example" --out "$scratch/s" "$scratch/two.scn"
expect_line "$scratch/s/shard-2-of-2.json:1:1: expected the options of $scratch/s/shard-1-of-2.json: --property=$scratch/five_grants.so, found no further one" \
    "$LOCKSTEP" merge --verbose "$scratch"/s/shard-*.json
expect 3 limit "$LOCKSTEP" check --verbose --max-states 100 --checkpoint "$scratch/kept" --property "$scratch/five_grants.so" "$scratch/all.scn"
expect 2 "expected the options of the checkpoint $scratch/kept/all.checkpoint (--recipe mutex --property $scratch/five_grants.so (at_most_five_grants " \
    "$LOCKSTEP" check --verbose --resume "$scratch/kept" "$scratch/all.scn"
expect 0 '1 passed' "$LOCKSTEP" check --verbose --resume "$scratch/kept" --property "$scratch/five_grants.so" "$scratch/all.scn"
same "$plain" "$(counts)" 'a search that was gone on with'
cp "$scratch/five_shown.so" "$scratch/five_grants.so"
expect 2 'expected the options of the checkpoint' "$LOCKSTEP" check --resume "$scratch/kept" --property "$scratch/five_grants.so" "$scratch/all.scn"

# ---- what cannot be used ----
# refused NAME TEXT: the shared object of that name, with this reason.
refused()
{
    expect_line "lockstep check: expected a shared object with a property after --property, found '$scratch/$1.so': $2" \
        "$LOCKSTEP" check --verbose --property "$scratch/$1.so" "$scratch/all.scn"
}
refused none "$scratch/none.so: cannot open shared object file: No such file or directory"
echo 'no shared object' >"$scratch/text.so"
refused text "$scratch/text.so: file too short"
make no_module -DNO_MODULE
refused no_module 'it does not export a property (LS_PROPERTY_MODULE of <lockstep/property.h>)'
make newer -DINTERFACE=2
refused newer 'it was compiled for interface 2, this program has 1'
make large -DSTATE_BYTES=4097
refused large 'its state has 4097 bytes, 4096 is the most'
make clash '-DNAME="no_orphan_node"'
refused clash 'its property is called no_orphan_node, as one that is built in'
make no_name '-DNAME="At most two"'
refused no_name 'its name is not one of 1 to 63 small letters, digits and underscores'
make no_events -DEVENTS=0
refused no_events 'it wants no events, or some that there are not'
make stopped '-DEVENTS=EVENT_BIT(EVENT_STOPPED)'
refused stopped 'it wants EVENT_STOPPED, which judges see as EVENT_CRASHED'
expect_line "lockstep check: expected a shared object with a property after --property, found '$scratch/named.so': its property is called at_most_two_grants, as one that is loaded already" \
    "$LOCKSTEP" check --verbose --property "$scratch/two_grants.so" --property "$scratch/named.so" "$scratch/all.scn"
for command in run check replay list; do
    expect_line "lockstep $command: expected a shared object (FILE.so) with a property after --property, found 'no_orphan_node'" \
        "$LOCKSTEP" "$command" --property no_orphan_node "$scratch/all.scn"
done
five=()
for i in 1 2 3 4 5; do
    make "grants_$i" "-DNAME=\"grants_$i\""
    five+=(--property "$scratch/grants_$i.so")
done
expect_line "lockstep check: expected a shared object with a property after --property, found '$scratch/grants_5.so': 4 shared objects with properties are the most" \
    "$LOCKSTEP" check --verbose "${five[@]}" "$scratch/all.scn"

# ---- what does what none may do ----
make too_far -DSTATE_BYTES=8
expect 3 'limit: the property at_most_two_grants writes behind its state of 8 bytes' "$LOCKSTEP" check --verbose --property "$scratch/too_far.so" --out "$scratch/r" "$scratch/all.scn"
make keeps -DKEEPS
expect 3 'limit: the property at_most_two_grants keeps something outside of its state' "$LOCKSTEP" check --verbose --property "$scratch/keeps.so" --out "$scratch/r" "$scratch/all.scn"
make crashes -DCRASHES
expect 4 'ERROR' "$LOCKSTEP" check --verbose --property "$scratch/crashes.so" --out "$scratch/r" "$scratch/all.scn"
finish
