#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# lockstep replay --step: a debugger for the run of a trace. It prints what a replay prints and what its JSON says; a run that
# has left its trace is saved and replayed; bad commands, hostile bytes and files that cannot be written are told in one line.
source "$(dirname "$0")/lib.sh"
plain_build_only

printf 'world untimed used\nmutex /locks/x\nprocess a b: acquire release\nexplore loss<=1 expire<=1\n----\n' \
    >"$scratch/two.scn"

# record NAME STATUS COMMAND OPTION...: the trace that a command writes, in $scratch/NAME.trace.
record()
{
    local status=0
    "$LOCKSTEP" "$3" --out "$scratch/$1" "${@:4}" >"$scratch/told" 2>&1 || status=$?
    [[ $status == "$2" ]] || { cat "$scratch/told"; failed=1; }
    cp "$(find "$scratch/$1" -name '*.trace' | sort | head -n 1)" "$scratch/$1.trace"
}

# step STATUS COMMANDS TRACE [OPTION...]: the session, in $scratch/out and $scratch/err.
step()
{
    local status=0
    printf '%b' "$2" | "$LOCKSTEP" replay --step "${@:4}" "$3" >"$scratch/out" 2>"$scratch/err" || status=$?
    same "$1" "$status" "the exit status of $2"
}

# tells TEXT: a line of the session.
tells()
{
    grep -qFx -- "$1" "$scratch/out" ||
        { echo "expected the line '$1', found:"; tail -n 20 "$scratch/out"; cat "$scratch/err"; failed=1; }
}

record two 1 check --recipe broken-no-sort "$scratch/two.scn"
two=$scratch/two.trace

# ---- the session of the page ----

# The page shows a terminal, with prompts. A script prints the same without them.
awk '/^\$ lockstep replay --step / { inside = 1; next } /^```/ { inside = 0 } inside' docs/cli.md >"$scratch/session"
[[ -s $scratch/session ]] || { echo 'docs/cli.md has no session' && failed=1; }
record shown 1 check --recipe broken-no-sort scenarios/explore/mutex_2.scn
(cd "$scratch" && mkdir -p build && sed -nE 's/^step [0-9]+> //p' session | "$LOCKSTEP" replay --step shown.trace) |
    sed "s|$LOCKSTEP|lockstep|" >"$scratch/out" || true
grep -vE '^(step [0-9]+> .*|help lists the commands)$' "$scratch/session" | diff - "$scratch/out" ||
    { echo 'docs/cli.md shows another session' && failed=1; }

# ---- the states are those of the JSON, forward and back ----

states()
{
    python3 tests/cli/same_states.py "$@" >"$scratch/told" 2>&1 || { echo "$*:"; tail -n 3 "$scratch/told"; failed=1; }
}
states "$LOCKSTEP" "$two"
record once 1 run --recipe broken-no-protection --no-shrink scenarios/mutex/create_reply_lost.scn
states "$LOCKSTEP" "$scratch/once.trace"
record circle 1 check --recipe broken-mutual-reset scenarios/explore/live_once_2.scn
states "$LOCKSTEP" "$scratch/circle.trace"
cc -std=c11 -D_GNU_SOURCE -O1 -fPIC -shared -Iinclude -o "$scratch/herd.so" examples/recipes/naive_herd.c
cc -std=c11 -D_GNU_SOURCE -O1 -w -fPIC -shared -DRUDE=CRASH -Iinclude -o "$scratch/rude.so" tests/cli/rude_recipe.c
printf 'world used\nmutex /locks/x\nprocess a b c d e f\n' >"$scratch/many.scn"
printf '%s acquire\n' a b c d e f >>"$scratch/many.scn"
printf 'settle\na release\nsettle\nrest\n----\n' >>"$scratch/many.scn"
record herd 1 run --recipe "$scratch/herd.so" --no-shrink "$scratch/many.scn"
states "$LOCKSTEP" "$scratch/herd.trace"
mv "$scratch/herd.so" "$scratch/moved.so"
states "$LOCKSTEP" --recipe "$scratch/moved.so" "$scratch/herd.trace"
# A recipe that crashes: its process has crashed, and the session goes on.
printf 'world used\nmutex /locks/x\nprocess a: acquire release acquire release\nprocess b: acquire release
properties contract_is_kept\n----\n' >"$scratch/rounds.scn"
record rude 1 check --recipe "$scratch/rude.so" "$scratch/rounds.scn"
states "$LOCKSTEP" "$scratch/rude.trace"
step 1 'violation\nprint a\nback\nnext\n' "$scratch/rude.trace"
grep -q '^process a: crashed$' "$scratch/out" || { echo 'a has not crashed' && failed=1; }
same 2 "$(grep -c '! contract_is_kept: .* crashes: SIGSEGV in ' "$scratch/out")" 'times that the crash is told'

# ---- moves, abbreviations, lists ----

