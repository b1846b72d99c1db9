# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A deadline that is not up yet counts as one that is.
GROUP=check
FILE=src/check/answers_have_reasons.c
EDIT='s/event->now_ms < answer->deadline_ms\)/event->now_ms < 0)/'
EXPECT='^check\.(answers_have_reasons|reference)$'
