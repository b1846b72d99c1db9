#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The faults of tests/prove still have a place where they can be planted, and tests that are to turn red. Whether those do
# is seen by ./dev test --prove, which builds each fault; this is seen at once.
set -euo pipefail
export LC_ALL=C

# is_planted FILE: says what is wrong with a fault; status 1 if there is anything.
is_planted()
{
    local GROUP='' FILE='' EDIT='' EXPECT=''
    source "$1"
    if [[ ! -f $FILE ]]; then
        echo "$1: no file '$FILE'"
    elif sed -E "$EDIT" "$FILE" | cmp -s - "$FILE"; then
        echo "$1: the edit changes nothing in $FILE"
    elif ! grep -qE "$EXPECT" <<<"$tests"; then
        echo "$1: no test is called '$EXPECT'"
    elif [[ ! -d tests/$GROUP ]]; then
        echo "$1: no folder tests/$GROUP"
    else
        return 0
    fi
    return 1
}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$LOCKSTEP_SOURCE_DIR"
tests=$(ctest --test-dir "$LOCKSTEP_BUILD_DIR" -N | sed -nE 's/^ *Test *#[0-9]+: ([^ ]+).*/\1/p')
failures=0

# It is shown one of each that is wrong.
while IFS='|' read -r group file edit expect said; do
    printf 'GROUP=%s\nFILE=%s\nEDIT=%q\nEXPECT=%q\n' "$group" "$file" "$edit" "$expect" >"$scratch/fault.sh"
    if told=$(is_planted "$scratch/fault.sh") || [[ $told != *"$said"* ]]; then
        echo "expected '$said', found '$told'"
        failures=$((failures + 1))
    fi
done <<'EOF'
house|no/such/file.c|s/a/b/|^house\.planted$|no file 'no/such/file.c'
house|dev|s/this is nowhere in it/b/|^house\.planted$|the edit changes nothing in dev
house|dev|s/e/b/|^house\.no_such_test$|no test is called '^house\.no_such_test$'
no_such|dev|s/e/b/|^house\.planted$|no folder tests/no_such
EOF

count=0
for fault in tests/prove/*.sh; do
    count=$((count + 1))
    is_planted "$fault" || failures=$((failures + 1))
done
echo "$count faults, $failures failures"
[[ $failures -eq 0 && $count -gt 0 ]]
