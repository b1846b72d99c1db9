# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A mutex that is closed while it is held forgets its node: nobody ever deletes it.
GROUP=cli
FILE=src/lock/acquire.c
EDIT='/claim->rc = LS_ECLOSED; /{n;s/lock_mutex_go\(claim\);/claim->named = 0, lock_mutex_go(claim);/}'
EXPECT='^cli\.scenarios$'
