#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What the README shows is what the program prints: the scenario, and the broken recipe being caught.
set -euo pipefail
cd "$LOCKSTEP_SOURCE_DIR"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

# The block of the README that begins with this command, without the command.
shown()
{
    awk -v command="\$ $1" '$0 == "```" { inside = 0 } inside { print } $0 == command { inside = 1 }' README.md
}

# compare NAME EXPECTED FOUND
compare()
{
    if ! diff -u "$2" "$3"; then
        echo "README.md shows another $1"
        failed=1
    fi
}

scenario=scenarios/mutex/create_reply_lost.scn
shown "cat $scenario" >"$scratch/scenario"
compare scenario "$scratch/scenario" "$scenario"

shown "build/release/lockstep run --recipe broken-no-protection $scenario" >"$scratch/shown"
"$LOCKSTEP" run --recipe broken-no-protection --out "$scratch/reports" "$scenario" >"$scratch/printed" && {
    echo "the broken recipe passes"
    failed=1
}
sed -i "s|$scratch/reports|build/reports|" "$scratch/printed"
compare output "$scratch/shown" "$scratch/printed"
exit $failed
