# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Of the numbers that grow, their order makes no difference when processes change their names.
GROUP=explore
FILE=src/base/symmetry.c
EDIT='s/\(stands << OWNER_SHIFT \| rank_of\(canon, &value\[padded\]\)\)/(stands << OWNER_SHIFT)/'
EXPECT='^explore\.symmetry$'
