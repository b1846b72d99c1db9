# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A pool believes that its large pieces have more room than they have.
GROUP=base
FILE=src/base/pool.c
EDIT='s/pool->left = size;/pool->left = 2 * size;/'
EXPECT='^base\.pool$'
