# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Timers are put before those of smaller names. ls_env_timer_start() asserts their order.
GROUP=lock
FILE=src/sim/env.c
EDIT='s/strcmp\(timer_name\(other\), name\);/strcmp(name, timer_name(other));/'
EXPECT='^lock\.random$'
