#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# ./dev mutants --recipe: which mistakes are made in a small file, and what counts as noticed. In place of lockstep stands a program
# that loads the mutated file and answers in lockstep's JSON: a violated property counts; a count that differs, a limit and a situation
# that was not tried do not; an error is no property, and ends no search for one. A list of small worlds
# that never ends is stopped.
set -euo pipefail
export LC_ALL=C
/usr/bin/python3 -c 'import clang.cindex' 2>/dev/null || exit 77
cd "$LOCKSTEP_SOURCE_DIR"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
mkdir -p "$scratch/project/dev.d"
cp dev.d/mutants.py dev.d/scratch_tree.py "$scratch/project/dev.d"
cd "$scratch/project"

# Each function has one mutant that compiles, and one kind of answer of the program below.
cat >small.c <<'TEXT'
int violated(int a);
int differs(int a);
int limit(int a);
int silent(int a);
int dies(int a);
int dies_first(int a);
int unnamed(int a);
int in_a_world(int a);
int endless(int a);
int violated(int a) { return a + 1; }
int differs(int a) { return a + 2; }
int limit(int a) { return a + 3; }
int silent(int a) { return a + 4; }
int dies(int a) { return a + 5; }
int dies_first(int a) { return a + 6; }
int unnamed(int a) { return a + 7; }
int in_a_world(int a) { return a + 8; }
int endless(int a) { return a + 9; }
TEXT
cat >lockstep <<'TEXT'
#!/usr/bin/python3
import ctypes
import json
import sys

recipe = ctypes.CDLL(sys.argv[sys.argv.index("--recipe") + 1])
worlds = "worlds/*" in sys.argv
with open("asked", "a", encoding="utf-8") as file:
    print(*sys.argv[1:], file=file)

def say(scenario, verdict, promise="holds", **more):
    print(json.dumps({"scenario": scenario, "verdict": verdict, "properties": {"first": "holds", "promise": promise}, **more}))

def broken(name, sum):
    return getattr(recipe, name)(1) != sum

if worlds:
    while broken("endless", 10):
        pass  # as a list of worlds without states
    if broken("in_a_world", 9):
        say("worlds/small/one", "violated", "violated")
    print('{"worlds":1,"states":1,"first_failing":null}')
    sys.exit(0)
say("scenarios/suite/a.scn", "limit" if broken("limit", 4) else "holds", not_tried=["b"])
if broken("dies", 6) or broken("dies_first", 7):
    print('{"scenario":"scenarios/suite/b.scn","verdict":"error","message":"the worker died: SIGSEGV"}')
if broken("differs", 3):
    say("scenarios/suite/c.scn", "differs")
if broken("unnamed", 8):
    say("scenarios/suite/c.scn", "violated")
if broken("violated", 2) or broken("dies_first", 7):
    say("scenarios/suite/d.scn", "violated", "violated")
TEXT
chmod +x lockstep

mutants()
{
    LOCKSTEP=$scratch/project/lockstep /usr/bin/python3 dev.d/mutants.py "$@"
}

# same FILE WANTED WHAT
same()
{
    diff -u "$2" "$1" >"$scratch/diff" && return
    echo "$3:"
    cat "$scratch/diff"
    failed=1
}

# What is made.
mutants list --recipe small.c >"$scratch/list"
head -2 "$scratch/list" >"$scratch/first"
cat >"$scratch/wanted" <<'TEXT'
small.c:10: small.c violated: swap `a + 1` -> `-`
small.c:11: small.c differs: swap `a + 2` -> `-`
TEXT
same "$scratch/first" "$scratch/wanted" 'the mutants of the small file'

# What is noticed, and by whom.
mutants run --recipe small.c --count 9 --jobs 1 --budget 7 --out "$scratch/results" >"$scratch/output"
cut -f 1-3 "$scratch/results" | sort -t : -k 2 -n >"$scratch/rows"
sed 's/ | /\t/g' >"$scratch/wanted" <<'TEXT'
promise in d | - | small.c:10
- | golden | small.c:11
- | - | small.c:12
- | - | small.c:13
- | error in b | small.c:14
promise in d | - | small.c:15
- | - | small.c:16
promise in worlds/small/one | - | small.c:17
- | - | small.c:18
TEXT
same "$scratch/rows" "$scratch/wanted" 'who notices'
tail -2 "$scratch/output" >"$scratch/last"
cat >"$scratch/wanted" <<'TEXT'
9 compiled; not noticed 5, of these only a golden differs 1, without an argument in docs/mutants.md 5
noticed by a property 3 of 9, an error 1; properties alone 33.3 %
TEXT
same "$scratch/last" "$scratch/wanted" 'the last lines'

# The budget is asked for in states, once for each mutant that no situation shows, and for the file without a mistake.
grep -c -- '--filter worlds/\* --budget 7 ' asked >"$scratch/count"
echo 8 >"$scratch/wanted"
same "$scratch/count" "$scratch/wanted" 'calls for small worlds'

# What is known is not tried again; what nothing has noticed is.
: >asked
mutants run --recipe small.c --count 9 --jobs 1 --budget 7 --out "$scratch/results" --resume >"$scratch/output"
wc -l <asked >"$scratch/count"
echo 2 >"$scratch/wanted"
same "$scratch/count" "$scratch/wanted" 'calls when all is known'
mutants run --recipe small.c --jobs 1 --budget 0 --again "$scratch/results" --out "$scratch/again" >"$scratch/output"
cut -f 4 "$scratch/again" | sed 's/:.*//' | sort >"$scratch/rows"
printf 'small.c %s\n' differs endless limit silent unnamed >"$scratch/wanted"
same "$scratch/rows" "$scratch/wanted" 'what is tried again'

# A file without a mistake that fails already is no ground for a rate.
sed -i 's/a + 1;/a + 2;/' small.c
if mutants run --recipe small.c --count 1 --jobs 1 --out "$scratch/none" >"$scratch/output" 2>&1 ||
    ! grep -q '^mutants: without any mistake: property: promise in d ' "$scratch/output"; then
    echo 'a file that fails without any mistake is tried:'
    cat "$scratch/output"
    failed=1
fi
exit $failed
