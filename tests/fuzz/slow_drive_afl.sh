#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# How AFL++ drives a target (fuzz/drive_afl.c): inputs that are quick, slow, endless and findings are told apart, for longer than one
# process lives; and its fork server sleeps while a process that runs quick inputs reports them itself.
source "$(dirname "$0")/../cli/lib.sh"
command -v afl-clang-fast >/dev/null || exit 77
[[ -z $LOCKSTEP_SANITIZE && $LOCKSTEP_BUILD_DIR == */build/release ]] || exit 77 # it builds the target itself: once is enough

export AFL_QUIET=1 AFL_LLVM_ALLOWLIST=$scratch/instrumented
export AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_UI=1 AFL_NO_AFFINITY=1
export AFL_CUSTOM_MUTATOR_LIBRARY=$scratch/inputs.so AFL_CUSTOM_MUTATOR_ONLY=1 AFL_HANG_TMOUT=200
echo 'fun: LLVMFuzzerTestOneInput' >"$AFL_LLVM_ALLOWLIST"
mkdir "$scratch/in"
printf 0 >"$scratch/in/seed"
gcc -std=c11 -O2 -shared -fPIC tests/fuzz/drive_inputs.c -o "$scratch/inputs.so"
afl-clang-fast -std=c11 -D_GNU_SOURCE -O2 -Ifuzz tests/fuzz/drive_probe.c fuzz/drive_afl.c -o "$scratch/probe"

# waits_of PID: how often a process has waited for something.
waits_of()
{
    awk '$1 == "voluntary_ctxt_switches:" { print $2 }' "/proc/$1/status"
}

stat_of()
{
    awk -F' *: *' -v name="$1" '$1 == name { printf "%d\n", $2 }' "$scratch/out/default/fuzzer_stats"
}

# at_least NUMBER NAME
at_least()
{
    local found
    found=$(stat_of "$2")
    ((found >= $1)) || { echo "$2: expected at least $1, found $found"; failed=1; }
}

# all_begin_with LETTER FOLDER
all_begin_with()
{
    local file
    for file in "$scratch/out/default/$2"/id*; do
        same "$1" "$(head -c 1 "$file")" "the first byte of one of $2"
    done
}

# So many inputs that a process, which ends after 100,000, has followed another. On a busy machine they take minutes.
afl-fuzz -E 130000 -V 600 -s 1 -t 100 -i "$scratch/in" -o "$scratch/out" "$scratch/probe" >"$scratch/log" 2>&1 &
fuzzer=$!
server='' awake=0
while kill -0 "$fuzzer" 2>/dev/null; do
    [[ -n $server ]] || server=$(awk '{ print $1 }' "/proc/$fuzzer/task/$fuzzer/children" 2>/dev/null || true)
    now=$([[ -z $server ]] || waits_of "$server" 2>/dev/null || true)
    awake=${now:-$awake}
    sleep 0.2
done
[[ -n $server ]] || { tail -n 5 "$scratch/log"; exit 1; }
wait "$fuzzer" || { tail -n 5 "$scratch/log"; failed=1; }

inputs=$(stat_of execs_done)
echo "the fork server woke up $awake times for $inputs inputs"
((awake > 0 && awake * 20 < inputs)) || { echo 'expected some times, and a twentieth at most'; failed=1; }
at_least 110000 execs_done
at_least 1 saved_crashes
at_least 1 saved_hangs
at_least 100 stability
all_begin_with f crashes
all_begin_with h hangs
finish
