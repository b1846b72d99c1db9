# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Sourced by the tests of pages, behind lib.sh.
if ! command -v chromedriver >/dev/null || ! /usr/bin/python3 -c 'import selenium' 2>/dev/null; then
    echo 'skipped: ./dev setup test installs Chromium and Selenium'
    exit 77
fi
plain_build_only

# opens TRACE [OPTION...]: the page of its run works in a browser.
opens()
{
    local status=0
    expect 0 '' "$LOCKSTEP" report -o "$scratch/page.html" "${@:2}" "$1"
    "$LOCKSTEP" replay --json "$1" >"$scratch/steps.json" || true
    timeout 300 /usr/bin/python3 tests/report/browser.py "$scratch/page.html" "$scratch/steps.json" || status=$?
    ((status != 77)) || exit 77
    ((status == 0)) || failed=1
}

# opens_page PAGE: a page that no replay made works in a browser.
opens_page()
{
    local status=0
    python3 tests/report/page_run.py "$1" >"$scratch/steps.json"
    timeout 300 /usr/bin/python3 tests/report/browser.py "$1" "$scratch/steps.json" || status=$?
    ((status != 77)) || exit 77
    ((status == 0)) || failed=1
}