step 1 'n 2\n\nb\n# a remark\ngo 0\nvio\ncho\nl\nq\nfoo\n' "$two"
same '0 1 2 3 4 3 0 11' "$(sed -nE 's/^ +([0-9]+)  (the beginning.*|.* (acquire|s1|create|session-connected)|deliver a list-reply: .*)$/\1/p' \
    "$scratch/out" | head -n 8 | paste -sd ' ')" 'the steps of the moves'
tells '     1  deliver b create-reply: ok'
tells 'faults'
tells '*   11  deliver a list-reply'
tells '        ! at_most_one_holder'
step 1 'next b\nback a\n' "$two"
step 1 'goto 8\nchoices\n' "$two"
tells '>    1  deliver a create-reply: ok'
step 1 'next 99\n' "$two"
tells 'at_most_one_holder is violated at step 11 of 11: a was granted x but its node (czxid 6) stands behind that of b (czxid 4)'
step 1 '' "$two"
write_small "$scratch/well.scn"
sed -i 's/fence=4/fence=5/' "$scratch/well.scn"
record well 1 run "$scratch/well.scn"
well=$scratch/well.trace
step 0 'violation\n' "$well"
tells 'the run violates no property'
step 1 'print line\nprint beliefs\nviolation\nprint line\nprint 0000000007\nprint a\nprint s1' "$two"
tells '  a x owner 0: held'
tells 'process a: started, held'
tells 'server s1: zxid 6'
same '2 2 4' "$(grep -c '^line$' "$scratch/out") $(grep -c '^  x [12]: a,' "$scratch/out") $(grep -c lock-0000000007 "$scratch/out")" \
    'the lines of parts'

# ---- other choices ----

# saved COMMANDS FOUND TRACE [OPTION...]: the run is saved, and its replay ends the same way.
saved()
{
    local status=1
    [[ $2 != nothing ]] || status=0
    step $status "$1\nnext 1000\nprint\nsave $scratch/saved.trace\nnext 1000\n" "${@:3}"
    tells "violates $2"
    sed -n '/^log: /,/^line$/p' "$scratch/out" >"$scratch/state"
    sed '1,/^replay: /d' "$scratch/out" >"$scratch/verdict"
    expect $status '' "$LOCKSTEP" replay "${@:4}" "$scratch/saved.trace"
    tail -n "$(wc -l <"$scratch/verdict")" "$scratch/output" | cmp - "$scratch/verdict" || { cat "$scratch/verdict"; failed=1; }
    step $status 'next 1000\nprint\n' "$scratch/saved.trace" "${@:4}"
    sed -n '/^log: /,/^line$/p' "$scratch/out" | cmp - "$scratch/state" || failed=1
    states "$LOCKSTEP" "${@:4}" "$scratch/saved.trace"
    grep -qx "found $2" "$scratch/saved.trace" || { echo "found $2 is missing" && failed=1; }
}
saved 'goto 8\ntake 2' 'at_most_one_holder granted_in_order no_stale_effect' "$two"
saved 'violation\ntake a release' 'at_most_one_holder granted_in_order no_stale_effect' "$two"
saved 'goto 4\ntake expire b\nnext 4\ntake 1' at_most_one_holder "$two"
saved 'goto 5\ntake pause a' nothing "$well"
saved 'goto 24\nchoices\ntake 1' nothing "$scratch/circle.trace"
! grep -q '^- cycle' "$scratch/saved.trace" || { echo 'the mark of the circle is saved' && failed=1; }
saved 'goto 20\ntake crash b' nothing "$scratch/herd.trace" --recipe "$scratch/moved.so"
cc -std=c11 -Iinclude -fPIC -shared -DGRANTS_MAX=0 -o "$scratch/property.so" tests/cli/my_property.c
saved 'goto 8\ntake 2' 'at_most_one_holder granted_in_order at_most_two_grants no_stale_effect' "$two" --property "$scratch/property.so"
grep -qx "property at_most_two_grants $scratch/property.so" "$scratch/saved.trace" || { echo 'no property' && failed=1; }
# The choice of the trace itself changes nothing.
step 1 "goto 8\ntake 1\nlist\nsave $scratch/saved.trace\n" "$two"
tells '*    9  deliver a create-reply'
same 0 "$(grep -c 'has left its trace' "$scratch/out")" 'runs that have left their trace'
diff <(sed -n '/^choices/,$p' "$two") <(sed -n '/^choices/,$p' "$scratch/saved.trace") || failed=1

# ---- bad commands ----

