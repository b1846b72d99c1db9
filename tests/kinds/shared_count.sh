#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The recipe semaphore-shared: each process knows the count at rest, also if memory was short. slow_shared_count_mistakes.sh has more
# worlds, and mistakes.
source "$LOCKSTEP_SOURCE_DIR/tests/kinds/lib_mistakes.sh"
recipe=ls_recipe_semaphore_shared

expect 0 "1 passed" "$LOCKSTEP" check --no-shrink --out "$scratch" --recipe semaphore-shared tests/kinds/shared_count/memory.scn
# The next ZooKeeper session does not read the count. At rest the judges compare what a process knows with the node.
caught ONE_SESSION no_lost_wakeup tests/kinds/shared_count/expiry.scn session.c 's/(go_anew\);\n)    lock_count_again\(session\);/$1/'
finish
