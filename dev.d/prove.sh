# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Tests of the tests: a fault is planted in a scratch copy, and the tests that guard against it must turn red.
#
# Each tests/prove/NAME.sh sets four variables:
#   GROUP    the folder below tests/ whose tests are being proven
#   FILE     the file in which the fault is planted
#   EDIT     the sed -E script that plants it
#   EXPECT   a regular expression for the names of the ctest tests of which at least one must fail
# Every folder below tests/ that has tests needs at least one fault.

prove_tier()
{
    local fault filter=$1 scratch=$ROOT/build/prove/source build=$ROOT/build/prove/build
    mkdir -p build/prove
    step "copy and build" prove_prepare "$scratch" "$build" || exit $EXIT_FAILED
    for fault in tests/prove/*.sh; do
        [[ -f $fault && $(basename "$fault" .sh) == *"$filter"* ]] || continue
        count_step "$(basename "$fault" .sh): the tests must turn red" prove_fault "$ROOT/$fault" "$scratch" "$build"
    done
    if [[ -z $filter ]]; then
        count_step "every group has a fault" prove_groups
    fi
}

# The copy is kept between runs: what has not changed is not compiled again.
prove_prepare()
{
    local scratch=$1 build=$2 file
    mkdir -p "$scratch"
    (cd "$scratch" && find . -type f) | sort >build/prove/old.list
    find . -path ./build -prune -o -path ./.git -prune -o -type f -print | sort >build/prove/new.list
    while read -r file; do
        if ! cmp -s "$file" "$scratch/$file"; then
            mkdir -p "$(dirname "$scratch/$file")"
            cp "$file" "$scratch/$file"
        fi
    done <build/prove/new.list
    while read -r file; do
        rm -f "$scratch/$file"
    done < <(comm -23 build/prove/old.list build/prove/new.list)
    chmod +x "$scratch/dev"
    prove_build "$scratch" "$build"
}

prove_build()
{
    if [[ ! -f $2/build.ninja ]]; then
        cmake -S "$1" -B "$2" -G Ninja -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Debug --log-level=WARNING >/dev/null ||
            return
    fi
    cmake --build "$2" -- --quiet
}

prove_fault()
{
    local fault=$1 scratch=$2 build=$3 status=0 GROUP='' FILE='' EDIT='' EXPECT=''
    source "$fault"
    if [[ -z $GROUP || -z $FILE || -z $EDIT || -z $EXPECT || ! -f $scratch/$FILE ]]; then
        note "$fault must set GROUP, FILE (an existing file), EDIT and EXPECT"
        return 1
    fi
    # The fault planted before this one has left the source, but not yet the programs.
    prove_build "$scratch" "$build" >/dev/null || return
    prove_is_green "$build" "$EXPECT" || return
    cp "$scratch/$FILE" build/prove/saved
    sed -E -i "$EDIT" "$scratch/$FILE"
    prove_planted "$scratch" "$build" || status=1
    cp build/prove/saved "$scratch/$FILE"
    return $status
}

prove_is_green()
{
    if ! run_ctest "$1" build/prove/before.out -R "$2" >/dev/null; then
        note "the tests '$2' are not green before anything is planted:"
        tail -n 30 build/prove/before.out
        return 1
    fi
}

# Uses the caller's FILE and EXPECT.
prove_planted()
{
    if cmp -s build/prove/saved "$1/$FILE"; then
        note "the edit changes nothing in $FILE"
        return 1
    fi
    if ! prove_build "$1" "$2" >build/prove/build.out 2>&1; then
        note "with the fault, $FILE does not compile:"
        tail -n 20 build/prove/build.out
        return 1
    fi
    if run_ctest "$2" build/prove/after.out -R "$EXPECT" >/dev/null; then
        note "the group $GROUP stays green with the fault in $FILE (tests '$EXPECT')"
        return 1
    fi
    sed -n 's/^[^#]*Test *#[0-9]*: \([^ ]*\) .*\*\*\*.*/    red: \1/p' build/prove/after.out
}

prove_groups()
{
    local folder group failed=0
    for folder in tests/*/; do
        group=$(basename "$folder")
        if [[ $group == prove || $group == support ]] || ! compgen -G "$folder*.sh" >/dev/null &&
            ! compgen -G "${folder}test_*.c" >/dev/null && ! compgen -G "${folder}slow_*.c" >/dev/null; then
            continue
        fi
        if ! grep -qsx "GROUP=$group" tests/prove/*.sh; then
            note "no fault for the group $group"
            failed=1
        fi
    done
    return $failed
}
