# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Contenders are taken in reverse order.
GROUP=lock
FILE=src/lock/names.c
EDIT='s/compare_contenders\(role, key, name, own_key, own\) > 0/compare_contenders(role, key, name, own_key, own) < 0/'
EXPECT='^lock\.'
