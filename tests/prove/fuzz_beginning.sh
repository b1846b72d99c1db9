# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A run from a beginning that is known goes on from where the one before has ended.
GROUP=fuzz
FILE=src/scenario/run.c
EDIT='s/^    world_restore\(run->world, image\);/    (void)image;/'
EXPECT='^fuzz\.input$'
