# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A world without the instant of a loss still breaks links while something travels on them.
GROUP=explore
FILE=src/coordzk/ablation.c
EDIT="s/\{'b', breaks_in_flight\},/{'z', breaks_in_flight},/"
EXPECT='^explore\.choice_points$'
