# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The record behind a dropped one is not looked at. drop_matching() asserts that it looks at each record.
GROUP=check
FILE=src/check/record_table.c
EDIT='/^        else$/{N;s/^.*\n    (.*)$/\1/}'
EXPECT='^check\.table$'
