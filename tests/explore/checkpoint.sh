#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A search that is stopped, and goes on from its checkpoint, finds the same as an uninterrupted one. A limit, a signal, or kill -9
# while it writes may stop it. A file that is no checkpoint of this very search is refused.
source "$(dirname "$0")/lib_checkpoint.sh"
plain_build_only
scenario=$scratch/kept.scn
printf 'world used\nmutex /locks/x\nprocess a b: acquire release\nexplore loss<=1 pause<=1\n----\nholds at_most_one_holder\n' \
    >"$scenario"

# ---- limits, layered and not, with and without renaming, one worker and two ----

for options in '' '--no-layers' '--no-layers --no-renaming'; do
    # shellcheck disable=SC2086 # several words
    wanted=$(found "$scenario" $options)
    [[ $wanted == *'"verdict":"holds"'*'"exhausted":true'* ]] || { echo "$options: $wanted"; failed=1; }
    for workers in 1 2; do
        folder="$scratch/limit$workers$options"
        # shellcheck disable=SC2086
        "$LOCKSTEP" check --verbose --out "$scratch/reports" --checkpoint "$folder" --workers $workers --max-states 6000 $options \
            "$scenario" >"$scratch/limit" && { echo "no limit was met"; failed=1; }
        grep -q '^  kept in .*kept.checkpoint, --resume goes on with it$' "$scratch/limit" || { cat "$scratch/limit"; failed=1; }
        cp -r "$folder" "$folder.other"
        # shellcheck disable=SC2086
        go_on "$wanted" "$folder" --workers $workers $options
        # shellcheck disable=SC2086
        go_on "$wanted" "$folder" $options # it is done: the same is said again
        # shellcheck disable=SC2086
        go_on "$wanted" "$folder.other" --workers $((3 - workers)) $options
    done
done

# One state at a time, from the first to the fortieth.
wanted=$(found "$scenario" --no-layers)
folder=$scratch/steps
found "$scenario" --no-layers --checkpoint "$folder" --max-states 2 >"$scratch/first"
for ((states = 3; states < 40; states++)); do
    found "$scenario" --no-layers --resume "$folder" --max-states $states >"$scratch/next"
    grep -q "\"states\":$states,.*\"verdict\":\"limit\"\|\"verdict\":\"limit\".*\"states\":$states," "$scratch/next" ||
        { echo "one state at a time, $states:"; cat "$scratch/next" "$scratch/complaint"; failed=1; break; }
done
go_on "$wanted" "$folder" --no-layers

# A full table is a limit, too; it goes on with a larger one, and not with one that is too small for what is kept.
scenario=scenarios/explore/mutex_2.scn
folder=$scratch/memory
wanted=$(found "$scenario" --no-layers)
same '' "$(found "$scenario" --no-layers --checkpoint "$folder" --max-memory 8M | grep -v '"verdict":"limit"')" 'a full table'
grep -q 'the memory for states' <<<"$(found "$scenario" --no-layers --resume "$folder" --max-memory 4M)" ||
    { echo 'a table that is too small for the checkpoint'; failed=1; }
go_on "$wanted" "$folder" --no-layers

# ---- signals ----

# Told to end, it is kept; and sets of run constants are counted together.
scenario=$scratch/swept.scn
sed 's/pause<=1/constants=2/' "$scratch/kept.scn" >"$scenario"
wanted=$(found "$scenario")
folder=$scratch/interrupted
for ((round = 0; round < 3; round++)); do
    start=(--resume "$folder")
    [[ -e $(kept_in "$folder") ]] || start=(--checkpoint "$folder")
    "$LOCKSTEP" check --verbose --quiet --out "$scratch/reports" --checkpoint-every 1000 "${start[@]}" "$scenario" >"$scratch/told" 2>&1 &
    sleep 0.$((round + 1))
    kill -TERM $! 2>/dev/null || true
    wait $! || true
done
go_on "$wanted" "$folder"

