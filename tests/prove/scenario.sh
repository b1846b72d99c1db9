# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Seconds are taken for milliseconds.
GROUP=scenario
FILE=src/scenario/values.c
EDIT='s/\{"s", 1000\}/{"s", 1}/'
EXPECT='^scenario\.'
