# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A renewal by a former server keeps the lease at its successor.
GROUP=coordredis
FILE=src/coordredis/key_holders.c
EDIT='s/        share->misled = 1;/        share->misled = 0;/'
EXPECT='^coordredis\.networks$'
