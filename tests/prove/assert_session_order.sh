# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A later session of a client is put before its earlier one. add_session() asserts the order of sessions.
GROUP=fakezk
FILE=src/fakezk/commit.c
EDIT='s/\(\(struct zk_session \*\)before\)->client <= client\)/((struct zk_session *)before)->client < client)/'
EXPECT='^(fakezk\.ambiguity|sim\.world)$'
