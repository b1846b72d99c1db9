# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# A recipe from a shared object may call what it likes.
GROUP=cli
FILE=src/plugin/imports.c
EDIT='s/\} else if \(!is_in\(ALLOWED, name\) && /} else if (false \&\& /'
EXPECT='^cli\.plugin$'
