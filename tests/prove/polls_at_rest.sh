# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors
# A world is at rest though a poll would find something new.
GROUP=coord
FILE=src/sim/env.c
EDIT='s/timer_is\(timer, LS_TIMER_POLL\) \&\& !has_fired/timer_is(timer, LS_TIMER_POLL) \&\& timer_is_due(timer) \&\& has_fired/'
EXPECT='^coord\.register$'
