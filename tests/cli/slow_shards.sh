#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# --shard and lockstep merge: whatever the number of shards, what comes out is what one process says, to the byte, with its exit
# status. What is missing or does not belong together is named in one line; no bytes make merge fall over.
source "${BASH_SOURCE[0]%/*}/lib.sh"

# Scenarios of all kinds: sets of run constants, claims that hold, claims that do not, a directed one.
mkdir "$scratch/files"
head='world used\nmutex /locks/x\nprocess a b: acquire release\n'
printf "${head}explore loss<=1\n----\nholds at_most_one_holder no_lost_wakeup\n" >"$scratch/files/one.scn"
printf "${head}explore expire<=1 constants=3\n----\nholds granted_in_order\n" >"$scratch/files/sets.scn"
printf "${head}explore expire<=1\n----\nstates 5\n" >"$scratch/files/wrong_count.scn"
printf 'world used\nmutex /locks/x\nprocess a: acquire release\n----\nholds no_stale_effect at_most_one_wakeup_per_release\n' \
    >"$scratch/files/unjudged.scn"
printf 'mutex /locks/x\nprocess a b\na acquire\nb acquire\nsettle\na release\nsettle\nrest\n----\n' >"$scratch/files/script.scn"
"$LOCKSTEP" run --verbose --rewrite "$scratch/files/script.scn" >/dev/null

# Times are not compared, nor in which folder a trace lies.
plain()
{
    sed -E 's/"(seconds|states_per_second|bytes_per_state)":[^,]*,//g; s#(whole|parts)/#traces/#g' "$1"
}

# shards N COMMAND [ARGUMENT...]: N processes, each a part.
shards()
{
    local n=$1 i
    rm -rf "$scratch/parts"
    for ((i = 1; i <= n; i++)); do
        expect 0 " parts done" "$LOCKSTEP" "$2" --out "$scratch/parts" --shard "$i/$n" "${@:3}"
    done
}

# same_as_one N COMMAND [ARGUMENT...]: as text and as JSON, also with the exit status.
same_as_one()
{
    local n=$1 wanted found
    shift
    for format in --quiet= --json; do
        wanted=0 found=0
        "$LOCKSTEP" "$@" --verbose --out "$scratch/whole" ${format%--quiet=} >"$scratch/one" 2>"$scratch/one.err" || wanted=$?
        [[ $format != --quiet= ]] || shards "$n" "$@"
        "$LOCKSTEP" merge --verbose ${format%--quiet=} "$scratch/parts"/shard-*.json >"$scratch/merged" 2>"$scratch/merged.err" || found=$?
        same "$wanted" "$found" "the exit status of $n shards of lockstep $*"
        diff <(plain "$scratch/one") <(plain "$scratch/merged") || { echo "$n shards of lockstep $* say something else"; failed=1; }
        diff "$scratch/one.err" "$scratch/merged.err" || { echo "$n shards of lockstep $* complain otherwise"; failed=1; }
    done
}

all=("$scratch/files/one.scn" "$scratch/files/sets.scn" "$scratch/files/wrong_count.scn" "$scratch/files/unjudged.scn")
for n in 1 2 3 5; do
    same_as_one "$n" check "${all[@]}"
    same_as_one "$n" run --seeds 60 --seed 5 --no-shrink --recipe broken-no-sort "$scratch/files/script.scn"
done
same_as_one 3 check --recipe broken-no-protection "$scratch/files"
same_as_one 3 check --no-layers --strategy bfs "$scratch/files/sets.scn"
same_as_one 3 check --max-states 2000 "$scratch/files/one.scn"
same_as_one 4 run --seeds 10 "$scratch/files/script.scn" "$scratch/files/one.scn"
same_as_one 3 run --seeds 20 --no-search "$scratch/files/one.scn" "$scratch/files/script.scn"
same_as_one 3 run --seeds 30 --no-search --strategy swarm --recipe broken-no-sort "$scratch/files/one.scn"
same_as_one 3 run --seeds 30 --recipe textbook "$scratch/files/script.scn"
same_as_one 3 run --no-shrink --recipe broken-herd scenarios/regress
# Each part has a search for liveness of its own: its counts are those of one process, and what it finds stands for all faults.
printf "${head}explore loss<=1\nproperties can_always_be_served served_under_weak_fairness\n----\n" >"$scratch/live.scn"
for n in 1 2 3; do
    same_as_one "$n" check "$scratch/live.scn"
    same_as_one "$n" check --no-shrink --recipe broken-steps-aside "$scratch/live.scn"
done
# Whatever the order of the files.
shards 3 check "$scratch/files/sets.scn"
p=$scratch/parts/shard
"$LOCKSTEP" merge --verbose "$p-1-of-3.json" "$p-2-of-3.json" "$p-3-of-3.json" >"$scratch/one"
"$LOCKSTEP" merge --verbose "$p-3-of-3.json" "$p-1-of-3.json" "$p-2-of-3.json" >"$scratch/merged"
cmp "$scratch/one" "$scratch/merged" || { echo 'the order of the files matters'; failed=1; }
expect 0 '<testsuite name="lockstep" tests="1" failures="0"' "$LOCKSTEP" merge --verbose --junit /dev/stdout "$p"-*-of-3.json

