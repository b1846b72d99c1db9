# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Events that a stop still delivers are judged.
GROUP=cli
FILE=src/sim/observe.c
EDIT='s/if \(the_world\.stopping\)/if (false)/'
EXPECT='^cli\.scenarios$'
