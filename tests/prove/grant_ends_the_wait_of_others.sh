# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A grant to one owner gives another one, who still waits, as many contenders anew.
GROUP=check
FILE=src/check/bounded_work.c
EDIT='s/if \(allowed \&\& most == 0\)/if (allowed)/'
EXPECT='^check\.bounded_work$'