# refuses COMMAND LINE: one line on standard error, and exit status 2 in a script; what follows is not done.
refuses()
{
    step 2 "$1\nnext\n" "$two"
    same "$2" "$(<"$scratch/err")" "the complaint about $1"
    same 0 "$(grep -c '^    1 ' "$scratch/out")" "steps after $1"
}
refuses 'nxt 3' "<stdin>:1:1: expected a command (help lists them), found 'nxt'; did you mean 'next'?"
refuses '  x' "<stdin>:1:3: expected a command (help lists them), found 'x'"
refuses 'next 0' "<stdin>:1:6: expected a number of steps, at least 1, or the name of a process, found '0'"
refuses 'back 99999999999999999999999' "<stdin>:1:6: expected a number of steps, at least 1, or the name of a process, found '99999999999999999999999'"
refuses 'next c' "<stdin>:1:6: expected a number of steps, at least 1, or the name of a process, found 'c'"
refuses 'back 1 2' "<stdin>:1:8: expected the end of the line, found '2'"
refuses 'goto' '<stdin>:1:5: expected the number of a step of the run, or 0, found the end of the line'
refuses 'goto 12' "<stdin>:1:6: expected the number of a step of the run, or 0, found '12'"
refuses 'goto -1' "<stdin>:1:6: expected the number of a step of the run, or 0, found '-1'"
refuses 'print c' "<stdin>:1:7: expected a part of the state (print shows all of it), found 'c'"
refuses 'take' '<stdin>:1:5: expected the number or the label of a choice (choices lists them), found the end of the line'
refuses 'take 99' "<stdin>:1:6: expected the number or the label of a choice (choices lists them), found '99'"
refuses 'take deliver a create-reply' "<stdin>:1:6: expected a choice that is possible here (choices lists them), \
found 'deliver a create-reply': \"deliver a create-reply\" cannot happen now"
refuses 'save' '<stdin>:1:5: expected a file, found the end of the line'
refuses 'quit now' "<stdin>:1:6: expected the end of the line, found 'now'"
refuses 'help me' "<stdin>:1:6: expected the end of the line, found 'me'"
refuses 'next \x1b[31m' '<stdin>:1:6: expected UTF-8 without control characters, found the byte 0x1b'
refuses 'print \xc2\x9b' '<stdin>:1:7: expected UTF-8 without control characters, found the byte 0xc2'
refuses 'print \xff' '<stdin>:1:7: expected UTF-8 without control characters, found the byte 0xff'
refuses 'a\0b' '<stdin>:1:2: expected UTF-8 without control characters, found the byte 0x00'
refuses 'n\r' '<stdin>:1:2: expected UTF-8 without control characters, found the byte 0x0d'
step 2 'n\n\n\nbad\n' "$two"
same "<stdin>:4:1: expected a command (help lists them), found 'bad'" "$(<"$scratch/err")" 'the line of the complaint'
expect_line "lockstep replay: expected --step or --json, found 'both'" "$LOCKSTEP" replay --step --json "$two"
expect_line "lockstep replay: expected a trace in a file with --step, which reads standard input, found '-'" \
    "$LOCKSTEP" replay --step -
expect_line "$scratch/none:1:1: expected a readable file, found 'No such file or directory'" \
    "$LOCKSTEP" replay --step "$scratch/none"
sed 's/^recipe .*/recipe nothing/' "$two" >"$scratch/bad.trace"
expect_line "$scratch/bad.trace:3:8: expected a recipe (see lockstep list recipes), found 'nothing'" \
    "$LOCKSTEP" replay --step "$scratch/bad.trace"

# Files that cannot be written: the old one stays.
step 4 "save $scratch/nowhere/x\n" "$two"
same "$scratch/nowhere/x:1:1: expected a file that can be written, found 'No such file or directory'" "$(<"$scratch/err")" \
    'the complaint about a folder that is missing'
step 4 "save $scratch\n" "$two"
if [[ -w /dev/full ]]; then
    step 4 'save /dev/full\n' "$two"
fi

# In a terminal the session goes on behind a bad command, and an empty line repeats the last good one.
printf 'next\nfoo\n\nquit\n' | script -qec "stty -echo; $LOCKSTEP replay --step $two; echo status \$?" /dev/null | tr -d '\r' >"$scratch/typed"
grep -q "^step 1> <stdin>:2:1: expected a command (help lists them), found 'foo'\$" "$scratch/typed" &&
    grep -q '^step 1>     2  ' "$scratch/typed" && grep -q '^step 2> status 1$' "$scratch/typed" ||
    { cat "$scratch/typed"; failed=1; }

# ---- hostile traces ----

# A label, a name and a finding with control bytes: no output has them.
awk '/^found / { print "found \033]0;x\007"; next } /^scenario / { print $1, $2, "\302\233name\033[2J"; next }
     /^choices/ { print; getline; print "0 \033[31ma acquire"; next } { print }' "$two" >"$scratch/hostile.trace"
for options in --step ''; do
    status=0
    # shellcheck disable=SC2086
    printf 'next\nlist\nchoices\nprint\nnext\n' | "$LOCKSTEP" replay $options "$scratch/hostile.trace" \
        >"$scratch/out" 2>"$scratch/err" || status=$?
    same 2 $status "the exit status with hostile bytes, $options"
    ! grep -qP '[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]' "$scratch/out" "$scratch/err" ||
        { echo "control characters with '$options':"; cat -v "$scratch/out" "$scratch/err"; failed=1; }
    grep -q 'found ..\[31ma acquire' "$scratch/err" || { cat -v "$scratch/err"; failed=1; }
done
finish
