# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Sessions of different owners are ranked as if they were of one.
GROUP=sim
FILE=src/state/canon.c
EDIT='s/return owner << OWNER_SHIFT \| \(1/return (1/'
EXPECT='^sim\.ranks$'
