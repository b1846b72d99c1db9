# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A process that ran out of memory when it took its watch back is blamed for the wake-up.
GROUP=check
FILE=src/check/at_most_one_wakeup_per_release.c
EDIT='s/code == CODE_FAIL_ALLOC/code < 0/'
EXPECT='^check\.at_most_one_wakeup_per_release$'
