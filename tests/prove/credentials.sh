# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Whoever has credentials may do what a node allows to its maker.
GROUP=fakezk
FILE=src/fakezk/auth.c
EDIT='s/node->rec\.word >> PERMS_BITS == request->who/node->rec.word != 0/'
EXPECT='^fakezk\.auth$'
