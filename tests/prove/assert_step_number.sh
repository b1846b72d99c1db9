# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A step has the number of the step before. before_action() asserts its number.
GROUP=scenario
FILE=src/scenario/run.c
EDIT='s/^    run->stats\.step = \+\+run->steps;$/    run->stats.step = run->steps++;/'
EXPECT='^scenario\.run$'
