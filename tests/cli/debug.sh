#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# lockstep debug: gdb stands in the recipe's code at a step of a trace, and goes to other steps by a run up to there. Words of
# users become no commands of gdb or of a shell. Two canaries here, ten in slow_debug_canaries.sh.
source "$(dirname "$0")/lib.sh"
source tests/cli/lib_debug.sh

# ---- bad input, which needs no gdb ----

trace=$scratch/one.trace
write_lost "$scratch/lost.scn"
"$LOCKSTEP" run --recipe broken-no-protection --out "$scratch/made" --no-shrink "$scratch/lost.scn" >/dev/null 2>&1 || true
cp "$scratch/made"/*.trace "$trace"
last=$("$LOCKSTEP" replay "$trace" | sed -nE 's/^ *([0-9]+)  .*/\1/p' | tail -n 1 || true)
[[ -n $last ]] || { echo 'no trace to debug'; exit 1; }

usage='lockstep debug: expected'
expect_line "$usage one trace, found ''" "$LOCKSTEP" debug
expect_line "$usage one trace, found 'b'" "$LOCKSTEP" debug "$trace" b
expect_line "$usage a trace in a file, found '-'" "$LOCKSTEP" debug -
expect_line "$scratch/none.trace:1:1: expected a readable file, found 'No such file or directory'" "$LOCKSTEP" debug "$scratch/none.trace"
expect_line "$scratch/none.trace:1:1: expected a readable file, found 'No such file or directory'" "$LOCKSTEP" debug "$scratch/none.trace@3"
expect_line "$scratch/no@ne:1:1: expected a readable file, found 'No such file or directory'" "$LOCKSTEP" debug "$scratch/no@ne"
for word in '' x -1 1x 0x3 ' 3' '3 ' 1e3 3,4 '3;quit' '$(id)' 9999999999 99999999999999999999999; do
    expect_line "$usage the number of a step, or STEP:FUNCTION, behind '@', found '$word'" "$LOCKSTEP" debug "$trace@$word"
done
for name in '' '1f' 'f g' 'f;quit' "f'" 'f"' '*f' 'f(int)' 'a.c:f' '-x' $'f\nquit' "$(printf 'f%.0s' {1..200})"; do
    expect_line "$usage the name of a function, found '$name'" "$LOCKSTEP" debug "$trace@3:$name"
    [[ -z $name ]] || expect_line "$usage the name of a function, found '$name'" "$LOCKSTEP" debug "--function=$name" "$trace@3"
done
expect_line "$usage a step from 0 to $last behind '@', found '$((last + 1))'" "$LOCKSTEP" debug "$trace@$((last + 1))"
expect_line "$usage a step from 0 to $last behind '@', found '999999999'" "$LOCKSTEP" debug "$trace@999999999"
expect_line "$usage a readable file with gdb commands after --batch, found '$scratch/none'" "$LOCKSTEP" debug --batch "$scratch/none" "$trace@1"
expect_line "$usage a readable file with gdb commands after --batch, found '/dev/null'" "$LOCKSTEP" debug --batch /dev/null "$trace@1"
expect_line "$usage at most 32 words behind '--', found '-q'" "$LOCKSTEP" debug "$trace@1" -- $(printf -- '-q %.0s' {1..33})
head -n 5 "$trace" >"$scratch/cut.trace"
expect 2 'cut.trace:' "$LOCKSTEP" debug "$scratch/cut.trace@1"
sed 's/^scenario .*/scenario x/; s/acquire$/release/' "$trace" >"$scratch/other.trace"
expect 2 "$scratch/other.trace:" "$LOCKSTEP" debug "$scratch/other.trace@1"
write_small "$scratch/small.scn"
# Without gdb, one line says what to install.
mkdir "$scratch/bin"
expect 4 "expected gdb in PATH, found 'No such file or directory': install gdb" env "PATH=$scratch/bin" "$LOCKSTEP" debug "$trace@1"

may_trace

# ---- steps ----

recipe=$scratch/c07.so
build_canary tests/canary/c07_gives_its_place_up.c "$recipe"
shrunk=$(shortest "$recipe" granted_in_order c07)
[[ -n $shrunk ]] || { echo 'c07 violates nothing'; exit 1; }
cp "$shrunk" "$trace"
violating=$(steps "$trace" granted_in_order)
debug "$trace" "python
for command in ('lockstep-where', 'lockstep-back', 'lockstep-next', 'lockstep-goto 0', 'lockstep-back', 'lockstep-back x', 'lockstep-goto 1x',
                'lockstep-goto $((violating + 1))', 'lockstep-goto $violating:no_such_function', 'lockstep-help', 'lockstep-goto $violating',
                'continue', 'lockstep-where', 'lockstep-next'):
    try:
        gdb.execute(command)
    except gdb.error as error:
        print(error)
end" >"$scratch/seen" || true
has()
{
    grep -qF -- "$1" "$scratch/seen" || { echo "expected '$1' in:"; cat "$scratch/seen"; failed=1; }
}
same 4 "$(grep -cF "$(label "$trace" "$violating")" "$scratch/seen")" 'the violating step is shown at the start, by where, next and goto'
has "$(label "$trace" $((violating - 1)))"
has 'the beginning of the run'
has 'no step -1'
has "expected N or N:FUNCTION, found '1x'"
has "expected a number of steps, found 'x'"
has "no step $((violating + 1)): the steps of this run are 0 to $violating"
has 'no function no_such_function in the program or in the recipe'
has 'lockstep-goto N[:FUNCTION]'
has 'granted_in_order is violated at step'
has 'the run is over: lockstep-goto N goes to a step of it'

