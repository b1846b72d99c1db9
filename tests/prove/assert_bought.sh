# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A list of bought faults has more of a kind than were bought. world_buy() asserts that it has not.
GROUP=explore
FILE=src/explore/subsume.c
EDIT='s/bought\[fault\] = all\[fault\];/bought[fault] = (uint8_t)(all[fault] + 1);/'
EXPECT='^explore\.orders$'
