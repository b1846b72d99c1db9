# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A semaphore lets one more in than it has units.
GROUP=kinds
FILE=src/check/admission.c
EDIT='s/units_of\(context, lock\) <= capacity\)/units_of(context, lock) <= capacity + 1)/'
EXPECT='^kinds\.line$'
