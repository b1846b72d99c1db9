# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Small mistakes in our own lock, made by a program: does anything notice?

help_mutants()
{
    cat <<'TEXT'
usage: ./dev mutants [--list] [--count N] [--seed S] [--jobs J] [--only TEXT] [--again FILE] [--out FILE] [--resume]
       ./dev mutants --api [--list] [--only TEXT]... [--rewrite] [--out FILE]

Makes one small mistake after the other in src/lock (a check that never or always holds, another comparison, a statement that is
skipped, a return code that is ignored) in copies of the tree, and sees what notices it: a property, in the directed scenarios and in the
standard suite; an API check, which is a unit test of tests/lock. What makes only counts or traces
differ is told apart ("golden") and counts as not noticed. What does not compile does not count. Survivors are listed; each is
to be explained in docs/mutants.md, or the exit status is 1.

  --list        all mistakes that can be made
  --count N     so many, drawn at random (default: 200)
  --seed S      the seed of the draw (default: 1); a change of the source leaves what is drawn elsewhere as it is
  --jobs J      that many trees side by side (default: one per core)
  --only TEXT   those whose line in --list contains TEXT
  --again FILE  those that an earlier run's file has as survived, or as noticed by a golden alone
  --out FILE    a line for each, as they are known (default: build/mutants/results.tsv)

  --resume      what the file of --out says already is not tried again

--api makes mistakes in the answers of the public functions instead: each function returns at once, each documented code becomes another
one, and each function of mutex.h and session.h gives a wrong answer beside a close. A row is one mistake and the test that notices it. It
fails if a mistake is not noticed, or if no test gets a documented code. All mistakes are compiled once. With the watchers that
reports/api-coverage.md names it takes some ten minutes of one core.

  --rewrite     writes reports/api-coverage.md from what was found; rows that --only leaves out stay as they are

examples:
  ./dev mutants
  ./dev mutants --seed 2 --count 300
  ./dev mutants --only 'src/lock/janitor.c'
  ./dev mutants --api --only 'pairs: ls_mutex_' --rewrite
TEXT
}

cmd_mutants()
{
    local command=run script=mutants.py
    if [[ ${1:-} == --api ]]; then
        script=api.py
        shift
    fi
    if [[ ${1:-} == --list ]]; then
        command=list
        shift
    fi
    source dev.d/setup.sh
    setup_groups run test mutants
    # The packages of Debian are those of its own Python.
    /usr/bin/python3 dev.d/$script $command "$@"
}
