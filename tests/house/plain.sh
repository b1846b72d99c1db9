#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# dev.d/plain points at each kind of sentence that its help names, at the right line, and keeps the ceilings of its table.
set -euo pipefail
export LC_ALL=C
cd "$LOCKSTEP_SOURCE_DIR"
failed=0
plain=$PWD/dev.d/plain
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
git -C "$scratch" init -q
mkdir -p "$scratch/src/a" "$scratch/include" "$scratch/dev.d"

# points WHY TEXT: the text as a comment of a source gives this finding in line 3, and as a paragraph of a page too.
points()
{
    local why=$1 text=$2 told
    printf 'int before;\n\n/* %s */\nint a;\n' "$text" >"$scratch/src/a/a.c"
    printf '# Page\n\n%s\n' "$text" >"$scratch/page.md"
    git -C "$scratch" add -A
    for file in src/a/a.c page.md; do
        told=$(cd "$scratch" && "$plain" "$file" || true)
        [[ $told == "$file:3: $why: $text" ]] || { echo "of $file with '$text' it says '$told'"; failed=1; }
    done
}

points 'the subject is a clause; name the thing' 'What is left of the line is dropped.'
points 'a pronoun stands for a thing that has a name' 'The lock goes to somebody in the line.'
points 'a pronoun stands for a thing that has a name' 'The table knows who has asked for it.'
points "a process or an owner is 'it'" 'The process waits until he is woken.'
points '29 words in one sentence' 'A b c d e f g h i j k l m n o p q r s t u v w x y z a b c.'
printf '\n\n/* %s. */\nint a;\n' "A state is the list of the numbers of all of its blocks and of$(printf ' its%.0s' {1..20})" >"$scratch/src/a/a.c"
told=$(cd "$scratch" && "$plain" src/a/a.c || true)
[[ $told == *'src/a/a.c:3: 149 columns: '* ]] || { echo "of a long line it says '$told'"; failed=1; }

printf '/* Returns the number of states that the search has seen. */\nint a;\n' >"$scratch/src/a/a.c"
printf 'Nobody can say what this is.\n' >"$scratch/page.md"
printf 'src/a\t0\npage.md\t999\n' >"$scratch/dev.d/plain.tsv"
told=$(cd "$scratch" && git add -A && "$plain" --ceilings) && { echo 'a page above its ceiling passes'; failed=1; }
[[ $told == $'src/a: 0 in 1 lines, 0 for 1,000\npage.md: 1 in 1 lines, 1000 for 1,000: above 999' ]] || { echo "the ceilings: '$told'"; failed=1; }
printf 'page.md\t1000\n' >"$scratch/dev.d/plain.tsv"
told=$(cd "$scratch" && "$plain" --ceilings) && { echo 'a folder without a row passes'; failed=1; }
[[ $told == *'src/a: has no row in dev.d/plain.tsv'* ]] || { echo "a folder without a row: '$told'"; failed=1; }

"$plain" --ceilings >"$scratch/ceilings" || { grep -E 'above|no row' "$scratch/ceilings"; failed=1; }
exit $failed
