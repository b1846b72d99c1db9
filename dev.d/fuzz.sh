# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# AFL++ on the targets of fuzz/.

FUZZ_BUILD=build/fuzz-afl
FUZZ_PROFILE=build/fuzz-profile
FUZZ_TRIAGE=build/release/lockstep
FUZZ_TARGETS=(session_loss recipe zk_calls redis_calls scenario trace)

help_fuzz()
{
    cat <<'TEXT'
usage: ./dev fuzz [TARGET] [--time SECONDS] [--jobs N] [--recipe RECIPE] [--with FILE.c]... [--edges-only] [--minimise]
                  [--plot FILE.svg]

Builds the targets with AFL++ and lets N instances of it (default: one per core) look for violations, for so long (default:
600), from the inputs of fuzz/corpus/TARGET and those of the last call. Nothing outside build/ is touched, and no setting of the
system: AFL++ is told to go on without what it would like to have. At the end the figures of all instances, and what
was found: sorted and shrunk (lockstep triage) into build/fuzz/TARGET/findings, with --with into build/fuzz/with. Exit status 1 if there is a finding.

  TARGET          session_loss (default): worlds of two to eight clients with the mutex, or another built-in recipe
                  recipe: the same with a shared object; zk_calls, redis_calls: any calls on the fake of ZooKeeper, and
                  on that of Redis; scenario, trace: the parsers
  --time SECONDS  so long
  --jobs N        so many instances: one main, the others secondary
  --recipe R      of session_loss a built-in one (default: mutex), of recipe the path of a shared object
  --with FILE.c   of session_loss: a coordinator or recipes from outside of src; may be given several times
  --edges-only    abstract situations do not guide it
  --empty         begin with one byte of zero in place of the corpus
  --minimise      afterwards, take the inputs that reach all that was reached into fuzz/corpus/TARGET, 1 MiB at most
  --plot FILE.svg afterwards, draw what was reached over time: places in AFL++'s map, and how many of the situations

examples:
  ./dev fuzz
  ./dev fuzz session_loss --recipe broken-no-sync --time 60
  ./dev fuzz recipe --recipe build/release/recipes/naive_herd.so --time 60
  ./dev fuzz zk_calls --time 300 --minimise
  ./dev fuzz --with tests/coord/register.c --with tests/coord/recipe.c --recipe register --time 60
TEXT
}

