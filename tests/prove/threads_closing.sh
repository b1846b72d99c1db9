# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A mutex that is being closed takes acquires: their claims lose their mutex.
GROUP=lock
FILE=src/lock/acquire.c
EDIT='s/if \(mutex->closing \|\| session->ending/if (session->ending/'
EXPECT='^lock\.threads$'
