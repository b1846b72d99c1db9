# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Threads and owners that a program numbers are counted alike.
GROUP=lock
FILE=include/lockstep/env.h
EDIT='s/^#define LS_ENV_THREAD .*/#define LS_ENV_THREAD UINT64_C(0)/'
EXPECT='^lock\.threads$'
