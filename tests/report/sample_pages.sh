#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The pages of reports/pages are what the program writes now, on any machine: ./dev reports pages writes them anew. The picture
# beside them is not compared, because its bytes depend on fonts.
source "${BASH_SOURCE[0]%/*}/../cli/lib.sh"
source dev.d/sample_pages.sh

sample_pages "$LOCKSTEP_BUILD_DIR" "$scratch" || { echo 'a run was not found' && failed=1; }
compared=0
for page in "$scratch"/reports/pages/*; do
    name=${page##*/}
    cmp "reports/pages/$name" "$page" || { echo "$name differs: ./dev reports pages" && failed=1; }
    compared=$((compared + 1))
done
((compared >= 4)) || { echo "only $compared files were compared" && failed=1; }
for page in reports/pages/*.html; do
    [[ -e ${page%.html}.trace ]] || { echo "$page has no trace" && failed=1; }
    (($(stat -c %s "$page") < 81920)) || { echo "the page of a short run is too long: $page" && failed=1; }
    if grep -nE '/(tmp|home|root|work|build)/' "$page"; then
        echo "$page has a path of a machine"
        failed=1
    fi
done
(($(stat -c %s reports/pages/lost_create.png) < 150000)) || { echo 'the picture is too large' && failed=1; }
finish
