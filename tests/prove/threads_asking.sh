# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A function of a mutex that another thread closes meanwhile goes on with a mutex that is closed.
GROUP=lock
FILE=src/lock/mutex_query.c
EDIT='/^struct ls_session \*lock_mutex_lock/,/^}/s/    if \(mutex->session\)/    if (session)/'
EXPECT='^lock\.threads$'
