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

# prove_tier FILTER all|COUNT: plants the faults whose names have FILTER in them, or that many of them, drawn anew each time.
prove_tier()
{
    local fault faults=() filter=$1 count=$2 scratch=$ROOT/build/prove/source build=$ROOT/build/prove/build
    mkdir -p build/prove
    step "copy and build" prove_prepare "$scratch" "$build" || exit $EXIT_FAILED
    mapfile -t faults < <(compgen -G "tests/prove/*$filter*.sh")
    if ((${#faults[@]} == 0)); then
        note "no file matches tests/prove/*$filter*.sh"
        exit $EXIT_USAGE
    fi
    if [[ $count != all ]]; then
        mapfile -t faults < <(shuf -n "$count" -e "${faults[@]}" | sort)
    fi
    count_step "before anything is planted the tests are green" prove_is_green "$build" "${faults[@]}"
    for fault in "${faults[@]}"; do
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
    if [[ ! -f $build/build.ninja ]]; then
        cmake -S "$scratch" -B "$build" -G Ninja -DCMAKE_C_COMPILER=gcc -DCMAKE_BUILD_TYPE=Debug --log-level=WARNING >/dev/null ||
            return
    fi
    cmake --build "$build" -- --quiet
}

# prove_build BUILD TESTS: what the tests of that name need. A unit test is one program; a script may use all that are none.
prove_build()
{
    local build=$1 programs=() targets=()
    mapfile -t programs < <(ninja -C "$build" -t targets all | sed -nE 's/^([^:]+): C(XX)?_(EXECUTABLE|SHARED_LIBRARY)_LINKER.*/\1/p')
    if grep -q '^ *Test *#' <<<"$(ctest --test-dir "$build" -N -L '^shell$' -R "$2")"; then
        mapfile -t targets < <(printf '%s\n' "${programs[@]}" | grep -vE '^tests/[a-z]+/(test|slow)_')
    fi
    mapfile -t -O "${#targets[@]}" targets < <(ctest --test-dir "$build" -N -L '^unit$' -R "$2" | prove_programs "${programs[@]}")
    ninja -C "$build" --quiet "${targets[@]}"
}

# Reads a list of tests LAYER.NAME from ctest; their programs are among the arguments.
prove_programs()
{
    local name program
    while read -r name; do
        for program in "$@"; do
            [[ $program != tests/${name%%.*}/test_${name#*.} && $program != tests/${name%%.*}/slow_${name#*.} ]] || echo "$program"
        done
    done < <(sed -nE 's/^ *Test *#[0-9]+: ([^ ]+).*/\1/p')
}

prove_fault()
{
    local fault=$1 scratch=$2 build=$3 status=0 GROUP='' FILE='' EDIT='' EXPECT=''
    source "$fault"
    if [[ -z $GROUP || -z $FILE || -z $EDIT || -z $EXPECT || ! -f $scratch/$FILE ]]; then
        note "$fault must set GROUP, FILE (an existing file), EDIT and EXPECT"
        return 1
    fi
    cp "$scratch/$FILE" build/prove/saved
    sed -E -i "$EDIT" "$scratch/$FILE"
    prove_planted "$scratch" "$build" || status=1
    cp build/prove/saved "$scratch/$FILE"
    return $status
}

# prove_is_green BUILD FAULT...: all tests that these faults are to turn red, without any fault.
prove_is_green()
{
    local build=$1 fault numbers EXPECT
    shift
    numbers=$(for fault in "$@"; do
        EXPECT=''
        source "$fault"
        ctest --test-dir "$build" -N -R "$EXPECT" | sed -nE 's/^ *Test *#([0-9]+): .*/\1/p'
    done | sort -nu | paste -sd,)
    if ! run_ctest "$build" build/prove/before.out -I "${numbers%%,*},${numbers%%,*},1,$numbers" >/dev/null; then
        grep -E '\*\*\*(Failed|Timeout|Exception|Not Run)' build/prove/before.out
        return 1
    fi
    note "$(grep -c ' Passed ' build/prove/before.out) tests"
}

# Uses the caller's FILE and EXPECT.
prove_planted()
{
    if cmp -s build/prove/saved "$1/$FILE"; then
        note "the edit changes nothing in $FILE"
        return 1
    fi
    if ! prove_build "$2" "$EXPECT" >build/prove/build.out 2>&1; then
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
