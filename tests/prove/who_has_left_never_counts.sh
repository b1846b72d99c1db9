# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A process that has once left the line is never counted again.
GROUP=check
FILE=src/check/at_most_one_wakeup_per_release.c
EDIT='s/if \(!watches_others\(table, context, lock, process\)\)/if (!watches_others(table, context, lock, process) \&\& lock < 0)/'
EXPECT='^check\.at_most_one_wakeup_per_release$'
