# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Of the numbers that grow, their order makes no difference when processes change their names.
GROUP=explore
FILE=src/state/canon_processes.c
EDIT='s/\(stands << OWNER_SHIFT \| rank_of/(stands << OWNER_SHIFT | 0u * rank_of/'
EXPECT='^explore\.symmetry$'
