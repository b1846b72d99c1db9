#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The promises of the headers. First a small project shows that each mistake in a table of promises is named, and that a break
# which no test notices is told apart; then the tables of this project are checked. Their breaks are planted by ./dev promises.
set -euo pipefail
export LC_ALL=C
cd "$LOCKSTEP_SOURCE_DIR"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

# said STATUS TEXT ARGUMENT...: in the small project, the exit status and a line that is told.
said()
{
    local wanted=$1 text=$2 status=0
    shift 2
    (cd "$scratch/project" && python3 "$LOCKSTEP_SOURCE_DIR/dev.d/promises.py" "$@") >"$scratch/out" 2>&1 || status=$?
    if [[ $status != "$wanted" ]] || ! grep -qE -- "$text" "$scratch/out"; then
        echo "promises $*: expected exit $wanted and '$text', found exit $status and:"
        cat "$scratch/out"
        failed=1
    fi
}

# ---- the small project ----

mkdir -p "$scratch/project/include/lockstep" "$scratch/project/tests/promises/sum" "$scratch/project/src"
cd "$scratch/project"
rows=tests/promises/sum
cat >include/lockstep/sum.h <<'TEXT'
/* SPDX-License-Identifier: Apache-2.0
 * Copyright. */
/* Sums of numbers. A sum is a number, e.g.: 3!
 *
 * ---- a heading ----
 * - Returns a + b. It never
 *   returns 0 for
 *   1 and 2. */
int sum(int a, int b /* a number */); /* "Not" told; one sentence */
#endif /* LOCKSTEP_SUM_H */
TEXT
cat >src/sum.c <<'TEXT'
int sum(int a, int b);
int sum(int a, int b)
{
    return a + b;
}
TEXT
cat >src/test.c <<'TEXT'
#include <stdio.h>
int sum(int a, int b);
int main(void)
{
    puts(sum(1, 2) == 3 ? "[       OK ] one_and_two" : "[  FAILED  ] one_and_two");
    return sum(1, 2) != 3;
}
TEXT
cat >CMakeLists.txt <<'TEXT'
cmake_minimum_required(VERSION 3.16)
project(sum C)
enable_testing()
add_executable(test_sum src/test.c src/sum.c)
add_test(NAME sum.sum COMMAND test_sum)
TEXT
printf 'Sums of numbers.\tdefinition\na number\tdefinition\n"Not" told; one sentence\tdefinition\nA sum is a number, e.g.: 3!\tdefinition\n' >$rows/none.txt

# row NAME OLD NEW WATCHER PROMISE...: a patch of the small project's source that replaces one text.
row()
{
    local name=$1 old=$2 new=$3 watcher=$4 promise
    shift 4
    {
        for promise in "$@"; do
            echo "Promise: $promise"
        done
        printf 'Watcher: %s\n\n' "$watcher"
        sed "s/$old/$new/" src/sum.c >"$scratch/sum.c"
        echo 'diff --git a/src/sum.c b/src/sum.c'
        diff -u --label a/src/sum.c --label b/src/sum.c src/sum.c "$scratch/sum.c" || true
    } >"$rows/$name.patch"
}

row product 'a + b' 'a - b' 'test sum.sum one_and_two' 'Returns a + b.'
row nothing 'a + b' '0 * (a + b)' 'test sum.sum' 'It never returns 0 for 1 and 2.'
git init -q .
python3 "$LOCKSTEP_SOURCE_DIR/dev.d/promises.py" --rewrite
said 0 '^2 rows of 1 headers, 0 complaints$' --check
grep -qxF '| It never returns 0 for 1 and 2. | `test sum.sum` | [nothing](../tests/promises/sum/nothing.patch) |' reports/promises.md || {
    echo 'the page has no row for a sentence:'
    cat reports/promises.md
    failed=1
}

# ---- what is planted ----

said 0 '^2 rows red, 0 not noticed, 0 not tried$' sum
said 0 '^red          sum/nothing ' nothing
said 0 '^1 of 2 rows, drawn by seed 7: ' --draw 1 --seed 7
row same 'a + b' 'b + a' 'test sum.sum one_and_two' 'Returns a + b.'
said 1 '^NOT NOTICED  sum/same ' same
row strange 'a + b' 'b + c' 'test sum.sum' 'Returns a + b.'
said 1 '^does not build  sum/strange ' strange
row other 'a + b' 'a - b' 'test sum.sum three_and_four' 'Returns a + b.'
said 1 '^NOT NOTICED  sum/other ' other
row nobody 'a + b' 'a - b' 'test sum.nobody' 'Returns a + b.'
said 1 '^no test sum.nobody without the break  sum/nobody ' nobody
cp $rows/product.patch $rows/old.patch
sed -i 's/^ {/ {{/' $rows/old.patch
said 1 '^does not apply  sum/old ' old
said 1 '^2 rows red, 2 not noticed, 3 not tried$'
sed -i 's/1, 2/1, 3/' src/test.c
said 1 '^red without the break  sum/product ' product
sed -i 's/1, 3/1, 2/' src/test.c
said 1 'no row has such a name' moon

# ---- what the check says ----

rm $rows/{same,strange,other,nobody}.patch
said 1 "^$rows/old.patch: does not apply: " --check
said 1 '^include/lockstep/sum.h: 2 rows: Returns a \+ b\.$' --check
rm $rows/old.patch
row far 'a + b' 'a - b' 'test sum.sum' 'Returns the moon.'
said 1 "^$rows/far.patch: not in the header: Returns the moon\\.$" --check
row far 'a + b' 'a - b' 'guess sum.sum' 'Returns a + b.'
said 1 "^$rows/far.patch: does not understand the watcher .guess sum.sum.$" --check
row far 'a + b' 'a\n+ 1\n+ 1\n+ 1\n+ 1\n- 3 - b' 'test sum.sum' 'Returns a + b.'
said 1 "^$rows/far.patch: adds 6 lines and removes 1, at most 5 each are allowed$" --check
rm $rows/far.patch
mv $rows/nothing.patch "$scratch"
said 1 '^include/lockstep/sum.h: no row: It never returns 0 for 1 and 2\.$' --check
mv "$scratch/nothing.patch" $rows
printf 'Nobody says so.\tdefinition\n' >>$rows/none.txt
said 1 "^$rows/none.txt: not in the header: Nobody says so\\.$" --check
sed -i -e '$d' -e 's/^a number\t.*/a number/' $rows/none.txt
said 1 "^$rows/none.txt: does not say why: a number$" --check
sed -i 's/^a number$/a number\tdefinition/' $rows/none.txt
sed -i '$i /* Returns a + b. */' include/lockstep/sum.h
said 1 '^include/lockstep/sum.h: stands there 2 times: Returns a \+ b\.$' --check
sed -i '/^\/\* Returns a + b/d' include/lockstep/sum.h
echo >>reports/promises.md
said 1 '^reports/promises.md: is not what ./dev promises --rewrite writes$' --check
python3 "$LOCKSTEP_SOURCE_DIR/dev.d/promises.py" --rewrite
said 0 ' 0 complaints$' --check

# ---- this project ----

cd "$LOCKSTEP_SOURCE_DIR"
./dev promises --check || failed=1
exit $failed
