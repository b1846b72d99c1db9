# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A close of a session on loan does not wait for a release whose delete could not be sent yet.
GROUP=lock
FILE=src/lock/lent_handle.c
EDIT='s/(goes_on && .session->)claims/\1leftovers/'
EXPECT='^lock\.loan$'
