#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The include order of the layers: a layer includes itself and what the table gives it, and nothing else. The checker is
# first shown a tree that breaks each rule, and must name every break; then it reads the project.
set -euo pipefail
export LC_ALL=C

# Layer -> the layers and public headers (<lockstep/NAME.h>) that it may include. "api" stands for the headers that
# describe locks and their environment; "zookeeper" for <zookeeper/...>.
declare -A MAY=(
    [base]=""
    [state]="base"
    [trace]="base event.h"
    [lock]="base api zookeeper"
    [env]="base api"
    [recipes]="lock api"
    [broken]="base api zookeeper lock"
    [fakezk]="base state fakezk.h zookeeper"
    [check]="base trace property.h lock_spec.h"
    [coord]="base trace sim.h"
    [coordzk]="base coord api fakezk.h sim.h zookeeper"
    [fakeredis]="base"
    [coordredis]="base coord fakeredis sim.h"
    [lockredis]="api"
    [lockredis/world]="lockredis api scenario"
    [lockredis/published]="lockredis api scenario"
    [loopredis]="lockredis api"
    [sim]="base state trace coord api sim.h lock_spec.h"
    [plugin]="base trace coord sim api sim.h"
    [scenario]="base state trace recipes broken check coord sim api sim.h property.h replay"
    [replay]="base state trace check sim api sim.h scenario replay.h"
    [explore]="base state trace check sim api sim.h scenario replay"
    [explain]="base state trace check sim api sim.h scenario replay explore"
    [fuzz]="base trace check coord sim api event.h sim.h scenario replay"
    [report]="base trace check coord sim api sim.h scenario replay"
    [program]="base cli api"
    [cli]="base state trace check coord sim plugin api sim.h scenario replay explore explain fuzz report"
    [real]="base trace check api zookeeper"
)
# The recipe layers ask the world for these and never the system (D1).
FORBIDDEN_TO_RECIPES='time.h pthread.h threads.h unistd.h sys/time.h sys/random.h sys/socket.h'

