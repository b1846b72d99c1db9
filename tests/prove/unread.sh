# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The name before one's own counts as one that is not looked at.
GROUP=lock
FILE=src/lock/names.c
EDIT='s|list->data\[other\] != view.ahead|list->data[other] == view.ahead|'
EXPECT='^lock\.names$'
