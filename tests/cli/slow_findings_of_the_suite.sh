#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What the suite finds in the recipes that do as Curator and kazoo do is what the last table of docs/findings.md says, and nothing else.
source "$(dirname "$0")/lib.sh"
! is_slow_build || exit 77
page=docs/findings.md
ZOO_STATES=400000 # those of the suite
source dev.d/zoo.sh

# fails RECIPE: a line `situation property, property` for each situation that fails.
fails()
{
    zoo_run "$LOCKSTEP" "$LOCKSTEP_BUILD_DIR/recipes/$1.so" "$scratch/$1" | grep -v '^passed ' | sed 's/ /, /2g' | sort
}

# told COLUMN: the same from the page.
told()
{
    sed -n '/^## All situations that fail/,$p' "$page" | grep '^| [a-z_]* |' | grep -v '^| situation' |
        awk -F' *[|] *' -v n="$1" '$(n + 1) != "" { print $2, $(n + 1) }' | sort
}

for column in 2:curator_like 3:kazoo_like; do
    same "$(told "${column%:*}")" "$(fails "${column#*:}")" "what the suite finds in ${column#*:}"
done
finish
