# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The end of a process's own node counts as a wake-up like any other.
GROUP=check
FILE=src/check/at_most_one_wakeup_per_release.c
EDIT='s/own = event->owner != 0/own = event->owner == EVENT_PROCESS_NONE/'
EXPECT='^check\.at_most_one_wakeup_per_release$'
