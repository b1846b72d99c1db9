#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Prints reports/world-coverage.md, made of tests/house/world/coverage.tsv: bash dev.d/world_coverage.sh >reports/world-coverage.md
set -euo pipefail
export LC_ALL=C
cd "$(dirname "${BASH_SOURCE[0]}")/.."

cat <<'TEXT'
<!-- Written by `bash dev.d/world_coverage.sh`, from tests/house/world/coverage.tsv. -->
# Which world has which code, event and state

Each row is one result code, event type or session state of `<zookeeper/zookeeper.h>`. In the scenario the client library gives it to the recipe: in a call, a completion, a result of a multi, a watcher, or `zoo_state()`. `house.world_coverage` runs each scenario with
`lockstep run --coverage`. The test fails if the run was not told what the row names, or if a name of the header has no row.

The recipe `calls` is [tests/house/world/calls.c](../tests/house/world/calls.c). It makes the calls that the built-in recipes do not make.
A row without a scenario says why a 3.8 server and client do not produce it at the calls of a lock, or what a world leaves out.
TEXT

section()
{
    printf '\n## %s\n\n| name | scenario | recipe | where it comes up, or why it does not |\n|---|---|---|---|\n' "$1"
    awk -F '\t' -v pattern="$2" -v not="$3" 'NR > 1 && $1 ~ pattern && $1 !~ not {
        file = $2
        sub(/.*\//, "", file)
        link = $2 == "-" ? "" : "[" file "](../" $2 ")"
        print "| `" $1 "` | " link " | " ($3 == "-" ? "" : $3) " | " $4 " |"
    }' tests/house/world/coverage.tsv
}

section 'Result codes' '^Z' '^ZOO_'
section 'Event types' '_EVENT$' '^$'
section 'Session states' '_STATE$' '^$'
