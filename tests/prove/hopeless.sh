# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A replay believes that somebody is never served any more.
GROUP=cli
FILE=src/replay/hopeless_check.c
EDIT='s/return HOPELESS_NO;/return HOPELESS_YES;/'
EXPECT='^cli\.live$'
