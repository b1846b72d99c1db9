#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Recipes in shared objects: what works, what is refused before it runs, what is caught while it runs, and what a trace of it
# needs to be replayed.
source "$(dirname "$0")/lib.sh"
# What comes back out of a signal's handler is more than the thread sanitizer's bookkeeping survives; there is one thread.
[[ $LOCKSTEP_SANITIZE != *thread* ]] || exit 77
recipe=$scratch/some_name.so
scenario=$scratch/rounds.scn
check=("$LOCKSTEP" check --verbose --out "$scratch/reports" --recipe "$recipe")
printf '# Rounds.\nworld used\nmutex /locks/x\nprocess a: acquire release acquire release\nprocess b: acquire release
properties contract_is_kept\n----\n' >"$scenario"

build()
{
    cc -std=c11 -D_GNU_SOURCE -g -O1 -w -fPIC -shared "$@" -Iinclude -o "$recipe" tests/cli/rude_recipe.c
}

# refused TEXT: one line, and exit status 2.
refused()
{
    expect_line "lockstep check: expected a recipe (see lockstep list recipes) or a shared object with one after --recipe, \
found '$recipe': $1" "${check[@]}" "$scenario"
}

# caught RUDE SENTENCE [PROCESS]: it is a violation like any other, also in random runs and in a replay.
caught()
{
    local trace
    build -DRUDE="$1"
    rm -rf "$scratch/reports"
    expect 1 "contract_is_kept: the recipe of ${3:-a} $2" "${check[@]}" "$scenario"
    trace=$(sed -n 's/^replay: .* replay //p' "$scratch/output")
    expect 1 "the recipe of ${3:-a} $2" "$LOCKSTEP" replay "$trace"
    expect 1 "the recipe of ${3:-a} $2" timeout 60 "$LOCKSTEP" replay --recipe "$recipe" "$trace"
    expect 1 "the recipe of " "$LOCKSTEP" run --verbose --no-search --seeds 20 --no-shrink --recipe "$recipe" --out "$scratch/reports" \
        "$scenario"
}

# What keeps to the rules is a recipe like others, with memory from malloc.
build
expect 0 '1 passed, 0 failed' "${check[@]}" "$scenario"
expect 0 "\"recipe\":\"$recipe\"" "${check[@]}" --json "$scenario"
expect 1 'violated at_most_one_holder' "${check[@]}" scenarios/suite/three_clients.scn
expect 0 '1 passed' bash -c "cd '$scratch' && '$LOCKSTEP' check --recipe some_name.so rounds.scn"

# It does not say that it is reentrant, so that nothing of the suite asks it to be.
expect 0 'left out scenarios/suite/held_twice.scn: the recipe does not claim to be reentrant' "${check[@]}" --suite --budget 0 \
    --filter '*held_twice*'
expect 0 'left out scenarios/suite/within_the_report.scn: the recipe does not claim to be reentrant' "${check[@]}" --suite --budget 0 \
    --filter 'within_the_report.scn'
# So it is with commands; but an acquire with a deadline may be followed by another one.
expect 1 'left out scenarios/suite/holder_behind_a_frozen_follower_takes_it_again.scn: ' \
    "${check[@]}" --suite --budget 0 --no-shrink --filter '*frozen_follower*'
expect 1 '0 passed, 2 failed' "${check[@]}" --suite --budget 0 --no-shrink --filter '*frozen_follower*'
expect 1 '0 passed, 1 failed' "${check[@]}" --suite --budget 0 --no-shrink --filter deadlines_are_kept.scn

# Its marks are no variables, and are reported like ours; in a file without a symbol table too.
expect 0 '1 of 2 marks were reached' "${check[@]}" --coverage "$scenario"
grep -q '^never reached: hundredth-acquire (.*rude_recipe.c:' "$scratch/output" || { echo 'the other mark is not named' && failed=1; }
expect 0 '1 of 2 marks were reached' "${check[@]}" --coverage --workers 2 "$scenario"
expect 3 '            20 ' "$LOCKSTEP" run --verbose --no-search --seeds 20 --coverage --recipe "$recipe" --out "$scratch/reports" "$scenario"
strip "$recipe"
expect 0 '1 of 2 marks were reached' "${check[@]}" --coverage "$scenario"
# Where a damaged file says that they are there is nothing: what looks like one is a variable.
headers=$(readelf -h "$recipe" | sed -n 's/.*Start of section headers: *\([0-9]*\).*/\1/p')
section=$(readelf -SW "$recipe" | sed -n 's/^ *\[ *\([0-9]*\)\] ls_marks .*/\1/p')
printf '\0\0\377\177\0\0\0\0' | dd of="$recipe" bs=1 seek=$((headers + section * 64 + 16)) conv=notrunc status=none
expect 1 'keeps state outside of its state' "${check[@]}" --coverage "$scenario"
build

