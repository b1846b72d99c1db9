# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors
"""usage: browser_index.py DIR

Opens the index of `--html DIR` in headless Chromium and uses it: keys, filter, links, colours, print. Exit status 1 with a line for
each thing that is wrong, 77 if no browser can be started here.
"""
import json
import sys

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

import pages
from pages import same

folder = sys.argv[1]

browser = pages.start()
browser.get(f"file://{folder}/index.html")


def emulate(**media):
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)


def colour(name="backgroundColor"):
    return browser.execute_script("return getComputedStyle(document.body)[arguments[0]]", name)


def rows():
    return [row for row in browser.find_elements(By.CSS_SELECTOR, "#scenarios tbody tr") if row.is_displayed()]


# ---- names are text ----
same("elements made by names", 0, len(browser.find_elements(By.CSS_SELECTOR, "img, iframe, th td, th i, body > td")))
same("scripts", 1, len(browser.find_elements(By.TAG_NAME, "script")))
same("the hostile name is shown", True, "<img src=x onerror=" in browser.find_element(By.ID, "scenarios").text)

# ---- keys: the skip link first, then the parts, and each wide table can be scrolled ----
stops = []
for _ in range(60):
    browser.switch_to.active_element.send_keys(Keys.TAB)
    stops.append(browser.execute_script("const e = document.activeElement; return e.id || e.getAttribute('href') ||"
                                        "e.getAttribute('aria-labelledby') || e.getAttribute('aria-label') || e.tagName"))
links = [link.get_attribute("href").split("/")[-1] for link in browser.find_elements(By.CSS_SELECTOR, "#scenarios a")]
same("the first stop", "#main", stops[0])
for stop in ["#proved", "#coverage", "verdict", "word", "h-scenarios", "h-promises", "h-wakeups"] + links:
    same(f"{stop} can be reached by keys", True, stop in stops)

# ---- filter ----
everything = len(rows())
failing = len(browser.find_elements(By.CSS_SELECTOR, '#scenarios tr[data-verdict="fail"]'))
Select(browser.find_element(By.ID, "verdict")).select_by_visible_text("fail")
same("failing scenarios", failing, len(rows()))
same("the number that is shown", f"{failing} of {everything} scenarios", browser.find_element(By.ID, "shown").text)
Select(browser.find_element(By.ID, "verdict")).select_by_visible_text("all")
browser.find_element(By.ID, "word").send_keys("IMG SRC")
same("scenarios of a name", True, 0 < len(rows()) < everything)
same("promises of a name", len(rows()), len([row for row in browser.find_elements(By.CSS_SELECTOR, "#promises tbody tr") if row.is_displayed()]))
browser.find_element(By.ID, "word").send_keys(Keys.CONTROL + "a", Keys.DELETE)
same("all scenarios again", everything, len(rows()))

# ---- colours and paper ----
emulate(features=[{"name": "prefers-color-scheme", "value": "light"}])
light = colour()
emulate(features=[{"name": "prefers-color-scheme", "value": "dark"}])
same("the dark colours differ", True, light != colour() and colour("color") != colour())
emulate(media="print")
same("controls on paper", False, browser.find_element(By.ID, "word").is_displayed())
same("scenarios on paper", everything, len(rows()))
emulate(media="")

# ---- links ----
same("there are pages of runs", True, len(links) > 0)
for link in links:
    browser.get(f"file://{folder}/index.html")
    browser.find_element(By.CSS_SELECTOR, f'#scenarios a[href="{link}"]').send_keys(Keys.ENTER)
    same(f"the page {link}", link, browser.current_url.split("/")[-1].split("#")[0])
    same(f"the run of {link} is drawn", True, len(browser.find_elements(By.CSS_SELECTOR, "#drawing > *")) > 0)

# ---- nothing else ----
same("lines on the console", [], [entry["message"] for entry in browser.get_log("browser")])
urls = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
urls = {event["params"]["request"]["url"] for event in urls if event["method"] == "Network.requestWillBeSent"}
same("requests that leave the page", set(), {url for url in urls if not url.startswith(("file://", "data:"))})
browser.quit()
sys.exit(pages.wrong > 0)
