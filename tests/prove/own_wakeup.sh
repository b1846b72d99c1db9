# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A process that watches a node of its own counts as one that waits for its deletion.
GROUP=check
FILE=src/check/at_most_one_wakeup_per_release.c
EDIT='s/watch->czxid == gone->czxid \&\& watch->by_session != gone->session/watch->czxid == gone->czxid/'
EXPECT='^check\.at_most_one_wakeup_per_release$'
