# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A number that two blocks lose at once still counts as present because of each other.
GROUP=sim
FILE=src/base/canon.c
EDIT='s/if \(has_any\(&unclear\)\)/if (false \&\& has_any(\&unclear))/'
EXPECT='^sim\.ranks$'
