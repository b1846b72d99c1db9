# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A record that names two processes counts as the first one's own.
GROUP=explore
FILE=src/state/canon_processes.c
EDIT='s/return \(roles & \(roles - 1\)\) != 0;/return roles > 255u;/'
EXPECT='^explore\.symmetry$'
