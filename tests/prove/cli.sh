# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A violation is no reason to fail.
GROUP=cli
FILE=src/cli/run.c
EDIT='s/return CLI_VIOLATED;/return CLI_OK;/'
EXPECT='^cli\.run$'
