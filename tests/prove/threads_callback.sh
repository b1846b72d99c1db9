# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Answers are told with the mutex held: a callback that calls in takes it twice.
GROUP=lock
FILE=src/lock/delivery.c
EDIT='/if \(!options \|\| !options->ops\)/,/^}/{/ls_env_(un)?lock/d}'
EXPECT='^lock\.threads$'
