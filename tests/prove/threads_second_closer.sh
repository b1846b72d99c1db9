# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A second thread that closes a session returns before the first one is done.
GROUP=lock
FILE=src/lock/session.c
EDIT='/^int ls_session_close/,/^}/s/    lock_queue_wait\(session, is_closing, session\);//'
EXPECT='^lock\.threads$'
