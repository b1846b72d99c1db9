#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Each decision, rule, published bug and file that a comment, a page or a scenario names is in the repository
# (dev.d/references.py). The program itself is shown one of each sort that is not there.
set -euo pipefail
export LC_ALL=C
cd "$LOCKSTEP_SOURCE_DIR"
failed=0

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
git -C "$scratch" init -q
mkdir -p "$scratch"/docs "$scratch"/tests/canary "$scratch"/src/check
printf '## D3b: A value\n' >"$scratch/docs/decisions.md"
printf 'F7\talways\n' >"$scratch/docs/fidelity.tsv"
printf '| R9 | a rule |\n' >"$scratch/docs/fidelity-redis.md"
printf '/* Z02: a node. */\n' >"$scratch/tests/canary/z02_node.c"
printf '/* Right: D3b, F7, R9, Z02, tests/canary/z02_node.c, check/a.c; C11. */\nint D99;\n' >"$scratch/src/check/a.c"
for word in D4 F8 R10 Z03 C01 E01 S01 R04 src/check/b.c tests/canary/z03_node.c; do
    printf '\n/* As %s says. */\n' "$word" >"$scratch/src/check/wrong.c"
    told=$(python3 dev.d/references.py "$scratch" || true)
    if [[ $told != "src/check/wrong.c:2: "*"$word"* ]]; then
        echo "of $word it says '$told'"
        failed=1
    fi
done
rm "$scratch/src/check/wrong.c"
python3 dev.d/references.py "$scratch" || { echo 'it complains of a right file'; failed=1; }

python3 dev.d/references.py --list || failed=1
for heading in $(sed -nE 's/^## (D[0-9]+[a-z]?): .*/\1/p' docs/decisions.md | sort | uniq -d); do
    echo "docs/decisions.md: $heading has more than one heading"
    failed=1
done
exit $failed
