# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What the client library tells of the link goes before all others though a reply that sets a watch is to come.
GROUP=fakezk
FILE=src/fakezk/query.c
EDIT='s/return rec != NULL \|\| (pack_first\(&pack, LIST_REQUEST)/return rec != NULL \&\& \1/'
EXPECT='^fakezk\.watches$'
