# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Sourced by the tests that count states and transitions of a search of a small scenario.
source "$(dirname "$0")/../cli/lib.sh"

# write NAME HEADER PROCESS [EXPLORE]
write()
{
    printf '%s\nmutex /locks/x\nprocess %s\n%s----\nholds at_most_one_holder\n' "$2" "$3" "${4:+explore $4$'\n'}" \
        >"$scratch/$1.scn"
}

# counts NAME [OPTION...]: "STATES TRANSITIONS".
counts()
{
    "$LOCKSTEP" check --no-layers --out "$scratch/reports" "${@:2}" "$scratch/$1.scn" 2>&1 |
        sed -n 's/^pass .*(\([0-9]*\) states, \([0-9]*\) transitions, .*/\1 \2/p'
}
