#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# docs/fidelity.tsv has each of the rules F1 to F108 once, with a class, a reason where nothing is modelled, and a test
# that exists and runs; docs/fidelity.md is what dev.d/fidelity.sh makes of it.
set -euo pipefail
export LC_ALL=C
cd "${LOCKSTEP_SOURCE_DIR:-.}"

failed=0
complain()
{
    echo "docs/fidelity.tsv: $*"
    failed=1
}

if ! bash dev.d/fidelity.sh | cmp -s - docs/fidelity.md; then
    echo 'docs/fidelity.md is not what docs/fidelity.tsv says: bash dev.d/fidelity.sh >docs/fidelity.md'
    failed=1
fi

# A test must be defined and handed to cmocka.
check_test()
{
    local rule=$1 file=${2%%:*} name=${2#*:}
    if [[ $2 != tests/*/test_*.c:* || ! -f $file ]]; then
        complain "$rule: '$2' names no file of tests"
    elif ! grep -q "^static void $name(void \*\*state)" "$file"; then
        complain "$rule: $file has no test $name"
    elif ! grep -q "(${name})" "$file"; then
        complain "$rule: $name is not run"
    fi
}

number=0
while IFS=$'\t' read -r rule class what why shown rest; do
    number=$((number + 1))
    [[ $rule == "F$number" ]] || complain "line $((number + 1)): expected F$number, found '$rule'"
    [[ -n $what && -z $rest && -n $shown ]] || complain "$rule: expected five columns"
    case $class in
    always | run-constant | budgeted | timed-only)
        [[ $why == - ]] || complain "$rule: a reason, though it is modelled"
        [[ $shown != - ]] || complain "$rule: no test shows it"
        ;;
    not-modelled)
        [[ $why != - && -n $why ]] || complain "$rule: not modelled for no reason"
        ;;
    *)
        complain "$rule: unknown class '$class'"
        ;;
    esac
    [[ $shown == - ]] || check_test "$rule" "$shown"
done < <(tail -n +2 docs/fidelity.tsv)
((number == 108)) || complain "expected 108 rules, found $number"

exit $failed
