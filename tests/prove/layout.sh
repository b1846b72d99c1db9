# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# An option is put between others, where linked programs have another one.
GROUP=lock
FILE=include/lockstep/mutex.h
EDIT='s|^    const struct ls_mutex_ops \*ops;|    const void *more;\n&|'
EXPECT='^lock\.layout$'
