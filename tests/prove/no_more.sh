# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What was on its way for those who gave up is expected for ever.
GROUP=check
FILE=src/check/bounded_work.c
EDIT='s/^        creates->depth = 0;$//'
EXPECT='^check\.bounded_work$'
