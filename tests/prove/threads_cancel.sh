# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A cancel forgets the requests that are under way, and the claim is freed under their completions.
GROUP=lock
FILE=src/lock/mutex.c
EDIT='/^void lock_mutex_fail/,/^}/s/lock_mutex_go\(claim\)/claim->in_flight = 0, lock_mutex_go(claim)/'
EXPECT='^lock\.threads$'
