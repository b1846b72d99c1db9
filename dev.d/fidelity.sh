#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Prints docs/fidelity.md, made of docs/fidelity.tsv: bash dev.d/fidelity.sh >docs/fidelity.md
set -euo pipefail
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cat <<'TEXT'
# What the fake reproduces

The observable behaviour of ZooKeeper through its C client, as rules F1 to F101 that code and tests cite, and what
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
