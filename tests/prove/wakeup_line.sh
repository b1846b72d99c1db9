# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Whoever watches the child list is not counted among those that a deletion wakes.
GROUP=check
FILE=src/check/at_most_one_wakeup_per_release.c
EDIT='s/watch->a == czxid \|\| watch->owner == EVENT_WATCH_PARENT/watch->a == czxid/'
EXPECT='^check\.at_most_one_wakeup_per_release$'
