# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A fired watch is not told. move_up() asserts that the first event has taken all of its own.
GROUP=fakezk
FILE=src/fakezk/watch.c
EDIT='s/watch->fired == 1 \&\& watch->rec\.tag == table/watch->fired == 1 \&\& watch->rec.tag == table \&\& table != WATCH_EXIST/'
EXPECT='^fakezk\.watches$'
