# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A step of a session does not say of which one. take() asserts that a default step is possible.
GROUP=sim
FILE=src/coordzk/steps.c
EDIT='/^ +\.session = step->session,$/d'
EXPECT='^sim\.schedule$'
