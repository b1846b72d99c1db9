# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# lockstep debug in canaries: sourced behind lib.sh. The function in which gdb has to stand comes from the source of the canary.
source tests/canary/lib_canary.sh

# may_trace: ends the test where there is no gdb, or gdb may not trace, or gdb has no Python.
may_trace()
{
    ((failed == 0)) || finish # a failure before this line counts
    plain_build_only # a sanitizer of leaks does not run under gdb
    if ! command -v gdb >/dev/null; then
        echo 'skipped: no gdb here'
        exit 77
    fi
    if ! gdb -nx -q -batch -ex run -ex 'python print("has Python")' true </dev/null 2>&1 | tr '\n' ' ' | grep -q 'exited normally.*has Python'; then
        echo 'skipped: gdb may not trace a process here, or has no Python'
        exit 77
    fi
}

# functions_of SOURCE OPTION...: lines `NAME BODY` of the functions that the preprocessor leaves. In these sources the braces of a
# body stand in the first column.
functions_of()
{
    "${CC:-cc}" -std=c11 -D_GNU_SOURCE -Iinclude -E "${@:2}" "$1" | awk '
        /^#/ || /^[[:space:]]*$/ { next }
        /^\{/ { inside = 1; body = ""; next }
        /^\}/ {
            if (inside && match(head, /[A-Za-z_][A-Za-z0-9_]*\(/)) print substr(head, RSTART, RLENGTH - 1) " " body
            inside = 0; head = ""; next
        }
        inside { gsub(/[[:space:]]+/, " "); body = body $0; next }
        { head = /;[[:space:]]*$/ ? "" : head $0 }'
}

# changed_functions SOURCE: the functions of the canary that -DFIXED changes or removes.
changed_functions()
{
    comm -23 <(functions_of "$1" | sort) <(functions_of "$1" -DFIXED | sort) | cut -d' ' -f1 | sort -u
}

# build_canary SOURCE OUT
build_canary()
{
    "${CC:-cc}" -std=c11 -D_GNU_SOURCE -O0 -g -fPIC -shared -Iinclude "$1" -o "$2"
}

# shortest RECIPE PROPERTY SHORT: the path of a trace that violates the property, a shrunk one if there is one; nothing if no
# situation shows it. With the property '[a-z_]*', whatever is violated first.
shortest()
{
    local situation trace
    for situation in $(situations_of "$3"); do
        rm -rf "$scratch/reports"
        timeout 100 "$LOCKSTEP" check --suite --filter "*suite/$situation.scn" --quiet --recipe "$1" --out "$scratch/reports" \
            >/dev/null 2>&1 || true
        for trace in $(compgen -G "$scratch/reports/*.min.trace") $(compgen -G "$scratch/reports/*.trace"); do
            [[ -z $(steps "$trace" "$2") ]] || { echo "$trace"; return; }
        done
    done
}

# debug WORD COMMAND...: what gdb prints at TRACE@STEP with these commands.
debug()
{
    local word=$1
    shift
    printf '%s\n' "$@" >"$scratch/commands"
    timeout 100 "$LOCKSTEP" debug --batch "$scratch/commands" "$word" -- -nx 2>&1 </dev/null
}

# last_step TRACE STEP FUNCTION: the last step up to STEP in which an ordinary breakpoint at the function is met. The program may
# have functions of that name, too.
last_step()
{
    local in_recipe='(gdb.solib_name(gdb.selected_frame().pc()) or "").endswith(".so")'
    debug "$1@0" "break $3" commands silent "python if $in_recipe: gdb.execute('lockstep-where')" continue end continue >"$scratch/met"
    sed -nE 's/^ *([0-9]+)  .*/\1/p' "$scratch/met" | awk -v last="$2" '$1 <= last && $1 > 0 { found = $1 } END { print found }'
}

# label TRACE STEP: the line of the step that lockstep replay prints.
label()
{
    { "$LOCKSTEP" replay "$1" || true; } | sed -nE "/^ *$2  /p"
}

# stands_in_changed TRACE STEP FUNCTION: gdb stands in the function in the last step that reaches it, and goes back within a second.
# The time of processors counts, because other work of the machine delays gdb.
stands_in_changed()
{
    local trace=$1 step function=$3 before
    step=$(last_step "$trace" "$2" "$function")
    [[ -n $step ]] || return 1
    debug "$trace@$step:$function" 'python print("in", gdb.selected_frame().name())' 'python
import os, time
used = lambda: sum(os.times()[:4])
begun, before = time.monotonic(), used()
gdb.execute("lockstep-back")
print("back after %.2f s, %.2f s of processors" % (time.monotonic() - begun, used() - before))
end' >"$scratch/stood"
    before=$(label "$trace" $((step - 1)))
    if ! grep -qx "in $function" "$scratch/stood" || { ((step > 1)) && ! grep -qxF -- "$before" "$scratch/stood"; }; then
        echo "$trace@$step:$function: expected gdb in $function, then the step '$before', found:"
        cat "$scratch/stood"
        failed=1
        return
    fi
    echo "$(basename "$trace") step $step of $2: $function, $(grep '^back after' "$scratch/stood")"
    sed -nE 's/^back after .* s, ([0-9.]+) s of processors$/\1/p' "$scratch/stood" >>"$scratch/seconds"
}

# in_canary SOURCE: in one of the functions that its mended form changes.
in_canary()
{
    local name property trace step function
    name=$(basename "$1" .c)
    property=$(property_of "$1")
    build_canary "$1" "$scratch/$name.so"
    trace=$(shortest "$scratch/$name.so" "$property" "${name%%_*}")
    if [[ -z $trace ]]; then # another property is violated earlier, wherever this one would be
        property='[a-z_]*'
        trace=$(shortest "$scratch/$name.so" "$property" "${name%%_*}")
    fi
    [[ -n $trace ]] || { echo "$name: no situation shows a violation"; failed=1; return; }
    step=$(steps "$trace" "$property")
    for function in $(changed_functions "$1"); do
        ! stands_in_changed "$trace" "$step" "$function" || return 0
    done
    echo "$name: no step up to $step reaches one of: $(changed_functions "$1" | tr '\n' ' ')"
    failed=1
}

# canaries_with_function: those of which the mended form changes a function, and not a flag alone.
canaries_with_function()
{
    local source
    for source in tests/canary/*.c; do
        [[ -z $(changed_functions "$source") ]] || echo "$source"
    done
}

# fast_enough: the ways back took less than a second.
fast_enough()
{
    awk '$1 >= 1 { slow = 1 } END { exit !(NR > 0 && !slow) }' "$scratch/seconds" ||
        { echo "lockstep-back takes: $(sort -n "$scratch/seconds" | tr '\n' ' ')"; failed=1; }
}
