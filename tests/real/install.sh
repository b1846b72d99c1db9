#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The library as its users get it: installed into an empty folder, which is then moved; each example built there, by
# find_package, by pkg-config and with the sources inside the user's own project, and run on a server.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/moved
failed=0

wrong()
{
    echo "$*"
    failed=1
}

source tests/real/lib_cxx.sh
export CC CXX CFLAGS=$flags CXXFLAGS=$flags
# Nothing of this machine but the installed files.
unset CMAKE_PREFIX_PATH PKG_CONFIG_PATH LD_LIBRARY_PATH || true

# quietly COMMAND...: what it prints is shown if it fails, and then the test ends.
quietly()
{
    "$@" >"$scratch/log" 2>&1 </dev/null || {
        echo "failed: $*"
        tail -n 40 "$scratch/log"
        exit 1
    }
}

install_and_move()
{
    quietly cmake --install "$LOCKSTEP_BUILD_DIR" --prefix "$scratch/prefix"
    mv "$scratch/prefix" "$prefix"
    diff <(cd "$LOCKSTEP_SOURCE_DIR/include" && find . -type f | sort) <(cd "$prefix/include" && find . -type f | sort) ||
        wrong "other headers are installed than those in include/"
    if grep -rlF -e "$scratch/prefix" -e "$LOCKSTEP_SOURCE_DIR" -e "$LOCKSTEP_BUILD_DIR" \
        "$prefix"/lib*/*/pkgconfig "$prefix"/lib*/pkgconfig "$prefix"/lib*/cmake 2>/dev/null; then
        wrong "these installed files know where the library was built"
    fi
}

