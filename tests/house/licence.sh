#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Every C file, script and CMake file opens with the two-line licence head.
set -euo pipefail
cd "$LOCKSTEP_SOURCE_DIR"

failed=0 count=0
while read -r file; do
    count=$((count + 1))
    head=$(head -n 3 "$file")
    if [[ $head != *'SPDX-License-Identifier: Apache-2.0'$'\n'*'Copyright the lockstep authors'* ]]; then
        echo "$file: no licence head in the first three lines"
        failed=1
    fi
done < <(find src include tests examples bench fuzz cmake dev.d -type f \
    \( -name '*.[ch]' -o -name '*.cpp' -o -name '*.sh' -o -name '*.cmake' -o -name CMakeLists.txt \) | sort)
((count > 0)) || failed=1
exit $failed
