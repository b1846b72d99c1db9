#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What the README shows is what the program prints: the scenario, and the broken recipe being caught. What it and the other
# pages link to is there.
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

shown "build/release/lockstep run --recipe broken-no-protection $scenario | tail -n 16" >"$scratch/shown"
"$LOCKSTEP" run --recipe broken-no-protection --out "$scratch/reports" "$scenario" >"$scratch/printed" && {
    echo "the broken recipe passes"
    failed=1
}
tail -n 16 "$scratch/printed" | sed "s|$scratch/reports|build/reports|; s|$LOCKSTEP|build/release/lockstep|" >"$scratch/end"
compare output "$scratch/shown" "$scratch/end"

# A search of half a second, or of minutes under a sanitizer.
searched=scenarios/explore/mutex_2.scn
if [[ -z ${LOCKSTEP_SANITIZE:-} ]]; then
    shown "cat $searched" >"$scratch/shown"
    {
        cat "$searched"
        echo "\$ build/release/lockstep check $searched"
        "$LOCKSTEP" check --out "$scratch/reports" "$searched"
    } >"$scratch/printed"
    compare search "$scratch/shown" "$scratch/printed"
fi

# links PAGE: what its relative links point to, without the place inside the target. Code is not looked at.
links()
{
    awk '/^ *```/ { code = !code; next } !code' "$1" | sed 's/`[^`]*`//g' | grep -oE '\]\([^)]+\)|^\[[^]]+\]: *[^ ]+' |
        sed -E 's/^\]\(//; s/\)$//; s/^\[[^]]+\]: *//; s/ ".*"$//; s/#.*$//' | grep -vE '^([a-z]+:|$)' || true
}

# dead_links PAGE...: one line for each link that leads nowhere.
dead_links()
{
    local page target
    for page in "$@"; do
        while read -r target; do
            [[ -e $(dirname "$page")/$target ]] || echo "$page: no such file: $target"
        done < <(links "$page")
    done
}

# The check is first shown pages with good and dead links of each kind.
mkdir -p "$scratch/docs"
printf '%s\n' '[a](docs/b.md), [b](docs/c.md#there) and ![c](d.svg)' '[web](https://example.org/x.md) [here](#here) `[x](y)`' \
    '```' '[code](none.md)' '```' '[e]: gone.md "title"' >"$scratch/a.md"
printf '[up](../a.md) [gone](a.md)\n' >"$scratch/docs/b.md"
dead_links "$scratch/a.md" "$scratch/docs/b.md" | sed "s|$scratch/||" >"$scratch/dead"
printf '%s\n' 'a.md: no such file: docs/c.md' 'a.md: no such file: d.svg' 'a.md: no such file: gone.md' \
    'docs/b.md: no such file: a.md' >"$scratch/wanted"
if ! diff -u "$scratch/wanted" "$scratch/dead"; then
    echo 'the check of links does not find what it should'
    failed=1
fi
pages=(README.md ARCHITECTURE.md CONTRIBUTING.md CHANGELOG.md docs/*.md docs/design/*.md)
dead_links "${pages[@]}" >"$scratch/dead"
if [[ -s $scratch/dead ]]; then
    cat "$scratch/dead"
    failed=1
fi
exit $failed
