#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Each decision that a source, a test or a page cites has one heading in docs/decisions.md.
set -euo pipefail
export LC_ALL=C
cd "${LOCKSTEP_SOURCE_DIR:-.}"

failed=0
mapfile -t headings < <(sed -nE 's/^## (D[0-9]+[a-z]?): .*/\1/p' docs/decisions.md)
((${#headings[@]} > 0)) || { echo 'docs/decisions.md has no heading "## D…: …"'; exit 1; }
for heading in $(printf '%s\n' "${headings[@]}" | sort | uniq -d); do
    echo "docs/decisions.md: $heading has more than one heading"
    failed=1
done

cited=0
while IFS=: read -r file line decision; do
    cited=$((cited + 1))
    [[ " ${headings[*]} " == *" $decision "* ]] || { echo "$file:$line: $decision has no heading in docs/decisions.md"; failed=1; }
done < <(grep -rnowE 'D[0-9]{1,2}[a-z]?' --include='*.[ch]' --include='*.sh' --include='*.md' --include='*.scn' --include=CMakeLists.txt \
    include src tests docs examples scenarios dev.d *.md CMakeLists.txt)
((cited > 0)) || { echo 'no decision is cited'; exit 1; }
echo "$cited citations of ${#headings[@]} decisions"
exit $failed
