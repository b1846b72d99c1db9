# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The judges see violations and keep them to themselves.
GROUP=check
FILE=src/check/check.c
EDIT='s/finding->violated = true;/finding->violated = false;/'
EXPECT='^check\.'
