# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A key that its client gives another value stays one claim: a hand-over looks like a hold that goes on.
GROUP=coordredis
FILE=src/coordredis/key_holders.c
EDIT='s/ && share->value == next.value;/;/'
EXPECT='^coordredis\.searches$'