cmd_fuzz()
{
    local target=session_loss seconds=600 jobs recipe='' states=1 minimise=0 empty=0 plot='' with=()
    jobs=$(nproc)
    while (($# > 0)); do
        case $1 in
        --time) need_value "$@" && seconds=$2 && shift ;;
        --jobs) need_value "$@" && jobs=$2 && shift ;;
        --recipe) need_value "$@" && recipe=$2 && shift ;;
        --with) need_value "$@" && with+=("$(realpath "$2")") && shift ;;
        --edges-only) states=0 ;;
        --empty) empty=1 ;;
        --minimise) minimise=1 ;;
        --plot) need_value "$@" && plot=$2 && shift ;;
        -*) usage_error "fuzz: unknown option '$1', see ./dev fuzz --help" ;;
        *) target=$1 ;;
        esac
        shift
    done
    [[ " ${FUZZ_TARGETS[*]} " == *" $target "* ]] ||
        usage_error "fuzz: unknown target '$target', expected one of: ${FUZZ_TARGETS[*]}"
    [[ $seconds =~ ^[1-9][0-9]*$ && $jobs =~ ^[1-9][0-9]*$ ]] ||
        usage_error "fuzz: expected numbers from 1 on after --time and --jobs, found '$seconds' and '$jobs'"
    [[ $target != recipe || -f $recipe ]] ||
        usage_error "fuzz: the target recipe wants --recipe FILE.so, found '$recipe'"
    ((${#with[@]} == 0)) || [[ $target == session_loss && $minimise == 0 && -z $plot ]] ||
        usage_error "fuzz: --with is for the target session_loss, without --minimise and --plot"
    source dev.d/setup.sh
    source dev.d/build.sh
    setup_groups run fuzz
    if ((${#with[@]} > 0)); then
        FUZZ_BUILD=build/fuzz-with FUZZ_FOLDER=build/fuzz/with FUZZ_TRIAGE=build/fuzz-with/fuzz/lockstep_with
        step "build $FUZZ_BUILD" fuzz_build_with "${with[@]}" || exit $EXIT_ENVIRONMENT
    else
        FUZZ_FOLDER=build/fuzz/$target
        step "build $FUZZ_BUILD" fuzz_build || exit $EXIT_ENVIRONMENT
    fi
    step "build release" build_preset release ON lockstep make_seeds "fuzz_$target" || exit 1
    fuzz_environment "$target" "$recipe" "$states"
    fuzz_run "$target" "$seconds" "$jobs" "$empty" || exit $EXIT_ENVIRONMENT
    ((minimise == 0)) || step "minimise the corpus" fuzz_minimise "$target"
    [[ -z $plot ]] || step "draw $plot" fuzz_plot "$target" "$plot"
    fuzz_tell "$target" "$recipe"
}

# fuzz_configure FOLDER COMPILER FLAGS OPTION...
fuzz_configure()
{
    cmake -G Ninja -S . -B "$1" "-DCMAKE_C_COMPILER=$2" -DCMAKE_BUILD_TYPE=Release "-DCMAKE_C_FLAGS_RELEASE=$3" \
        -DLOCKSTEP_TESTS=OFF --log-level=WARNING "${@:4}" >/dev/null
}

# What inputs of the corpus do, so that the targets are compiled for that: $FUZZ_PROFILE/HASH.profile. Its name changes with what is in
# it, and so the flags of the targets: parts that are compiled by two profiles cannot be linked.
fuzz_profile()
{
    local program=$FUZZ_PROFILE/fuzz/fuzz_session_loss profile
    fuzz_configure "$FUZZ_PROFILE" clang "-O3 -fprofile-generate=$ROOT/$FUZZ_PROFILE/runs" &&
        cmake --build "$FUZZ_PROFILE" --target fuzz_session_loss -- --quiet || return
    profile=$(find "$FUZZ_PROFILE" -maxdepth 1 -name '*.profile' -newer "$program")
    [[ -z $profile ]] || return 0
    rm -rf "$FUZZ_PROFILE/runs" "$FUZZ_PROFILE"/*.profile
    "$program" fuzz/corpus/session_loss/* 2>/dev/null &&
        llvm-profdata merge -o "$FUZZ_PROFILE/merged" "$FUZZ_PROFILE"/runs/* &&
        mv "$FUZZ_PROFILE/merged" "$FUZZ_PROFILE/$(sha256sum "$FUZZ_PROFILE/merged" | cut -c1-16).profile"
}

# Where clang's tools are all there, the targets are optimised as a whole and by a profile; and a counter of edges may come round
# to 0, which is rare, and looking for it costs as much as counting.
fuzz_build()
{
    local compiler=afl-clang-fast flags=-O2 link=''
    command -v $compiler >/dev/null || compiler=afl-gcc-fast
    # Of several names, command -v is content with one.
    if [[ $compiler == afl-clang-fast ]] && command -v clang >/dev/null && command -v ld.lld >/dev/null &&
        command -v llvm-profdata >/dev/null && fuzz_profile; then
        flags="-O3 -flto=thin -fprofile-use=$(echo "$ROOT/$FUZZ_PROFILE"/*.profile)"
        # The drivers for AFL++ differ from those that were run.
        flags+=' -Wno-profile-instr-unprofiled -Wno-profile-instr-out-of-date -Wno-backend-plugin'
        link="-fuse-ld=lld -Wl,--thinlto-cache-dir=$ROOT/$FUZZ_BUILD/linked" # the programs have nearly all in common
    fi
    fuzz_instrument "$ROOT/fuzz/instrumented.txt"
    fuzz_configure "$FUZZ_BUILD" $compiler "$flags" -DLOCKSTEP_FUZZER=afl "-DCMAKE_EXE_LINKER_FLAGS=$link"
    cmake --build "$FUZZ_BUILD" --target fuzzers -- --quiet
}

# fuzz_instrument FILE: AFL++'s compilers count the edges of what the file lists.
fuzz_instrument()
{
    export AFL_QUIET=1 AFL_LLVM_SKIP_NEVERZERO=1 AFL_LLVM_ALLOWLIST=$1 AFL_GCC_ALLOWLIST=$1
}

# fuzz_build_with SOURCE...: sources change more often than what stands around them, so the programs are optimised less.
fuzz_build_with()
{
    local compiler=afl-clang-fast sources
    command -v $compiler >/dev/null || compiler=afl-gcc-fast
    sources=$(printf ';%s' "$@")
    mkdir -p "$FUZZ_BUILD"
    cat fuzz/instrumented.txt <(printf 'src: *%s\n' "$@") >"$FUZZ_BUILD/with.txt"
    fuzz_instrument "$ROOT/$FUZZ_BUILD/with.txt"
    fuzz_configure "$FUZZ_BUILD" $compiler -O1 -DLOCKSTEP_FUZZER=afl "-DLOCKSTEP_FUZZ_SOURCES=${sources:1}" &&
        cmake --build "$FUZZ_BUILD" --target fuzz_session_loss fuzz_mutator lockstep_with -- --quiet
}

# What AFL++ would like to have set on the machine, and goes on without.
fuzz_environment()
{
    local pattern
    export AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_UI=1 AFL_TRY_AFFINITY=1 AFL_AUTORESUME=1
    export LOCKSTEP_RECIPE=$2 LOCKSTEP_STATES=$3
    export AFL_HANG_TMOUT=10000 # ms; an input may run script after script of Redis, each to its limit of instructions
    unset AFL_CUSTOM_MUTATOR_LIBRARY AFL_CUSTOM_MUTATOR_ONLY
    if [[ $1 == session_loss || $1 == recipe ]]; then
        export AFL_CUSTOM_MUTATOR_LIBRARY=$ROOT/$FUZZ_BUILD/fuzz/mutator.so AFL_CUSTOM_MUTATOR_ONLY=1
    fi
    pattern=$(cat /proc/sys/kernel/core_pattern 2>/dev/null || true)
    [[ $pattern != '|'* ]] || note "AFL++ would like /proc/sys/kernel/core_pattern to be 'core': crashes take longer like this"
}

# Names of the instances: main, then second-1 and so on.
fuzz_run()
{
    local target=$1 seconds=$2 jobs=$3 empty=$4 out=$FUZZ_FOLDER/afl seeds=$FUZZ_FOLDER/seeds dictionary=() job pids=() pid
    mkdir -p "$out"
    fuzz_seeds "$target" "$empty" "$seeds"
    [[ $target != scenario && $target != trace ]] || dictionary=(-x fuzz/words.txt)
    [[ $target != redis_calls ]] || dictionary=(-x fuzz/words_lua.txt)
    echo "${BOLD}==> fuzz $target with $jobs instances for $seconds s${PLAIN}"
    for ((job = 0; job < jobs; job++)); do
        fuzz_instance "$seeds" "$out" "$job" "$seconds" "$target" "${dictionary[@]}" &
        pids+=($!)
    done
    trap 'kill "${pids[@]}" 2>/dev/null || true' INT TERM
    for pid in "${pids[@]}"; do
        wait "$pid" || true
    done
    trap - INT TERM
    [[ -f $out/main/fuzzer_stats ]] || {
        tail -n 20 "$out/main.log" >&2
        return 1
    }
}

# fuzz_seeds TARGET EMPTY FOLDER: what it begins with.
fuzz_seeds()
{
    local target=$1 corpus=fuzz/corpus/$1 traces
    rm -rf "$3"
    mkdir -p "$3"
    printf '\0' >"$3/zero"
    (($2 == 0)) || return 0
    [[ $target != recipe ]] || corpus=fuzz/corpus/session_loss
    [[ ! -d $corpus ]] || cp "$corpus"/* "$3/"
    case $target in
    session_loss | recipe)
        mapfile -t traces < <(find reports build/reports -name '*.trace' -exec grep -l '^| mutex ' {} + 2>/dev/null)
        build/release/fuzz/make_seeds "$3" scenarios/{mutex,regress,suite,explore}/*.scn "${traces[@]}"
        ;;
    redis_calls) build/release/fuzz/make_seeds "$3" fuzz/scripts/*.lua ;;
    scenario) cp scenarios/suite/*.scn scenarios/mutex/*.scn "$3/" ;;
    trace) cp reports/findings/*.trace "$3/" ;;
    esac
}

fuzz_instance()
{
    local seeds=$1 out=$2 job=$3 seconds=$4 target=$5 name=main role=-M
    shift 5
    if ((job > 0)); then
        name=second-$job role=-S
    fi
    # A first input that takes more than a second, as on a busy machine, is left out; without the plus AFL++ would end.
    exec afl-fuzz -V "$seconds" -t 1000+ -i "$seeds" -o "$out" $role "$name" "$@" "$FUZZ_BUILD/fuzz/fuzz_$target" >"$out/$name.log" 2>&1
}

fuzz_minimise()
{
    local target=$1 out=$FUZZ_FOLDER file size=0
    rm -rf "$out/small"
    mkdir -p "$out/all" "fuzz/corpus/$target"
    cp "$out"/afl/*/queue/id* "$out/all/" 2>/dev/null || true
    cp "fuzz/corpus/$target"/* "$out/all/" 2>/dev/null || true
    AFL_QUIET=1 afl-cmin -e -i "$out/all" -o "$out/small" -- "$FUZZ_BUILD/fuzz/fuzz_$target" >"$out/cmin.log" 2>&1 || return 1
    rm -rf "$out/all" "fuzz/corpus/$target"
    mkdir -p "fuzz/corpus/$target"
    while read -r file; do
        size=$((size + $(stat -c %s "$file")))
        ((size < 1000000)) || break
        cp "$file" "fuzz/corpus/$target/$(sha256sum "$file" | cut -c1-16)"
    done < <(find "$out/small" -type f -printf '%s %p\n' | sort -n | cut -d' ' -f2-)
    note "$(find "fuzz/corpus/$target" -type f | wc -l) inputs"
}

# What the inputs that were kept reach, in the order in which they were found, and what AFL++ counts: edges of the code, and
# situations, which have places in its map beside them. fuzz_plot TARGET FILE
fuzz_plot()
{
    local target=$1 file=$2 out=$FUZZ_FOLDER
    find "$out"/afl/*/queue -name 'id:*,time:*' | sed 's/.*,time:\([0-9]*\),.*/\1 &/' | sort -n | cut -d' ' -f2- >"$out/inputs"
    build/release/fuzz/fuzz_"$target" --each <"$out/inputs" >"$out/reached" 2>"$out/told" || {
        tail -n 3 "$out/told" >&2
        return 1
    }
    sed 's/.*,time:\([0-9]*\),.*\t\([0-9]*\)$/\1 \2/' "$out/reached" |
        awk '$1 > last + 3000 { print $1 / 60000, $2; last = $1 } END { print $1 / 60000, $2 }' >"$out/situations.dat"
    awk -F', *' '!/^#/ { print $1 / 60, $13 }' "$out/afl/main/plot_data" >"$out/map.dat"
    gnuplot -e "map='$out/map.dat'; situations='$out/situations.dat'; out='$file'; name='fuzz_$target'" fuzz/coverage.gnuplot
}

fuzz_tell()
{
    local target=$1 recipe=$2 out=$FUZZ_FOLDER stats crashes=0 status=0
    printf '%-10s %12s %9s %9s %8s %8s %8s %s\n' instance executions 'per s' 'inputs' crashes hangs stability coverage
    for stats in "$out"/afl/*/fuzzer_stats; do
        awk -F' *: *' -v name="$(basename "$(dirname "$stats")")" '{ v[$1] = $2 } END {
            printf "%-10s %12s %9s %9s %8s %8s %8s %s\n", name, v["execs_done"], v["execs_per_sec"], v["corpus_count"], v["saved_crashes"],
                v["saved_hangs"], v["stability"], v["bitmap_cvg"] }' "$stats"
        crashes=$((crashes + $(awk -F' *: *' '$1 == "saved_crashes" { print $2 }' "$stats")))
        crashes=$((crashes + $(awk -F' *: *' '$1 == "saved_hangs" { print $2 }' "$stats")))
    done
    if ((crashes == 0)); then
        echo "no finding"
        return
    fi
    if [[ $target == session_loss || $target == recipe ]]; then
        "$FUZZ_TRIAGE" triage --quiet ${recipe:+--recipe "$recipe"} --out "$out/findings" "$out/afl" || status=$?
        exit $status
    fi
    echo "$crashes crashes and hangs in $out/afl; each is an input of $FUZZ_BUILD/fuzz/fuzz_$target"
    exit $EXIT_FAILED
}