# ---- what is missing ----

# Two layers, three sets; the last layers are dealt first. Without one of them the layer without faults stands, and it is
# a limit; without one of the first layers nothing stands.
expect 3 'lockstep merge: expected 3 shards, found no shard 2' "$LOCKSTEP" merge --verbose "$p-1-of-3.json" "$p-3-of-3.json"
grep -q '^limit ' "$scratch/output" || { cat "$scratch/output"; failed=1; }
expect 3 'lockstep merge: expected 3 shards, found no shard 1, 3' "$LOCKSTEP" merge --verbose "$p-2-of-3.json"
shards 2 check "$scratch/files/one.scn"
expect 3 '  no run without faults violates anything; ' "$LOCKSTEP" merge --verbose "$p-2-of-2.json"
grep -qx '  the layer with at most 1 fault was not searched' "$scratch/output" || { cat "$scratch/output"; failed=1; }
expect 3 '  the layer with at most 0 faults was not searched' "$LOCKSTEP" merge --verbose "$p-1-of-2.json"
! grep -q 'violates anything' "$scratch/output" || { echo 'something stands without the first layer'; failed=1; }
same '0 passed, 0 failed, 1 skipped' "$(tail -n 1 "$scratch/output")" 'last line with a missing shard'
# A violation is one, whatever is missing.
shards 2 check --recipe broken-no-sort "$scratch/files/one.scn"
expect 1 'violated at_most_one_holder ' "$LOCKSTEP" merge --verbose "$p-1-of-2.json"
expect 1 'found no shard 1' "$LOCKSTEP" merge --verbose "$p-2-of-2.json"
shards 2 run --seeds 20 "$scratch/files/script.scn"
expect 3 '  not all seeds were done' "$LOCKSTEP" merge --verbose "$p-1-of-2.json"
expect 3 '  the directed run was not done' "$LOCKSTEP" merge --verbose "$p-2-of-2.json"
# A limit in a lower layer leaves what is above it for nothing, and a full one below it standing.
shards 2 check --max-states 2000 "$scratch/files/one.scn"
expect 3 'no run without faults violates anything' "$LOCKSTEP" merge --verbose "$p"-*-of-2.json
grep -q 'the number of states reached its limit' "$scratch/output" || { cat "$scratch/output"; failed=1; }

# A shard that is interrupted writes what it has, and is no success.
printf "${head}explore loss<=9 expire<=9 crash<=9\n----\n" >"$scratch/large.scn"
rm -rf "$scratch/parts"
"$LOCKSTEP" check --verbose --jobs 1 --shard 1/1 --no-layers --out "$scratch/parts" "$scratch/large.scn" >"$scratch/output" 2>&1 &
pid=$!
while [[ -z $(cat "/proc/$pid/task/$pid/children" 2>/dev/null) ]] && kill -0 $pid; do
    :
done
kill -TERM $pid
status=0
wait $pid || status=$?
same 3 $status 'exit status of an interrupted shard'
expect 3 '1 skipped' "$LOCKSTEP" merge --verbose "$p-1-of-1.json"
shards 2 check --max-states 2000 "$scratch/files/one.scn"

# ---- what does not belong together ----

