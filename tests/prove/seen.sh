# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A watch that is set again is told of a change that never was, where what a client has seen is not noted.
GROUP=fakezk
FILE=src/fakezk/link.c
EDIT='s/if \(!fakezk_seen_matters\(\)\)/if (fakezk_seen_matters())/'
EXPECT='^fakezk\.limits$'
