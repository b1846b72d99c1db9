# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Sourced by the tests that follow a page about recipes to the letter, behind lib.sh. $page is the page.

# block KIND NUMBER: the text of that block of the page, from 1 on.
block()
{
    awk -v kind="\`\`\`$1" -v wanted="$2" '
        /^```/ { inside = !inside; if (inside) { count += $0 == kind; shown = $0 == kind && count == wanted }; next }
        inside && shown' "$page"
}

# A clone as the page thinks of it, with the headers and these FOLDERs, and all blocks in C as mine.c. Goes there.
page_clone()
{
    local folder count i
    for folder in include "$@"; do
        ln -s "$PWD/$folder" "$scratch/"
    done
    mkdir -p "$scratch/build"
    ln -s "$LOCKSTEP_BUILD_DIR" "$scratch/build/release"
    count=$(grep -c '^```c$' "$page")
    for ((i = 1; i <= count; i++)); do
        block c "$i"
        ((i == count)) || echo
    done >"$scratch/mine.c"
    cd "$scratch"
}
