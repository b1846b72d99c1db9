# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Between the look at the answer and the sleep the mutex is dropped: the answer's notification is missed (Z67).
GROUP=lock
FILE=src/lock/blocking.c
EDIT='/while \(!call->done\)/,/ls_env_wait/s/ls_env_wait\(/ls_env_unlock(env), ls_env_lock(env), ls_env_wait(/'
EXPECT='^lock\.threads$'
