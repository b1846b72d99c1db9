# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors
"""usage: accessible.py AXE PAGE

Runs axe-core (its script AXE) in a page, in both colour schemes and two sizes, and follows the focus through the controls. Exit
status 1 with a line for each serious or critical finding, 77 if no browser can be started here.
"""
import sys

from selenium.webdriver.common.keys import Keys

import pages

axe_path, page_path = sys.argv[1:]
browser = pages.start()
wrong = 0
with open(axe_path, encoding="utf-8") as file:
    AXE = file.read()


def report(where, what):
    global wrong
    wrong += 1
    print(f"{where}: {what}")


def look(scheme, width, height):
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
    browser.get("file://" + page_path)
    pages.settle(browser)
    where = f"{scheme}, {width} x {height}"
    dark = browser.execute_script("return document.documentElement.classList.contains('dark')")
    if dark != (scheme == "dark"):
        report(where, "the page does not follow the colour scheme")
    browser.execute_script(AXE)
    found = browser.execute_async_script("const done = arguments[0]; axe.run(document).then(done)")
    if len(found["passes"]) < 15:
        report(where, f"axe-core has looked at {len(found['passes'])} rules only")
    for one in found["violations"]:
        targets = "; ".join(" ".join(map(str, node["target"])) for node in one["nodes"][:3])
        if one["impact"] in ("serious", "critical"):
            report(where, f"{one['id']} ({one['impact']}): {one['help']}: {targets}")
        else:
            print(f"{where}: {one['id']} ({one['impact']}), which is no error: {targets}")


for colours in ("light", "dark"):
    look(colours, 1400, 1000)
    look(colours, 390, 800)

# ---- the focus goes through the controls in their order, and the chosen step is told ----
body = browser.find_element("tag name", "body")
order = []
for _ in range(40):
    browser.switch_to.active_element.send_keys(Keys.TAB)
    name = browser.execute_script("return document.activeElement.id")
    if name:
        order.append(name)
    if name == "panel":
        break
wanted = ["copy", "first", "back", "play", "next", "last", "bad", "slider", "filter", "search", "clock", "scheme", "scroll", "panel"]
if [name for name in order if name in wanted] != wanted:
    report("focus", f"expected {wanted}, found {order}")
if browser.execute_script("return document.getElementById('now').getAttribute('aria-live')") != "polite":
    report("the chosen step", "is not told")
browser.quit()
sys.exit(wrong > 0)
