# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Whoever watches the child list is not counted among those that a deletion wakes.
GROUP=check
FILE=src/check/at_most_one_wakeup_per_release.c
EDIT='s/\(watch->owner == EVENT_WATCH_PARENT && gone/(watch->owner == EVENT_WATCH_OTHER \&\& gone/'
EXPECT='^check\.at_most_one_wakeup_per_release$'
