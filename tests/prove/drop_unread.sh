# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A search does not look whether a list without its unread names makes a difference.
GROUP=explore
FILE=src/explore/self_check.c
EDIT='s/return !world_drop_unread\(search->run->world, action\) \|\|/return true ||/'
EXPECT='^explore\.distrust$'
