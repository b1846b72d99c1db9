# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Sourced after pan.sh: running TLC over a model as a row of the second table in README.md says, and reading what it prints. TLC
# is no Debian package: TLC_JAR names its file (tla2tools.jar).

# tlc_rows [FILE]: name, model, constants, states, transitions of each row.
tlc_rows()
{
    table_rows tla 5 "$@"
}

# tlc_prepare FOLDER MODEL CONSTANTS: the model and what TLC is to check, in FOLDER.
tlc_prepare()
{
    mkdir -p "$1"
    cp "$PEERS/$2" "$1/"
    {
        echo CONSTANTS
        tr ' ' '\n' <<<"$3"
        printf 'INIT Init\nNEXT Next\nINVARIANT Alone\n'
    } >"$1/${2%.tla}.cfg"
}

# tlc_run FOLDER MODEL: one core, no more threads for collecting what is not used any more. That a model comes to an end is no
# deadlock.
tlc_run()
{
    env -C "$1" java -XX:+UseSerialGC -cp "$(realpath "$TLC_JAR")" tlc2.TLC -workers 1 -deadlock -nowarning -metadir states "$2"
}

# tlc_number FILE WHAT: a figure of what TLC has printed; nothing if the search did not come to its end. What it calls generated
# are transitions and the first state, as in what SPIN counts.
tlc_number()
{
    local column=1
    [[ $2 != states ]] || column=4
    awk -v column=$column '/^[0-9]+ states generated, [0-9]+ distinct states found, 0 states left/ { print $column }' "$1"
}

# tlc_compare FILE STATES TRANSITIONS: a search that came to its end without an error, with the counts of the table.
tlc_compare()
{
    local failed=0
    counts_compare tlc_number "$1" "states $2" "transitions $3" || failed=1
    if ! grep -q '^Model checking completed. No error has been found.' "$1"; then
        echo 'TLC does not say that there is no error' >&2
        failed=1
    fi
    return $failed
}