# A step of a server calls no recipe, and the output says so. The step that asks for the lock calls acquire(). A name that the
# program has too is the recipe's one.
server=$("$LOCKSTEP" replay "$trace" | sed -nE 's/^ *([0-9]+)  apply .*/\1/p' | sed -n 1p || true)
asks=$("$LOCKSTEP" replay "$trace" | sed -nE 's/^ *([0-9]+)  . acquire$/\1/p' | sed -n 1p || true)
debug "$trace@$server" >"$scratch/seen"
has "step $server calls no function of the recipe; this is where the step begins"
debug "$trace@$asks" 'python print("in", gdb.selected_frame().name())' next 'info locals' 'python print(gdb.solib_name(gdb.selected_frame().pc()))' \
    >"$scratch/seen"
has 'in acquire'
has 'claim = 0x'
has "$(realpath "$recipe")"
debug "$trace@$asks:go" 'info symbol $pc' >"$scratch/seen"
has "in section .text of $(realpath "$recipe")"
: >"$scratch/nothing"
timeout 100 "$LOCKSTEP" debug --batch "$scratch/nothing" --function acquire "$trace@$server" -- -nx >"$scratch/seen" 2>&1 </dev/null || true
has "step $server does not reach acquire"

# Breakpoints and watchpoints of the user do not stop the way to a step, and stop behind it.
debug "$trace@$asks" 'break on_list' 'lockstep-goto 0' "lockstep-goto $asks" continue 'python print("in", gdb.selected_frame().name())' >"$scratch/seen"
has 'in on_list'
# The guard's timer does not end a call in which a user single-steps for longer than it allows.
debug "$trace@$asks" 'watch $rsp' 'python
import time
begun = time.monotonic()
while time.monotonic() - begun < 1: gdb.execute("stepi", to_string=True)
print("still in", gdb.solib_name(gdb.selected_frame().pc()))
end' delete finish 'lockstep-next' >"$scratch/seen"
[[ $(uname -m) != x86_64 ]] || has 'still in'

# Without debug information a line says how to compile, and gdb stands at the first instruction.
cp "$recipe" "$scratch/kept.so"
"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O0 -fPIC -shared -Iinclude tests/canary/c07_gives_its_place_up.c -o "$recipe"
debug "$trace@$asks" 'info symbol $pc' >"$scratch/seen"
has "no debug information in $(realpath "$recipe"): compile the recipe with -O0 -g"
has 'acquire in section .text'
mv "$scratch/kept.so" "$recipe"

# A built-in recipe.
debug "$scratch/made"/*.trace 'python print("alive", gdb.selected_inferior().pid != 0)' >"$scratch/seen"
has 'alive True'

# gdb stops at a crash of the recipe, which the guard catches in a replay; not at a crash on the way to another step.
printf 'mutex /locks/x\nprocess a\n\na acquire\nsettle\na acquire\nsettle\na release\nsettle\n----\n' >"$scratch/rude.scn"
"${CC:-cc}" -std=c11 -D_GNU_SOURCE -DRUDE=CRASH -O0 -g -fPIC -shared -Iinclude tests/cli/rude_recipe.c -o "$scratch/rude.so"
"$LOCKSTEP" run --no-shrink --recipe "$scratch/rude.so" --out "$scratch/rude" "$scratch/rude.scn" >/dev/null 2>&1 || true
crashes=$(steps "$scratch/rude"/*.trace contract_is_kept)
debug "$(echo "$scratch/rude"/*.trace)@$crashes" continue 'python print("in", gdb.selected_frame().name())' lockstep-back >"$scratch/seen"
has 'received signal SIGSEGV'
has 'in crash'
has "$(label "$scratch/rude"/*.trace $((crashes - 1)))"

# ---- names that a shell or gdb could take for more than a name ----

# in_place_named NAME: gdb stands in the recipe, and nothing was done besides. The path of a recipe has no blanks.
in_place_named()
{
    local name=$1 object=./r.so
    mkdir -p "$scratch/$name"
    cp "$trace" "$scratch/$name/$name.trace"
    if [[ $name != *[[:space:]]* ]]; then
        object="./$name/$name.so"
        cp "$recipe" "$scratch/$object"
    fi
    printf 'python print("in", gdb.selected_frame().name())\n' >"$scratch/$name/$name.gdb"
    (
        cd "$scratch"
        timeout 100 "$LOCKSTEP" debug --batch "./$name/$name.gdb" --recipe "$object" "./$name/$name.trace@$asks" -- -nx </dev/null 2>&1
    ) >"$scratch/seen" || true
    has 'in acquire'
    [[ -z $(find "$scratch" -name touched) ]] || { echo "'$name' was taken for a command"; failed=1; }
}

cp "$recipe" "$scratch/r.so"
# shellcheck disable=SC2016
for name in $'"; shell touch touched; "\ntouch touched\n' "it's a@3" '$(touch${IFS}touched)`' 'a%s#b;*[a]?{b}|<>!~&\-ä€'; do
    in_place_named "$name"
done

# ---- where the bug is ----

for source in $(canaries_with_function | sed -n '2p;$p'); do
    in_canary "$source"
done
fast_enough
finish
