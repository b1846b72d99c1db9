#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# usage: run.sh --zk HOST:PORT --contender PROGRAM [--with curator|kazoo] [--lock mutex|rwlock|semaphore|multi|latch|selector] [--seconds N] [--kills N] [--out DIR]
#
# Half of the contenders are ours, half are Curator's or kazoo's, on one path; some are killed on the way and come back.
# Then nobody may have been in the room together, and the grants must come in the order in which nodes were created. With
# `--lock rwlock`, which kazoo has not on the same nodes, readers may be there together, and order is that of writers. With
# `--lock semaphore`, likewise, as many may be there as it has leases, and no order is asked for.
# With `--lock multi` whoever has both of two locks, or the second one alone, is there.
# With `--lock latch` or `selector` the leader is there.
# Exit status: 0 all holds, 1 it does not, 2 usage, 4 something is missing.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

zk='' program='' peer=curator lock=mutex seconds=12 kills=4 out=''
while (($# > 1)); do
    case $1 in
    --zk) zk=$2 ;;
    --contender) program=$2 ;;
    --with) peer=$2 ;;
    --lock) lock=$2 ;;
    --seconds) seconds=$2 ;;
    --kills) kills=$2 ;;
    --out) out=$2 ;;
    *) break ;;
    esac
    shift 2
done
if (($# > 0)) || [[ -z $zk || -z $program || ($peer != curator && $peer != kazoo) ||
    ($lock != mutex && ! $lock-$peer =~ ^(rwlock|semaphore|multi|latch|selector)-curator$) ]]; then
    sed -n '5s/^# //p' "${BASH_SOURCE[0]}" >&2
    exit 2
fi
out=${out:-$(mktemp -d)}
room=$out/room
path=/lockstep/interop-$peer-$lock
case $lock in
mutex) mode=contend ;;
rwlock) mode=share ;;
semaphore) mode=lease ;;
multi) mode=several ;;
*) mode=$lock ;;
esac
rm -rf "$room"
mkdir -p "$room"

# ---- the contenders ----

jars=/usr/share/java
classpath=$out/classes
for jar in curator-recipes curator-framework curator-client guava failureaccess zookeeper zookeeper-jute slf4j-api slf4j-simple; do
    [[ -f $jars/$jar.jar ]] && classpath+=:$jars/$jar.jar
done

# Both exec: the process that is killed is the contender.
peer_says()
{
    if [[ $peer == curator ]]; then
        exec java -Xmx128m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dorg.slf4j.simpleLogger.defaultLogLevel=error \
            -cp "$classpath" CuratorContender "$zk" "$path" "$@"
    fi
    exec /usr/bin/python3 "$here/kazoo_contender.py" "$zk" "$path" "$@"
}

prepare()
{
    if [[ $peer == kazoo ]]; then
        /usr/bin/python3 -c 'import kazoo' 2>/dev/null || { echo 'run.sh: kazoo is missing (Debian: python3-kazoo)' >&2 && exit 4; }
        return
    fi
    command -v javac >/dev/null || { echo 'run.sh: javac is missing (Debian: default-jdk-headless)' >&2 && exit 4; }
    [[ -f $jars/curator-recipes.jar ]] || { echo 'run.sh: Curator is missing (Debian: libcurator-recipes-java)' >&2 && exit 4; }
    mkdir -p "$out/classes"
    javac -cp "$classpath" -d "$out/classes" "$here/CuratorContender.java"
}

declare -A pids=()

# launch NAME SECONDS
launch()
{
    case $1 in
    ours-*) "$program" "$zk" "$path" $mode "$room" "$1" "$2" & ;;
    *) (peer_says $mode "$room" "$1" "$2") & ;;
    esac
    pids[$1]=$!
}

stop_all()
{
    local name
    for name in "${!pids[@]}"; do
        kill -KILL "${pids[$name]}" 2>/dev/null || true
    done
}
trap stop_all EXIT

# ---- what must hold ----

# A contender that the machine keeps from running for longer than this loses its session, and with it the lock. If the next
# one finds it in the room, the lock has kept what it promises.
session_ms=2000

failed=0
wrong()
{
    echo "wrong: $*"
    failed=1
}

# Whoever was inside: with a token in the order of grants, or of a semaphore without.
log=$room/log
[[ $lock != semaphore ]] || log=$room/readers

entries()
{
    grep -c "^$1-" "$log" 2>/dev/null || true
}

judge()
{
    local changes overlaps outlived
    overlaps=$(cat "$room/overlaps" 2>/dev/null | awk -v most="$session_ms" '!/ met / || $(NF - 1) < most' || true)
    outlived=$(($(cat "$room/overlaps" 2>/dev/null | wc -l) - $(grep -c . <<<"$overlaps" || true)))
    [[ -z $overlaps ]] || wrong "another contender was in the room already:
$overlaps"
    [[ $lock == semaphore ]] || sort -c -n -k2,2 "$log" || wrong 'grants are not in the order in which the nodes were created'
    (($(entries ours) > 20 && $(entries "$peer") > 20)) || wrong 'one side was hardly ever inside'
    changes=$(awk '{ sub(/-.*/, "", $1); changes += $1 != last; last = $1 } END { print changes }' "$log")
    ((changes > 20)) || wrong "the lock went from one side to the other $changes times only"
    [[ $lock != rwlock ]] || echo "readers: ours $(grep -c '^ours-' "$room/readers"), $peer $(grep -c "^$peer-" "$room/readers")"
    echo "ours $(entries ours), $peer $(entries "$peer"), from one side to the other $changes, kills $kills," \
        "overlaps $(grep -c . <<<"$overlaps" || true), stays longer than a session's timeout $outlived"
}

# ---- the run ----

prepare
end=$((SECONDS + seconds))
names=(ours-1 "$peer-1" ours-2 "$peer-2")
for name in "${names[@]}"; do
    launch "$name" "$seconds"
done
for ((i = 0; i < kills; i++)); do
    sleep $((seconds / (kills + 1)))
    name=${names[i % ${#names[@]}]}
    kill -KILL "${pids[$name]}"
    wait "${pids[$name]}" 2>/dev/null || true
    launch "$name" $((end - SECONDS > 1 ? end - SECONDS : 1))
done
for name in "${names[@]}"; do
    wait "${pids[$name]}" || wrong "$name ended with status $?"
done
pids=()
judge
exit $failed
