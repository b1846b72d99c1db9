# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The tests: ctest in each preset of the tier; with --full also the tools that take minutes.

help_test()
{
    cat <<'TEXT'
usage: ./dev test [--full | --prove] [--filter NAMES]

Installs what is missing, builds release and debug (address and undefined behaviour sanitizers) and runs the tests of
release, and the unit tests of debug. It says what this fast tier leaves out. The last line is `N passed, N failed`.

  --full           all presets (the slow tests, and those of tests/house, in release alone; shell tests without a real
                   server in release and debug alone, those that search for long in release; in the presets of clang
                   only tests below 20 s; in tsan only tests with threads), replays compared between compilers, valgrind,
                   coverage, lint, and some of what --prove, ./dev mutants, ./dev promises and ./dev zoo do
  --prove          plant one fault per test group in a scratch copy; fails if the group stays green
  --filter NAMES   only tests whose name (LAYER.NAME) has this in it, in both presets; with * or ? a pattern for the
                   whole name

examples:
  ./dev test
  ./dev test --filter fakezk.
  ./dev test --filter 'check.no_*'
  ./dev test --full
  LOCKSTEP_DRAW=all ./dev test --full --filter cli.check_broken   all broken recipes; without it some are drawn
  ./dev test --prove
TEXT
}

PASSED=0 FAILED=0 SKIPPED=0
MUTANTS_OF_THE_TIER=6  # the first of those that ./dev mutants draws; properties alone are asked: the tests run in this tier
PROMISES_OF_THE_TIER=30 # drawn anew each time
FAULTS_OF_THE_TIER=8    # of those of tests/prove, drawn anew each time

cmd_test()
{
    local tier=fast filter=''
    while (($# > 0)); do
        case $1 in
        --full) tier=full ;;
        --prove) tier=prove ;;
        --filter)
            need_value "$@"
            filter=$2
            shift
            ;;
        --filter=*) filter=${1#*=} ;;
        *) usage_error "test: unexpected '$1', expected --full, --prove or --filter NAMES" ;;
        esac
        shift
    done
    source dev.d/setup.sh
    source dev.d/build.sh
    setup_groups run test
    want_axe
    case $tier in
    fast) fast_tier "$filter" ;;
    full) full_tier "$filter" ;;
    prove)
        source dev.d/prove.sh
        prove_tier "$filter" all
        ;;
    esac
    closing_line
}

closing_line()
{
    local skipped=''
    ((SKIPPED == 0)) || skipped=", $SKIPPED skipped"
    echo "$PASSED passed, $FAILED failed$skipped"
    ((FAILED == 0 && PASSED > 0)) || exit $EXIT_FAILED
}

fast_tier()
{
    local without='^(slow|shell)$' targets=(unit_tests)
    [[ -z $1 ]] || without='^slow$' targets=() # tests that are named run in both presets
    step "build release" build_preset release ON || exit $EXIT_FAILED
    step "build debug" build_preset debug ON "${targets[@]}" || exit $EXIT_FAILED
    run_preset release "$1" --label-exclude '^slow$'
    run_preset debug "$1" --label-exclude "$without"
    name_what_is_left_out
}

name_what_is_left_out()
{
    local slow
    slow=$(ctest --test-dir build/release -N -L '^slow$' | test_names | tr '\n' ' ')
    echo "left out, see ./dev test --help: shell tests of the preset debug; the presets tsan, coverage, release-clang," \
        "debug-clang; valgrind; coverage thresholds; replays compared between compilers; lint; planted faults; mutants;" \
        "broken promises; slow tests: ${slow:-none}"
}

