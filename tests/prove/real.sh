# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The counter's fence lets stale tokens pass: in a long-stop run updates are lost.
GROUP=real
FILE=src/real/resource.c
EDIT='s/token >= now->token;/token + now->token >= 0;/'
EXPECT='^real\.long_stops$'