# Killed while it writes, several times, each time gone on with.
scenario=$scratch/kept.scn
wanted=$(found "$scenario" --no-layers --no-renaming)
folder=$scratch/killed_often
for moment in 1 2 4 3; do
    start=(--resume "$folder")
    [[ -e $(kept_in "$folder") ]] || start=(--checkpoint "$folder")
    kill_when_writing "$folder" $moment --no-layers --no-renaming --workers $((moment % 2 + 1)) "${start[@]}"
done
[[ -e $(kept_in "$folder") ]] || { echo "nothing is kept after all that"; failed=1; }
((killed_writing > 0)) || { echo "none was killed while it wrote"; failed=1; }
go_on "$wanted" "$folder" --no-layers --no-renaming
same '' "$(ls "$folder" | grep -v '^kept.checkpoint$')" 'files beside the checkpoint'

# ---- a violation is found all the same ----

scenario=$scratch/kept.scn
folder=$scratch/violated
expect 3 'limit' "$LOCKSTEP" check --verbose --out "$scratch/reports" --recipe broken-no-sort --strategy dfs --max-states 20 \
    --checkpoint "$folder" "$scenario"
expect 1 'violated at_most_one_holder' "$LOCKSTEP" check --verbose --out "$scratch/reports" --recipe broken-no-sort --resume "$folder" "$scenario"

# ---- several scenarios: a file for each, those that were not begun begin ----

folder=$scratch/several
mkdir "$scratch/twin"
cp "$scratch/swept.scn" "$scratch/twin/kept.scn"
printf 'world used\nmutex /locks/x\nprocess a: acquire release\n----\nholds at_most_one_holder\n' >"$scratch/small.scn"
expect 3 '1 passed, 0 failed, 1 skipped' "$LOCKSTEP" check --verbose --out "$scratch/reports" --jobs 2 --checkpoint "$folder" --max-states 9000 \
    "$scratch/small.scn" "$scratch/kept.scn"
same 'kept.checkpoint small.checkpoint' "$(cd "$folder" && echo ./* | sed 's,\./,,g')" 'files of two scenarios'
expect 0 '3 passed, 0 failed' "$LOCKSTEP" check --verbose --out "$scratch/reports" --jobs 2 --resume "$folder" "$scratch/small.scn" \
    "$scratch/kept.scn" "$scratch/twin/kept.scn"
[[ -e $folder/kept.2.checkpoint ]] || { echo "no file of the second scenario of one name"; ls "$folder"; failed=1; }

# A scenario whose own name looks like that of a second one has another file.
folder=$scratch/alike
cp "$scratch/kept.scn" "$scratch/kept.2.scn"
expect 3 'limit' "$LOCKSTEP" check --verbose --out "$scratch/reports" --checkpoint "$folder" --max-states 20 \
    "$scratch/kept.scn" "$scratch/twin/kept.scn" "$scratch/kept.2.scn"
same 'kept.2.1.checkpoint kept.2.checkpoint kept.checkpoint' "$(cd "$folder" && echo ./* | sed 's,\./,,g')" 'files of three scenarios'

# ---- what is refused ----

folder=$scratch/refused
scenario=$scratch/kept.scn
expect 3 'kept in' "$LOCKSTEP" check --verbose --out "$scratch/reports" --checkpoint "$folder" --no-layers --max-states 2000 "$scenario"
file=$folder/kept.checkpoint
resume=("$LOCKSTEP" check --verbose --out "$scratch/reports" --no-layers --resume)

expect_line "lockstep check: expected a folder without a checkpoint of these scenarios after --checkpoint (--resume goes on with it), \
found '$file'" "$LOCKSTEP" check --verbose --checkpoint "$folder" --no-layers "$scenario"
expect_line "lockstep check: expected the options of the checkpoint $file (--recipe mutex --no-layers), found '--recipe mutex'" \
    "$LOCKSTEP" check --verbose --resume "$folder" "$scenario"
