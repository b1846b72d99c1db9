# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Time passes over what is due in between.
GROUP=sim
FILE=src/sim/apply.c
EDIT='s/ && \*to <= limit;/;/'
EXPECT='^sim\.schedule$'
