# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Sourced by the tests of lockstep export, behind lib.sh: a trace becomes a C file, and that a program.
source dev.d/traces.sh

# The compiler of this build first, with its instrumentation; libraries that are instrumented fit to no other one.
compilers=("$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$LOCKSTEP_BUILD_DIR/CMakeCache.txt")")
flags=(-std=c11 -Wall -Wextra -Wpedantic -Werror -Iinclude)
[[ -z $LOCKSTEP_SANITIZE ]] || flags+=("-fsanitize=$LOCKSTEP_SANITIZE")
if nm "$LOCKSTEP_BUILD_DIR/liblockstep.a" 2>/dev/null | grep __gcov_init >/dev/null; then
    flags+=(--coverage)
fi

# A recipe of the user's own, as the head of an exported file calls it.
my_recipe=tests/cli/my_recipe.c

# build COMPILER FILE [ARGUMENT...]: the exported file as $scratch/regression. No warning passes.
build()
{
    if ! "$1" "${flags[@]}" "$2" "${@:3}" "$LOCKSTEP_BUILD_DIR/liblockstep_sim.a" -lcmocka -ldl -o "$scratch/regression" \
        >"$scratch/output" 2>&1; then
        echo "$1 $2 ${*:3}:"
        head -n 20 "$scratch/output"
        failed=1
        return 1
    fi
}

# fails_and_passes TRACE PROPERTY: its test fails with the recipe of the trace, as the trace does, and passes with the mutex.
fails_and_passes()
{
    local file=$scratch/exported.c compiler told
    told=$({ "$LOCKSTEP" replay "$1" || true; } | grep "^$2 is violated at step ")
    if ! "$LOCKSTEP" export -o "$file" "$1" >"$scratch/output" 2>&1; then
        echo "lockstep export $1:" && cat "$scratch/output"
        failed=1
        return
    fi
    for compiler in "${compilers[@]}"; do
        build "$compiler" "$file" || continue
        expect "$(grep -c '  cmocka_unit_test(' "$file")" "$told" "$scratch/regression"
        sentence_is_told "$2"
        grep -q "FAILED  ] $2\$" "$scratch/output" || { echo "$2 is no test of its own:"; cat "$scratch/output"; failed=1; }
        build "$compiler" "$file" '-DRECIPE="mutex"' || continue
        expect 0 ' test(s) run.' "$scratch/regression"
    done
}

# Shared objects of a user's own properties, as options.
loaded=()

# What a property promises stands below its violation.
sentence_is_told()
{
    local promised
    promised=$("$LOCKSTEP" list properties "${loaded[@]}" | sed -n "/^$1 /{n;s/^  //p}")
    if [[ -z $promised ]] || ! grep -A 1 "$1 is violated at step " "$scratch/output" | grep -qxF "  promised: $promised"; then
        echo "$1: expected 'promised: $promised', found:" && cat "$scratch/output"
        failed=1
    fi
}
