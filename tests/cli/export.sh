#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# lockstep export: the file compiles without a warning, fails where the trace fails, and passes with the mended recipe, be it
# built in or the user's own. What does not fail is not exported. slow_export_broken.sh does it for every broken recipe.
source "${BASH_SOURCE[0]%/*}/lib.sh"
plain_build_only
source "${BASH_SOURCE[0]%/*}/lib_export.sh"

# ---- fails with the broken recipe, passes with the mended one ----

# Found by a search, with another order of choices than the system's own.
printf 'world used\nmutex /locks/x\nprocess a b: acquire release\nexplore loss<=1 expire<=1\n----\n' >"$scratch/two.scn"
for recipe in broken-no-sort broken-no-protection; do
    expect 1 'shrunk: ' "$LOCKSTEP" check --verbose --recipe "$recipe" --out "$scratch/$recipe" "$scratch/two.scn"
    property=$(sed -nE 's/^shrunk: .*\(([a-z_]+) in .*/\1/p' "$scratch/output")
    for trace in "$scratch/$recipe"/*.trace; do
        fails_and_passes "$trace" "$property"
    done
done

# Found in scripts, with a clock: one whose mended recipe needs other messages from the first second on.
while read -r recipe property scenario; do
    expect 1 "violated $property" "$LOCKSTEP" run --verbose --no-shrink --recipe "$recipe" --out "$scratch/$recipe" "scenarios/mutex/$scenario"
    fails_and_passes "$(trace_of "$property" "$scratch/output")" "$property"
done <<'TEXT'
broken-no-protection no_orphan_node create_reply_lost.scn
TEXT

# By random schedules, which draw the run constants.
printf 'mutex /locks/x\nprocess a b\na acquire\nb acquire\nsettle\na release\nsettle\nrest\n----\n' >"$scratch/script.scn"
expect 1 ' schedule, seed ' "$LOCKSTEP" run --verbose --no-shrink --recipe broken-no-sort --seeds 200 --out "$scratch/random" "$scratch/script.scn"
fails_and_passes "$(trace_of at_most_one_holder "$scratch/output")" at_most_one_holder

# Whatever else a trace says of its run: that run constants were swept, a world that lacks something, a seed that was given.
sed 's/loss<=1 expire<=1/loss<=1 constants=2/' "$scratch/two.scn" >"$scratch/swept.scn"
expect 1 'shrunk: ' "$LOCKSTEP" check --verbose --recipe broken-no-sort --without aj --out "$scratch/swept" "$scratch/swept.scn"
trace=$(echo "$scratch"/swept/*.min.trace)
fails_and_passes "$trace" at_most_one_holder
grep -A 1 '[.]seeded = "swept",' "$scratch/exported.c" | grep -qF '.without = "aj",' || { echo 'what the seed means is lost'; failed=1; }
expect 1 'replay: ' "$LOCKSTEP" run --verbose --recipe broken-no-protection --no-shrink --seed 7 --out "$scratch/given" \
    scenarios/mutex/create_reply_lost.scn
fails_and_passes "$(trace_of no_orphan_node "$scratch/output")" no_orphan_node
grep -A 1 '[.]seed = 7u,' "$scratch/exported.c" | grep -qF '.seeded = "given",' || { echo 'the seed is lost'; failed=1; }

# A swarm, which draws for each seed what may happen at all.
expect 1 'swarm schedule, seed ' "$LOCKSTEP" run --verbose --recipe broken-no-sort --no-shrink --seeds 500 --strategy swarm --no-search \
    --out "$scratch/swarm" "$scratch/two.scn"
fails_and_passes "$(trace_of at_most_one_holder "$scratch/output")" at_most_one_holder

# ---- a recipe of the user's own ----

trace=$(echo "$scratch"/broken-no-sort/*.min.trace)
"$LOCKSTEP" export "$trace" >"$scratch/own.c"
cc=${compilers[0]}
build "$cc" "$scratch/own.c" -DRECIPE_OBJECT=my_recipe "$my_recipe"
expect 0 'not violated in ' "$scratch/regression"
build "$cc" "$scratch/own.c" -DRECIPE_OBJECT=my_recipe -DGRANTS_ALL "$my_recipe"
expect 1 'at_most_one_holder is violated at step ' "$scratch/regression"
# It says from where on the list does not fit a recipe that acts otherwise.
grep -qE '^the first [0-9]+ of 11 choices were done as they stand; choice [0-9]+, .* does not fit: ' "$scratch/output" ||
    { cat "$scratch/output"; failed=1; }
# A run without a verdict is no success.
build "$cc" "$scratch/own.c" -DRECIPE_OBJECT=my_recipe -DSTATE_BYTES=1000000 "$my_recipe"
expect 1 'no verdict after ' "$scratch/regression"
grep -q 'limit: the state of a recipe has 1000008 bytes' "$scratch/output" || { cat "$scratch/output"; failed=1; }
build "$cc" "$scratch/own.c" '-DRECIPE="no-such"'
expect 1 'expected a recipe (see lockstep list recipes), found nothing' "$scratch/regression"

# ---- the text ----

# The file name stands in the line that compiles it; without -o the text goes to standard output, with - the trace comes in.
"$LOCKSTEP" export --out "$scratch/some_name.c" "$trace"
grep -q 'add_executable(regression some_name.c my_recipe.c)' "$scratch/some_name.c" || { echo 'the file has another name'; failed=1; }
diff <(sed 's/some_name[.]c/regression.c/' "$scratch/some_name.c") <("$LOCKSTEP" export - <"$trace") || failed=1

# Names and comments of a scenario may hold whatever C could stumble over.
odd=$scratch/'odd ??/ */ /* "name"\.scn'
mkdir -p "${odd%/*}"
{
    printf '# A comment */ of ??/\n# "quotes" \\ and a backslash at the end \\\n#\ttab, ä, \xe2\x80\xae??=\n'
    cat "$scratch/two.scn"
} >"$odd"
"$LOCKSTEP" check --verbose --recipe broken-no-sort --out "$scratch/odd" - <"$odd" >"$scratch/output" || true
trace=$(echo "$scratch"/odd/*.min.trace)
sed "s#^scenario \([0-9]*\) .*#scenario \1 $(sed 's/[\\&#]/\\&/g' <<<"$odd")#" "$trace" >"$scratch/odd.trace"
fails_and_passes "$scratch/odd.trace" at_most_one_holder

# ---- what is refused ----

t=$scratch/t.trace
trace=$(echo "$scratch"/broken-no-sort/*.min.trace)
expect_line "$scratch/none.trace:1:1: expected a readable file, found 'No such file or directory'" "$LOCKSTEP" export "$scratch/none.trace"
size=$(stat -c %s "$trace")
for cut in 1 10 60 $((size / 2)) $((size - 2)) $((size - 1)); do
    head -c "$cut" "$trace" >"$t"
    expect 2 ': expected ' "$LOCKSTEP" export -o "$scratch/refused.c" "$t"
    same 1 "$(wc -l <"$scratch/output")" "lines for a trace cut at $cut"
done
sed 's/^found .*/found difference/' "$trace" >"$t"
expect_line "$t:6:7: expected names of properties that the trace violates, found 'difference'" "$LOCKSTEP" export "$t"
sed 's/^found .*/found no_orphan_node/' "$trace" >"$t"
expect_line "$t:6:7: expected a run that violates no_orphan_node and fits to its end (see lockstep replay), found another" \
    "$LOCKSTEP" export "$t"
sed 's/^found .*/found deadline_is_kept/' "$trace" >"$t"
expect_line "$t:1:1: expected a run that can be done again, found expected a property that this scenario is judged by, found 'deadline_is_kept'" \
    "$LOCKSTEP" export "$t"
sed 's/^recipe .*/recipe mutex/' "$trace" >"$t"
expect 2 'expected a run that violates at_most_one_holder and fits to its end' "$LOCKSTEP" export -o "$scratch/refused.c" "$t"
sed 's/^recipe .*/recipe nothing/' "$trace" >"$t"
expect_line "$t:3:8: expected a recipe (see lockstep list recipes), found 'nothing'" "$LOCKSTEP" export "$t"
sed '0,/ connect a s1/s/ connect a s1/ connect a s9/' "$trace" >"$t"
expect 2 'and fits to its end (see lockstep replay), found another' "$LOCKSTEP" export -o "$scratch/refused.c" "$t"
[[ ! -e $scratch/refused.c ]] || { echo 'a file was written for a trace that was refused'; failed=1; }
expect 4 'expected a file that can be written' "$LOCKSTEP" export -o "$scratch/no/folder.c" "$trace"
if [[ -w /dev/full ]]; then
    status=0
    "$LOCKSTEP" export "$trace" >/dev/full 2>"$scratch/output" || status=$?
    same 4 $status 'exit status with a full device'
fi

# ---- the examples of --help ----

"$LOCKSTEP" export --help | sed -n '/^examples:/,$p' | tail -n +2 >"$scratch/examples"
same 3 "$(grep -c '^  ' "$scratch/examples")" 'examples'
mkdir -p "$scratch/help/scenarios/explore"
cp "$scratch/two.scn" "$scratch/help/scenarios/explore/mutex_2.scn"
while read -r line; do
    status=0
    (cd "$scratch/help" && PATH=$(dirname "$LOCKSTEP"):$PATH bash -c "$line" >output 2>&1 </dev/null) || status=$?
    wanted=0
    [[ $line != *' check '* ]] || wanted=1
    same "$wanted" $status "exit status of the example '$line'"
done <"$scratch/examples"
finish
