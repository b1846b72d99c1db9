#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The private server of dev.d/zookeeper.sh: it listens on loopback alone, two of them do not meet, the command's exit
# status comes through, and nothing is left running.
set -euo pipefail
wrapper=$LOCKSTEP_SOURCE_DIR/dev.d/with_zookeeper
folder=$LOCKSTEP_BUILD_DIR/zookeeper/house

failed=0
wrong()
{
    echo "$*"
    failed=1
}

# Inside: ask both servers, print the process ids, leave with a status of its own.
inner='
    source "$1/dev.d/zookeeper.sh"
    zk_start "$2" || exit
    trap zk_stop EXIT
    [[ $LOCKSTEP_ZK != "$ZK_HOSTPORT" ]] || exit 10
    [[ $(zk_ask "${LOCKSTEP_ZK#*:}" ruok) == imok && $(zk_ask "${ZK_HOSTPORT#*:}" ruok) == imok ]] || exit 11
    port=$(printf "%04X" "${ZK_HOSTPORT#*:}")
    if grep -hE ":$port [0-9A-F]+:0000 0A" /proc/net/tcp /proc/net/tcp6 | grep -vE " (0100007F|0000000000000000FFFF00000100007F):"; then
        exit 12
    fi
    echo "pids $LOCKSTEP_ZK_PID $ZK_PID"
    exit 7'
status=0
output=$(bash "$wrapper" "$folder/first" bash -c "$inner" inner "$LOCKSTEP_SOURCE_DIR" "$folder/second") || status=$?
[[ $status == 7 ]] || wrong "expected exit status 7, found $status: $output"
[[ $output =~ pids\ ([0-9]+)\ ([0-9]+) ]] || wrong "no process ids in: $output"
for pid in "${BASH_REMATCH[@]:1}"; do
    if kill -0 "$pid" 2>/dev/null; then
        wrong "the server $pid is still running"
    fi
done
exit $failed
