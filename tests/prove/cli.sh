# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What is inconclusive ends with exit status 0.
GROUP=cli
FILE=src/cli/run.c
EDIT='s/return verdicts\[VERDICT_LIMIT\] > 0 /return verdicts[VERDICT_LIMIT] < 0 /'
EXPECT='^cli\.run$'
