# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A waiter that gives up takes the watch of a holder of its own process along.
GROUP=lock
FILE=src/lock/requests.c
EDIT='s/bool has_watch = claim->ear.*/bool has_watch = false;/'
EXPECT='^lock\.revoke$'
