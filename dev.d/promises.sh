# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The promises of the public headers: a break of each is planted in a copy, and the test that watches it must turn red.

help_promises()
{
    cat <<'TEXT'
usage: ./dev promises [--check | --rewrite] [--draw N [--seed S]] [--verbose] [NAME...]

Each sentence of the headers with a folder in tests/promises has a row: a patch tests/promises/HEADER/NAME.patch that breaks what the sentence promises,
in at most five lines, and names the watcher, which is a test or a property. In a copy of the tree each patch is applied, the watcher
is built and run alone, and must turn red. Before that the watcher is seen green without a patch. One line a row:
red, NOT NOTICED, does not apply, or does not build. NAME is a header, a row, or a part of a row's name.

  --check      builds nothing: every sentence has one row or stands in none.txt with a reason, each patch applies and is
               small, and reports/promises.md is up to date
  --rewrite    writes reports/promises.md
  --draw N     N rows, drawn anew each time; the seed is printed
  --seed S     the draw of that seed
  --verbose    also what the watcher of a row that is not red has printed

A line `Watcher: ` of a patch is one of these:
  test NAME [TEST]                       a test of ctest; with TEST, one of cmocka's tests in it
  real NAME [TEST]                       the same on a real server
  compile NAME                           the test does not compile: a static assertion
  scenario FILE PROPERTY [RECIPE.c]      the scenario violates the property
  suite PROPERTY [RECIPE.c]              the standard suite violates the property

exit status: 0 every row is red; 1 a row is not, or --check has a complaint

examples:
  ./dev promises
  ./dev promises mutex
  ./dev promises --draw 30
  ./dev promises --check
TEXT
}

cmd_promises()
{
    local argument
    for argument in "$@"; do
        if [[ $argument == --check || $argument == --rewrite ]]; then
            python3 dev.d/promises.py "$@"
            return
        fi
    done
    source dev.d/setup.sh
    setup_groups run test
    python3 dev.d/promises.py "$@"
}
