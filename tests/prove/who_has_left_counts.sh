# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A process is blamed for a watch that is left over of an owner who has left the line.
GROUP=check
FILE=src/check/at_most_one_wakeup_per_release.c
EDIT='s/!table_get\(table, RECORD_LEFT, group_of\(context, lock\), process, 0\)/process >= 0/'
EXPECT='^check\.at_most_one_wakeup_per_release$'
