# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A mark that one fuzzed run has reached is one of the next run too.
GROUP=fuzz
FILE=src/fuzz/drive.c
EDIT='s/^    forget_marks\(driver\);$/    (void)forget_marks;/'
EXPECT='^fuzz\.input$'
