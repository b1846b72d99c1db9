#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# reports/promise-matrix.md is what its program writes now.
source "$(dirname "$0")/lib.sh"
! is_slow_build || exit 77
[[ -x $LOCKSTEP_BUILD_DIR/lockstep && -e $LOCKSTEP_BUILD_DIR/recipes/curator_like.so ]] || exit 77
python3 dev.d/promise_matrix.py --build "$LOCKSTEP_BUILD_DIR" --scratch "$scratch/matrix" >"$scratch/page"
diff reports/promise-matrix.md "$scratch/page" ||
    { echo 'reports/promise-matrix.md is not what ./dev reports promise-matrix writes'; failed=1; }
finish
