#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The last command of examples/interop/README.md, with each of the two.
# Our lock, Curator's and kazoo's exclude each other on one path, with kills; and ours and Curator's name the same contenders in
# the same order among children of other kinds, and each hears when the other asks it to give the lock back.
source "${BASH_SOURCE[0]%/*}/lib_interop.sh"
/usr/bin/python3 -c 'import kazoo' 2>/dev/null || skip

ours()
{
    timeout 60 "$contender" "$LOCKSTEP_ZK" "$@"
}

curator()
{
    run_curator "$scratch/curator/classes" "$@"
}

# revoke HOLDER ASKER: who holds the lock gives it back when the other one asks.
revoke()
{
    local tries=200 status=0
    rm -f "$scratch/holder" # the last one's would say "held"
    $1 "/lockstep/revoke-$1" yield >"$scratch/holder" &
    while ((tries-- > 0)) && ! grep -qs held "$scratch/holder"; do
        sleep 0.1
    done
    $2 "/lockstep/revoke-$1" ask >"$scratch/asker" || status=$?
    if [[ $status != 0 || $(<"$scratch/asker") != 'got it' ]]; then
        echo "$2 does not get the lock that $1 holds"
        failed=1
        kill $! 2>/dev/null || true
    fi
    wait $! || status=$?
    [[ $status == 0 && $(tail -n 1 "$scratch/holder") == 'given back' ]] || { echo "$1 does not hear of $2" && failed=1; }
}

for peer in curator kazoo; do
    examples/interop/run.sh --zk "$LOCKSTEP_ZK" --contender "$contender" --with $peer --out "$scratch/$peer" || failed=1
done

# Who contends without the lock is found out.
apart_is_found_out examples/interop/run.sh --zk "$LOCKSTEP_ZK" --with kazoo

/usr/bin/python3 - "$LOCKSTEP_ZK" <<'TEXT'
import sys
from kazoo.client import KazooClient

client = KazooClient(hosts=sys.argv[1])
client.start()
uuid = "11111111-2222-4333-8444-555555555555"
for name in ("content", "Z", "lock-0000000005", "write-lock-0000000003", "_c_%s-lock-0000000004" % uuid,
             "lock-lock-0000000001", "_c_%s-lock-0000000010" % uuid, "x-lock-000000002", "00"):
    client.create("/lockstep/children/" + name, b"", makepath=True)
client.stop()
TEXT
ours /lockstep/children list >"$scratch/ours"
curator /lockstep/children list >"$scratch/theirs"
if [[ $(wc -l <"$scratch/ours") != 5 ]] ||
    ! diff "$scratch/ours" <(grep -E 'lock-[0-9]{10}$' "$scratch/theirs"); then
    echo 'contenders in order, ours and theirs:'
    paste "$scratch/ours" "$scratch/theirs"
    failed=1
fi

revoke ours curator
revoke curator ours
revoke ours ours
exit $failed
