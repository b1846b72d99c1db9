# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A reply counts for all states that the attempts of its process are in, whosever it is.
GROUP=scenario
FILE=src/scenario/coverage.c
EDIT='s/\(now & \(now - 1\)\) != 0 &&/false \&\&/'
EXPECT='^scenario\.coverage$'
