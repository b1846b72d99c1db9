# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

help_real()
{
    cat <<'TEXT'
usage: ./dev real [ARGUMENTS of examples/locked_counter]

Starts a private ZooKeeper server (Debian's package, loopback, data below build/), runs build/release/examples/
locked_counter against it with `--zk HOST:PORT` and the arguments, and stops the server. The processes guard a counter in a
file with the mutex of liblockstep.

examples:
  ./dev real
  ./dev real --help-program                the options of locked_counter
  ./dev real --no-lock                     without the lock: updates are lost, exit status 1
TEXT
}

cmd_real()
{
    source dev.d/setup.sh
    source dev.d/build.sh
    setup_groups run test
    step "build release" build_preset release ON example_locked_counter
    if [[ ${1:-} == --help-program ]]; then
        build/release/examples/locked_counter --help
        return
    fi
    source dev.d/zookeeper.sh
    trap zk_stop EXIT
    trap 'exit 143' TERM INT HUP
    zk_start build/zookeeper/real
    note "server on $ZK_HOSTPORT, pid $ZK_PID"
    local status=0
    LOCKSTEP_ZK=$ZK_HOSTPORT build/release/examples/locked_counter --zk "$ZK_HOSTPORT" "$@" || status=$?
    zk_stop
    return $status
}
