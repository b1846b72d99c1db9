# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A second thread that closes a session returns before the first one is done.
GROUP=lock
FILE=src/lock/session.c
EDIT='/^static bool is_closing/,/^}/s/return session->closing;/return session == NULL;/'
EXPECT='^lock\.threads$'
