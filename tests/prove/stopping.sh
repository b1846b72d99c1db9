# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Events that a stop still delivers are judged.
GROUP=cli
FILE=src/coordzk/events.c
EDIT='s/the_host->stopping\(\) \|\| from->code/from->code/'
EXPECT='^cli\.scenarios$'
