# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What goes before all others belongs to a process that has nothing to do by itself.
GROUP=explore
FILE=src/sim/independence.c
EDIT='s/1 (.. )picture\.acts/1 \1false/'
EXPECT='^explore\.partial$'
