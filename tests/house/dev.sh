#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The script dev keeps its contract: exit codes, help with examples, set-up without network and without root.
set -euo pipefail
cd "$LOCKSTEP_SOURCE_DIR"

failed=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
chmod 755 "$scratch"

# expect STATUS TEXT COMMAND...: the exit status, and a text in what it prints.
expect()
{
    local wanted=$1 text=$2 status=0
    shift 2
    "$@" >"$scratch/output" 2>&1 </dev/null || status=$?
    if [[ $status != "$wanted" || $(<"$scratch/output") != *"$text"* ]]; then
        echo "$*: expected exit status $wanted and '$text', found $status and:"
        cat "$scratch/output"
        failed=1
    fi
}

expect 0 'usage: ./dev' ./dev --help
expect 2 'usage: ./dev' ./dev
expect 2 "unknown command 'biuld'" ./dev biuld
expect 2 "unknown preset 'fast'" ./dev build --preset fast
expect 2 '--preset wants a value' ./dev build --preset
expect 2 "unexpected '--fulll'" ./dev test --fulll
expect 2 "unknown group 'moon'" ./dev setup moon
expect 2 "unknown benchmark 'moon'" ./dev bench moon
for name in setup build run test real bench fmt lint fresh; do
    expect 0 'examples:' ./dev $name --help
done

# Stand-ins for the package tools: what is installed is what the file says, and each call of apt-get is written down.
mkdir "$scratch/bin"
cat >"$scratch/bin/dpkg-query" <<TEXT
#!/bin/bash
cat "$scratch/installed"
TEXT
cat >"$scratch/bin/apt-get" <<TEXT
#!/bin/bash
echo "\$*" >>"$scratch/calls"
TEXT
chmod 755 "$scratch"/bin/*

with_stand_ins()
{
    PATH="$scratch/bin:$PATH" "$@"
}

for package in gcc libc6-dev cmake ninja-build libcjson-dev libelf-dev liblz4-dev libxml2-dev; do
    echo "installed $package"
done >"$scratch/installed"
echo 'config-files libzookeeper-mt-dev' >>"$scratch/installed"

# Not root: one line to run, exit 4, no apt-get. Nobody may not be allowed to enter this folder: a copy will do.
mkdir "$scratch/copy"
cp -r dev dev.d "$scratch/copy"
as_nobody=()
((EUID != 0)) || as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
expect 4 'apt-get update && apt-get install -y --no-install-recommends libzookeeper-mt-dev' \
    with_stand_ins "${as_nobody[@]}" "$scratch/copy/dev" setup run
expect 4 'fresh needs root' "${as_nobody[@]}" "$scratch/copy/dev" fresh
[[ ! -e $scratch/calls ]] || { echo "set-up without root called apt-get" && failed=1; }

# Nothing missing: no call at all.
echo 'installed libzookeeper-mt-dev' >>"$scratch/installed"
expect 0 '' with_stand_ins ./dev setup run
[[ ! -e $scratch/calls ]] || { echo "set-up with nothing missing called apt-get" && failed=1; }

# ./dev run needs no Java.
if grep -E '^ *run\) echo' dev.d/setup.sh | grep -E 'jre|jdk|java'; then
    echo "./dev run installs Java"
    failed=1
fi

# Whoever sets up, or builds, has the functions for it.
for script in dev.d/*.sh; do
    for pair in setup_groups:setup.sh build_preset:build.sh; do
        name=${pair%:*} file=dev.d/${pair#*:}
        if [[ $script != "$file" && $script != dev.d/common.sh ]] && grep -q "\b$name " "$script" && ! grep -q "source $file" "$script"; then
            echo "$script calls $name without $file"
            failed=1
        fi
    done
done
exit $failed
