#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Every kind of bad input gets one line that says where, what was expected and what was found, and exit status 2.
source "$(dirname "$0")/lib.sh"

# ---- scenario files ----
f=$scratch/f.scn

expect_line "$scratch/none.scn:1:1: expected a readable file, found 'No such file or directory'" \
    "$LOCKSTEP" run "$scratch/none.scn"
if [[ $(id -u) != 0 ]]; then
    write_small "$f"
    chmod 000 "$f"
    expect_line "$f:1:1: expected a readable file, found 'Permission denied'" "$LOCKSTEP" run "$f"
    rm -f "$f"
fi
mkdir "$scratch/folder"
expect_line "$scratch/folder:1:1: expected scenarios (*.scn) in this folder, found none" \
    "$LOCKSTEP" run "$scratch/folder"
: >"$f"
expect_line "$f:1:1: expected text, found an empty file" "$LOCKSTEP" run "$f"
expect_line "(standard input):1:1: expected text, found an empty file" "$LOCKSTEP" run -
head -c 1048577 /dev/zero | tr '\0' '#' >"$f"
expect_line "$f:1:1: expected at most 1048576 bytes, found more than that" "$LOCKSTEP" run "$f"
printf 'mutex /locks/x\nproc\0ess a\n' >"$f"
expect_line "$f:2:5: expected UTF-8 text, found the byte 0x00" "$LOCKSTEP" run "$f"
printf '# \xff\xfe\n' >"$f"
expect_line "$f:1:3: expected UTF-8 text, found the byte 0xff" "$LOCKSTEP" run "$f"
head -c 4000 "$LOCKSTEP" >"$f"
expect 2 "$f:1:" "$LOCKSTEP" run "$f"
printf 'world used\nmutex /locks/x\nprocess a\na acquire\nsett' >"$f"
expect_line "$f:5:1: expected a command (see lockstep list verbs) or the name of a process, found 'sett'" \
    "$LOCKSTEP" run "$f"
printf 'world used\nmutex /locks/x\nprocess a\na acquire\nsettle\n' >"$f"
expect_line "$f:6:1: expected '----' and the expected trace, found the end of the file" "$LOCKSTEP" run "$f"
printf 'mutex /locks/x\nprocess a\na jump\n----\n' >"$f"
expect_line "$f:3:3: expected acquire, try, release, downgrade, cancel, write, revocable, revoke, resize, close, open, stop or start, found 'jump'" "$LOCKSTEP" run "$f"
printf 'mutex /locks/x\nprocess a\nproperties no_bugs\n' >"$f"
expect_line "$f:3:12: expected the name of a property (see lockstep list properties), found 'no_bugs'" \
    "$LOCKSTEP" run "$f"
printf 'world servers=0\n' >"$f"
expect_line "$f:1:15: expected a number of servers from 1 to 5, found '0'" "$LOCKSTEP" run "$f"
printf 'mutex /locks/x\nprocess a\nadvance 5\n----\n' >"$f"
expect_line "$f:3:9: expected a duration up to a day with its unit (ms, s or m), found '5'" "$LOCKSTEP" run "$f"
printf 'mutex /locks/x\nprocess a\na acquire timeout=99999999999999999999s\n----\n' >"$f"
expect_line "$f:3:19: expected a duration up to a day with its unit (ms, s or m), found '99999999999999999999s'" \
    "$LOCKSTEP" run "$f"

