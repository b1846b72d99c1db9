# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A wait counts as no wait.
GROUP=lock
FILE=src/lock/telemetry.c
EDIT='s/LOCK_COUNT\(claim, waits\);//'
EXPECT='^lock\.telemetry$'
