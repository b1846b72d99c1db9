# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A function of a public header is not exported: programs would build and not link.
GROUP=house
FILE=include/lockstep/version.h
EDIT='s/visibility push\(default\)/visibility push(hidden)/'
EXPECT='^house\.exports$'