# All that is wrong in a file is said at once, but nothing that may follow from it; ten lines are enough.
printf 'mutex /locks/x\nprocess a b\na acquir\nb acquire\nsettl\n----\nx\n\na release 3\n' >"$f"
expect 2 "$f:3:3: expected acquire, try, release, downgrade, cancel, write, revocable, revoke, resize, close, open, stop or start, found 'acquir'
$f:5:1: expected a command (see lockstep list verbs) or the name of a process, found 'settl'; did you mean 'settle'?
$f:7:1: expected '[' and a time, 'holds', 'violates' or an empty line, found 'x'
$f:9:11: expected the name of a lock, an option or the end of the line, found '3'" "$LOCKSTEP" run "$f"
printf 'world servers=0\nmutex locks/x\nprocess a: acquire x\nexplore loss<=x\na jump\n----\nholds nothing\n' >"$f"
expect 2 "$f:1:15: expected a number of servers from 1 to 5, found '0'
$f:2:7: expected an absolute path (/locks/x) of at most 100 bytes, found 'locks/x'
$f:4:15: expected a number from 0 to 9, found 'x'" "$LOCKSTEP" run "$f"
same 3 "$(wc -l <"$scratch/output")" 'complaints about the headers'
printf 'mutex /locks/x\nprocess a\n%s' "$(printf "a jump%.0s\n" {1..20})" >"$f"
expect 2 "$f:12:3: expected acquire" "$LOCKSTEP" run "$f"
same 10 "$(wc -l <"$scratch/output")" 'complaints about twenty lines'

# A file that is searched and claims nothing needs no `----`; --rewrite puts one before the counts.
printf 'mutex /locks/x\nprocess a: acquire release\nexplore loss<=1' >"$f"
expect 0 '1 passed, 0 failed' "$LOCKSTEP" check "$f"
expect 0 'rewritten' "$LOCKSTEP" check --rewrite "$f"
[[ $(sed -n '3,$p' "$f") == $'explore loss<=1\n----\nstates '[0-9]*$'\ntransitions '[0-9]* ]] || { cat "$f"; failed=1; }
expect 0 '1 passed, 0 failed' "$LOCKSTEP" check "$f"
printf 'mutex /locks/x\nprocess a\nexplore loss<=1\n' >"$f"
expect_line "$f:4:1: expected '----' and what is expected, found the end of the file" "$LOCKSTEP" check "$f"

# What cannot be written is said before the first run.
printf 'mutex /locks/x\nprocess a: acquire release\n' >"$f"
expect 4 "lockstep check: expected a file that can be written after --junit, found '$scratch/no/junit.xml': No such file or directory" \
    "$LOCKSTEP" check --junit "$scratch/no/junit.xml" "$f"
same 1 "$(wc -l <"$scratch/output")" 'lines about a report that cannot be written'
expect 4 "lockstep run: expected a folder that can be written after --out, found '/proc/reports'" \
    "$LOCKSTEP" run --out /proc/reports "$f"
expect 4 "lockstep run: expected a folder that can be written after --html, found '/proc/pages'" \
    "$LOCKSTEP" run --html /proc/pages "$f"
expect_line "lockstep run: expected a value after --html, found ''" "$LOCKSTEP" run --html '' "$f"
"$LOCKSTEP" check --junit "$scratch/junit.xml" "$scratch/none.scn" >/dev/null 2>&1 || true
[[ ! -e $scratch/junit.xml ]] || { echo 'a report of nothing is left behind'; failed=1; }
# A pipe gets its report whole: nobody opens it before.
mkfifo "$scratch/pipe"
timeout 30 cat "$scratch/pipe" >"$scratch/piped" &
reader=$!
expect 0 '1 passed, 0 failed' timeout 30 "$LOCKSTEP" check --junit "$scratch/pipe" "$f"
wait "$reader" || failed=1
[[ $(tail -n 1 "$scratch/piped") == '</testsuite>' ]] || { echo 'the report is not in the pipe'; failed=1; }

# Without a path there is a word about what to give.
mkdir "$scratch/empty"
(
    cd "$scratch/empty"
    expect_line "lockstep run: expected a file or a folder of scenarios (lockstep run FILE.scn), found \
'no path, and no folder 'scenarios' here'" "$LOCKSTEP" run
    exit $failed
) || failed=1

# Colours as wanted, whatever the output is.
expect 0 $'\033[32mpass ' "$LOCKSTEP" check --color always "$f"
TERM=xterm expect 0 'pass  ' "$LOCKSTEP" check --color never "$f"
expect_line "lockstep check: expected auto, always or never after --color, found 'alwas'" "$LOCKSTEP" check --color alwas "$f"

