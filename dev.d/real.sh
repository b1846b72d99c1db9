# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

help_real()
{
    cat <<'TEXT'
usage: ./dev real [-- ARGUMENTS of examples/locked_counter]
       ./dev real redis [--minutes N | --seconds N] [--seed N] [--lease-ms N] [--break belief|tokens|memory]

Starts a private ZooKeeper server (Debian's package, loopback, data below build/) and runs build/release/examples/
locked_counter against it, in which processes guard a counter in a file with the mutex of liblockstep while they are
killed and stopped. Without arguments, in about a minute:

  strict        stops are shorter than the margin, kills come at any time: nothing lost, nobody inside twice
  long stops    stops are longer than the session: two may be inside, the counter's own check of the fencing token
                refuses the older one, nothing lost
  no lock       updates are lost, and the program must say so

The last line is `N passed, N failed`. Counters and journals stay in build/real/.

redis: the mutex of liblockstep_redis on a private Redis server (loopback, each write synced to the disk), for a minute unless a time is
given. Four processes take it in turn, and count in a file that compares fencing tokens. They are killed, and stopped for up to two leases;
connections are cut, and the server is stopped and restarted. No update is lost, no two holders believe at once, each call ends by its
deadline, the lock is granted until the end, and a dead holder leaves nothing behind after its lease. The first line has the seed,
which decides what is done; when it comes depends on the machine. The data stay in build/real/redis/.

--break plants a mistake, and the run must end with exit status 1. belief: holders do not ask whether they hold. tokens: the file takes
every write. memory: the server keeps nothing when it restarts.

examples:
  ./dev real
  ./dev real -- --long-stops --seed 7      one run of your own
  ./dev real -- --no-lock                  without the lock: updates are lost, exit status 1
  ./dev real --help-program                the options of locked_counter
  ./dev real redis --minutes 10            the mutex on Redis
  ./dev real redis --seconds 20 --break belief
TEXT
}

readonly REAL_PROGRAM=build/release/examples/locked_counter REAL_OUT=build/real
REAL_PASSED=0 REAL_FAILED=0

cmd_real()
{
    case ${1:-} in
    '' | --help-program) ;;
    --) shift ;;
    redis)
        shift
        real_redis "$@"
        return
        ;;
    *) usage_error "real: unexpected '$1', expected redis, or -- before the arguments of locked_counter" ;;
    esac
    source dev.d/setup.sh
    source dev.d/build.sh
    setup_groups run test
    step "build release" build_preset release ON example_locked_counter
    if [[ ${1:-} == --help-program ]]; then
        "$REAL_PROGRAM" --help
        return
    fi
    source dev.d/zookeeper.sh
    trap zk_stop EXIT
    trap 'exit 143' TERM INT HUP
    zk_start build/zookeeper/real
    note "server on $ZK_HOSTPORT, pid $ZK_PID"
    if (($# > 0)); then
        "$REAL_PROGRAM" --zk "$ZK_HOSTPORT" "$@"
        return
    fi
    real_runs
}

real_runs()
{
    mkdir -p "$REAL_OUT"
    real_run "strict run" 0 strict
    real_run "long-stop run" 0 long-stops
    real_run "the same without the lock: it must be told that updates are lost" 1 no-lock
    echo "$REAL_PASSED passed, $REAL_FAILED failed"
    ((REAL_FAILED == 0)) || exit $EXIT_FAILED
}

# real_run TITLE STATUS MODE: a run passes if it ends with that status.
real_run()
{
    local title=$1 expected=$2 mode=$3 status=0
    step "$title" real_run_ends_with "$expected" "$mode" || status=$?
    if ((status == 0)); then
        REAL_PASSED=$((REAL_PASSED + 1))
    else
        REAL_FAILED=$((REAL_FAILED + 1))
    fi
    ((status != EXIT_ENVIRONMENT)) || exit $EXIT_ENVIRONMENT
}

real_run_ends_with()
{
    local expected=$1 mode=$2 status=0
    "$REAL_PROGRAM" --zk "$ZK_HOSTPORT" "--$mode" --out "$REAL_OUT/$mode" || status=$?
    if ((status == expected)); then
        return 0
    fi
    note "expected exit status $expected, found $status"
    ((status != EXIT_ENVIRONMENT)) || return $EXIT_ENVIRONMENT
    return $EXIT_FAILED
}

# ---- Redis ----

readonly REAL_REDIS_PROGRAM=build/release/tests/realredis/storm REAL_REDIS_OUT=build/real/redis

real_redis()
{
    source dev.d/setup.sh
    source dev.d/build.sh
    setup_groups run test redis
    step "build release" build_preset release ON realredis_storm
    rm -rf "$REAL_REDIS_OUT"
    mkdir -p "$REAL_REDIS_OUT"
    "$REAL_REDIS_PROGRAM" "$@" "$REAL_REDIS_OUT"
}
