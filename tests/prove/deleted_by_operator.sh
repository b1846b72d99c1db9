# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A delete by the operator counts like one by a process.
GROUP=check
FILE=src/check/state.h
EDIT='s/event->owner != 0 && event->owner != EVENT_BY_OPERATOR/event->owner != 0/'
EXPECT='^check\.(hold_keeps_its_node|reference)$'
