# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A deletion that wakes ten is no herd to the benchmark of the lock.
GROUP=house
FILE=bench/lock/tables.sh
EDIT='s/woken_max == 1/woken_max >= 1/'
EXPECT='^house\.bench_lock$'
