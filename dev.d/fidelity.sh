#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Prints docs/fidelity.md, made of docs/fidelity.tsv: bash dev.d/fidelity.sh >docs/fidelity.md
set -euo pipefail
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cat <<'TEXT'
# What the fake reproduces

The observable behaviour of ZooKeeper through its C client, as rules F1 to F108 that code and tests cite, and what
`src/fakezk` does about each. This page is made of `fidelity.tsv` by `dev.d/fidelity.sh`; edit that.

- **always**: in every run.
- **run-constant**: ZooKeeper leaves it open, and a run takes one of the possibilities from its seed or options.
- **budgeted**: it happens when a fault, a switch or an order asks for it, as often as the budget says.
- **timed-only**: it needs the clock; in an untimed run it may happen at any moment, or has no meaning.
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

What ZooKeeper and its client leave open, as choice points of a search. `lockstep check --without=LETTERS` searches a world
that lacks some of them: it has fewer runs, each of them a run of the whole world. `tests/explore/choice_points.sh` has for
each point a recipe whose bug is found because the point is a choice, and is not found without it.

| point | in a search | in a world without it | a recipe that is caught by it |
|---|---|---|---|
| a: order between sessions | whatever is enabled, of any process | sessions take turns: while something of one process can move, the requests, answers, timers and programs of the others wait | `broken-waits-for-absent` |
| b: instant of a loss, in each direction | a cut at any moment, with any number of requests still read and of messages still received | links break only while nothing travels on them | `broken-release-once` |
| c: not applied, or applied and the reply lost | a cut loses requests and replies alike | no write that was applied loses its answer, and none is applied late | `broken-no-protection` |
| d: -4 or -7 after a loss | a constant of the run: `world rc=-7`, -4 otherwise | -4 | `broken-minus-seven` |
| e: which server, how far behind it is, and whether before the expiry | any server that takes the client; followers apply step by step; the session may end while its client is away | clients connect to the first server that takes them and are back before their session can end; no follower lags | `broken-no-sync` |
| f: instant of an expiry | at any moment; marking a session and ending it are two steps | sessions are marked only while nothing of them is under way, and end at once | `broken-gives-up-place` |
| g: orders of children, of the events of a session's end, of the receivers of session events; whether `zoo_state()` lags behind a loss | constants of the run, from `world seed=N` or `--seed` | children from the oldest on; paths ascending; receivers as their watches stand; no lag | `broken-no-sort` |
| i: a client that stands still with a full socket | callbacks run as late as you like, also beyond the end of the session; pauses have a budget | what a client was sent it is told before anything else happens; no pauses | `broken-trusts-calls` |
| j: completions at close | a constant of the run: dropped with `world defects=drop-at-close`, called otherwise | called | `broken-waits-for-answers` |
| k: sweep of containers, removal of empty directories | a budget each | none | `broken-sequence-token` |
| l: events before init returns | a constant of the run: `world callbacks-in-init` | after it | `broken-early-events` |

- d, g, j, l: a search takes the one value of the file, unless that says `explore constants=N`: then it goes through values
  of d, g and l (scenario-language.md). j is a value of the file (one in `scenarios/explore` has it), and `--seed 0` to `15` are
  all orders but half of those of children. `--seed 16` to `31` are the same with a state that lags; the other orders of
  children come with `--seed 32` to `63`. Random schedules draw d, g and l.
- h, whether the result of a synchronous call overtakes queued events (F37), is no choice of a world: there is no synchronous
  API in it (F24). `--without=h` is refused.
- i: the budget of pauses alone adds nothing to a search without a clock: a process that stops, and goes on, is one whose
  callbacks, timers and program steps come late, and that is in every search. What the point takes away is this lateness.
- f: that an expiry comes between the timeout and a tick later, or a little early because followers relay signs of life
  late (F27, F29), has no meaning without a clock.

## What a step takes together

Some of what passes bit by bit on a real server is one step here. `world fine` takes it apart, and `tests/explore/slow_fine.sh`
searches all standard configurations of two clients with our recipe and every broken one both ways: what is violated in one world
is violated in the other. (One pair is named apart: `broken-sequence-token` compares sequence numbers with zxids, and a lost
handshake makes two of them meet by chance.)

| one step | with `fine` |
|---|---|
| `connect`: connection, handshake and SetWatches | `connect` (the server answers), `handshake` (the client hears of it), `rearm` (the server reads which watches stand); a link may break between them, which can leave a session that nobody knows of |
| `deliver`: a message is received and its callback runs | `receive`, then `deliver`: what was received survives a loss |
| `cut p keep=k apply=j`: before the link breaks the client receives k messages and the server reads j requests | what was not received is lost; writes that were not read may be read behind the broken link (`linger`) at any moment until the client has another one or its session is over |
TEXT