# One that was compiled when struct ls_recipe was shorter, before locks could be closed, is loaded; what closes is passed over.
mkdir -p "$scratch/older/lockstep"
sed -E '/int \(\*(close|open)\)\(void \*state, int lock\);|bool in_reports;/d' include/lockstep/recipe.h >"$scratch/older/lockstep/recipe.h"
[[ $(diff include/lockstep/recipe.h "$scratch/older/lockstep/recipe.h" | grep -c '^<') = 3 ]] ||
    { echo 'the older recipe.h is not what it was' && failed=1; }
sed 's/^process a: .*/process a: close open acquire close open release/' "$scenario" >"$scratch/closes.scn"
build -I"$scratch/older"
expect 0 '1 passed, 0 failed' "${check[@]}" "$scenario"
expect 0 '1 passed, 0 failed' "${check[@]}" "$scratch/closes.scn"
build

# A trace names the file; without it one line says so.
expect 1 'replay: ' "${check[@]}" --no-shrink scenarios/suite/three_clients.scn
trace=$(sed -n 's/^replay: .* replay //p' "$scratch/output")
expect 1 'at_most_one_holder is violated' "$LOCKSTEP" replay "$trace"
expect 0 'at_most_one_holder' "$LOCKSTEP" shrink -o "$scratch/short.trace" "$trace"
mv "$recipe" "$recipe.kept"
expect 2 "$trace:3:8: expected a recipe (see lockstep list recipes): No such file or directory" "$LOCKSTEP" replay "$trace"
# Where the file lies elsewhere, --recipe says so; what comes of it names that place.
cp "$recipe.kept" "$scratch/elsewhere.so"
expect 1 'at_most_one_holder is violated' "$LOCKSTEP" replay --recipe "$scratch/elsewhere.so" "$trace"
expect 0 'at_most_one_holder' "$LOCKSTEP" shrink --recipe "$scratch/elsewhere.so" -o "$scratch/again.trace" "$trace"
same "recipe $scratch/elsewhere.so" "$(sed -n 3p "$scratch/again.trace")" 'the recipe of the shorter trace'
same "$(sed 3d "$scratch/short.trace")" "$(sed 3d "$scratch/again.trace")" 'the shorter trace'
expect 0 'elsewhere.so' "$LOCKSTEP" export --recipe "$scratch/elsewhere.so" "$trace"
expect_line "lockstep replay: expected a recipe (see lockstep list recipes) or a shared object with one after --recipe, found \
'broken-no-srot'; did you mean 'broken-no-sort'?" "$LOCKSTEP" replay --recipe broken-no-srot "$trace"

# A search goes on with the recipe that it began with, to the byte.
mv "$recipe.kept" "$recipe"
expect 3 limit "$LOCKSTEP" check --verbose --no-layers --max-states 10 --checkpoint "$scratch/kept" --recipe "$recipe" "$scenario"
expect 0 '1 passed' "$LOCKSTEP" check --verbose --no-layers --resume "$scratch/kept" --recipe "$recipe" "$scenario"
printf x >>"$recipe"
expect 2 "expected the options of the checkpoint $scratch/kept/rounds.checkpoint (--recipe $recipe (" \
    "$LOCKSTEP" check --no-layers --resume "$scratch/kept" --recipe "$recipe" "$scenario"
mv "$recipe" "$recipe.kept"