expect_line "lockstep check: expected the options of the checkpoint $file (--recipe mutex --no-layers), \
found '--recipe broken-no-sort --no-layers'" "${resume[@]}" "$folder" --recipe broken-no-sort "$scenario"
expect_line "lockstep check: expected a folder with a checkpoint of these scenarios after --resume, found '$scratch/nowhere'" \
    "${resume[@]}" "$scratch/nowhere" "$scenario"
expect_line "lockstep check: expected the scenario of the checkpoint $file, word for word, found '$scratch/twin/kept.scn'" \
    "${resume[@]}" "$folder" "$scratch/twin/kept.scn"
expect_line "lockstep check: expected --strategy dfs with --checkpoint or --resume, found 'bfs'" \
    "$LOCKSTEP" check --verbose --strategy bfs --checkpoint "$folder" "$scenario"
for option in --exact --subsume; do
    expect_line "lockstep check: expected neither --exact nor --subsume with --checkpoint or --resume, found '$option'" \
        "$LOCKSTEP" check --verbose $option --resume "$folder" "$scenario"
done
for option in --coverage --rewrite; do
    expect_line "lockstep check: expected neither --coverage nor --rewrite with --checkpoint or --resume, found '$option'" \
        "$LOCKSTEP" check --verbose $option --resume "$folder" "$scenario"
done
expect_line "lockstep check: expected no --shard with --checkpoint or --resume, found '--shard'" \
    "$LOCKSTEP" check --verbose --shard 1/2 --resume "$folder" "$scenario"
expect_line "lockstep check: expected no --shard with --bitstate, found '--shard'" \
    "$LOCKSTEP" check --verbose --shard 1/2 --bitstate 1M "$scenario"
expect_line "lockstep check: expected a folder after --checkpoint, not a file, found '$scenario'" \
    "$LOCKSTEP" check --verbose --checkpoint "$scenario" "$scenario"
expect_line "lockstep check: expected --checkpoint or --resume with --checkpoint-every, found ''" \
    "$LOCKSTEP" check --verbose --checkpoint-every 3 "$scenario"
expect 2 'expected a number from 0 to 10000000 after --checkpoint-every' "$LOCKSTEP" check --checkpoint-every x "$scenario"

# Another build is another program, by a single byte.
cp "$LOCKSTEP" "$scratch/lockstep"
printf x >>"$scratch/lockstep"
expect 2 'expected a checkpoint of this build of lockstep (' "$scratch/lockstep" check --no-layers --resume "$folder" "$scenario"

# Cut off anywhere, or with a byte that has changed.
size=$(stat -c %s "$file")
cp "$file" "$scratch/whole"
for length in 0 1 7 8 15 16 24 100 1000 $((size / 2)) $((size - 8)) $((size - 1)); do
    head -c "$length" "$scratch/whole" >"$file"
    expect_line "lockstep check: expected a checkpoint, found '$file: damaged or incomplete'" "${resume[@]}" "$folder" "$scenario"
done
for ((turn = 0; turn < 24; turn++)); do
    at=$((size * turn / 24 + turn % 5))
    cp "$scratch/whole" "$file"
    byte=$(od -An -tu1 -j $at -N 1 "$file")
    # shellcheck disable=SC2059 # the format is the byte
    printf "\\x$(printf %02x $((byte ^ 1 << turn % 8)))" | dd of="$file" bs=1 seek=$at conv=notrunc status=none
    expect_line "lockstep check: expected a checkpoint, found '$file: damaged or incomplete'" "${resume[@]}" "$folder" "$scenario"
done
printf x | cat "$scratch/whole" - >"$file"
expect 2 'damaged or incomplete' "${resume[@]}" "$folder" "$scenario"
rm "$file"
mkdir "$file"
expect 2 'found' "${resume[@]}" "$folder" "$scenario"
rmdir "$file"
cp "$scratch/whole" "$file"
expect 0 '1 passed, 0 failed' "${resume[@]}" "$folder" "$scenario"

# A folder that cannot be made is said before anything is searched.
expect 2 'expected a folder that can be written to after --checkpoint' "$LOCKSTEP" check --checkpoint "$scenario/x" "$scenario"
finish
