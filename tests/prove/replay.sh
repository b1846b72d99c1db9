# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A label that is not possible is passed over.
GROUP=replay
FILE=src/replay/replay.c
EDIT='s/(run_apply_label\(&replay->run, label, &why\)) != 0/\1 > 0/'
EXPECT='^replay\.replay$'
