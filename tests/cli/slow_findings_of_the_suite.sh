#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What the suite finds in the recipes that do as Curator and kazoo do is what reports/findings.md says, and nothing else.
source "$(dirname "$0")/lib.sh"
! is_slow_build || exit 77
source dev.d/zoo.sh
source dev.d/reports.sh
findings_page "$LOCKSTEP" "$LOCKSTEP_BUILD_DIR/recipes" "$scratch" >"$scratch/page"
diff reports/findings.md "$scratch/page" || { echo 'reports/findings.md is not what ./dev reports findings writes'; failed=1; }
finish
