# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A replay believes that a circle closes.
GROUP=cli
FILE=src/scenario/lasso.c
EDIT='s/if \(canon_fingerprint\(lasso->canon\) != lasso->fingerprint\)/if (canon_fingerprint(lasso->canon) == 1)/'
EXPECT='^cli\.live$'
