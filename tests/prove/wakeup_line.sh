# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Whoever watches the child list is not counted among those that a deletion wakes.
GROUP=check
FILE=src/check/at_most_one_wakeup_per_release.c
EDIT='s/\(watch->owner == EVENT_WATCH_PARENT && watch/(watch->owner == EVENT_WATCH_OTHER \&\& watch/'
EXPECT='^check\.at_most_one_wakeup_per_release$'
