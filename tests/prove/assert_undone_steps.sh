# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Steps that are undone stay in the list. follow() asserts that the list has the steps of the run.
GROUP=replay
FILE=src/replay/shrink_attempt.c
EDIT='/^        attempt->out->count = count;$/d'
EXPECT='^replay\.shrink$'