full_tier()
{
    local preset
    setup_groups full interop
    for preset in "${PRESETS[@]}"; do
        step "build $preset" build_preset "$preset" ON || exit $EXIT_FAILED
    done
    find build/coverage -name '*.gcda' -delete
    run_preset release "$1"
    run_preset debug "$1" --label-exclude '^(slow|house)$'
    for preset in release-clang debug-clang; do
        run_preset "$preset" "$1" --label-exclude '^slow$' --exclude-regex "$(tests_of_one_compiler | any_of)"
    done
    run_preset coverage "$1" --label-exclude '^slow$' --exclude-regex "$(tests_that_cover_no_more | any_of)"
    run_preset tsan "$1" --label-exclude '^slow$' --exclude-regex "$(tests_of_one_thread | any_of)"
    if [[ -z $1 ]]; then
        source dev.d/lint.sh
        count_step "coverage of src/lock, src/fakezk, src/sim" check_coverage
        count_step "valgrind" check_valgrind
        count_step "replays agree between compilers" check_replays
        count_step "lint" cmd_lint
        source dev.d/prove.sh
        prove_tier '' "$FAULTS_OF_THE_TIER"
        source dev.d/mutants.sh
        count_step "$MUTANTS_OF_THE_TIER mutants of src/lock" cmd_mutants --no-tests --budget 0 --count "$MUTANTS_OF_THE_TIER"
        source dev.d/promises.sh
        count_step "$PROMISES_OF_THE_TIER promises of the headers are broken" cmd_promises --draw "$PROMISES_OF_THE_TIER"
    fi
}

# Shell tests without a real server. Another compiler changes nothing in what they see: unit tests and replays that are compared
# tell that sooner. And what they do is no evidence that the unit tests cover the code.
shell_tests_without_a_server()
{
    ctest --test-dir build/release -N -L '^shell$' | test_names | grep -v '^real\.'
}

# Tests that ran for 20 seconds or longer in release are the same search, or the same programs, many times over: the shorter ones
# show what another compiler does.
tests_of_one_compiler()
{
    shell_tests_without_a_server
    tests_that_took 20
}

# Tests of judges, whose coverage is not measured, and tests that ran for 3 seconds or longer in release. Those do the same many
# times over; the thresholds hold without them.
tests_that_cover_no_more()
{
    shell_tests_without_a_server
    ctest --test-dir build/release -N | test_names | grep '^check\.'
    tests_that_took 3
}

# tests_that_took SECONDS: those that ran at least so long in release.
tests_that_took()
{
    awk -v least="$1" '/ Passed / && $NF == "sec" && $(NF - 1) >= least { sub(/^.*: /, ""); print $1 }' build/release/ctest.out
}

# Tests in which the thread sanitizer has nothing to see: a world is in one thread, workers of a search are processes, the threads of
# lock.threads are fibres, and the programs of real.install are the examples, whose calls the other tests of a server make.
tests_of_one_thread()
{
    ctest --test-dir build/release -N | test_names | grep -vE '^(lock|real)\.|^state\.'
    printf '%s\n' lock.threads real.install
}

# Of a list by ctest -N.
test_names()
{
    sed -n 's/^ *Test *#[0-9]*: //p'
}

# A pattern for the names that it reads.
any_of()
{
    echo "^($(sed 's/\./\\./g' | paste -sd '|'))\$"
}

count_step()
{
    if step "$@"; then
        PASSED=$((PASSED + 1))
    else
        FAILED=$((FAILED + 1))
    fi
}

