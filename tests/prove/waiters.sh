# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# An owner seems to wait as long as any owner of its process does.
GROUP=cli
FILE=src/sim/waiters.c
EDIT='s/bool its = waiter->all \|\|.*/bool its = true;/'
EXPECT='^cli\.live$'
