# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Each group begins at the first command of the file. do_command() asserts that the command is of the group.
GROUP=scenario
FILE=src/scenario/direct.c
EDIT='s/command\[group->first \+ i\]/command[i]/'
EXPECT='^scenario\.run$'
