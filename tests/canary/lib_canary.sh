# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What is known of a canary: sourced by the tests here, behind tests/cli/lib.sh.
page=reports/kill-matrix.md

# The situations that the page has for a canary, by its short name.
situations_of()
{
    sed -n '/^## By situation/,/^## By canary/p' "$page" | awk -F' *[|] *' -v wanted="$1" '{
        n = split($3, name, ", ")
        for (i = 1; i <= n; i++) if (name[i] == wanted) print $2 }'
}

# The property that the story of a source file names.
property_of()
{
    sed -n 's/.*\.breaks = "\(.*\)".*/\1/p' "$1"
}
