#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Prints docs/fidelity.md, made of docs/fidelity.tsv: bash dev.d/fidelity.sh >docs/fidelity.md
set -euo pipefail
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cat <<'TEXT'
<!-- Written by `bash dev.d/fidelity.sh` from docs/fidelity.tsv. -->
# What the fake reproduces

The page has rules with numbers (F1, F2, ...), mostly about observable behaviour of ZooKeeper through its C client. The class of a rule
says whether, and in which runs, `src/fakezk` behaves so. Most rules name a test.


- **always**: in every run.
- **run-constant**: ZooKeeper leaves it open, and a run takes one of the possibilities from its seed or options.
- **budgeted**: as a rule it happens only in runs with a certain fault, or with a certain option of the world.
- **timed-only**: it needs the clock; an untimed run has it at other moments, or not at all.
- **not-modelled**: it does not happen, for the reason given.

TEXT

awk -F '\t' '
NR > 1 {
    gsub(/\|/, "\\|")
    count[$2]++
    split($5, shown, ":")
    file = shown[1]
    sub(/^tests\/fakezk\//, "", file)
    test = $5 == "-" ? "" : "`" file "` `" shown[2] "`"
    what = $4 == "-" ? $3 : $3 "; **why:** " $4
    rows = rows "| " $1 " | " $2 " | " what " | " test " |\n"
}
END {
    printf "%d always, %d run-constant, %d budgeted, ", count["always"], count["run-constant"], count["budgeted"]
    printf "%d timed-only, %d not-modelled.\n\n", count["timed-only"], count["not-modelled"]
    print "| rule | class | behaviour | shown by, in `tests/fakezk` |"
    print "|---|---|---|---|"
    printf "%s", rows
}' docs/fidelity.tsv

cat <<'TEXT'

## Where a search can choose

ZooKeeper and its client leave some behaviour open. The table has points at which a search chooses, or takes the value of a file.
`lockstep check --without=LETTERS` searches a world that lacks some of these choice points. For each point,
`tests/explore/choice_points.sh` has a recipe whose bug is found with the point, and not without it.


| point | in a search | in a world without it | a recipe that is caught by it |
|---|---|---|---|
| a: order between sessions | any enabled step, of any process | sessions take turns: while a step of one process is enabled, the requests, answers, timers and programs of the others wait | `broken-waits-for-absent` |
| b: instant of a loss, in each direction | a cut at any moment, with any number of requests still read and of messages still received | links break only while nothing travels on them | `broken-release-once` |
| c: not applied, or applied and the reply lost | a cut loses requests and replies alike | no write that was applied loses its answer, and none is applied late | `broken-no-protection` |
| d: -4 or -7 after a loss | a constant of the run: `world rc=-7`, -4 otherwise | -4 | `broken-minus-seven` |
| e: which server, how far behind it is, and whether before the expiry | any server that takes the client; followers apply step by step; the session may end while its client is away | clients connect to the first server that takes them and are back before their session can end; no follower lags | `broken-no-sync` |
| f: instant of an expiry | at any moment; marking a session and ending it are two steps | sessions are marked only while nothing of them is under way, and end at once | `broken-gives-up-place` |
| g: orders of children, of the events of a session's end, of the receivers of session events; whether `zoo_state()` lags behind a loss | constants of the run, from `world seed=N` or `--seed` | children from the oldest on; paths ascending; receivers as their watches stand; no lag | `broken-no-sort` |
| i: a client that stands still with a full socket | callbacks run as late as you like, also beyond the end of the session; pauses have a budget | messages to a client are delivered before anything else happens; no pauses | `broken-trusts-calls` |
| j: completions at close | a constant of the run: dropped with `world defects=drop-at-close`, called otherwise | called | `broken-waits-for-answers` |
| k: sweep of containers, removal of empty directories | a budget each | none | `broken-sequence-token` |
| l: events before init returns | a constant of the run: `world callbacks-in-init` | after it | `broken-early-events` |

- **d, g, j, l.** By default a search takes one value of each, that of the file. With `explore constants=N` it
  goes through values of d, g and l ([scenario-language.md](scenario-language.md)). Random schedules usually draw
  d, g and l.
- **j** is a value of the file (one in `scenarios/explore` has it).
- **Seeds.** In a search, `--seed 0` to `15` together give all orders of the fake but half of those of children. `--seed 16` to `31`
  give the same orders with a state that lags. The other orders of children come with `--seed 32` to `63`.
- **h** would be whether the result of a synchronous call overtakes queued events (F37). It is no choice of a world, which has no
  synchronous API (F24). `--without=h` is refused.
- **i.** Without a clock, a search that has the point lets callbacks, timers and program steps come late, also with no pause. Without
  the point, messages to a client are delivered before other steps.
- **f.** On real servers an expiry comes between the timeout and a tick later, or a little before the timeout (F27, F29). A world
  without a clock has no such bounds.

## Coarse and fine steps

Some things that pass bit by bit on a real server are one step here. The option `fine` of the line `world` takes the steps of this
table apart. `tests/explore/slow_fine.sh` searches standard configurations of two clients with and without `fine`. It takes the mutex
and some broken recipes, and compares what is violated.


| one step | with `fine` |
|---|---|
| `connect`: connection, handshake and SetWatches | `connect` (the server answers), `handshake` (the client hears of it), `rearm` (the server reads the watches); a link may break between them, which can leave a session that no client knows |
| `deliver`: a message is received and its callback runs | `receive`, then `deliver`: received messages survive a loss |
| `cut p keep=k apply=j`: before the link breaks the client receives k messages and the server reads j requests | messages that were not received are lost; writes that were not read may be read behind the broken link (`linger`) at any moment until the client has another one or its session is over |
TEXT
