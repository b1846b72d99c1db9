# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Sourced: compiling a model with SPIN as a row of the table in README.md says, running it, reading what it prints.

readonly PEERS=bench/peers
readonly PAN_COMPILER=(gcc -O3 -DSAFETY -DNOBOUNDCHECK -w)

# table_rows SUFFIX COLUMNS [FILE]: one line for each row of the table whose models have this suffix, with so many columns, the last
# two of them numbers: the columns with | between, no blanks around them and no commas in numbers.
table_rows()
{
    awk -F '|' -v suffix="$1" -v columns="$2" '
        NF == columns + 2 && $3 ~ "`mutex_[a-z]*[.]" suffix "`" {
            row = ""
            for (i = 2; i <= columns + 1; i++) {
                gsub(/^[ `]+|[ `]+$/, "", $i)
                if (i >= columns) gsub(/,/, "", $i)
                row = row (i > 2 ? "|" : "") $i
            }
            print row
        }' "${3:-$PEERS/README.md}"
}

# peer_rows [FILE]: name, model, flags of spin, of gcc, of pan, states, transitions of each row.
peer_rows()
{
    table_rows pml 7 "$@"
}

# counts_compare NUMBER FILE 'WHAT EXPECTED'...: that the function NUMBER finds these figures in what was printed.
counts_compare()
{
    local number=$1 file=$2 what found failed=0
    shift 2
    for what in "$@"; do
        found=$($number "$file" "${what% *}")
        if [[ $found != "${what#* }" ]]; then
            echo "${what% *}: expected ${what#* }, found ${found:-nothing}" >&2
            failed=1
        fi
    done
    return $failed
}

# pan_number FILE WHAT: a figure of what pan has printed; nothing if it is not there. Bytes are those that the states take,
# without the table that finds them and without the stack.
pan_number()
{
    case $2 in
    states) awk '$2 == "states," && $3 == "stored" { print $1 }' "$1" ;;
    transitions) awk '$2 == "transitions" { print $1 }' "$1" ;;
    errors) sed -n 's/.*depth reached [0-9]*, errors: \([0-9]*\)$/\1/p' "$1" ;;
    table) awk '/memory used for hash table/ { printf "%.0f\n", $1 * 1048576 }' "$1" ;;
    bytes)
        awk '$2 == "equivalent" && /memory usage for states/ { bytes = $1 }
            $2 == "actual" && /memory usage for states/ { bytes = $1 }
            END { if (bytes != "") printf "%.0f\n", bytes * 1048576 }' "$1"
        ;;
    esac
}

# pan_compare FILE STATES TRANSITIONS: a search that came to its end without a violation, with the counts of the table.
pan_compare()
{
    local file=$1 failed=0
    counts_compare pan_number "$file" "states $2" "transitions $3" 'errors 0' || failed=1
    if grep -q 'max search depth too small\|Search not completed' "$file"; then
        echo 'the search did not come to its end' >&2
        failed=1
    fi
    return $failed
}

# pan_build FOLDER MODEL SPIN_FLAGS GCC_FLAGS: FOLDER/pan
pan_build()
{
    local folder=$1 model=$2
    mkdir -p "$folder"
    cp "$PEERS/$model" "$folder/"
    # shellcheck disable=SC2086
    (cd "$folder" && spin $3 -a "$model" >spin.log && "${PAN_COMPILER[@]}" $4 -o pan pan.c 2>gcc.log) && return
    cat "$folder/spin.log" "$folder/gcc.log" >&2
    return 1
}
