#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Candidates of ours and of Curator's LeaderLatch, or LeaderSelector, on one path, with kills: there is one leader at a time, by what
# they do. Each side names the leader and the candidates of the other.
source "${BASH_SOURCE[0]%/*}/lib_interop.sh"

ours()
{
    timeout 60 "$contender" "$LOCKSTEP_ZK" "$@"
}

curator()
{
    run_curator "$scratch/latch/classes" "$@"
}

# hold SIDE PATH STYLE: it leads until the test closes its input.
hold()
{
    local tries=300
    mkfifo "$scratch/input"
    $1 "$2" "hold-$3" <"$scratch/input" >"$scratch/holder" &
    exec 9>"$scratch/input"
    while ((tries-- > 0)) && ! grep -q leads "$scratch/holder"; do
        sleep 0.1
    done
}

let_go()
{
    local status=0
    exec 9>&-
    rm "$scratch/input"
    wait $! || status=$?
    [[ $status == 0 ]] || { echo "a leader ends with status $status" && failed=1; }
}

# named STYLE LEADER ASKER
named()
{
    local path=/lockstep/leader-$1-$2-$3
    hold "$2" "$path" "$1"
    $3 "$path" "who-$1" >"$scratch/who" || true
    let_go
    if [[ $(<"$scratch/who") != "$2"$'\n'"$2" ]]; then
        echo "$1: $3 is to name $2 as the leader and the only candidate, found:"
        cat "$scratch/who"
        failed=1
    fi
}

for style in latch selector; do
    run=(examples/interop/run.sh --zk "$LOCKSTEP_ZK" --lock $style --with curator --seconds 30)
    each_side_has_500 "terms ($style)" "$scratch/$style" log "${run[@]}" --contender "$contender"
    named $style ours curator
    named $style curator ours
done

apart_is_found_out "${run[@]}"
exit $failed
