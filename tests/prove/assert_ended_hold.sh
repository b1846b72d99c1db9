# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A hold that has ended keeps its node. settle_claim() asserts that only a hold has one.
GROUP=check
FILE=src/check/ledger.c
EDIT='/^static void end_hold/,/^}/{/^    claim->czxid = 0;$/d}'
EXPECT='^check\.at_most_one_holder$'
