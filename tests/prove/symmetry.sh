# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Who is named makes no difference when processes change their names.
GROUP=explore
FILE=src/base/symmetry.c
EDIT='s/PLACE_NOBODY : place\[process\]/PLACE_NOBODY : PLACE_ME + 0u * place[process]/'
EXPECT='^explore\.symmetry$'
