# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What was created for those who have given up counts for those who wait.
GROUP=check
FILE=src/check/bounded_work.c
EDIT='s/^        if \(event->kind == EVENT_GRANTED\)$/        if (event->kind != EVENT_FREED)/'
EXPECT='^check\.bounded_work$'
