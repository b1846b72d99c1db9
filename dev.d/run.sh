# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The main job.

# All but the searches that take minutes.
readonly SCENARIOS="scenarios/mutex scenarios/rwlock scenarios/semaphore scenarios/election scenarios/multi scenarios/regress \
scenarios/explore/*_2.scn"
# Of each search, in seconds: ten times what the longest one takes on a slow machine with two cores.
readonly SEARCH_SECONDS=900
# The recipe that is shown being caught, and the situation that catches it.
readonly CANARY_RECIPE=broken-no-protection
readonly CANARY_SCENARIO=scenarios/mutex/create_reply_lost.scn

help_run()
{
    cat <<'TEXT'
usage: ./dev run [ARGUMENTS of lockstep run]

Installs a compiler, cmake, ninja and the ZooKeeper C client if they are missing (no Java, no server), builds the
program and runs the failure scenarios of all locks on ZooKeeper, and searches with two clients. Then it shows one broken recipe
being caught.

examples:
  ./dev run                                    all scenarios, and one broken recipe
  ./dev run --seeds 1000                       1,000 random schedules of each, besides
  ./dev run --recipe broken-no-protection scenarios/mutex
TEXT
}

cmd_run()
{
    source dev.d/setup.sh
    source dev.d/build.sh
    setup_groups run
    step "build release" build_preset release OFF lockstep
    if (($# > 0)); then
        build/release/lockstep run "$@"
        return
    fi
    main_job
}

main_job()
{
    local status=0 closing output=build/run.out
    echo "${BOLD}==> lockstep run --max-time $SEARCH_SECONDS $SCENARIOS${PLAIN}"
    set +e
    # shellcheck disable=SC2086 # several paths
    build/release/lockstep run --max-time $SEARCH_SECONDS $SCENARIOS | tee "$output"
    status=${PIPESTATUS[0]}
    set -e
    closing=$(tail -n 1 "$output")
    ((status == 0)) || return "$status"
    show_one_caught || return $EXIT_FAILED
    echo
    echo "$closing"
}

# So that the reader has seen red once: a harness that never complains proves nothing.
show_one_caught()
{
    local status=0
    echo
    echo "${BOLD}==> the same with a recipe that is wrong on purpose${PLAIN}"
    echo "\$ build/release/lockstep run --recipe $CANARY_RECIPE $CANARY_SCENARIO"
    build/release/lockstep run --recipe "$CANARY_RECIPE" "$CANARY_SCENARIO" || status=$?
    if ((status != 1)); then
        echo "dev: $CANARY_RECIPE was not caught: expected exit status 1, found $status" >&2
        return 1
    fi
    note "caught, as it must be: the failure above belongs to $CANARY_RECIPE, not to the lock of this project."
}
