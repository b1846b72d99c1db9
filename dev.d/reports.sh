# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The pages of reports/, which programs write.

help_reports()
{
    cat <<'TEXT'
usage: ./dev reports [NAME...]

Writes pages of reports/ anew from what the programs find now. Without a name all of them: that takes some four hours of two cores.
Each page says which command wrote it.

  kill-matrix     published bugs as recipes: what catches which (20 minutes)
  findings        what the suite finds in recipes that do as Curator and kazoo do (2 minutes)
  findings-redis  what is found in recipes that do as published locks on Redis do, with the runs (a minute)
  coverage        pairs of an event and a state, and marks, that the suite comes to (2 minutes)
  exam            mistakes made from the headers alone (25 minutes)
  promises        sentences of the headers, with their watchers and breaks (a second; ./dev promises tries them)
  world-coverage  which world has which code, event and state (a second; house.world_coverage compares it)
  api-coverage    which test judges which answer of the public functions (an hour)
  mutants         one more row, for a draw by the day of the lock and one of the tutorial's recipe (75 minutes)
  fuzzing         the picture of what the fuzzer reaches over time (20 minutes)
  belief-redis    for how long two believe at once on a Redis server, by design of the lock (7 minutes)
  promise-matrix  which promise of which recipe holds under which fault, on ZooKeeper and on Redis (5 minutes)
  clock-redis     what worlds of Redis without a clock and with one say of the same recipes (12 minutes)
  pages           pages of three famous bugs, of runs that the program finds, and a picture of one (a minute)

examples:
  ./dev reports findings coverage
  ./dev reports
TEXT
}

REPORTS=(kill-matrix findings findings-redis coverage exam promises world-coverage api-coverage mutants fuzzing belief-redis promise-matrix clock-redis pages)

# fails LOCKSTEP RECIPE FOLDER: a line `situation property, property` for each situation that fails with a recipe's shared object.
fails()
{
    ZOO_STATES=400000 zoo_run "$1" "$2" "$3" | grep -v '^passed ' | sed 's/ /, /2g' | sort
}

# findings_page LOCKSTEP RECIPES SCRATCH
findings_page()
{
    local recipe
    for recipe in curator_like kazoo_like curator_like_latch curator_like_semaphore; do
        fails "$1" "$2/$recipe.so" "$3/$recipe" >"$3/$recipe.fails"
    done
    cat <<'TEXT'
<!-- Written by `./dev reports findings`. -->
# All situations that fail for recipes like published locks

The recipes do as Curator's and kazoo's locks do. The tables have the properties that each situation of the standard suite violates.
The stories are in [docs/findings.md](../docs/findings.md). `tests/cli/slow_findings_of_the_suite.sh` compares the tables.

| situation | curator_like | kazoo_like |
|---|---|---|
TEXT
    cat "$3/curator_like.fails" "$3/kazoo_like.fails" | cut -d' ' -f1 | sort -u | while read -r situation; do
        printf '| %s | %s | %s |\n' "$situation" "$(sed -n "s/^$situation //p" "$3/curator_like.fails")" \
            "$(sed -n "s/^$situation //p" "$3/kazoo_like.fails")"
    done
    for recipe in curator_like_latch curator_like_semaphore; do
        printf '\n| situation | %s |\n|---|---|\n' "$recipe"
        sed 's/^\([^ ]*\) \(.*\)/| \1 | \2 |/' "$3/$recipe.fails"
    done
}

# coverage_page LOCKSTEP
coverage_page()
{
    cat <<'TEXT'
<!-- Written by `./dev reports coverage`. -->
# What the standard suite comes to

`lockstep check --suite --budget 0 --coverage --recipe mutex`: each pair of an event and a state, what the client library told, and
the marks in the code that no run has reached. [docs/coverage.md](../docs/coverage.md) says how to read it, and why some are missing.

```
TEXT
    "$1" check --suite --budget 0 --coverage --recipe mutex --quiet --out build/reports | sed -n '/^coverage of /,/ marks were reached$/s/ *$//p'
    echo '```'
}

# belief_page PROGRAM: realredis.belief with more stops.
belief_page()
{
    local said=build/belief-redis
    STOPS=300 "$1" >"$said" || return
    cat <<'TEXT'
<!-- Written by `./dev reports belief-redis`. -->
# How long two believe at once

`tests/realredis/slow_belief.c` on a real Redis server, with a lease of 300 ms. Three processes take the lock in turn. For each design one of
them at a time is stopped by SIGSTOP, 300 times for 0 to 600 ms. `overlaps` counts the holds that believed while an earlier hold did.
The designs are described in `bench/redis/design.h`; `unasked` is the mutex of liblockstep_redis whose holder does not ask whether it holds.

```
TEXT
    grep $'\t' "$said"
    echo '```'
}

write_report()
{
    local name=$1 today
    today=$(date +%Y%m%d)
    case $name in
    kill-matrix) ./dev zoo --rewrite ;;
    findings | coverage)
        source dev.d/zoo.sh
        step "build release" build_preset release ON || return
        mkdir -p build/reports-of-findings
        if [[ $name == findings ]]; then
            findings_page build/release/lockstep build/release/recipes build/reports-of-findings >build/page
        else
            coverage_page build/release/lockstep >build/page
        fi
        mv build/page "reports/$name.md"
        ;;
    findings-redis)
        step "build release" build_preset release ON lockstep_redis || return
        python3 dev.d/redis_findings.py >build/page && mv build/page reports/findings-redis.md
        ;;
    exam) ./dev exam --rewrite ;;
    promises) ./dev promises --rewrite ;;
    world-coverage) bash dev.d/world_coverage.sh >build/page && mv build/page reports/world-coverage.md ;;
    api-coverage) ./dev mutants --api --rewrite ;;
    mutants)
        ./dev mutants --seed "$today" --count 50 --record
        ./dev mutants --recipe examples/recipes/next_in_line.c --seed "$today" --count 30 --record
        ;;
    belief-redis)
        setup_groups redis
        step "build release" build_preset release ON test_realredis_slow_belief || return
        belief_page build/release/tests/realredis/slow_belief >build/page && mv build/page reports/belief-redis.md
        ;;
    promise-matrix)
        step "build release" build_preset release ON lockstep lockstep_redis recipe_curator_like recipe_kazoo_like || return
        python3 dev.d/promise_matrix.py >build/page && mv build/page reports/promise-matrix.md
        ;;
    clock-redis)
        step "build release" build_preset release ON lockstep_redis || return
        python3 dev.d/clock_worlds.py >build/page && mv build/page reports/clock-redis.md
        ;;
    pages)
        source dev.d/sample_pages.sh
        step "build release" build_preset release ON lockstep lockstep_redis || return
        sample_pages build/release . || return
        if command -v chromium >/dev/null; then
            sample_picture "$PWD/reports/pages/lost_create.html#step=9" reports/pages/lost_create.png
        fi
        ;;
    fuzzing) ./dev fuzz --time 1200 --plot reports/fuzzing.svg ;;
    esac
}

cmd_reports()
{
    local name failed=0
    for name in "$@"; do
        [[ " ${REPORTS[*]} " == *" $name "* ]] ||
            usage_error "reports: unknown report '$name', expected one of: ${REPORTS[*]}"
    done
    (($# > 0)) || set -- "${REPORTS[@]}"
    source dev.d/setup.sh
    source dev.d/build.sh
    setup_groups run test
    for name in "$@"; do
        step "report $name" write_report "$name" || failed=1
    done
    ((failed == 0)) || exit $EXIT_FAILED
}
