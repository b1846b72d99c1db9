# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A run that drifts from its trace goes on.
GROUP=replay
FILE=src/replay/replay.c
EDIT='s/return drifted\(replay, index, why\);/return REPLAY_HOLDS;/'
EXPECT='^replay\.'
