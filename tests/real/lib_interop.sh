# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What tests of ours beside other libraries have in common.
set -euo pipefail
cd "$LOCKSTEP_SOURCE_DIR"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
contender=$LOCKSTEP_BUILD_DIR/examples/contender
failed=0

skip()
{
    echo 'skipped: ./dev setup interop installs what is missing'
    exit 77
}
if ! command -v javac >/dev/null || [[ ! -f /usr/share/java/curator-recipes.jar ]]; then
    skip
fi

# run_curator CLASSES ARGUMENT...: what CuratorContender.java does with these arguments.
run_curator()
{
    local classes=$1
    shift
    timeout 90 java -cp "$classes:$(printf '/usr/share/java/%s.jar:' curator-recipes curator-framework curator-client \
        guava failureaccess zookeeper zookeeper-jute slf4j-api slf4j-simple)" \
        -Dorg.slf4j.simpleLogger.defaultLogLevel=error CuratorContender "$LOCKSTEP_ZK" "$@"
}

# each_side_has_500 WHAT OUT 'FILE...' COMMAND...: runs the command, which leaves a room in OUT, and again on a slow machine, four
# times at most, until so many grants of each side are in these logs of the rooms. Their lines begin with the side.
each_side_has_500()
{
    local side round few what=$1 out=$2 files=$3
    local -A grants=([ours]=0 [curator]=0)
    shift 3
    for round in 1 2 3 4; do
        "$@" --out "$out" || { failed=1 && return; }
        few=''
        for side in ours curator; do
            ((grants[$side] += $(cd "$out/room" && cat $files | grep -c "^$side-"), 1))
            ((grants[$side] >= 500)) || few+="$side: ${grants[$side]} $what in $round runs, expected 500 at least"$'\n'
        done
        [[ -n $few ]] || return 0
    done
    printf %s "$few"
    failed=1
}

# apart_is_found_out COMMAND...: of a run whose contenders of ours have a path each it is said that they do not exclude anybody.
apart_is_found_out()
{
    cat >"$scratch/without" <<TEXT
#!/bin/sh
exec "$contender" "\$1" "\$2-\$\$" "\$3" "\$4" "\$5" "\$6"
TEXT
    chmod +x "$scratch/without"
    if "$@" --contender "$scratch/without" --seconds 6 --kills 0 --out "$scratch/red" >"$scratch/red.out" 2>&1; then
        echo 'contenders on other paths are not found out:'
        cat "$scratch/red.out"
        failed=1
    fi
}
