#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Two mutexes at once, ours and those of Curator's InterProcessMultiLock on the same paths, with kills. Each side sometimes takes the
# second one alone: whoever has it is alone in the room, by what is done there.
source "${BASH_SOURCE[0]%/*}/lib_interop.sh"
run=(examples/interop/run.sh --zk "$LOCKSTEP_ZK" --lock multi --with curator --seconds 30)

each_side_has_500 grants "$scratch/good" log "${run[@]}" --contender "$contender"

apart_is_found_out "${run[@]}"
exit $failed
