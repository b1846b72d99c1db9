# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The best run and the next trial share their choices. swap_in() asserts that they do not.
GROUP=replay
FILE=src/replay/shrink.c
EDIT='/^    s->trial = list;$/d; s/^    struct attempt_list list = s->best;$//'
EXPECT='^replay\.shrink$'
