# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A process is blamed for a watch of which it was told behind the end of the wait that had asked for it.
GROUP=check
FILE=src/check/at_most_one_wakeup_per_release.c
EDIT='s/event->kind == EVENT_WATCH_SET && end_late/event->zxid == 0 \&\& end_late/'
EXPECT='^check\.at_most_one_wakeup_per_release$'
