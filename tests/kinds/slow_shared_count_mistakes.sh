#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A semaphore that follows a shared count: src/lock/count.c and its recipe with one mistake each. Each mistake is caught by the
# property that promises the contrary, and the same build without a mistake passes.
source "$LOCKSTEP_SOURCE_DIR/tests/kinds/lib_mistakes.sh"
recipe=ls_recipe_semaphore_shared
worlds=tests/kinds/shared_count

build NONE "" ""
for name in up_and_down expiry loss close memory; do
    expect 0 "1 passed" check NONE $worlds/$name.scn
done

# A change is heard, and the count is not read again.
caught DEAF no_lost_wakeup $worlds/up_and_down.scn count.c \
    's/(void lock_count_hear\(.*?)    lock_count_go\(session\);\n/$1/s'

# The count is read before the watch is set: a change in between is missed.
caught READ_FIRST no_lost_wakeup $worlds/up_and_down.scn count.c \
    's/(int rc = )(zoo_awexists\([^;]*;)(.*?count->in_flight \|= )EXISTS;\n\s*rc = (zoo_aget\([^;]*;)(.*?)GET : 0/$1$4$3GET;\n rc = $2$5EXISTS : 0/s'

# Acquires that wait do not look again.
caught ASLEEP no_lost_wakeup $worlds/memory.scn semaphore.c 's/(place->largest = capacity;\n)    look_again[^;]*;/$1/'

# A read that is lost with the link, behind a watch that stands, is not repeated.
caught ONE_TRY no_lost_wakeup $worlds/loss.scn count.c 's/count->fresh = rc == ZOK [^;]*;/count->fresh = 1;/'

# A refused request is repeated at once, and so is one of a session that is over.
caught AT_ONCE bounded_work $worlds/expiry.scn count.c 's/    count->retry = 1;\n//'

# A closed semaphore leaves its watch.
caught WATCH_LEFT no_watch_left_behind $worlds/close.scn count.c 's/if \(is_shared\(count\)\)/if (true)/'

# The room for the watch is not given back.
caught ROOM_LEFT contract_is_kept $worlds/close.scn count.c 's/    session->reserved -= count->size;\n//'

# The program does not hear of one capacity.
caught UNTOLD at_most_one_holder $worlds/up_and_down.scn count.c 's/count->tell = 1;/count->tell = capacity != 2;/'
finish
