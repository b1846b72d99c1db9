# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Nodes are kept one place behind their own. remember_node() asserts the place.
GROUP=scenario
FILE=src/scenario/narrate.c
EDIT='s/narrator->nodes\+\+ % NODES\]/++narrator->nodes % NODES]/'
EXPECT='^scenario\.narrate$'
