#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The page about kinds of lock, followed in a copy of the tree: its changes apply, its kind is searched, and its mistake is caught.
source "$LOCKSTEP_SOURCE_DIR/tests/cli/lib.sh"
plain_build_only
page=$LOCKSTEP_SOURCE_DIR/docs/adding-a-lock-kind.md
mkdir "$scratch/tree"
cp -r "$LOCKSTEP_SOURCE_DIR"/{CMakeLists.txt,cmake,include,src,fuzz,bench,examples,tests,LICENSE,README.md} "$scratch/tree"
cd "$scratch/tree"

awk '/^```diff$/ { inside = 1; next } /^```$/ { inside = 0 } inside' "$page" >page.diff
patch --quiet -p1 <page.diff || { echo 'the changes of the page do not apply'; exit 1; }
awk '/^```$/ { inside = !inside; next } /^```/ { inside = 1; next } inside && /^# One client closes/ { on = 1 } !inside { on = 0 } on' "$page" >gate.scn
grep -q '^gate ' gate.scn || { echo 'the page has no situation'; exit 1; }

cmake -G Ninja -S . -B build/release -DCMAKE_BUILD_TYPE=Debug -DLOCKSTEP_TESTS=OFF -DLOCKSTEP_INSTALL=OFF --log-level=WARNING >configured 2>&1 &&
    cmake --build build/release --target lockstep >built 2>&1 || { tail -n 20 configured built && exit 1; }

commands=0
while IFS= read -r line; do
    if [[ $line == '$ '* ]]; then
        bash -c "${line#'$ '}" >said 2>&1 || true
        commands=$((commands + 1))
    else
        grep -qF -- "$line" said || { cat said && echo "expected the line of the page: $line" && failed=1; }
    fi
done < <(awk '/^```/ { inside = !inside; next } inside' "$page" | sed -n '/^\$ cc /,$p')
same 5 "$commands" 'commands on the page'
expect 0 'gate PATH ' build/release/lockstep list verbs
finish
