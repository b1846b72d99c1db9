#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What the library exports is what src/lock/exports.txt lists, and what its headers declare. In the static library
# everything else is hidden and called lock_*, so that it gets into nobody's way; the fake and what stands on it have no other
# names than their headers' and the client's.
set -euo pipefail
export LC_ALL=C
cd "$LOCKSTEP_BUILD_DIR"
list=$LOCKSTEP_SOURCE_DIR/src/lock/exports.txt
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

# compare WHAT FILE: the file's lines are those of the list.
compare()
{
    if ! diff -u "$list" "$2"; then
        echo "$1 and src/lock/exports.txt differ. What is removed or changed is an event for users: docs/stability.md."
        failed=1
    fi
}

# symbols VISIBILITY: names of what the objects of the static library define. Instrumentation brings names with __.
symbols()
{
    readelf -sW liblockstep.a | awk -v visibility="$1" \
        '($5 == "GLOBAL" || $5 == "WEAK") && $6 == visibility && $7 != "UND" && $8 !~ /^__/ { print $8 }' | sort -u
}

# mangle_path is of the library that counts for coverage.
nm -D --defined-only liblockstep.so | awk '$3 !~ /^__/ && $3 != "mangle_path" { print $3 }' | sort >"$scratch/shared"
compare liblockstep.so "$scratch/shared"

symbols DEFAULT >"$scratch/static"
compare liblockstep.a "$scratch/static"
symbols HIDDEN >"$scratch/hidden"
[[ -s $scratch/hidden ]] || { echo "liblockstep.a hides nothing: this test does not see what it should" && failed=1; }
if grep -v '^lock_' "$scratch/hidden"; then
    echo "these names of liblockstep.a may clash with those of a program: call them lock_*"
    failed=1
fi

# The fake has the names of its headers, of the client library's, and of our locks; so has what stands on it.
for library in liblockstep_fake.a liblockstep_sim.a; do
    nm -g --defined-only $library 2>/dev/null | awk 'NF == 3 && $3 !~ /^__/ { print $3 }' | sort -u >"$scratch/fake"
    if grep -vE '^(ls|world|fakezk|zoo|ZOO|zookeeper|ZOOKEEPER)_|^(zerror|is_unrecoverable|.*_String_vector)$' "$scratch/fake"; then
        echo "these names of $library may clash with those of a program that is tested with it"
        failed=1
    fi
    grep -vx -e 'ls_env_pthread_.*' "$list" | comm -23 - "$scratch/fake" >"$scratch/missing"
    if [[ -s $scratch/missing ]]; then
        echo "$library lacks:" && cat "$scratch/missing"
        failed=1
    fi
done
if ! grep -qx ls_replay_run "$scratch/fake"; then
    echo "liblockstep_sim.a lacks the functions of replay.h"
    failed=1
fi

# Functions that the headers of the library declare: all headers but those of the harness.
(cd "$LOCKSTEP_SOURCE_DIR/include/lockstep" && ls ./*.h | grep -vE '/(fakezk|property|recipe|replay|sim)\.h$' | xargs cat) |
    grep -E '^[a-z].*[ *]ls_[a-z0-9_]+\(' | grep -v '^typedef' | grep -oE 'ls_[a-z0-9_]+\(' | tr -d '(' | sort -u >"$scratch/declared"
compare 'what the headers declare' "$scratch/declared"
exit $failed