# Each header stands alone, in C and in C++.
check_headers()
{
    local header
    for header in "$prefix"/include/lockstep/*.h; do
        echo "#include <lockstep/$(basename "$header")>" >"$scratch/alone.c"
        "$CC" $flags -std=c11 -I"$prefix/include" -fsyntax-only "$scratch/alone.c" || wrong "$header is no C11"
        "$CXX" $flags -std=c++17 -xc++ -I"$prefix/include" -fsyntax-only "$scratch/alone.c" ||
            wrong "$header is no C++17"
    done
    echo '#include <lockstep/lockstep.hpp>' >"$scratch/alone.cpp"
    "$CXX" $flags -std=c++17 -I"$prefix/include" -fsyntax-only "$scratch/alone.cpp" || wrong "lockstep.hpp is no C++17"
}

# expect STATUS TEXT PROGRAM...: on the server.
expect()
{
    local wanted=$1 text=$2 status=0
    shift 2
    timeout 60 "$@" >"$scratch/output" 2>"$scratch/errors" </dev/null || status=$?
    if [[ $status != "$wanted" ]] || ! grep -qE -- "$text" "$scratch/output"; then
        wrong "$*: expected exit status $wanted and '$text', found $status and:"
        cat "$scratch/output"
        tail -n 20 "$scratch/errors"
    fi
}

run_examples()
{
    local folder=$1
    expect 0 '^inside, token [0-9]+, still ours for at least [0-9]+ ms$' "$folder/critical_section" "$LOCKSTEP_ZK"
    expect 0 '^written by the holder of token [0-9]+$' "$folder/guarded_write" "$LOCKSTEP_ZK"
    expect 0 '^written by the holder of token [0-9]+$' "$folder/guarded_write" "$LOCKSTEP_ZK"
    expect 0 '^5 pieces of work done under the lock$' "$folder/poll_loop" "$LOCKSTEP_ZK"
    expect 0 '^20 sections, tokens grow$' "$folder/guard" "$LOCKSTEP_ZK"
    expect 0 '^led [0-9]+ times, 3 pieces of work$' "$folder/leader" "$LOCKSTEP_ZK" 3
    expect 0 '5 test\(s\) run' "$folder/test_leader"
}

# Five clients: with the lock the resource never refuses, without it does; who has no patience says so.
run_limited_resource()
{
    expect 0 '^125 uses, 0 refused, 0 times' "$1/limited_resource" "$LOCKSTEP_ZK"
    expect 1 '^[0-9]+ uses, [1-9][0-9]* refused, 0 times' "$1/limited_resource" "$LOCKSTEP_ZK" --no-lock
    expect 0 '^[0-9]+ uses, 0 refused, [1-9][0-9]* times' "$1/limited_resource" "$LOCKSTEP_ZK" --impatient
    expect 0 '^client [1-5]: could not get the lock within 10 ms$' "$1/limited_resource" "$LOCKSTEP_ZK" --impatient
}

# Five clients: with the read-write lock each version is written once and read whole, without it some clients read half a file.
run_cached_file()
{
    expect 0 '^20 versions written 20 times, read [0-9]+ times, 0 times half a file$' "$1/cached_file" "$LOCKSTEP_ZK" "$scratch/cached"
    expect 1 ' [1-9][0-9]* times half a file$' "$1/cached_file" "$LOCKSTEP_ZK" "$scratch/cached" --no-lock
}

# Five clients of three connections: with the semaphore all three are used and no more, without it there are more.
run_connection_limit()
{
    expect 0 '^at most 3 connections of 3 were open at once$' "$1/connection_limit" "$LOCKSTEP_ZK"
    expect 1 '^at most ([4-9]|10) connections of 3 were open at once$' "$1/connection_limit" "$LOCKSTEP_ZK" --no-lock
}

# Three schedulers: the leader runs each job once, and all have led. Without an election some jobs are run more than once.
run_scheduler()
{
    expect 0 '^60 jobs of 60 were run once, 3 schedulers have led$' "$1/scheduler" "$LOCKSTEP_ZK"
    expect 1 '^[0-5]?[0-9] jobs of 60 were run once, 0 schedulers have led$' "$1/scheduler" "$LOCKSTEP_ZK" --no-lock
}

# Transfers between accounts in all orders: with the locks of both accounts no money is lost, without them it is.
run_transfer()
{
    expect 0 '^3 accounts have 3000, expected 3000$' "$1/transfer" "$LOCKSTEP_ZK"
    expect 1 '^3 accounts have [0-9-]+, expected 3000$' "$1/transfer" "$LOCKSTEP_ZK" --no-lock
}

by_find_package()
{
    quietly cmake -S "$LOCKSTEP_SOURCE_DIR/examples" -B "$scratch/found" -G Ninja -DCMAKE_PREFIX_PATH="$prefix"
    quietly cmake --build "$scratch/found"
    run_examples "$scratch/found"
    run_limited_resource "$scratch/found"
    run_cached_file "$scratch/found"
    run_connection_limit "$scratch/found"
    run_scheduler "$scratch/found"
    run_transfer "$scratch/found"
    readelf -d "$scratch/found/critical_section" | grep 'NEEDED.*liblockstep[.]so[.][0-9]' >/dev/null ||
        wrong "a program does not look for the library by a name with its SOVERSION"
    if ldd "$scratch/found/test_leader" | grep -E 'zookeeper|liblockstep'; then
        wrong "the test on the fake is linked with the real thing"
    fi
    # Another version is refused.
    printf '%s\n' 'cmake_minimum_required(VERSION 3.22)' 'project(other LANGUAGES C)' 'find_package(lockstep 99)' \
        'if(lockstep_FOUND)' 'message(FATAL_ERROR "version 99 was found")' 'endif()' >"$scratch/CMakeLists.txt"
    quietly cmake -S "$scratch" -B "$scratch/other" -DCMAKE_PREFIX_PATH="$prefix"
}

by_pkg_config()
{
    local examples=$LOCKSTEP_SOURCE_DIR/examples folder=$scratch/packaged libraries version
    export PKG_CONFIG_PATH
    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name lockstep.pc)")
    libraries=$(pkg-config --variable=libdir lockstep)
    mkdir "$folder"
    echo 'int main(void) { return puts(ls_version()) < 0; }' >"$folder/version.c"
    quietly "$CC" $flags -std=c11 -include stdio.h -include lockstep/version.h "$folder/version.c" -o "$folder/version" \
        $(pkg-config --cflags --libs lockstep) -Wl,-rpath,"$libraries"
    quietly "$CC" $flags -std=c11 "$examples/critical_section.c" -o "$folder/critical_section" \
        $(pkg-config --cflags --libs lockstep) -Wl,-rpath,"$libraries"
    quietly "$CC" $flags -std=c11 "$examples"/user_test/{leader,test_leader}.c -o "$folder/test_leader" \
        $(pkg-config --cflags --libs lockstep-fake) -lcmocka
    quietly "$CC" $flags -std=c11 "$examples/critical_section.c" -o "$folder/static" \
        $(pkg-config --cflags lockstep) "$libraries/liblockstep.a" -lzookeeper_mt -pthread
    version=$(pkg-config --modversion lockstep)
    expect 0 "^${version//./[.]}$" "$folder/version"
    expect 0 "^lockstep ${version//./[.]}$" "$prefix/bin/lockstep" --version
    expect 0 '^inside, token [0-9]+, still ours for at least [0-9]+ ms$' "$folder/critical_section" "$LOCKSTEP_ZK"
    expect 0 '^inside, token [0-9]+, still ours for at least [0-9]+ ms$' "$folder/static" "$LOCKSTEP_ZK"
    expect 0 '5 test\(s\) run' "$folder/test_leader"
}

# The sources inside a project that has targets and flags of its own.
by_add_subdirectory()
{
    mkdir "$scratch/outer"
    cat >"$scratch/outer/CMakeLists.txt" <<TEXT
cmake_minimum_required(VERSION 3.22)
project(outer LANGUAGES C)
add_subdirectory("$LOCKSTEP_SOURCE_DIR" lockstep)
set(EXAMPLES_CXX ON)
set(EXAMPLES_TEST ON)
add_subdirectory("$LOCKSTEP_SOURCE_DIR/examples" examples)
# Names that the project may well have itself.
foreach(name lock base trace sim real check)
    add_library(\${name} INTERFACE)
endforeach()
TEXT
    CFLAGS="$flags -O1" quietly cmake -S "$scratch/outer" -B "$scratch/inside" -G Ninja
    quietly cmake --build "$scratch/inside"
    run_examples "$scratch/inside/examples"
    [[ ! -e $scratch/inside/lockstep/lockstep ]] || wrong "the program is built inside another project too"
}

# A regression test, found and exported by the installed program, compiled as its own head says, by hand and by CMake.
by_regression_test()
{
    local folder=$scratch/regression program=$prefix/bin/lockstep trace
    mkdir "$folder"
    cp "$LOCKSTEP_SOURCE_DIR/tests/cli/my_recipe.c" "$folder"
    cd "$folder"
    expect 1 '^again: ' "$program" check --recipe broken-no-sort --out traces \
        "$prefix/share/lockstep/scenarios/explore/mutex_2.scn"
    trace=$(echo traces/*.min.trace)
    quietly "$program" export -o no_sort.c "$trace"
    sed -n 's/^ \*   \(cc .*\)/\1/p; s/^ \*       \(.*\)/\1/p' no_sort.c | sed 's/^cc/"$CC" $flags/' >by_hand.sh
    (($(wc -l <by_hand.sh) == 2)) || wrong "the head of no_sort.c has no line that compiles it"
    export CC flags
    expect 0 '^not violated in ' bash by_hand.sh
    expect 1 '' bash <(sed 's/my_recipe.c/-DGRANTS_ALL my_recipe.c/' by_hand.sh)
    grep -q 'at_most_one_holder is violated at step' "$scratch/errors" || wrong "$(cat "$scratch/errors")"
    expect 1 '' bash <(sed 's/-DRECIPE_OBJECT=my_recipe//' by_hand.sh)
    grep -q 'at_most_one_holder is violated at step 11 of 11' "$scratch/errors" || wrong "$(cat "$scratch/errors")"
    {
        printf 'cmake_minimum_required(VERSION 3.22)\nproject(regression LANGUAGES C)\nenable_testing()\n'
        sed -n '/^ \* With CMake:/,/^ \*   add_test/s/^ \*   \(.*)\).*/\1/p' no_sort.c
    } >CMakeLists.txt
    quietly cmake -S . -B build -G Ninja -DCMAKE_PREFIX_PATH="$prefix"
    quietly cmake --build build
    quietly ctest --test-dir build --output-on-failure
    cd "$OLDPWD"
}

