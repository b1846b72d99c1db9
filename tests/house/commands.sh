#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Every command line of the pages is run by some test; those that are quick are run here, in a folder that has what a clone has.
source "${BASH_SOURCE[0]%/*}/lib_commands.sh"

# ---- each line has a row, and each row a line ----

pages=(README.md CONTRIBUTING.md ARCHITECTURE.md docs/*.md docs/design/*.md examples/interop/README.md)
commands_of "${pages[@]}" >"$scratch/lines"
cut -f 2,4 "$rows" >"$scratch/rows"
diff "$scratch/lines" "$scratch/rows" >"$scratch/diff" || {
    sed -n 's/^< /no test runs this line: /p; s/^> /this line stands on no page: /p' "$scratch/diff"
    failed=1
}
# A test that follows its page names it.
while read -r who page; do
    file=tests/${who/.//}.sh
    [[ $who != .ci/run ]] || file=.ci/run
    [[ -f $file ]] || file=${file/\/${who#*.}/\/slow_${who#*.}}
    grep -qsF -e "${page##*/}" -e './dev test' "$file" || { echo "$who does not run the lines of $page"; failed=1; }
done < <(rows_of '[a-z]+[.][a-z_]+|[.]ci/run' | cut -f 1,2 | sort -u)
((failed == 0)) || exit 1

# ---- the quick ones ----

if [[ -n $LOCKSTEP_SANITIZE ]]; then
    exit 77 # they are run by builds that are as fast as a user's
fi
clone=$scratch/clone
mkdir -p "$clone/build" "$scratch/bin"
for name in include scenarios examples tests docs cmake CMakeLists.txt; do
    ln -s "$PWD/$name" "$clone/$name"
done
ln -s "$LOCKSTEP_BUILD_DIR" "$clone/build/release"
ln -s "$LOCKSTEP" "$scratch/bin/lockstep"
export PATH=$scratch/bin:$PATH

prepare()
{
    rm -rf reports
    if [[ $1 == docs/your-own-recipe.md ]]; then
        cp "$LOCKSTEP_SOURCE_DIR/examples/recipes/next_in_line.c" mine.c
        ! lockstep check --recipe broken-no-sort scenarios/explore/mutex_2.scn
    fi
}

as_here()
{
    local trace
    trace=$(compgen -G 'build/reports/????????.min.trace' | head -n 1)
    echo "${1/ TRACE/ $trace}"
}

run_rows quick "$clone"
echo "in the full tier: $(rows_of full | wc -l); by tests that follow their page: $(rows_of '[a-z]+[.][a-z_]+|[.]ci/run' | wc -l); by ./dev fresh: $(rows_of fresh | wc -l); synopses: $(rows_of synopsis | wc -l)"
exit $failed
