# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A process whose acquire has failed seems to wait for a node that queues. pass_over() asserts that such nodes
# exist.
GROUP=check
FILE=src/check/granted_in_order.c
EDIT='/^static void observe_failed/,/^}/s/PLACE_UNCLEAN/PLACE_WANTED/'
EXPECT='^check\.granted_in_order$'
