# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A session that is ended before its time counts like one whose time was up.
GROUP=check
FILE=src/check/belief_ends_in_time.c
EDIT='s/event->time_is_up != 1\)/event->time_is_up > 1)/'
EXPECT='^check\.(belief_ends_in_time|reference)$'
