#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# All directed scenarios are what their files say.
source "$(dirname "$0")/lib.sh"
expect 0 ' passed, 0 failed' "$LOCKSTEP" run --quiet --out "$scratch/reports" scenarios/mutex scenarios/regress
finish
