# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors
"""A browser for the tests of pages, Chromium without a window, and what they found wrong."""
import sys

from selenium import webdriver
from selenium.common.exceptions import WebDriverException


wrong = 0


def same(what, expected, found):
    global wrong
    if expected != found:
        wrong += 1
        print(f"{what}: expected {expected!r:.300}, found {found!r:.300}")


def start(size="1400,1000"):
    """Returns a browser. Ends the program with status 77 if none can be started here."""
    options = webdriver.ChromeOptions()
    for word in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--window-size=" + size):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    try:
        return webdriver.Chrome(options=options)
    except WebDriverException as error:
        print(f"skipped: no browser can be started here: {error.msg}")
        sys.exit(77)


def settle(browser):
    """Waits until the page has drawn."""
    browser.execute_script("return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
