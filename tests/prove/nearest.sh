# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Two letters that are swapped count as two mistakes.
GROUP=base
FILE=src/base/nearest.c
EDIT='s/i > 1 \&\& j > 1/i > 99 \&\& j > 1/'
EXPECT='^base\.nearest$'
