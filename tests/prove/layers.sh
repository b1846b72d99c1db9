# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The ground includes the front. The line never reaches the compiler, but it is there for everybody to read.
GROUP=house
FILE=src/base/arena.c
EDIT='$a #if 0\n#include "cli/options.h"\n#endif'
EXPECT='^house\.layers$'
