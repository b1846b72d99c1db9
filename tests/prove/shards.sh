# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A layer that nobody has searched counts as complete.
GROUP=cli
FILE=src/explore/merge_parts.c
EDIT='s/return part != NULL \&\& part->verdict == VERDICT_HOLDS \&\& part->exhausted;/return part == NULL || part->exhausted;/'
EXPECT='^cli\.shards$'
