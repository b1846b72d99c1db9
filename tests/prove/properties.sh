# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# States are taken for one though a property of somebody else's has not shown its numbers.
GROUP=cli
FILE=src/scenario/run.c
EDIT='s/check_set_shows_numbers\(&run->set\) \? show_judges : NULL/show_judges/'
EXPECT='^cli\.property$'
