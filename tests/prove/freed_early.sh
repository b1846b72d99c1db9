# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A release may be told as done while its node stands.
GROUP=check
FILE=src/check/release_matches_acquire.c
EDIT='s/bool done = event->rc == 0/bool done = event->rc > 0/'
EXPECT='^check\.(release_matches_acquire|reference|queued)$'
