# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A component counts as fair only if it takes what its last state offers, whatever the others do.
GROUP=explore
FILE=src/explore/liveness_graph.c
EDIT='s/labels->word\[i\] \&= other->word\[i\];/labels->word[i] = other->word[i];/'
EXPECT='^explore\.graph$'
