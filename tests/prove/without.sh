# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A world without the instant of a loss still breaks links while something travels on them.
GROUP=explore
FILE=src/sim/without.c
EDIT="s/\(lacks\('b'\) && /(lacks('z') \&\& /"
EXPECT='^explore\.choice_points$'
