# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The parser takes durations that are longer than a day.
GROUP=scenario
FILE=src/scenario/values.c
EDIT='s/ && value <= DAY_MS . UNITS\[i\]\.ms//'
EXPECT='^scenario\.parse$'
