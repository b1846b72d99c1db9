# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A holder believes for twice the length of its lease.
GROUP=realredis
FILE=src/lockredis/lock.c
EDIT='s|/ 10 \* 9;|* 2;|'
EXPECT='^realredis\.(mutex|belief)$'
