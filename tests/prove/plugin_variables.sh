# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Variables of a recipe from a shared object are not looked at.
GROUP=cli
FILE=src/plugin/sandbox_signals.c
EDIT='s/if \(variables_are_kept\(&variables, &first\)\)/if (true)/'
EXPECT='^cli\.plugin$'
