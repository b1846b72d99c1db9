#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Each fuzz target runs its corpus, and a bounded number of mutants of it, without a finding (of a recipe in a shared object, which
# does some steps twice, more in slow_recipe.sh; fewer of calls of hiredis, among which are scripts); and a target that has something to
# find finds it, tells it, and leaves the input behind.
source "$(dirname "$0")/../cli/lib.sh"
bin=$LOCKSTEP_BUILD_DIR/fuzz
many=60000
! is_slow_build || many=6000

# fuzz TARGET FILE...: from there.
fuzz()
{
    local target=$1 count=$many
    [[ $target != recipe ]] || count=$((many / 5))
    [[ $target != redis_calls ]] || count=$((many / 10))
    shift
    if ! (cd "$scratch" && "$bin/fuzz_$target" --fuzz $count 1 "$@") >"$scratch/out" 2>&1; then
        echo "fuzz_$target has a finding; do $bin/fuzz_$target with the input again:"
        tail -n 30 "$scratch/out"
        mkdir -p build/reports
        cp "$scratch/build/reports/"* build/reports/ 2>/dev/null || true
        failed=1
    fi
    tail -n 2 "$scratch/out"
}

corpus=()
for file in fuzz/corpus/session_loss/*; do
    corpus+=("$PWD/$file")
done
fuzz session_loss "${corpus[@]}"
LOCKSTEP_RECIPE=$LOCKSTEP_BUILD_DIR/recipes/next_in_line.so fuzz recipe "${corpus[@]}"
fuzz zk_calls "$PWD"/fuzz/corpus/zk_calls/*
if [[ -x $bin/fuzz_redis_calls ]]; then
    mkdir "$scratch/scripts"
    "$bin/make_seeds" "$scratch/scripts" fuzz/scripts/*.lua || { echo 'seeds are not made'; failed=1; }
    fuzz redis_calls "$PWD"/fuzz/corpus/redis_calls/* "$scratch/scripts/"*
fi
for kind in scenario trace; do
    corpus=()
    for file in scenarios/suite/*.scn scenarios/mutex/*.scn reports/findings/*.trace; do
        corpus+=("$PWD/$file")
    done
    fuzz $kind "${corpus[@]}"
done

# ---- a finding ----
status=0
(cd "$scratch" && LOCKSTEP_RECIPE=broken-no-sync "$bin/fuzz_session_loss" --fuzz 200000 1) >"$scratch/out" 2>&1 || status=$?
same 134 "$status" 'exit status of a fuzzer with a finding'
grep -q '^no_lost_wakeup: ' "$scratch/out" || { echo 'the finding is not told:'; cat "$scratch/out"; failed=1; }
expect 1 'no_lost_wakeup is violated' "$LOCKSTEP" replay "$scratch/$(sed -n 's/^replay: .* replay //p' "$scratch/out")"
expect 134 'input: build/reports/finding' env LOCKSTEP_RECIPE=broken-no-sync "$bin/fuzz_session_loss" "$scratch/build/reports/finding"

# A recipe of a shared object that aborts is a finding like others.
sed -e '/^static void grant/{n;s/{/{ abort();/}' -e '1i #include <stdlib.h>' examples/recipes/next_in_line.c >"$scratch/aborts.c"
cc -std=c11 -D_GNU_SOURCE -O1 -fPIC -shared -Iinclude -o "$scratch/aborts.so" "$scratch/aborts.c"
status=0
(cd "$scratch" && LOCKSTEP_RECIPE=$scratch/aborts.so "$bin/fuzz_recipe" --fuzz 200000 1) >"$scratch/out" 2>&1 || status=$?
same 134 "$status" 'exit status of a fuzzer whose recipe aborts'
for line in 'contract_is_kept: .*SIGABRT' 'replay: .* replay ' 'input: build/reports/finding'; do
    grep -q "^$line" "$scratch/out" || { echo "a recipe that aborts, without '$line':"; tail "$scratch/out"; failed=1; }
done

# ---- what files reach, one after the other ----
printf '\0' >"$scratch/zero"
files=("$scratch/zero" fuzz/corpus/session_loss/*)
printf '%s\n' "${files[@]}" "$scratch/zero" | "$bin/fuzz_session_loss" --each >"$scratch/each" 2>"$scratch/told" ||
    { echo '--each:'; cat "$scratch/told"; failed=1; }
same "$(printf '%s\n' "${files[@]}" "$scratch/zero")" "$(cut -f1 "$scratch/each")" 'files that --each has run'
cut -f2 "$scratch/each" | sort -nC || { echo '--each counts fewer after more files'; failed=1; }
first=$(sed -n 1p "$scratch/each" | cut -f2) last=$(tail -n 1 "$scratch/each" | cut -f2)
((first > 0 && last > 20 * first)) || { echo "--each counts $first after one file and $last after all"; failed=1; }
same "$last situations" "$(sed -n 's/.*; \([0-9]* situations\)$/\1/p' "$scratch/told")" 'situations in all'
expect 2 'nothing:1:1: expected a file that can be read' bash -c "echo '$scratch/nothing' | '$bin/fuzz_session_loss' --each"

# ---- a mark of a shared object is a situation ----

# situations NAME [SED...]: how many there are without decisions, in the example with this change.
situations()
{
    sed "${@:2}" examples/recipes/next_in_line.c >"$scratch/$1.c"
    cc -std=c11 -D_GNU_SOURCE -O1 -fPIC -shared -Iinclude -o "$scratch/$1.so" "$scratch/$1.c"
    echo "$scratch/zero" | LOCKSTEP_RECIPE=$scratch/$1.so "$bin/fuzz_recipe" --each 2>>"$scratch/told" | cut -f2
}
plain=$(situations plain -e '')
marked=$(situations marked -e '/^static void grant/{n;s/{/{ LS_SOMETIMES("granted");/}' -e '1i #include <lockstep/sometimes.h>')
((plain > 0)) || { echo 'no situations of a shared object:'; cat "$scratch/told"; failed=1; }
same $((plain + 1)) "$marked" 'situations with a mark that is reached'

# ---- what is not right on the command line ----
expect 2 'usage: ' "$bin/fuzz_session_loss" --nonsense
expect 2 'usage: ' "$bin/fuzz_session_loss"
expect 2 ':1:1: expected a file that can be read' "$bin/fuzz_session_loss" "$scratch/nothing"
expect 2 "LOCKSTEP_RECIPE: expected a recipe (see lockstep list recipes), found 'nobody'" \
    env LOCKSTEP_RECIPE=nobody "$bin/fuzz_session_loss" --empty 1
expect 2 'LOCKSTEP_RECIPE: expected the path of a shared object' "$bin/fuzz_recipe" --empty 1
finish
