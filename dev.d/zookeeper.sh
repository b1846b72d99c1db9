# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A private ZooKeeper server from Debian's packages: one Java process on a loopback port, with a data folder of its own.
# Sourced. zk_start FOLDER sets ZK_HOSTPORT and ZK_PID, zk_stop ends exactly that process.
#
#   LOCKSTEP_ZK_TICK_MS   the server's tickTime (default 200, so that short session timeouts are granted)
#   LOCKSTEP_ZK_JVM       further options for the Java machine, such as -Dznode.container.checkIntervalMs=500

ZK_PID='' ZK_HOSTPORT=''

help_zookeeper()
{
    cat <<'TEXT'
usage: ./dev zookeeper [--stop]

Starts a private ZooKeeper server (Debian's package, loopback, data and log below build/zookeeper/own) for a program of your
own, says where it is, and returns. The server goes on until ./dev zookeeper --stop ends it, and its data with it. A server
that runs already is named again.

examples:
  ./dev zookeeper
  ./dev zookeeper --stop
TEXT
}

readonly ZK_OWN=build/zookeeper/own

cmd_zookeeper()
{
    (($# <= 1)) && [[ ${1:---stop} == --stop ]] || usage_error "zookeeper: unexpected '${*: -1}', expected --stop or nothing"
    zk_find_own
    if [[ ${1:-} == --stop ]]; then
        [[ -n $ZK_PID ]] || { note "no server runs"; return; }
        kill "$ZK_PID"
        rm -rf "$ZK_OWN"
        note "stopped the server on $ZK_HOSTPORT"
        return
    fi
    if [[ -z $ZK_PID ]]; then
        source dev.d/setup.sh
        setup_groups run test
        zk_start "$ZK_OWN"
        disown "$ZK_PID"
        echo "$ZK_PID $ZK_HOSTPORT" >"$ZK_OWN/server.pid"
    fi
    note "a server runs on $ZK_HOSTPORT, pid $ZK_PID; its log is $ZK_OWN/server.log"
    note "for example: build/release/examples/critical_section $ZK_HOSTPORT"
    note "it ends with: ./dev zookeeper --stop"
}

# Finds the server that ./dev zookeeper has started, if it runs: another process may have its number by now.
zk_find_own()
{
    ZK_PID='' ZK_HOSTPORT=''
    [[ -f $ZK_OWN/server.pid ]] || return 0
    read -r ZK_PID ZK_HOSTPORT <"$ZK_OWN/server.pid"
    grep -qsF "$ROOT/$ZK_OWN/zoo.cfg" "/proc/$ZK_PID/cmdline" || ZK_PID=''
}

zk_start()
{
    local folder=$1 attempt port
    zk_require
    rm -rf "$folder"
    mkdir -p "$folder/data"
    folder=$(cd "$folder" && pwd)
    for attempt in 1 2 3 4 5 6 7 8; do
        # Below the range from which the kernel gives ports to outgoing connections.
        port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
        if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
            continue
        fi
        zk_launch "$folder" "$port"
        if zk_wait_ready "$folder" "$port"; then
            ZK_HOSTPORT=127.0.0.1:$port
            return 0
        fi
        zk_stop
    done
    echo "zookeeper: the server did not start; its log:" >&2
    tail -n 20 "$folder/server.log" >&2
    return 4
}

zk_require()
{
    local jar
    for jar in zookeeper slf4j-simple; do
        if [[ ! -f /usr/share/java/$jar.jar ]]; then
            echo "zookeeper: /usr/share/java/$jar.jar is missing; ./dev setup test installs it" >&2
            exit 4
        fi
    done
    if ! command -v java >/dev/null; then
        echo "zookeeper: java is missing; ./dev setup test installs it" >&2
        exit 4
    fi
}

# An administration server would open a port of its own; syncing to disk is for data that somebody needs tomorrow.
zk_launch()
{
    local folder=$1 port=$2 tick_ms=${LOCKSTEP_ZK_TICK_MS:-200}
    cat >"$folder/zoo.cfg" <<TEXT
tickTime=$tick_ms
dataDir=$folder/data
clientPort=$port
clientPortAddress=127.0.0.1
maxClientCnxns=0
minSessionTimeout=$((2 * tick_ms))
maxSessionTimeout=60000
admin.enableServer=false
4lw.commands.whitelist=conf,mntr,ruok,srvr
TEXT
    # shellcheck disable=SC2086
    java -Xmx256m -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Dzookeeper.forceSync=no -Dzookeeper.preAllocSize=1024 \
        -Dzookeeper.jmx.log4j.disable=true -Dzookeeper.extendedTypesEnabled=true \
        -Dorg.slf4j.simpleLogger.defaultLogLevel=warn ${LOCKSTEP_ZK_JVM:-} \
        -cp /usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar \
        org.apache.zookeeper.server.ZooKeeperServerMain "$folder/zoo.cfg" </dev/null >"$folder/server.log" 2>&1 &
    ZK_PID=$!
}

# Ready when the server on the port serves, and serves our folder: another one may have taken the port meanwhile.
zk_wait_ready()
{
    local folder=$1 port=$2 tries=300
    while ((tries-- > 0)); do
        kill -0 "$ZK_PID" 2>/dev/null || return 1
        if [[ $(zk_ask "$port" srvr) == *'Mode: standalone'* ]]; then
            [[ $(zk_ask "$port" conf) == *"$folder/data/"* ]]
            return
        fi
        sleep 0.05
    done
    return 1
}

# zk_ask PORT WORD: the answer to one of the server's four-letter words; nothing if nobody listens.
zk_ask()
{
    # The redirections are the inner shell's, so that a refused connection is silent.
    (
        exec 3<>"/dev/tcp/127.0.0.1/$1"
        printf '%s' "$2" >&3
        timeout 2 cat <&3
    ) 2>/dev/null || true
}

zk_stop()
{
    local tries=100
    [[ -n $ZK_PID ]] || return 0
    kill "$ZK_PID" 2>/dev/null || true
    while ((tries-- > 0)) && kill -0 "$ZK_PID" 2>/dev/null; do
        sleep 0.05
    done
    kill -KILL "$ZK_PID" 2>/dev/null || true
    wait "$ZK_PID" 2>/dev/null || true
    ZK_PID=''
}
