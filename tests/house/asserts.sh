#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Each folder of src has as many assertions for each function as dev.d/asserts.tsv says, and at most a third of them are NULL
# checks (dev.d/asserts.py). The counter is first shown a tree with a known number of each, and trees that are wrong.
set -euo pipefail
export LC_ALL=C
cd "$LOCKSTEP_SOURCE_DIR"
failed=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/dev.d" "$scratch/src/room/below"

cat >"$scratch/src/room/a.c" <<'EOF2'
#define LS_ASSERT(e) ((e) ? (void)0 : assert_failed(#e))
/* LS_ASSERT(false) in a comment, and in a text, is none. */
static int first(const int *at)
{
    LS_ASSERT(at != NULL && (size_t)at % 4 == 0);
    return *at;
}

void second(struct list *list)
{
    LS_NEVER(list->first == NULL);
    if (LS_ALWAYS(list->count >
                  0)) {
        say("LS_ASSERT(1)");
    }
}
EOF2
printf 'static inline void third(void)\n{\n}\n' >"$scratch/src/room/below/b.h"

# expect FLOOR WORDS: what --check says of that floor; WORDS '' = nothing.
expect()
{
    local told
    printf '# folder\tfloor\nroom\t%s\n' "$1" >"$scratch/dev.d/asserts.tsv"
    told=$(python3 dev.d/asserts.py --check "$scratch" || true)
    if [[ -z $2 && -n $told || $told != *"$2"* ]]; then
        echo "with the floor $1 it says '$told'"
        failed=1
    fi
}
expect 1.00 ''
expect 1.01 'src/room: 1.000 assertions for each function, the floor is 1.01'
told=$(python3 dev.d/asserts.py "$scratch" | sed -nE 's/^room +([0-9]+) +([0-9]+) +([0-9]+) .*/\1 \2 \3/p')
[[ $told == '3 3 1' ]] || { echo "it counts '$told', not '3 3 1'"; failed=1; }
sed -i 's/list->count >/list->last !=/; s/^ *0)) {/NULL)) {/' "$scratch/src/room/a.c"
expect 1.00 '2 of 3 assertions are NULL checks'
mkdir "$scratch/src/other"
printf 'void fourth(void)\n{\n}\n' >"$scratch/src/other/c.c"
expect 0.10 'no row for src/other'
rm -r "$scratch/src/other"
printf 'gone\t0.10\n' >>"$scratch/dev.d/asserts.tsv"
told=$(python3 dev.d/asserts.py --check "$scratch" || true)
[[ $told == *'there is no folder src/gone'* ]] || { echo "of a folder that is gone it says '$told'"; failed=1; }

python3 dev.d/asserts.py
python3 dev.d/asserts.py --check || failed=1
exit $failed
