#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Readers and writers of ours and of Curator's InterProcessReadWriteLock on one path, with kills: no writer is in the room with
# anybody else, by what they do there. Our writers sometimes stay as readers.
set -euo pipefail
cd "$LOCKSTEP_SOURCE_DIR"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
contender=$LOCKSTEP_BUILD_DIR/examples/contender
failed=0
if ! command -v javac >/dev/null || [[ ! -f /usr/share/java/curator-recipes.jar ]]; then
    echo 'skipped: ./dev setup interop installs what is missing'
    exit 77
fi
run=(examples/interop/run.sh --zk "$LOCKSTEP_ZK" --lock rwlock --with curator --seconds 30)

"${run[@]}" --contender "$contender" --out "$scratch/good" | tee "$scratch/said" || failed=1
# 500 grants at least on each side, readers and writers together.
for side in ours curator; do
    grants=$(cat "$scratch/good/room/log" "$scratch/good/room/readers" | grep -c "^$side-")
    ((grants >= 500)) || { echo "$side: $grants grants, expected 500 at least"; failed=1; }
done

# Who takes other nodes is found out.
cat >"$scratch/without" <<TEXT
#!/bin/sh
exec "$contender" "\$1" "\$2-\$\$" "\$3" "\$4" "\$5" "\$6"
TEXT
chmod +x "$scratch/without"
if "${run[@]}" --contender "$scratch/without" --seconds 6 --kills 0 --out "$scratch/red" >"$scratch/red.out" 2>&1; then
    echo 'contenders on other paths are not found out:'
    cat "$scratch/red.out"
    failed=1
fi
exit $failed
