# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Small mistakes in our own lock, made by a program: does anything notice?

help_mutants()
{
    cat <<'TEXT'
usage: ./dev mutants [--list] [--count N] [--seed S] [--budget B] [--jobs J] [--no-tests] [--only TEXT] [--again FILE]
                     [--out FILE] [--resume]
       ./dev mutants --recipe FILE.c [the same options]
       ./dev mutants --api [--list] [--only TEXT]... [--test NAME]... [--rewrite] [--out FILE]

Makes one small mistake after the other in src/lock and src/recipes (a check that never or always holds, another comparison, a statement that is
skipped, a return code that is ignored) in copies of the tree, and sees what notices it. Two watchers are asked for each mutant,
whatever the other one says:

  a property  one that `lockstep check --suite --budget B` has as violated in its JSON; the lock is a shared object then, so that
              crashes, endless loops, memory errors, leaks and its invariants are judged, too
  a test      a unit test of tests/lock; a violation in the directed scenarios; a search that ends with an error

Counts or traces that differ ("golden"), limits and situations that are not tried are not noticed. What does not compile does not
count. Each mutant that no property notices is listed with its test. The last line has the counts; "properties alone" is the share
of all noticed mutants that a property notices. A mutant that nothing notices is to be explained in docs/mutants.md, or the exit
status is 1.

With --recipe the mistakes are made in one recipe of one's own. It is compiled as a shared object, with include/ and its own folder
on the include path. Properties alone judge it. "properties alone" is then the share of all mutants that compile. Mutants that
make no difference count too: read those that are listed. The exit status is 0.

  --list        all mistakes that can be made
  --count N     so many, drawn at random (default: 200)
  --seed S      the seed of the draw (default: 1); a change of the source leaves what is drawn elsewhere as it is
  --budget B    states of the small worlds behind the suite (default: 3000000; 0: none); never a time
  --jobs J      that many trees side by side (default: one per core)
  --no-tests    properties alone are asked; "properties alone" is then the share of all mutants that compile
  --only TEXT   those whose line in --list contains TEXT
  --again FILE  those that nothing has noticed in an earlier run's file
  --out FILE    a line for each, as they are known: property, test, place, mutant, time (default: build/mutants/results.tsv)

  --resume      what the file of --out says already is not tried again
  --record      adds a row with the figures to reports/mutants.md

--api makes mistakes in the answers of the public functions instead: each function returns at once, each documented code becomes another
one, and each function of mutex.h, session.h, redis_mutex.h and redis.h gives a wrong answer beside a close. A row is one mistake and the test that notices it. It
fails if a mistake is not noticed, or if no test gets a documented code. All mistakes are compiled once. With the watchers that
reports/api-coverage.md names it takes some ten minutes of one core.

  --test NAME   only this test is built and asked, for example realredis.answers
  --rewrite     writes reports/api-coverage.md from what was found; rows that --only leaves out stay as they are

examples:
  ./dev mutants
  ./dev mutants --seed 2 --count 300
  ./dev mutants --only 'src/lock/janitor.c'
  ./dev mutants --count 40 --budget 0
  ./dev mutants --recipe examples/recipes/next_in_line.c --count 30
  ./dev mutants --api --only 'pairs: ls_mutex_' --rewrite
  ./dev mutants --api --only redis --test realredis.answers --test realredis.mutex --rewrite
TEXT
}

cmd_mutants()
{
    local command=run script=mutants.py words=() word
    if [[ ${1:-} == --api ]]; then
        script=api.py
        shift
    fi
    for word in "$@"; do
        case $word in
        --list) command=list ;;
        esac
        [[ $word == --list ]] || words+=("$word")
    done
    source dev.d/setup.sh
    setup_groups run test mutants
    if [[ $command == run && $script == mutants.py ]]; then
        source dev.d/build.sh
        step "build release" build_preset release ON lockstep || exit $EXIT_FAILED
    fi
    # The packages of Debian are those of its own Python.
    /usr/bin/python3 dev.d/$script $command "${words[@]}"
}
