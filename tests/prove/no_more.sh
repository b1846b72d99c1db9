# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What those who gave up have not created is expected for ever.
GROUP=check
FILE=src/check/bounded_work.c
EDIT='s/CLAIM_WAITING\) == 0\)$/CLAIM_WAITING) < 0)/'
EXPECT='^check\.bounded_work$'
