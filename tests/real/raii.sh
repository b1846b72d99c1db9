#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# lockstep.hpp with the compiler, and the instrumentation, that the library was built with: tests/real/raii.cpp.
set -euo pipefail
source tests/real/lib_cxx.sh
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
program=$scratch/raii
failed=0

# shellcheck disable=SC2086
"$CXX" $flags -std=c++17 -Iinclude tests/real/raii.cpp -o "$program" "$LOCKSTEP_BUILD_DIR/liblockstep.a" \
    -lzookeeper_mt -pthread

# expect STATUS ARGUMENT...
expect()
{
    local wanted=$1 status=0
    shift
    timeout 60 "$program" "$@" >"$scratch/output" 2>&1 </dev/null || status=$?
    ((status == wanted)) || {
        echo "raii $*: expected exit status $wanted, found $status and: $(cat "$scratch/output")"
        failed=1
    }
}

expect 0 alone
expect 0 server "$LOCKSTEP_ZK"
expect 7 throw "$LOCKSTEP_ZK"
expect 7 destroy "$LOCKSTEP_ZK"
expect 2 neither
exit $failed
