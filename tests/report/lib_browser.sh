# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Sourced by the tests of pages, behind lib.sh.
if ! command -v chromedriver >/dev/null || ! /usr/bin/python3 -c 'import selenium' 2>/dev/null; then
    echo 'skipped: ./dev setup test installs Chromium and Selenium'
    exit 77
fi
plain_build_only

# opens TRACE: the page of its run works in a browser.
opens()
{
    local status=0
    expect 0 '' "$LOCKSTEP" report -o "$scratch/page.html" "$1"
    "$LOCKSTEP" replay --json "$1" >"$scratch/steps.json" || true
    timeout 300 /usr/bin/python3 tests/report/browser.py "$scratch/page.html" "$scratch/steps.json" || status=$?
    ((status != 77)) || exit 77
    ((status == 0)) || failed=1
}

# opens_page PAGE: a page that no replay made works in a browser.
opens_page()
{
    local status=0
    python3 - "$1" >"$scratch/steps.json" <<'END'
import json
import re
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    run = json.loads(re.search(r'<script type="application/json" id="run">(.*?)</script>', file.read(), re.S).group(1))
state = []
for step in run["steps"]:
    for index, line in step["changes"]:
        state[index:index + 1] = [line]
    step["state"] = state[:step["size"]]
for line in [run["head"], *run["steps"], run["end"]]:
    print(json.dumps(line))
END
    timeout 300 /usr/bin/python3 tests/report/browser.py "$1" "$scratch/steps.json" || status=$?
    ((status != 77)) || exit 77
    ((status == 0)) || failed=1
}
