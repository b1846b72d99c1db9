# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Once an owner has given up, whatever its process begins to watch next is taken for his.
GROUP=check
FILE=src/check/at_most_one_wakeup_per_release.c
EDIT='s/^        table_drop_process\(table, RECORD_LATE, event->process\);/        ;/'
EXPECT='^check\.at_most_one_wakeup_per_release$'
