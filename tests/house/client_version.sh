#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A ZooKeeper client that is too old is refused by its version when a build is configured; the least one is taken.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch/include/zookeeper" "$scratch/project"
touch "$scratch/include/zookeeper/zookeeper.h" "$scratch/libzookeeper_mt.so"
cat >"$scratch/project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.22)
project(client NONE)
include($PWD/cmake/zookeeper.cmake)
if(NOT TARGET lockstep::zookeeper)
    message(FATAL_ERROR "\${LOCKSTEP_ZOOKEEPER_MISSING}")
endif()
END

# configure VERSION_HEADER: what cmake says; fails as cmake does
configure() {
    echo "$1" >"$scratch/include/zookeeper/zookeeper_version.h"
    rm -rf "$scratch/build"
    cmake -S "$scratch/project" -B "$scratch/build" -DZOOKEEPER_INCLUDE="$scratch/include" \
        -DZOOKEEPER_MT="$scratch/libzookeeper_mt.so" 2>&1
}

for header in '#define ZOO_VERSION "3.6.4"' '#define ZOO_MAJOR_VERSION 3'; do
    if said=$(configure "$header"); then
        echo "taken in spite of: $header" >&2
        exit 1
    fi
    tr -s '[:space:]' ' ' <<<"$said" | grep -q 'is the least'
done
for header in '#define ZOO_VERSION "3.7.0"' '#define ZOO_VERSION "3.10.1"'; do
    configure "$header" >/dev/null
done
