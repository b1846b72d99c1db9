# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A swarm may do all that the budgets allow, whatever its seed has drawn.
GROUP=scenario
FILE=src/scenario/random.c
EDIT='s/c->drawn\[fault\] \|\|/9 ||/'
EXPECT='^scenario\.strategy$'