# run_preset PRESET FILTER [ctest options]: runs and counts.
run_preset()
{
    local preset=$1 regex log=build/$1/ctest.out counts
    regex=$(filter_regex "$2")
    shift 2
    step "test $preset" run_ctest "build/$preset" "$log" ${regex:+-R "$regex"} "$@" || true
    # "98% tests passed, 1 tests failed out of 60"
    counts=$(sed -n 's/^[0-9]*% tests passed, \([0-9]*\) tests failed out of \([0-9]*\)$/\1 \2/p' "$log")
    if [[ -z $counts ]]; then
        FAILED=$((FAILED + 1))
        return
    fi
    local failed=${counts% *} total=${counts#* } skipped
    skipped=$(grep -c '\*\*\*Skipped' "$log" || true)
    PASSED=$((PASSED + total - failed - skipped))
    FAILED=$((FAILED + failed))
    SKIPPED=$((SKIPPED + skipped))
}

run_ctest()
{
    local folder=$1 log=$2
    shift 2
    ctest --test-dir "$folder" --output-on-failure --no-label-summary --no-tests=error -j "$(nproc)" "$@" 2>&1 | tee "$log"
    return "${PIPESTATUS[0]}"
}

# A plain word is looked for anywhere in the name, a pattern describes all of it.
filter_regex()
{
    local regex
    [[ -n $1 ]] || return 0
    regex=$(sed 's/[^A-Za-z0-9_*?-]/\\&/g' <<<"$1")
    if [[ $1 == *[*?]* ]]; then
        regex=${regex//\*/.*}
        echo "^${regex//\?/.}\$"
    else
        echo "$regex"
    fi
}

# Assertions have a branch that no passing run takes: they are no evidence for or against the tests.
check_coverage()
{
    gcovr --root . --object-directory build/coverage --filter 'src/(lock|recipes|fakezk|sim)/' \
        --exclude-branches-by-pattern '^\s*LS_(ASSERT|ALWAYS|NEVER|SOMETIMES)\(' --exclude-unreachable-branches \
        --fail-under-line 90 --fail-under-branch 80 --print-summary build/coverage
}

# valgrind_one PROGRAM: what it complains about, if anything.
valgrind_one()
{
    local log=build/valgrind/${1//\//.}
    LOCKSTEP_SOURCE_DIR=$PWD LOCKSTEP_BUILD_DIR=$PWD/build/release LOCKSTEP=$PWD/build/release/lockstep LOCKSTEP_SANITIZE=valgrind \
        valgrind --quiet --error-exitcode=99 --leak-check=full --errors-for-leak-kinds=definite,possible \
        "$1" >"$log" 2>&1 && return
    echo "valgrind $1:"
    cat "$log"
    return 1
}

# Programs of unit tests that ran for a second or longer in release: valgrind takes fifty times as long. They search, or draw many
# runs, with code that shorter tests run too. Those of the locks do less work under valgrind by themselves.
programs_that_take_long()
{
    tests_that_took 1 | sed 's|^\([a-z]*\)\.|build/release/tests/\1/test_|' | grep -v '/tests/lock/'
}

# The unit tests that need no server; the others depend on timing, which valgrind stretches.
check_valgrind()
{
    local programs=() failed=0 all
    all=$(find build/release/tests -path '*/real/*' -prune -o -type f -name 'test_*' -perm -u+x -print | sort)
    mapfile -t programs < <(grep -vxFf <(programs_that_take_long) <<<"$all")
    mkdir -p build/valgrind
    export -f valgrind_one
    printf '%s\0' "${programs[@]}" | xargs -0 -n 1 -P "$(nproc)" bash -c 'valgrind_one "$1"' valgrind || failed=1
    note "${#programs[@]} programs; too long:" $(programs_that_take_long | grep -xFf <(echo "$all") | xargs -n 1 basename)
    ((failed == 0 && ${#programs[@]} > 0))
}

# Every broken recipe leaves a trace of the violation that it is listed with; its replay is the same text whatever
# compiled the program, and names that violation.
check_replays()
{
    local recipe property failed=0 count=0 folder=build/replays
    source dev.d/traces.sh
    rm -rf $folder
    mkdir -p $folder
    while read -r recipe property; do
        count=$((count + 1))
        replays_agree "$recipe" "$property" "$folder/$recipe" || failed=$((failed + 1))
    done < <(build/release/lockstep list recipes |
        awk '$1 ~ /^broken-/ { name = $1 } $1 == "breaks" { print name, $2 }')
    note "$count broken recipes, a trace of each replayed by 4 builds, $failed with complaints"
    ((failed == 0 && count > 0))
}

# leave_trace RECIPE PROPERTY FOLDER: directed scenarios show it, or, of who waits for ever, a search.
leave_trace()
{
    local how=(run scenarios/mutex scenarios/regress)
    case $2 in
    can_always_be_served | served_under_weak_fairness) how=(check scenarios/explore/live*_2.scn) ;;
    esac
    build/release/lockstep "${how[0]}" --quiet --verbose --no-shrink --recipe "$1" --out "$3" "${how[@]:1}" >"$3/run.txt" 2>&1 || true
}

# replays_agree RECIPE PROPERTY FOLDER
replays_agree()
{
    local recipe=$1 property=$2 folder=$3 trace preset
    mkdir "$folder"
    leave_trace "$recipe" "$property" "$folder"
    trace=$(trace_of "$property" "$folder/run.txt")
    if [[ -z $trace ]]; then
        note "$recipe left no trace of $property"
        return 1
    fi
    for preset in release debug release-clang debug-clang; do
        "build/$preset/lockstep" replay "$trace" >"$folder/$preset.txt" 2>&1 || true
        cmp "$folder/release.txt" "$folder/$preset.txt" || return 1
    done
    if [[ $property != not-judged ]] && ! grep -q "^$property is violated at step " "$folder/release.txt"; then
        note "the replay of $trace does not show that $recipe violates $property"
        return 1
    fi
}
