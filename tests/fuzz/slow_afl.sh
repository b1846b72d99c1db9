#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# ./dev fuzz, from one byte of zero: AFL++ finds what is wrong with a broken recipe within a minute, what it found is sorted into a
# trace that replays; the same input takes the same way (stability); two hosts with a folder each find together.
source "$(dirname "$0")/../cli/lib.sh"
command -v afl-fuzz >/dev/null || exit 77
[[ -z $LOCKSTEP_SANITIZE ]] || exit 77 # it builds the targets itself: once is enough
[[ $LOCKSTEP_BUILD_DIR == */build/release ]] || exit 77

rm -rf build/fuzz/session_loss
expect 1 ' findings' ./dev fuzz session_loss --recipe broken-no-sync --time 60 --jobs 1 --empty
cp "$scratch/output" "$scratch/told"
trace=$(sed -n '/replay: lockstep replay /{ s/.*replay: .* replay //p; q }' "$scratch/told")
expect 1 ' is violated at step ' "$LOCKSTEP" replay "$trace"
stability=$(awk '$1 == "main" { sub(/%/, "", $7); print $7 }' "$scratch/told")
awk -v s="$stability" 'BEGIN { exit !(s >= 99) }' || { echo "stability is $stability %"; failed=1; }

# ---- parts compiled by two profiles cannot be linked ----
for profile in build/fuzz-profile/*.profile; do
    [[ -f $profile ]] || break # without clang's tools
    same "$(sha256sum "$profile" | cut -c1-16)" "$(basename "$profile" .profile)" 'the name of what the corpus does'
    grep -q "^CMAKE_C_FLAGS_RELEASE:.*=$PWD/$profile " build/fuzz-afl/CMakeCache.txt ||
        { echo "the targets are not compiled for $profile"; failed=1; }
done

# ---- two hosts ----
sync=$scratch/sync
mkdir -p "$sync/one" "$sync/two" "$scratch/in"
printf '\0' >"$scratch/in/zero"
export AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_UI=1 AFL_TRY_AFFINITY=1 AFL_CUSTOM_MUTATOR_ONLY=1
export AFL_CUSTOM_MUTATOR_LIBRARY=$PWD/build/fuzz-afl/fuzz/mutator.so AFL_AUTORESUME=1

# host NAME ROLE FOLDER: ten seconds on a host with a folder of its own.
host()
{
    timeout 60 afl-fuzz -V 10 "$2" "$1" -i "$scratch/in" -o "$sync/$3" build/fuzz-afl/fuzz/fuzz_session_loss >"$scratch/$1.log" 2>&1 ||
        { tail -n 5 "$scratch/$1.log"; failed=1; }
}

host host1 -S one
cp -r "$sync/one/host1" "$sync/two/" # as rsync would
AFL_IMPORT_FIRST=1 host host2 -M two
imported=$(awk -F' *: *' '$1 == "corpus_imported" { print $2 }' "$sync/two/host2/fuzzer_stats")
((imported > 0)) || { echo 'the second host has taken nothing from the first'; failed=1; }
finish
