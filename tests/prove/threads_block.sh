# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A completion waits for the next connection, which its own thread would have to tell it of.
GROUP=lock
FILE=src/lock/mutex.c
EDIT='/^static void claimed/,/^}/s/case LOCK_UNKNOWN:/case LOCK_UNKNOWN:;\nstruct ls_waiter w;\nls_env_waiter_init(session_of(claim)->env, \&w);\nwhile (!lock_session_ready(session_of(claim)))\nls_env_wait(session_of(claim)->env, \&w);/'
EXPECT='^lock\.threads$'
