# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A new handle gets no credentials.
GROUP=lock
FILE=src/lock/credentials.c
EDIT='s/while \(session->auths < count\)/while (session->auths > count)/'
EXPECT='^(lock|real)\.access$'