# What is no recipe, or calls what it must not, is refused before any of it runs.
refused 'No such file or directory'
echo text >"$recipe"
refused 'it is no shared object (cc -shared -fPIC)'
head -c 3000 "$recipe.kept" >"$recipe"
refused 'it has no table of sections (strip --strip-section-headers?)'
build -DDIES
refused 'whoever loads it dies: it is damaged, or its constructors fail'
# An import whose name has been lost is no allowed function.
cp "$recipe.kept" "$recipe"
table=$(readelf -SW "$recipe" | sed -nE 's/^ *\[ *[0-9]+\] \.dynsym +DYNSYM +[0-9a-f]+ ([0-9a-f]+) .*/\1/p')
import=$(readelf --dyn-syms -W "$recipe" | sed -nE 's/^ *([0-9]+): .* GLOBAL DEFAULT +UND .*/\1/p' | head -1)
printf '\0\0\0\0' | dd of="$recipe" bs=1 seek=$((0x$table + import * 24)) conv=notrunc status=none
refused 'it calls , and a recipe may call zookeeper.h, <lockstep/env.h> and what looks at its arguments alone'
# Without a table of sections, which a loader does not need, imports cannot be seen.
build -DCALL_CLOCK
printf '\0\0\0\0\0\0\0\0' | dd of="$recipe" bs=1 seek=40 conv=notrunc status=none
printf '\0\0\0\0' | dd of="$recipe" bs=1 seek=60 conv=notrunc status=none
refused 'it has no table of sections (strip --strip-section-headers?)'
build -DNO_MODULE
refused 'it does not export a recipe (LS_RECIPE_MODULE of <lockstep/recipe.h>)'
mkdir -p "$scratch/other/lockstep"
sed 's/LS_RECIPE_INTERFACE 1$/LS_RECIPE_INTERFACE 77/' include/lockstep/recipe.h >"$scratch/other/lockstep/recipe.h"
build -I"$scratch/other"
refused 'it was compiled for interface 77, this program has 1'
build -DMANY_DIRECTORIES
refused 'its recipe has too many directories, expected 3 at most'
build -DCALL_CLOCK
refused 'it calls time, which reads the clock; a recipe has stamps and timers (ls_env_stamp, ls_env_timer_start)'
build -DCALL_THREAD
refused 'it calls pthread_create, which starts a thread or a process; a recipe runs in callbacks'
build -DCALL_SIGNAL
refused 'it calls signal, and a recipe may call zookeeper.h, <lockstep/env.h> and what looks at its arguments alone'
build -DCALL_WEAK
refused 'it calls system, which starts a thread or a process; a recipe runs in callbacks'
build -DTHREAD_VARIABLE
refused 'it has variables of its threads (__thread); a recipe has one state'
build -DCALL_MISSING
refused 'it calls zoo_there_is_no_such_function, which the simulated client does not have'
build -DCALL_WAITING
refused 'it calls zoo_get, which waits for its answer; a recipe runs in callbacks and calls zoo_aget'
long=$scratch/$(printf 'x%.0s' {1..250})/r.so
expect 2 'a path of at most 240 bytes is needed' "$LOCKSTEP" check --recipe "$long" "$scenario"
# A trace has the path as a word of a line, so paths that would not be one are refused.
for odd in '#r.so' $'r\r.so' $'r\xff.so' 'r s.so'; do
    expect 2 'a path of at most 240 bytes is needed' "$LOCKSTEP" check --recipe "$odd" "$scenario"
done

caught CRASH 'crashes: SIGSEGV in '
caught ABORT 'crashes: SIGABRT'
caught GLOBAL 'keeps state outside of its state: a_public_variable'
caught STATIC 'keeps state outside of its state: a_hidden_variable'
caught FREE 'frees memory that it does not own'
caught LOCK 'takes the mutex of its environment twice, or drops it without holding it'
caught KEEP 'comes back or reports with the mutex of its environment held'
caught SLEEP 'waits inside a world, where nobody can wake it'
caught CLEAN 'says that clean-up is left over, and nothing is under way that would do it'
caught CRASH_AT_REST 'crashes: SIGSEGV in '
caught RECURSE 'crashes: SIGSEGV in '
# A search calls canon() for each state, a step calls it so that the step has the blame.
caught CANON_CRASH 'crashes: SIGSEGV in '
caught CANON_LOOP 'does not come back'
caught CANON_COPY 'reads memory that it has freed, or that lies outside of a block or of its state: canon()'
# ThreadSanitizer holds signals back until a thread calls something.
[[ $LOCKSTEP_SANITIZE == *thread* ]] || caught LOOP 'does not come back'

# In a file that names other properties too.
sed -i 's/^properties .*/properties no_lost_wakeup/' "$scenario"
caught CRASH_AT_REST 'crashes: SIGSEGV in '

# It is told of whose step it was.
printf '# b.\nworld used\nmutex /locks/x\nprocess a: acquire release\nprocess b: acquire release acquire release
properties contract_is_kept\n----\n' >"$scenario"
caught GLOBAL 'keeps state outside of its state: a_public_variable' b
finish
