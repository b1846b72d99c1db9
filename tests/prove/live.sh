# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What can happen after the last fault is left out of the graph where a fault was the last one: nobody looks behind it.
GROUP=cli
FILE=src/explore/after.c
EDIT='s/if \(is_last && same\) \{/if (is_last \&\& same \&\& c->after != NULL) {\n        return true;/'
EXPECT='^cli\.live$'