# check_tree ROOT: one line per break; status 1 if there is any.
check_tree()
{
    local root=$1 file layer line target breaks=0
    while IFS=: read -r file line; do
        file=${file#"$root"/}
        target=$(sed -E 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*//; s/^([<"][^>"]*[>"]).*/\1/' <<<"$line")
        if [[ $file == include/* ]]; then
            layer=include
        else
            layer=${file#src/}
            layer=${layer%/*} # a folder in a layer is a layer of its own
        fi
        if ! allowed "$root" "$file" "$layer" "$target"; then
            echo "$file: $layer may not include $target"
            breaks=1
        fi
    done < <(cd "$root" && grep -rEH --include='*.[ch]' '^[[:space:]]*#[[:space:]]*include' src include |
        sed "s|^|$root/|")
    return $breaks
}

allowed()
{
    local root=$1 file=$2 layer=$3 target=$4 name=${4:1:-1}
    if [[ $target == \"* ]]; then
        # Next to the file itself, or src/LAYER/...
        [[ $layer != include ]] || return 1
        if [[ $name != */* ]]; then
            [[ -f $root/$(dirname "$file")/$name ]]
            return
        fi
        one_of "${name%%/*}" "$layer ${MAY[$layer]-}"
        return
    fi
    case $name in
    lockstep/event.h | lockstep/fakezk.h | lockstep/lock_spec.h | lockstep/property.h | lockstep/replay.h | lockstep/sim.h)
        [[ $layer == include ]] || one_of "${name#lockstep/}" "${MAY[$layer]-}"
        ;;
    lockstep/*) [[ $layer == include ]] || one_of api "${MAY[$layer]-}" ;;
    zookeeper/*) [[ $layer == include ]] || one_of zookeeper "${MAY[$layer]-}" ;;
    *) [[ $layer != lock && $layer != lockredis* && $layer != recipes && $layer != broken ]] || ! one_of "$name" "$FORBIDDEN_TO_RECIPES" ;;
    esac
}

one_of()
{
    [[ " $2 " == *" $1 "* ]]
}

# Every layer is in the table, and the table has no folder that was renamed away.
check_folders()
{
    local folder layer status=0
    for folder in "$1"/src/*/; do
        layer=$(basename "$folder")
        if [[ ! -v MAY[$layer] ]]; then
            echo "src/$layer is not in the table of layers"
            status=1
        fi
    done
    return $status
}

# main() is the command line's alone: everything else is linked into tests and benchmarks too.
check_main()
{
    local found
    found=$(cd "$1" && grep -rlE --include='*.c' '^(int )?main\(' src | grep -v '^src/program/main\.c$' || true)
    if [[ -n $found ]]; then
        echo "main() outside src/program/main.c: $found"
        return 1
    fi
}

plant()
{
    mkdir -p "$(dirname "$scratch/$1")"
    printf '%s\n' "$2" >>"$scratch/$1"
}

self_test()
{
    local found expected
    plant src/base/a.c '#include "trace/event_names.h"'
    plant src/lock/a.c '#include "fakezk/tree.h"'
    plant src/lock/b.c '#include <pthread.h>'
    plant src/lock/c.c '  #  include <lockstep/sim.h>'
    plant src/fakezk/a.c '#include "lock/mutex.h"'
    plant src/fakezk/b.c '#include <lockstep/recipe.h>'
    plant src/check/a.c '#include "sim/world.h"'
    plant src/check/b.c '#include <zookeeper/zookeeper.h>'
    plant src/sim/a.c '#include "scenario/parse.h"'
    plant src/sim/b.c '#include "../cli/options.h"'
    plant src/scenario/a.c '#include "cli/options.h"'
    plant src/sim/c.c '#include <lockstep/replay.h>'
    plant src/sim/d.c '#include <lockstep/property.h>'
    plant src/sim/e.c '#include "fakezk/tree.h"'
    plant src/sim/f.c '#include <lockstep/fakezk.h>'
    plant src/sim/g.c '#include "lock/mutex.h"'
    plant src/sim/h.c '#include <zookeeper/zookeeper.h>'
    plant src/sim/i.c '#include "coordzk/internal.h"'
    plant src/coord/a.c '#include <lockstep/fakezk.h>'
    plant src/scenario/b.c '#include <lockstep/fakezk.h>'
    plant src/real/a.c '#include "sim/world.h"'
    plant src/lockredis/a.c '#include "scenario/recipes.h"'
    plant include/lockstep/a.h '#include "base/arena.h"'
    # And what is right must pass.
    plant src/sim/right.h ''
    plant src/sim/right.c '#include "right.h"'
    plant src/trace/right.c '#include <lockstep/event.h>'
    plant src/sim/right.c '#include "coord/coordinator.h"'
    plant src/coordzk/right.c '#include <lockstep/fakezk.h>'
    plant src/sim/right.c '#include <pthread.h>'
    plant src/lock/right.c '#include <zookeeper/zookeeper.h>'
    plant src/lockredis/world/right.c '#include "scenario/recipes.h"'
    expected="include/lockstep/a.h src/base/a.c src/check/a.c src/check/b.c src/coord/a.c src/fakezk/a.c"
    expected+=" src/fakezk/b.c src/lock/a.c src/lock/b.c src/lock/c.c src/lockredis/a.c src/real/a.c src/scenario/a.c"
    expected+=" src/scenario/b.c"
    expected+=" src/sim/a.c src/sim/b.c src/sim/c.c src/sim/d.c src/sim/e.c src/sim/f.c src/sim/g.c src/sim/h.c src/sim/i.c"
    found=$(check_tree "$scratch" | cut -d: -f1 | sort | tr '\n' ' ' || true)
    if [[ $found != "$expected " ]]; then
        echo "the checker itself is wrong"
        echo "expected breaks in: $expected"
        echo "found breaks in:    $found"
        return 1
    fi
    plant src/unknown/a.c ''
    plant src/sim/main.c 'int main(void)'
    if check_folders "$scratch" >/dev/null || check_main "$scratch" >/dev/null; then
        echo "the checker overlooks an unknown folder or a second main()"
        return 1
    fi
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
self_test

status=0
check_tree "$LOCKSTEP_SOURCE_DIR" || status=1
check_folders "$LOCKSTEP_SOURCE_DIR" || status=1
check_main "$LOCKSTEP_SOURCE_DIR" || status=1
exit $status
