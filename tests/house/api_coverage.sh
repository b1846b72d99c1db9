#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Each function of the installed headers, each documented code and each pair with a close has a row in
# reports/api-coverage.md, and the test that the row names exists. Whether that test turns red is seen by
# `./dev mutants --api`; this is seen at once.
set -euo pipefail
export LC_ALL=C
command -v python3 >/dev/null || exit 77

# check FOLDER: exit status and last line of the check there.
check()
{
    local status=0
    (cd "$1" && python3 dev.d/api.py check) >"$scratch/output" 2>&1 || status=$?
    return $status
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$LOCKSTEP_SOURCE_DIR"
failures=0

# It is shown one of each that is wrong, in a copy: a file, an edit of it, and what is to be said.
while IFS='~' read -r file edit said; do
    rm -rf "$scratch/tree"
    mkdir "$scratch/tree"
    cp -r dev.d include reports src tests "$scratch/tree"
    sed -i -E "$edit" "$scratch/tree/$file"
    if cmp -s "$file" "$scratch/tree/$file"; then
        echo "the edit '$edit' changes nothing in $file"
        failures=$((failures + 1))
    elif check "$scratch/tree" || ! grep -qF "$said" "$scratch/output"; then
        echo "expected '$said', found:"
        cat "$scratch/output"
        failures=$((failures + 1))
    fi
done <<'EOF'
reports/api-coverage.md~/^. mutex.h . `ls_mutex_try` /d~no row: ls_mutex_try | any
reports/api-coverage.md~/^. `ls_mutex_guard` . `LS_ELOST`/d~no row: ls_mutex_guard answers LS_ELOST
reports/api-coverage.md~/^. `ls_mutex_guard` . `ls_mutex_close`/d~no row: ls_mutex_guard | beside ls_mutex_close
reports/api-coverage.md~s/^(. )`ls_mutex_guard`( . `ls_session_close`)/\1`ls_mutex_gourd`\2/~nothing of the headers: ls_mutex_gourd
reports/api-coverage.md~s/(`ls_version` . )[a-z.]+/\1lock.no_such_test/~no test is called lock.no_such_test
tests/lock/test_layout.c~s/the_version_is_the_projects/the_version/~tests/lock/test_layout.c has no 'the_version_is_the_projects'
include/lockstep/error.h~s/^.*strwarning\(int warning\);/&\nint ls_new_function(void);/~ls_new_function of error.h is not defined anywhere
include/lockstep/mutex.h~s/LS_ENOTOWNER/LS_EZK/~answers LS_EZK
EOF

check . || failures=$((failures + 1))
cat "$scratch/output"
echo "$failures failures"
[[ $failures -eq 0 ]]
