#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Locks of two ensembles at once: the tests of test_multi.c once more, with a second server.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
LOCKSTEP_ZK_ONE=$LOCKSTEP_ZK "$LOCKSTEP_SOURCE_DIR/dev.d/with_zookeeper" "$scratch" bash -c \
    'LOCKSTEP_ZK_OTHER=$LOCKSTEP_ZK LOCKSTEP_ZK=$LOCKSTEP_ZK_ONE "$LOCKSTEP_BUILD_DIR/tests/real/test_multi"'
