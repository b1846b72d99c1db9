#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What is found in locks on Redis is what reports/findings-redis.md says. A flaw that is not found any more, and a recipe without the
# flaw that violates something, are errors.
source "$(dirname "$0")/lib.sh"
! is_slow_build || exit 77

# findings STATUS TEXT [OPTION...]
findings()
{
    expect "$1" "$2" python3 dev.d/redis_findings.py --build "$LOCKSTEP_BUILD_DIR" --scratch "$scratch/found" "${@:3}"
}

# row RECIPE MEND: a table of one row.
row()
{
    printf '%s\t' S F "$1" check keeps held_lease_is_renewed >"$scratch/rows.tsv"
    echo "$2" >>"$scratch/rows.tsv"
}

row dlock_late_renewal dlock_mended
findings 0 '| 9 | `dlock_mended` | holds, 103,350 states |' --rows "$scratch/rows.tsv"
row dlock_mended dlock_mended
findings 1 'expected held_lease_is_renewed to be violated, found holds' --rows "$scratch/rows.tsv"
row dlock_late_renewal dlock_late_renewal
findings 1 'expected that it holds, found violated' --rows "$scratch/rows.tsv"

python3 dev.d/redis_findings.py --build "$LOCKSTEP_BUILD_DIR" --scratch "$scratch/found" >"$scratch/page" || failed=1
diff reports/findings-redis.md "$scratch/page" || { echo 'reports/findings-redis.md is not what ./dev reports findings-redis writes'; failed=1; }

# The chapter about them has a link to each run.
grep -o 'findings-redis.md#[a-z0-9-]*' docs/findings.md | sed 's/.*#//' | sort -u >"$scratch/linked"
sed -n 's/^| \[.*\](#\([a-z0-9-]*\)) .*/\1/p' "$scratch/page" | sort >"$scratch/found.names"
diff "$scratch/found.names" "$scratch/linked" || { echo 'docs/findings.md and reports/findings-redis.md have other flaws'; failed=1; }

finish
