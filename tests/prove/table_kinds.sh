# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The judges' table forgets that it has records of a kind when one of several is dropped.
GROUP=check
FILE=src/check/record_table.c
EDIT='s/if \(is_only_one\(table, record\)\)$/if (is_only_one(table, record) || true)/'
EXPECT='^check\.table$'
