# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A replay that begins anew keeps the violations of the first time.
GROUP=replay
FILE=src/replay/replay.c
EDIT='s/^    run_forget\(run\);$//'
EXPECT='^replay\.stepper$'
