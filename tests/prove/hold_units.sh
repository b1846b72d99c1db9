# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A hold of several units may have fewer nodes.
GROUP=check
FILE=src/check/at_most_one_holder.c
EDIT='s/if \(found < units\)/if (found < 0)/'
EXPECT='^check\.queued$'
