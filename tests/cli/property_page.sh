#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The page about properties of one's own, followed to the letter: its file compiles, and its commands say what it shows.
source "${BASH_SOURCE[0]%/*}/lib.sh"
page=$LOCKSTEP_SOURCE_DIR/docs/your-own-property.md

# block N: the Nth fenced block.
block()
{
    awk -v n="$1" '/^```/ { inside = !inside; count += inside; next } inside && count == n' "$page"
}

# A clone as the page thinks of it.
mkdir -p "$scratch/clone/build"
ln -s "$LOCKSTEP_SOURCE_DIR"/{include,scenarios} "$scratch/clone"
ln -s "$LOCKSTEP_BUILD_DIR" "$scratch/clone/build/release"
cd "$scratch/clone"

block 1 >connected.c
blocks=$(($(grep -c '^```' "$page") / 2))
block "$blocks" >two_turns.scn
for file in connected.c two_turns.scn; do
    grep -q '^LS_PROPERTY_MODULE\|^explore ' "$file" || { echo "$file stands elsewhere on the page"; failed=1; }
done

commands=0
# run COMMAND: what it says, on both streams; traces are named after what is in them.
run()
{
    { bash -c "$1" 2>&1 || true; } | sed -E 's/[0-9a-f]{8}((\.min)?\.trace)/XXXXXXXX\1/g'
}
for ((i = 1; i <= blocks; i++)); do
    said=''
    while IFS= read -r line; do
        if [[ $line == '$ '* ]]; then
            same '' "$said" 'more than the page shows'
            [[ -z $LOCKSTEP_SANITIZE ]] || line=${line//mutex_2/dropped_2} # finds the same, in a fraction of the states
            said=$(run "${line#'$ '}")
            commands=$((commands + 1))
        elif [[ $i == "$blocks" || $(block "$i" | head -c 2) != '$ ' ]]; then
            break
        else
            same "$line" "${said%%$'\n'*}" 'a line of the page'
            [[ $said == *$'\n'* ]] && said=${said#*$'\n'} || said=''
        fi
    done < <(block "$i")
    same '' "$said" 'more than the page shows'
done
same 5 "$commands" 'commands on the page'

# Its other code is that of a judge too.
{ echo '#include <lockstep/property.h>' && block 5 && echo 'void (*const shown)(const void *, struct ls_property_rename *) = canon;'; } >canon.c
cc -std=c11 -Wall -Wextra -Werror -Iinclude -c -o canon.o canon.c || failed=1
finish