# The same for a recipe that was loaded from a shared object: its source is linked in place of it.
by_regression_test_of_a_loaded_recipe()
{
    local program=$prefix/bin/lockstep
    mkdir "$scratch/loaded"
    cd "$scratch/loaded"
    quietly "$program" new recipe turns
    cd turns
    sed -i.right 's/} else if (claim->ahead\[0\] == 0) {/} else if (claim->number >= 0) {/' turns.c
    cmp -s turns.c turns.c.right && wrong "no mistake could be planted in the recipe of lockstep new"
    quietly "$CC" $flags -std=c11 -g -O2 -fPIC -shared -I"$prefix/include" turns.c -o turns.so
    expect 1 'at_most_one_holder is violated' "$program" check --recipe ./turns.so --out traces first.scn
    quietly "$program" export --recipe ./turns.so -o test_turns.c traces/*.min.trace
    sed -n 's/^ \*   \(cc .*\)/\1/p; s/^ \*       \(.*\)/\1/p' test_turns.c | sed 's/^cc/"$CC" $flags/' >by_hand.sh
    (($(wc -l <by_hand.sh) == 2)) || wrong "the head of test_turns.c has no line that compiles it"
    expect 1 '' bash by_hand.sh
    grep -q 'at_most_one_holder is violated at step' "$scratch/errors" || wrong "$(cat "$scratch/errors")"
    cp turns.c.right turns.c
    expect 0 '^not violated in ' bash by_hand.sh
    cd "$LOCKSTEP_SOURCE_DIR"
}

(($(wc -l <"$LOCKSTEP_SOURCE_DIR/examples/critical_section.c") <= 44)) || wrong "the README promises a program of some 40 lines"
install_and_move
check_headers
by_find_package
by_pkg_config
by_regression_test
by_regression_test_of_a_loaded_recipe
by_add_subdirectory
exit $failed
