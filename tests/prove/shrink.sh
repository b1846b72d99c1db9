# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A shrunk run does what the programs of its scenario do not.
GROUP=replay
FILE=src/scenario/run.c
EDIT='s/return !run->setup.scenario->exploring \|\| /return true || /'
EXPECT='^replay\.shrink$'
