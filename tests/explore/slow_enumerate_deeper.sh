#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The independent enumerator (test_enumerate.c) against the search, two steps deeper than in the fast tier.
set -euo pipefail
ENUMERATE_DEEPER=2 "$LOCKSTEP_BUILD_DIR/tests/explore/test_enumerate"
