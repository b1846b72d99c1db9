# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What can happen after the last fault is left out of the graph where a fault was the last one: nobody looks behind it.
GROUP=cli
FILE=src/explore/liveness_states.c
EDIT='/bool is_last = noted/,/^}/s/    return end_faults\(c, state, ended, &fingerprint\) &&/    if (is_last)\n        return true;\n&/'
EXPECT='^cli\.live$'
