# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# How long AFL++ takes to find published bugs from one byte of zero, with and without abstract situations; and a long campaign
# against our own lock. A line for each attempt, as it is known: what is there is not done again.

SOAK_FUZZ_HARDEST=3 SOAK_FUZZ_COMPARE_SEEDS=5

# soak_fuzz [--time DURATION] [--out DIR] [--seeds N] [--only NAME]
soak_fuzz()
{
    local out=build/soak/fuzz campaign=1200 seeds=3 only=''
    while (($# > 0)); do
        case $1 in
        --time) need_value "$@" && campaign=$(soak_seconds "$2") && shift ;;
        --out) need_value "$@" && out=$2 && shift ;;
        --seeds) need_value "$@" && seeds=$2 && shift ;;
        --only) need_value "$@" && only=$2 && shift ;;
        *) usage_error "soak fuzz: unknown option '$1', expected --time, --seeds, --only or --out" ;;
        esac
        shift
    done
    source dev.d/setup.sh
    source dev.d/build.sh
    source dev.d/fuzz.sh
    setup_groups run test fuzz
    step "build $FUZZ_BUILD" fuzz_build || exit $EXIT_ENVIRONMENT
    step "build release" build_preset release ON lockstep canaries || exit 1
    mkdir -p "$out"
    touch "$out/canaries.tsv" "$out/compared.tsv"
    soak_fuzz_canaries "$out" "$seeds" "$only"
    soak_fuzz_table "$out/canaries.tsv"
    if [[ -z $only ]]; then
        soak_fuzz_compare "$out"
        step "the mutex for $campaign s" soak_fuzz_campaign "$campaign" "$out/session_loss.svg"
    fi
}

# soak_fuzz_one NAME SEED LIMIT STATES FILE: one attempt; a line `name seed states seconds`, or `-` if nothing was found.
soak_fuzz_one()
{
    local name=$1 seed=$2 limit=$3 states=$4 file=$5 folder found=-
    folder=$(mktemp -d)
    mkdir "$folder/in"
    printf '\0' >"$folder/in/zero"
    fuzz_environment recipe "$PWD/build/release/canary/$name.so" "$states"
    AFL_BENCH_UNTIL_CRASH=1 afl-fuzz -V "$limit" -s "$seed" -i "$folder/in" -o "$folder/out" "$FUZZ_BUILD/fuzz/fuzz_recipe" \
        >"$folder/log" 2>&1 || true
    if [[ $(awk -F' *: *' '$1 == "saved_crashes" { print $2 }' "$folder/out/default/fuzzer_stats") != 0 ]]; then
        found=$(awk -F' *: *' '$1 == "run_time" { print $2 }' "$folder/out/default/fuzzer_stats")
    fi
    printf '%s\t%s\t%s\t%s\n' "$name" "$seed" "$states" "$found" >>"$file"
    rm -rf "$folder"
}

# Two at a time, where two fit.
soak_fuzz_slot()
{
    while (($(jobs -rp | wc -l) >= 2)); do
        wait -n || true
    done
}

soak_fuzz_canaries()
{
    local out=$1 seeds=$2 only=$3 source name seed
    echo "${BOLD}==> canaries, $seeds seeds each, 3 min at most, two at a time${PLAIN}"
    for source in tests/canary/*.c; do
        name=$(basename "$source" .c)
        [[ $name == "$only"* ]] || continue
        ! grep -q '"\.\./kinds/' "$source" || continue # of another lock: the fuzzer's worlds have mutexes
        for ((seed = 1; seed <= seeds; seed++)); do
            grep -q "^$name"$'\t'"$seed"$'\t1' "$out/canaries.tsv" && continue
            soak_fuzz_slot
            soak_fuzz_one "$name" "$seed" 180 1 "$out/canaries.tsv" &
        done
    done
    wait
}

# The median of each, the slowest last; how many are found within a minute.
soak_fuzz_table()
{
    sort -t$'\t' -k1,1 "$1" | awk -F'\t' '
        function flush(   i, j, t, middle) {
            if (count == 0) return
            for (i = 1; i < count; i++) for (j = count; j > i; j--) if (v[j] < v[j - 1]) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
            middle = v[int((count + 1) / 2)]
            text = ""
            for (i = 1; i <= count; i++) text = text " " ((v[i] >= 1000000) ? "-" : v[i])
            printf "%-40s %8s  %s\n", name, (middle >= 1000000 ? "-" : middle " s"), text
            found += middle <= 60
            all++
        }
        $1 != name { flush(); name = $1; count = 0 }
        { v[++count] = $4 == "-" ? 1000000 : $4 + 0 }
        END { flush(); printf "%d of %d found within 60 s in the median\n", found, all }'
}

# From the table: the slowest in the median of those that are found at all; without a median is slower than with one.
soak_fuzz_hardest()
{
    awk '$3 == "s" { print $2, $1 } $2 == "-" && / [0-9]+( |$)/ { print 1000000, $1 }' | sort -rn | head -n $SOAK_FUZZ_HARDEST | cut -d' ' -f2
}

# The slowest that are found at all, with situations and without.
soak_fuzz_compare()
{
    local out=$1 name seed states
    echo "${BOLD}==> the $SOAK_FUZZ_HARDEST hardest with and without abstract situations, $SOAK_FUZZ_COMPARE_SEEDS seeds, 2 min at most${PLAIN}"
    for name in $(soak_fuzz_table "$out/canaries.tsv" | soak_fuzz_hardest); do
        for ((seed = 1; seed <= SOAK_FUZZ_COMPARE_SEEDS; seed++)); do
            for states in 1 0; do
                grep -q "^$name"$'\t'"$seed"$'\t'"$states" "$out/compared.tsv" && continue
                soak_fuzz_slot
                soak_fuzz_one "$name" "$seed" 120 $states "$out/compared.tsv" &
            done
        done
    done
    wait
    for states in 1 0; do
        [[ $states == 1 ]] && echo 'with situations' || echo 'edges only'
        awk -F'\t' -v s=$states '$3 == s' "$out/compared.tsv" >"$out/part"
        soak_fuzz_table "$out/part"
    done
}

soak_fuzz_campaign()
{
    (cmd_fuzz session_loss --time "$1" --plot "$2")
}
