# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Sourced by the tests here, behind tests/cli/lib.sh: the answers of `lockstep explain`, compared with a table of stories.
right=0
asked=0

# causes FILE: the faults that mattered, as KIND:PLACE, sorted; none = no fault was needed.
causes()
{
    /usr/bin/python3 - "$1" <<'PYTHON'
import json
import sys

told = json.load(open(sys.argv[1]))
def place(fault):
    words = fault["choice"].split()
    at_server = len(words) > 1 and words[1][0] == "s" and words[1][1:].isdigit()
    return fault.get("process") or (words[1] if at_server else "-")
found = sorted({fault["kind"] + ":" + place(fault) for fault in told["faults"] if fault["mattered"] in ("yes", "in-this-run")})
print(",".join(["none"] if told["cause"] in ("no-fault", "no-fault-needed") else found or [told["cause"]]))
PYTHON
}

# is_right STORY CAUSES: at least one fault is named, and each one is of the story; a story may leave the place open.
is_right()
{
    local cause
    [[ -n $2 ]] || return 1
    for cause in ${2//,/ }; do
        [[ ,$1, == *",$cause,"* || ,$1, == *",${cause%%:*},"* ]] || return 1
    done
}

# trace_of RECIPE SCENARIO: the trace of the first violation, unshrunk, in $trace; empty = there is none.
trace_of()
{
    rm -rf "$scratch/reports"
    timeout 120 "$LOCKSTEP" run --quiet --no-shrink --recipe "$1" --out "$scratch/reports" "$2" >/dev/null 2>&1 || true
    trace=$(find "$scratch/reports" -name '*.trace' 2>/dev/null | sort | sed -n 1p)
}

# ask NAME RECIPE SCENARIO PROPERTY STORY: counts the answer, and shows it if it is wrong.
ask()
{
    local options=(--json) status=0 found
    [[ $4 == - ]] || options+=(--property "$4")
    asked=$((asked + 1))
    trace_of "$2" "$3"
    [[ -n $trace ]] || { echo "$1: $3 leaves no trace"; return; }
    "$LOCKSTEP" explain "${options[@]}" "$trace" >"$scratch/json" 2>"$scratch/err" || status=$?
    if [[ $5 == holds ]]; then
        [[ $status == 2 && $(<"$scratch/err") == *'expected a trace that violates'* ]] && right=$((right + 1)) && return
        echo "$1: expected nothing to explain, found status $status"
        return
    fi
    found=$([[ ! -s $scratch/json ]] || causes "$scratch/json")
    if is_right "$5" "$found"; then
        right=$((right + 1))
    else
        echo "$1: expected $5, found '$found', status $status $(<"$scratch/err")"
    fi
}

# rows FILE: its lines without comments.
rows()
{
    grep -v '^#' "$1"
}
