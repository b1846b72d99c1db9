#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Leases of ours and of Curator's InterProcessSemaphoreV2 on one path, with kills: never are more in the room than there are leases, by
# what they do there. Ours sometimes take two leases at once.
source "${BASH_SOURCE[0]%/*}/lib_interop.sh"
run=(examples/interop/run.sh --zk "$LOCKSTEP_ZK" --lock semaphore --with curator --seconds 30)

each_side_has_500 grants "$scratch/good" readers "${run[@]}" --contender "$contender"

apart_is_found_out "${run[@]}"
exit $failed
