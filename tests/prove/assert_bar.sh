# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# An empty line of the scenario is shorter than its bar. read_scenario() asserts that the line is long enough.
GROUP=trace
FILE=src/trace/file.c
EDIT='s/size_t skip = r->cursor\.size > 1 \? 2 : 1;/size_t skip = 2;/'
EXPECT='^trace\.file$'
