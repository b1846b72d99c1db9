# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors
"""usage: browser.py PAGE JSON

Opens the page of a run in headless Chromium and uses it: slider, keys, filter, search, links. `JSON` is `replay --json` of the
same trace. Exit status 1 with a line for each thing that is wrong, 77 if no browser can be started here.
"""
import json
import sys
import time

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

import pages
from pages import same

page_path, json_path = sys.argv[1:]
browser = pages.start()
with open(json_path, encoding="utf-8") as file:
    steps = [json.loads(line) for line in file][1:-1]
bad = [step["step"] for step in steps if step["violated"]]


def picked():
    return browser.execute_script("return lockstep.picked()")


def by_id(name):
    return browser.find_element(By.ID, name)


def press(key):
    browser.find_element(By.TAG_NAME, "body").send_keys(key)


def slide(to):
    browser.execute_script("const s = document.getElementById('slider'); s.value = arguments[0];"
                           "s.dispatchEvent(new Event('input'))", to)


def rows():
    pages.settle(browser)
    return [int(row.get_attribute("id").split("-")[1]) for row in browser.find_elements(By.CSS_SELECTOR, "#story li")]


began = time.monotonic()
browser.get("file://" + page_path)
same("the step at which a page opens", bad[0] if bad else 0, picked())
rows()
opened_s = time.monotonic() - began
if opened_s > 60: # on a busy machine, too
    same("the time to open the page, in s", "60 at most", opened_s)

# ---- the state is that of the replay ----
for k in sorted({round(i * (len(steps) - 1) / 9) for i in range(10)}):
    slide(k)
    same(f"the step that the slider chooses, {k}", k, picked())
    same(f"the state at step {k}", steps[k]["state"], browser.execute_script("return lockstep.stateAt(arguments[0])", k))
    shown = by_id("state").get_attribute("textContent").split("\n")[:len(steps[k]["state"])]
    same(f"the text of the state at step {k}", steps[k]["state"], shown)

# ---- keys ----
press(Keys.HOME)
same("Home", 0, picked())
press(Keys.END)
same("End", len(steps) - 1, picked())
press(Keys.ARROW_LEFT)
left = picked()
same("the left arrow goes back", True, left < len(steps) - 1)
press(Keys.ARROW_RIGHT)
same("the right arrow goes on", len(steps) - 1, picked())
if bad:
    press(Keys.HOME)
    press("v")
    same("v goes to the violation", bad[0], picked())

# ---- filter, search, links ----
press(Keys.HOME)
browser.execute_script("const f = document.getElementById('filter'); f.value = 'faults'; f.dispatchEvent(new Event('change'))")
wanted = [step["step"] for step in steps if step.get("fault") or step.get("heals") or step["violated"] or step["step"] == 0]
if len(wanted) < 20:
    same("the steps with faults", wanted, rows())
browser.execute_script("const f = document.getElementById('filter'); f.value = 'all'; f.dispatchEvent(new Event('change'))")
word = steps[len(steps) // 2]["label"]
by_id("search").send_keys(word)
same("the step that a search finds", word, steps[picked()]["label"])
by_id("search").send_keys(Keys.CONTROL + "a", Keys.DELETE)
browser.execute_script("location.hash = '#step=1'")
time.sleep(0.2)
same("the step of a link", 1, picked())
by_id("copy").click()
time.sleep(0.2)
same("the button", "copied", by_id("copy").text)
before = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
by_id("scheme").click()
same("the other colours differ", True, before != browser.execute_script("return getComputedStyle(document.body).backgroundColor"))

# ---- the cause ----
causes = browser.execute_script("return [...document.querySelectorAll('#sentences a')].map((a) => a.textContent)")
if browser.execute_script("return lockstep.run.cause !== undefined"):
    same("the cause links to steps", True, len(causes) > 0)
    same("the cause is shown", True, by_id("sentences").is_displayed())
    number = int(causes[0].split()[1])
    press(Keys.HOME)
    by_id("sentences").find_element(By.TAG_NAME, "a").click()
    time.sleep(0.2)
    same("the step of a link in the cause", number, steps[picked()]["number"])
    slide(3)
    same("choices with what is behind them", True, browser.execute_script("return document.querySelectorAll('.behind').length") > 0)

# ---- nothing else ----
same("lines on the console", [], [entry["message"] for entry in browser.get_log("browser")])
urls = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
urls = {event["params"]["request"]["url"] for event in urls if event["method"] == "Network.requestWillBeSent"}
same("requests that leave the page", set(), {url for url in urls if not url.startswith(("file://", "data:"))})
browser.quit()
print(f"{len(steps)} steps, opened in {opened_s:.1f} s")
sys.exit(pages.wrong > 0)
