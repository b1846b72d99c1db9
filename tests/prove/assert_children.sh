# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A deleted child still counts. commit_operator_delete() asserts that its node has no children.
GROUP=fakezk
FILE=src/fakezk/tree.c
EDIT='s/^ +parent->stat\.children--;$//'
EXPECT='^fakezk\.create$'
