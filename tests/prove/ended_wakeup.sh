# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The end of a session wakes the process of that session.
GROUP=check
FILE=src/check/at_most_one_wakeup_per_release.c
EDIT='s/gone->owner == 0 \&\& watch->by_session/gone->owner == 255 \&\& watch->by_session/'
EXPECT='^check\.at_most_one_wakeup_per_release$'
