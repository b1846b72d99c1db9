#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Readers and writers of ours and of Curator's InterProcessReadWriteLock on one path, with kills: no writer is in the room with
# anybody else, by what they do there. Our writers sometimes stay as readers.
source "${BASH_SOURCE[0]%/*}/lib_interop.sh"
run=(examples/interop/run.sh --zk "$LOCKSTEP_ZK" --lock rwlock --with curator --seconds 30)

each_side_has_500 grants "$scratch/good" 'log readers' "${run[@]}" --contender "$contender"

apart_is_found_out "${run[@]}"
exit $failed