cp "$p-1-of-2.json" "$scratch/copy.json"
expect 2 "expected shard 1 of 2 once, found it again, after" "$LOCKSTEP" merge "$p-1-of-2.json" "$scratch/copy.json" "$p-2-of-2.json"
same 1 "$(wc -l <"$scratch/output")" 'lines about a shard that is there twice'
# other EXPECTED COMMAND...: another second shard than that of the first one is refused in one line.
other()
{
    local text=$1
    shift
    expect 0 'parts done' "$LOCKSTEP" "$@" --out "$scratch/other"
    expect 2 "$text" "$LOCKSTEP" merge "$p-1-of-2.json" "$scratch"/other/*.json
    same 1 "$(wc -l <"$scratch/output")" "lines about $text"
    rm -r "$scratch/other"
}
other ": --max-states=2000, found --max-states=2001" check --shard 2/2 --max-states 2001 "$scratch/files/one.scn"
other ": --max-states=2000, found no further one" check --shard 2/2 "$scratch/files/one.scn"
other ": no further one, found --no-layers" check --shard 2/2 --max-states 2000 --no-layers "$scratch/files/one.scn"
other "expected the scenarios of $p-1-of-2.json, found others" check --shard 2/2 --max-states 2000 "$scratch/files/sets.scn"
other "expected one of 2 shards, as $p-1-of-2.json is, found one of 3" check --shard 2/3 --max-states 2000 "$scratch/files/one.scn"
other "expected a shard of lockstep check, as $p-1-of-2.json is, found one of lockstep run" run --shard 2/2 "$scratch/files/one.scn"
# What has nothing to do with what is found may differ.
expect 0 'parts done' "$LOCKSTEP" check --verbose --shard 2/2 --max-states 2000 --jobs 1 --quiet --out "$scratch/other" "$scratch/files/one.scn"
expect 3 '1 skipped' "$LOCKSTEP" merge --verbose "$p-1-of-2.json" "$scratch/other/shard-2-of-2.json"
sed 's/"version":\t*"[^"]*"/"version": "9.9.9"/' "$p-2-of-2.json" >"$scratch/version.json"
expect_line "$scratch/version.json:1:1: expected a shard of $("$LOCKSTEP" --version), found one of 9.9.9" \
    "$LOCKSTEP" merge --verbose "$scratch/version.json"

# ---- the command lines ----

for text in 0/2 3/2 1/ /2 1 1/2/3 1//2 a/b -1/2 1/1001 99999999999999999999/2; do
    expect 2 'expected I/N after --shard, ' "$LOCKSTEP" check --shard "$text" "$scratch/files/one.scn"
done
expect 2 "found '--coverage'" "$LOCKSTEP" check --shard 1/2 --coverage "$scratch/files/one.scn"
expect 2 "found '--rewrite'" "$LOCKSTEP" check --shard 1/2 --rewrite "$scratch/files/one.scn"
expect_line "lockstep merge: expected the files of the shards, found ''" "$LOCKSTEP" merge
expect_line "$scratch/none.json:1:1: expected a readable file, found 'No such file or directory'" "$LOCKSTEP" merge "$scratch/none.json"
if [[ -w /dev/full ]]; then
    expect 4 'expected a folder that can be written after --out' "$LOCKSTEP" check --verbose --shard 1/2 --out /dev/full/x "$scratch/files/one.scn"
fi

# ---- bytes from outside ----

# refused FILE WHAT: one line and exit status 2, or understood; never anything else.
refused()
{
    local status=0
    timeout 60 "$LOCKSTEP" merge --verbose "$1" >"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
    if ((status > 3)) || { ((status == 2)) && [[ $(wc -l <"$scratch/err") != 1 ]]; }; then
        echo "$2: exit status $status and:" && head -n 5 "$scratch/err"
        failed=1
    fi
    [[ $status != 2 ]] || refusals=$((refusals + 1))
}

shards 1 check "$scratch/files/unjudged.scn"
good=$p-1-of-1.json
size=$(stat -c %s "$good")
refusals=0
cuts=0
for ((cut = 1; cut < size; cut += size / 60 + 1)); do
    head -c "$cut" "$good" >"$scratch/bad.json"
    refused "$scratch/bad.json" "a file cut at $cut"
    cuts=$((cuts + 1))
done
same "$cuts" "$refusals" 'cut files that were refused'
# Each value in turn becomes something else; a few of them are nobody's business.
refusals=0
lines=$(wc -l <"$good")
values=(-1 1e300 null '{}' '[]' '"x"' '""' true 0.5 99999)
for ((line = 1; line <= lines; line++)); do
    for value in "${values[@]:line % 5 * 2:2}"; do
        sed -E "${line}s#(\"[a-z_-]+\":)\t*[^,]*#\1 $value#" "$good" >"$scratch/bad.json"
        refused "$scratch/bad.json" "line $line with $value"
    done
done
((refusals > lines)) || { echo "changed values that were refused: $refusals"; failed=1; }
for text in '' '{' '[]' 'null' '{}' '{"lockstep-shard":1}' '{"lockstep-shard":2}' "$(printf '[%.0s' {1..2000})" $'\xff'; do
    printf '%s' "$text" >"$scratch/bad.json"
    expect 2 'bad.json:1:' "$LOCKSTEP" merge "$scratch/bad.json"
    same 1 "$(wc -l <"$scratch/output")" "lines about '${text:0:20}'"
done
printf '{"lockstep-shard": 1,\n "version": }\n' >"$scratch/bad.json"
expect_line "$scratch/bad.json:2:13: expected a shard in JSON, as --shard writes it, found '}'" "$LOCKSTEP" merge "$scratch/bad.json"
sed 's/"options":\t*\[\]/"options": ["--help"]/' "$good" >"$scratch/bad.json"
expect 2 'expected a shard with options of its command, found --help' "$LOCKSTEP" merge "$scratch/bad.json"
sed 's/"options":\t*\[\]/"options": ["--max-time=0"]/' "$good" >"$scratch/bad.json"
expect 2 'after --max-time' "$LOCKSTEP" merge "$scratch/bad.json"
head -c 4000 "$LOCKSTEP" >"$scratch/bad.json"
expect 2 "$scratch/bad.json:1:" "$LOCKSTEP" merge "$scratch/bad.json"

# ---- the examples of --help ----

"$LOCKSTEP" merge --help | sed -n '/^examples:/,$p' | tail -n +2 >"$scratch/examples"
same 3 "$(grep -c '^  ' "$scratch/examples")" 'examples'
mkdir -p "$scratch/help/scenarios/explore"
cp "$scratch/files/one.scn" "$scratch/help/scenarios/explore/mutex_2.scn"
while read -r line; do
    status=0
    (cd "$scratch/help" && PATH=$(dirname "$LOCKSTEP"):$PATH bash -c "$line" >output 2>&1 </dev/null) || status=$?
    same 0 $status "exit status of the example '$line'"
done <"$scratch/examples"
finish