printf 'mutex /locks/x\nprocess a: %s\n----\n' "$(printf 'acquire release %.0s' 1 2 3 4 5 6 7 8) acquire" >"$f"
expect_line "$f:2:141: expected at most 16 operations, found 'acquire'" "$LOCKSTEP" run "$f"
printf 'mutex /locks/%s\n' a b c d e >"$f"
expect_line "$f:5:7: expected at most 4 locks, found '/locks/e'" "$LOCKSTEP" run "$f"
printf 'mutex /locks/x\nprocess%s\n' "$(printf ' p%s' {1..33})" >"$f"
expect_line "$f:2:128: expected at most 32 processes, found 'p33'" "$LOCKSTEP" run "$f"
# The page names the same limits.
for words in 'at most 16 operations' 'Processes, up to 32' 'A file has up to 4 locks' 'size of the ensemble, 1 to 5'; do
    grep -q "$words" docs/scenario-language.md || { echo "the page does not say '$words'"; failed=1; }
done

# One bad file among good ones: nothing is run, and each bad one is named.
write_small "$scratch/good.scn"
: >"$scratch/empty.scn"
printf 'mutex x\n' >"$f"
expect 2 "$scratch/empty.scn:1:1: expected text, found an empty file" "$LOCKSTEP" run "$scratch"
expect 2 "$f:1:7: expected an absolute path" "$LOCKSTEP" run "$scratch"
same 2 "$(wc -l <"$scratch/output")" "lines for two bad files"

# Standard input can be read once.
expect_line "lockstep run: expected standard input (-) at most once, found '-'" "$LOCKSTEP" run - -
expect_line "lockstep list: expected standard input (-) at most once, found '-'" "$LOCKSTEP" list scenarios - "$f" -

# ---- folders ----
tree=$scratch/tree
mkdir -p "$tree/deep/empty"
write_small "$scratch/outside.scn"
ln -s .. "$tree/deep/loop"
ln -s "$scratch" "$tree/elsewhere"
ln -s "$scratch/outside.scn" "$tree/link.scn"
mkfifo "$tree/pipe.scn"
expect_line "$tree:1:1: expected scenarios (*.scn) in this folder, found none" timeout 20 "$LOCKSTEP" run "$tree"
write_small "$tree/deep/one.scn"
expect 0 '1 passed, 0 failed' timeout 20 "$LOCKSTEP" run --out "$scratch/reports" "$tree"
# A link that is named on the command line is meant.
expect 0 '1 passed, 0 failed' timeout 20 "$LOCKSTEP" run --out "$scratch/reports" "$tree/deep/loop"
expect 0 '1 passed, 0 failed' timeout 20 "$LOCKSTEP" run --out "$scratch/reports" "$tree/link.scn"
# Another file system below the folder is not entered. There is one to look at where /dev has its usual contents.
if [[ -w /dev/shm && $(stat -c %d /dev/shm) != $(stat -c %d /dev) ]]; then
    other=$(mktemp -d /dev/shm/lockstep.XXXXXX)
    write_small "$other/one.scn"
    expect_line "/dev:1:1: expected scenarios (*.scn) in this folder, found none" timeout 20 "$LOCKSTEP" run /dev
    rm -r "$other"
fi
mkdir "$scratch/crowd"
(cd "$scratch/crowd" && seq 100000 | xargs touch)
write_small "$scratch/crowd/one.scn"
expect_line "$scratch/crowd:1:1: expected at most 100000 files and folders below this folder, found more than that" \
    timeout 60 "$LOCKSTEP" run "$scratch/crowd"
rm "$scratch/crowd/1"
expect 0 '1 passed, 0 failed' timeout 60 "$LOCKSTEP" run --out "$scratch/reports" "$scratch/crowd"
rm -r "$scratch/crowd" "$tree"

# ---- trace files ----
t=$scratch/t.trace

