# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Who is granted the lock takes with him what another owner of his process has created.
GROUP=check
FILE=src/check/bounded_work.c
EDIT='s/failed \? CREATES_MAX : 1;/CREATES_MAX;/'
EXPECT='^check\.bounded_work$'
