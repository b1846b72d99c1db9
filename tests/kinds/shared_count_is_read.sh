#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# At rest the judges compare the capacity that a process knows with the contents of the count's node. slow_shared_count_mistakes.sh
# has more mistakes.
source "$LOCKSTEP_SOURCE_DIR/tests/kinds/lib_mistakes.sh"
recipe=ls_recipe_semaphore_shared

# The next ZooKeeper session does not read the count.
caught ONE_SESSION no_lost_wakeup tests/kinds/shared_count/expiry.scn session.c 's/(go_anew\);\n)    lock_count_again\(session\);/$1/'
finish