expect_line "$scratch/none.trace:1:1: expected a readable file, found 'No such file or directory'" \
    "$LOCKSTEP" replay "$scratch/none.trace"
expect_line "$scratch/folder:1:1: expected a readable file, found 'Is a directory'" "$LOCKSTEP" replay "$scratch/folder"
: >"$t"
expect_line "$t:1:1: expected text, found an empty file" "$LOCKSTEP" replay "$t"
head -c 16777217 /dev/zero | tr '\0' 'a' >"$t"
expect_line "$t:1:1: expected at most 16777216 bytes, found more than that" "$LOCKSTEP" replay "$t"
head -c 4000 "$LOCKSTEP" >"$t"
expect 2 "$t:1:" "$LOCKSTEP" replay "$t"
printf 'lockstep-trace 2\n' >"$t"
expect_line "$t:1:1: expected 'lockstep-trace 1', found 'lockstep-trace 2'" "$LOCKSTEP" replay "$t"
write_small "$t"
expect_line "$t:1:1: expected 'lockstep-trace 1', found 'world used'" "$LOCKSTEP" replay "$t"

write_small "$f"
sed -i 's/fence=4/fence=5/' "$f"
expect 1 "differs from what the file expects" "$LOCKSTEP" run --out "$scratch/reports" "$f"
whole=$(echo "$scratch"/reports/*.trace)
expect 0 'no property is violated' "$LOCKSTEP" replay "$whole"
size=$(stat -c %s "$whole")
for cut in 10 60 150 $((size / 2)) $((size - 20)) $((size - 2)) $((size - 1)); do
    head -c "$cut" "$whole" >"$t"
    expect 2 ': expected ' "$LOCKSTEP" replay "$t"
    same 1 "$(wc -l <"$scratch/output")" "lines for a trace cut at $cut"
done
sed 's/^recipe .*/recipe nothing/' "$whole" >"$t"
expect_line "$t:3:8: expected a recipe (see lockstep list recipes), found 'nothing'" "$LOCKSTEP" replay "$t"
sed '0,/ connect a s1/s/ connect a s1/ connect a s9/' "$whole" >"$t"
expect 2 "found 'connect a s9'" "$LOCKSTEP" replay "$t"

# ---- the command line ----
expect_line "lockstep: expected run, check, replay, debug, report, shrink, explain, export, merge, triage, list or new (see lockstep --help), found the end of the line" "$LOCKSTEP"
for verb in real 'rnu;run' 'rport;report'; do
    hint=''
    [[ $verb != *\;* ]] || hint="; did you mean '${verb#*;}'?"
    expect_line "lockstep: expected run, check, replay, debug, report, shrink, explain, export, merge, triage, list or new (see lockstep --help), found '${verb%;*}'$hint" \
        "$LOCKSTEP" "${verb%;*}"
done
expect_line "lockstep run: expected an option (see lockstep run --help), found '--sedes'; did you mean 'seeds'?" "$LOCKSTEP" run --sedes 3
expect_line "lockstep run: expected a recipe (see lockstep list recipes) or a shared object with one after --recipe, \
found 'broken-no-srot'; did you mean 'broken-no-sort'?" "$LOCKSTEP" run --recipe broken-no-srot
printf 'mutex /locks/x\nprocess a b\na acquire\nsetlte\n----\n' >"$scratch/word.scn"
expect_line "$scratch/word.scn:4:1: expected a command (see lockstep list verbs) or the name of a process, found 'setlte'; did you mean 'settle'?" \
    "$LOCKSTEP" run "$scratch/word.scn"
printf 'mutex /locks/x\nprocess a b\na acquire\n----\nholds no_orphan_nod\n' >"$scratch/word.scn"
expect_line "$scratch/word.scn:5:7: expected the name of a property (see lockstep list properties), found 'no_orphan_nod'; \
did you mean 'no_orphan_node'?" "$LOCKSTEP" run "$scratch/word.scn"
for command in run check list; do
    same "$("$LOCKSTEP" $command --help)" "$("$LOCKSTEP" help $command)" "help $command"
done
same "$("$LOCKSTEP" --help)" "$("$LOCKSTEP" help)" 'help'
same "$("$LOCKSTEP" --version)" "$("$LOCKSTEP" -V)" '-V'
for words in 'list recipes' '--help' 'run --help'; do
    status=0
    # shellcheck disable=SC2086
    "$LOCKSTEP" $words >/dev/full 2>"$scratch/err" || status=$?
    same '4 lockstep: standard output cannot be written' "$status $(<"$scratch/err")" "$words into a full device"
done
expect_line "lockstep replay: expected an option (see lockstep replay --help), found '-x'" "$LOCKSTEP" replay -xq trace
expect_line "lockstep run: expected an option (see lockstep run --help), found '--fast'" "$LOCKSTEP" run --fast
expect_line "lockstep run: expected an option (see lockstep run --help), found '--table'" "$LOCKSTEP" run --table
expect_line "lockstep run: expected a value after this option, found '--seeds'" "$LOCKSTEP" run --seeds
expect_line "lockstep run: expected a value after --out, found ''" "$LOCKSTEP" run --out=
expect_line "lockstep run: expected a number from 1 to 1000000000000 after --seeds, found '0'" "$LOCKSTEP" run --seeds 0
expect_line "lockstep run: expected a number from 1 to 1000000000000 after --seeds, found '1e3'" \
    "$LOCKSTEP" run --seeds 1e3
expect_line "lockstep run: expected a number from 1 to 256 after --jobs, found '-1'" "$LOCKSTEP" run --jobs -1
expect_line "lockstep run: expected a recipe (see lockstep list recipes) or a shared object with one after --recipe, found 'nothing'" \
    "$LOCKSTEP" run --recipe nothing
expect_line "lockstep run: expected a pattern for at least one scenario after --filter, found 'zzz*'" \
    "$LOCKSTEP" run --filter 'zzz*' "$f"
expect_line "lockstep run: expected a file that can be rewritten with --rewrite, found '-'" "$LOCKSTEP" run --rewrite -
expect_line "lockstep replay: expected one trace, found ''" "$LOCKSTEP" replay
expect_line "lockstep replay: expected one trace, found 'b'" "$LOCKSTEP" replay a b
expect_line "lockstep replay: expected --step or --json, found 'both'" "$LOCKSTEP" replay --step --json a
expect_line "lockstep replay: expected a trace in a file with --step, which reads standard input, found '-'" \
    "$LOCKSTEP" replay --step -
expect_line "lockstep export: expected one trace, found ''" "$LOCKSTEP" export
expect_line "lockstep export: expected one trace, found 'b'" "$LOCKSTEP" export a b
expect_line "lockstep export: expected a value after this option, found '-o'" "$LOCKSTEP" export a -o
expect_line "lockstep export: expected a value after --out, found ''" "$LOCKSTEP" export a -o ''
expect_line "lockstep list: expected recipes, properties, faults, verbs or scenarios, found 'locks'" "$LOCKSTEP" list locks
expect_line "lockstep list: expected recipes, properties, faults, verbs or scenarios, found ''" "$LOCKSTEP" list
expect_line "lockstep list: expected nothing more, found 'x'" "$LOCKSTEP" list recipes x
# A label that no action can have: each word has its place.
label()
{
    printf 'mutex /locks/x\nprocess a b\nbefore %s\n----\n' "$1" >"$scratch/label.scn"
    expect_line "$scratch/label.scn:3:$2: expected $3" "$LOCKSTEP" run "$scratch/label.scn"
}
label 'delvier a create-reply' 8 "the verb of an action, or a process (deliver a create-reply), found 'delvier'"
label 'deliver c create-reply' 16 "a process or a server, found 'c'"
label 'apply s2 a create' 14 "a process or a server, found 's2'"
label 'deliver a creat-reply' 18 "what an action is about (create, create-reply, session-expired), found 'creat-reply'"
label 'apply s1 a creat' 19 "what an action is about (create, create-reply, session-expired), found 'creat'"
finish
