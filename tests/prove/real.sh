# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The guarded file takes every fencing token, however old.
GROUP=real
FILE=src/real/resource.c
EDIT='s/return !resource->fenced \|\| token >= now->token;/return !resource->fenced || token >= now->token || token > 0;/'
EXPECT='^real\.long_stops$'
