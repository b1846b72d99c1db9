# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors
# A world is at rest though a poll would find something new.
GROUP=coord
FILE=src/sim/env.c
EDIT='s/timer_is_work\(timer\) && !has_to_wait/timer_is_work(timer) \&\& has_to_wait/'
EXPECT='^coord\.register$'
