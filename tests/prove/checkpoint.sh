# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A checkpoint at a limit takes the state that met it for one that was never counted, and what lies below it is lost.
GROUP=explore
FILE=src/explore/depth.c
EDIT='s/bool counted = i == first && .*;/bool counted = false;/'
EXPECT='^explore\.checkpoint$'
