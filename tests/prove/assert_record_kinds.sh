# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A table still says that it has records of a kind whose last one is gone. table_first() asserts that there is
# one.
GROUP=check
FILE=src/check/record_table.c
EDIT='s/table->kinds \&= ~\(UINT64_C\(1\) << record->kind\);/(void)0;/'
EXPECT='^check\.table$'
