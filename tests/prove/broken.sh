# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A broken recipe that deletes its node all the same.
GROUP=broken
FILE=src/broken/textbook.c
EDIT='s/if \(defects->never_deletes\)/if (false)/'
EXPECT='^broken\.broken$'
