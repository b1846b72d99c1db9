# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A script is changed, and its digest is not.
GROUP=lockredis
FILE=src/lockredis/request.c
EDIT="s/PX',ARGV\[3\]/PX', ARGV[3]/"
EXPECT='^lockredis\.scripts$'
