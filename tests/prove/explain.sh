# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A search of futures takes a state for known behind which it has not looked: its script counts for nothing.
GROUP=explain
FILE=src/explain/futures.c
EDIT='s/if \(!is_new\(f, key\) \|\| is_limited\(f\)\)/if (!is_new(f, key) || f->depth > 2 || is_limited(f))/'
EXPECT='^explain\.five$'
