# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Sessions end a tick too early.
GROUP=fakezk
FILE=src/fakezk/session.c
EDIT='s|/ tick \+ 1\) \* tick|/ tick) * tick|'
EXPECT='^fakezk\.'
