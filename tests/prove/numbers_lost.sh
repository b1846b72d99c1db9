# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A number that two blocks lose at once still counts as present because of each other.
GROUP=sim
FILE=src/state/canon.c
EDIT='s/thrice\[i\] \|= twice\[i\]/thrice[i] |= present[i]/'
EXPECT='^sim\.ranks$'
