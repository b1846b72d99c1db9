# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Events that a stop still delivers are judged.
GROUP=cli
FILE=src/sim/observe.c
EDIT='s/the_world\.stopping \|\| from->code/from->code/'
EXPECT='^cli\.scenarios$'
