#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What the library exports is what src/lock/exports.txt lists, and what its headers declare. In the static library
# everything else is hidden and called lock_*, so that it gets into nobody's way; the fake and what stands on it have no other
# names than their headers' and the client's. The same holds for the library for Redis and src/lockredis/exports.txt, where it is
# built; there the prefix is lockredis_*.
set -euo pipefail
export LC_ALL=C
cd "$LOCKSTEP_BUILD_DIR"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

# compare WHAT LIST FILE: the file's lines are those of the list.
compare()
{
    if ! diff -u "$LOCKSTEP_SOURCE_DIR/$2" "$3"; then
        echo "$1 and $2 differ. What is removed or changed is an event for users: docs/stability.md."
        failed=1
    fi
}

# symbols LIBRARY VISIBILITY: names of what the objects of a static library define. Instrumentation brings names with __,
# link time optimisation such with a dot.
symbols()
{
    readelf -sW "$1" | awk -v visibility="$2" \
        '($5 == "GLOBAL" || $5 == "WEAK") && $6 == visibility && $7 != "UND" && $8 !~ /^__|[.]/ { print $8 }' | sort -u
}

# library NAME LIST PREFIX
library()
{
    # mangle_path is of the library that counts for coverage.
    nm -D --defined-only "$1.so" | awk '$3 !~ /^__/ && $3 != "mangle_path" { print $3 }' | sort >"$scratch/shared"
    compare "$1.so" "$2" "$scratch/shared"
    symbols "$1.a" DEFAULT >"$scratch/static"
    compare "$1.a" "$2" "$scratch/static"
    symbols "$1.a" HIDDEN >"$scratch/hidden"
    [[ -s $scratch/hidden ]] || { echo "$1.a hides nothing: this test does not see what it should" && failed=1; }
    if grep -v "^$3" "$scratch/hidden"; then
        echo "these names of $1.a may clash with those of a program: call them $3*"
        failed=1
    fi
}

library liblockstep src/lock/exports.txt lock_
if [[ -e liblockstep_redis.so ]]; then
    library liblockstep_redis src/lockredis/exports.txt lockredis_
fi

# The fake has the names of its headers, of the client library's, and of our locks; so has what stands on it.
for library in liblockstep_fake.a liblockstep_sim.a; do
    nm -g --defined-only $library 2>/dev/null | awk 'NF == 3 && $3 !~ /^__/ { print $3 }' | sort -u >"$scratch/fake"
    if grep -vE '^(ls|world|fakezk|zoo|ZOO|zookeeper|ZOOKEEPER)_|^(zerror|is_unrecoverable|.*_String_vector)$' "$scratch/fake"; then
        echo "these names of $library may clash with those of a program that is tested with it"
        failed=1
    fi
    grep -vx -e 'ls_env_pthread_.*' "$LOCKSTEP_SOURCE_DIR/src/lock/exports.txt" | comm -23 - "$scratch/fake" >"$scratch/missing"
    if [[ -s $scratch/missing ]]; then
        echo "$library lacks:" && cat "$scratch/missing"
        failed=1
    fi
done
if ! grep -qx ls_replay_run "$scratch/fake"; then
    echo "liblockstep_sim.a lacks the functions of replay.h"
    failed=1
fi

# declared LIST HEADER...: the functions that these headers declare.
declared()
{
    local list=$1
    shift
    cat "$@" | grep -E '^[a-z].*[ *]ls_[a-z0-9_]+\(' | grep -v '^typedef' | grep -oE 'ls_[a-z0-9_]+\(' | tr -d '(' |
        sort -u >"$scratch/declared"
    compare 'what the headers declare' "$list" "$scratch/declared"
}

# All headers but those of the harness.
headers=$LOCKSTEP_SOURCE_DIR/include/lockstep
mapfile -t of_zookeeper < <(printf '%s\n' "$headers"/*.h | grep -vE '/(fakezk|property|recipe|replay|sim|redis[a-z_]*)\.h$')
declared src/lock/exports.txt "${of_zookeeper[@]}"
declared src/lockredis/exports.txt "$headers"/redis*.h
exit $failed
