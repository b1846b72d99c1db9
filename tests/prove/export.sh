# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A regression test passes whatever its run shows.
GROUP=cli
FILE=src/replay/api.c
EDIT='s/result->verdict = LS_REPLAY_VIOLATED;/result->verdict = LS_REPLAY_HOLDS;/'
EXPECT='^cli\.export$'
