# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Who does not queue passes over those who do.
GROUP=check
FILE=src/check/granted_in_order.c
EDIT='s/\(!context->queues \|\| unplaced\)/!context->queues/'
EXPECT='^check\.queued$'
