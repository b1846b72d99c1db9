#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# docs/kill-matrix.md says what is so: every canary is caught, every mended one passes the whole suite, and each situation and
# property catches what the page says. Only the plain build does it: the others would take hours for the same answer.
source "$(dirname "$0")/../cli/lib.sh"
[[ -z $LOCKSTEP_SANITIZE && $LOCKSTEP_BUILD_DIR == */release ]] || exit 77
source dev.d/zoo.sh
zoo_collect "$LOCKSTEP" "$LOCKSTEP_BUILD_DIR/canary" "$scratch"
same '' "$(<"$scratch/wrong")" 'what is wrong'
zoo_page "$scratch" >"$scratch/page"
diff docs/kill-matrix.md "$scratch/page" || failed=1
finish
