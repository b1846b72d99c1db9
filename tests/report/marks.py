# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors
"""usage: marks.py FOLDER PAGE...

Looks at what the pages FOLDER/PAGE.html draw. A page's name says which run it has (marks.sh). FOLDER/PAGE.json is `replay --json` of
the same run. Exit status 1 with a line for each thing that is wrong, 77 if no browser can be started here.
"""
import json
import os
import sys

import pages

folder, *names = sys.argv[1:]
browser = pages.start()
wrong = 0


def check(what, found, shown=""):
    global wrong
    if not found:
        wrong += 1
        print(f"{what}: no{f', found {shown!r:.400}' if shown != '' else ''}")


def ask(script, *words):
    return browser.execute_script("const page = lockstep, steps = page.run.steps; " + script, *words)


def go_to(label):
    """Shows the first step whose label begins so, and returns its number in the page."""
    k = ask("return steps.findIndex((step) => step.label.startsWith(arguments[0]))", label)
    check(f"a step {label}", k >= 0)
    ask("page.pick(arguments[0])", k)
    pages.settle(browser)
    return k


def row(k):
    return browser.execute_script("const row = document.getElementById('step-' + arguments[0]); return row ? row.innerText : ''", k)


def kinds():
    return ask("return page.messages.map((one) => one.kind)")


def arrows_are_whole():
    """Each request that a server has done, and each answer and notice that has come, is the end of an arrow."""
    missing = ask("const at = new Set(page.messages.map((one) => one.to.step + one.to.lane));"
                  "const ends = (step) => step.carries === 'request' ? step.server || 's1' : /reply|notice/.test(step.carries) && !step.lost ? step.process : '';"
                  "return steps.map((step, k) => ends(step) && !at.has(k + ends(step)) ? k + ' ' + step.label : '').filter((text) => text)")
    check("all messages are arrows", not missing, missing)
    check("no bar ends before it begins", ask("return page.bars.every((bar) => bar.to === undefined || bar.from <= bar.to)"))


def lost(steps):
    arrows = ask("return page.messages.filter((one) => one.kind === 'lost').map((one) => one.text)")
    check("the create's answer is lost", any(text.startswith("create /locks/x/") and "the answer was lost" in text for text in arrows), arrows)
    cut = go_to("cut a")
    links = browser.execute_script("return [...document.querySelectorAll('#verdict a')].map((link) => link.textContent + ' ' + link.hash)")
    check("the fault is named in the head", any(link.startswith("step 10, cut a") and link.endswith(f"#step={cut}") for link in links), links)
    check("a word at the broken arrow", browser.execute_script("return [...document.querySelectorAll('#drawing .lost-text')].some((text) => text.textContent === 'lost')"))
    check("the clock beside a step", "60 ms" in row(cut), row(cut))
    applied = go_to("apply s1 a create")
    check("clock steps that are hidden are told", "clock +10 ms" in row(applied), row(applied))
    check("a path is cut in its middle", "create" in row(applied) and "…" in row(applied), row(applied))
    whole = browser.execute_script("return document.querySelector('#step-' + arguments[0] + ' .label').title", applied)
    check("the whole path is in the tooltip", "/locks/x/_c_00000001-0000-4000-8000-000000000001-lock-" in whole, whole)
    about = browser.execute_script("return document.getElementById('about').textContent")
    check("the timeout of sessions is told", "sessions time out after 4 s" in about, about)
    rest = go_to("rest")
    check("what was owed is told", "owed: at rest nobody waits for a lock that nobody holds" in " ".join(row(rest).split()), row(rest))
    check("nothing wakes the waiter", "no message to it is under way" in " ".join(row(rest).split()), row(rest))


def herd(steps):
    check("two wake-ups are under way", kinds().count("watch late open") >= 2, kinds())
    check("they are dashed", browser.execute_script("return document.querySelectorAll('#drawing .message.watch.late').length >= 2"))


def token(steps):
    shown = browser.execute_script("return document.body.innerText")
    check("numbers have one form", "0x" not in shown)


def lag(steps):
    spans = ask("return page.spans")
    check("the lag is a span", any("thaw s2" in span["text"] for span in spans), spans)
    check("its end is in the JSON", any(one["end"] == "thaw s2" for step in steps for one in step.get("lasting", [])))


def pause(steps):
    spans = ask("return page.spans")
    check("the pause is a span", any(span.get("process") == "a" and span["to"] - span["from"] > 10 for span in spans), spans)
    check("a process that is cut off has a span", any(span.get("process") == "c" and "heal c" in span["text"] for span in spans), spans)
    check("its end is in the JSON", any(one["end"] == "resume a" for step in steps for one in step.get("lasting", [])))
    bars = ask("return page.bars")
    nodes = [bar for bar in bars if bar["track"] == "node" and bar["process"] == "b"]
    check("a contender outlives its session", any(bar.get("over", 10**9) < bar["to"] for bar in nodes), nodes)
    sessions = [bar for bar in bars if bar["track"] == "session" and bar["process"] == "b"]
    check("the session's bar says that it expired", any(bar.get("mark") == "expired" for bar in sessions), sessions)
    go_to("expire b")
    for selector in (".ended", ".untold", ".cross", ".span"):
        check(f"a mark {selector}", browser.execute_script("return document.querySelector('#drawing ' + arguments[0]) !== null", selector))
    faults = [step["label"] for step in steps if step.get("fault")]
    check("the expiry that was due is no fault", faults == ["pause a", "expire b", "partition c"], faults)


def owners(steps):
    lane = ask("return page.lanes.find((lane) => lane.name === 'a')")
    check("two owners have two tracks", lane["owners"] == [0, 1] and lane["tracks"]["wait0"] != lane["tracks"]["wait1"], lane)
    cancel = [step for step in steps if step.get("kind") == "cancel"]
    check("a cancel is no fault", len(cancel) == 1 and "fault" not in cancel[0], cancel)


def again(steps):
    lost_ones = ask("return page.messages.filter((one) => one.kind === 'lost').map((one) => one.text)")
    check("the answer to the first create is lost", any("000000000001-lock-:" in text for text in lost_ones), lost_ones)
    check("that to the second one is not", not any("000000000002-lock-:" in text for text in lost_ones), lost_ones)


def lease(steps):
    k = go_to("expire")
    check("the end of a lease is at the server", steps[k].get("server") == "s1", steps[k])
    at_server = ask("const at = page.lanes.find((lane) => lane.name === 's1').at, height = page.y(arguments[0]);"
                    "return [...document.querySelectorAll('#drawing circle')].some((dot) => Number(dot.getAttribute('cx')) === at &&"
                    "Number(dot.getAttribute('cy')) === height)", k)
    check("its dot stands on the server's lane", at_server)
    applied = go_to("apply")
    check("a request has its words", "SET /locks/x" in row(applied), row(applied))
    sent = [event for step in steps for event in step["events"] if event["kind"] == "request"]
    check("the words of a request are in the JSON", sent and sent[0]["path"].startswith("SET /locks/x"), sent)
    answers = ask("return page.messages.map((one) => one.text)")
    check("an answer is on its arrow", any(text.startswith("s1 answers") and text.endswith(": OK") for text in answers), answers)


def register(steps):
    """The run of a coordinator that is no part of lockstep (tests/coord)."""
    arrows = ask("return page.messages")
    requests = [one for one in arrows if one["to"]["lane"] == "s1" and ": " in one["text"]]
    answers = [one for one in arrows if one["from"]["lane"] == "s1" and " answers " in one["text"]]
    applied = [step for step in steps if step.get("carries") == "request"]
    check("each request that the server has done is an arrow", len(applied) > 2 and len(requests) >= len(applied), (len(applied), len(requests)))
    check("answers are arrows", len(answers) > 2, arrows)
    check("an answer says what it is", any(one["text"].endswith(" ok") for one in answers), answers)
    check("a contender has a bar", ask("return page.bars.some((bar) => bar.track === 'node')"))
    shown = browser.execute_script("return document.body.textContent").replace(ask("return page.run.head.text"), "")
    for word in ("zookeeper", "redis", "znode"):
        check(f"no word {word}", word not in shown.lower())


for name in names:
    browser.get("file://" + os.path.join(folder, name + ".html"))
    pages.settle(browser)
    with open(os.path.join(folder, name + ".json"), encoding="utf-8") as file:
        run = [json.loads(line) for line in file][1:-1]
    before = wrong
    arrows_are_whole()
    globals()[name](run)
    check("nothing is on the console", not [entry for entry in browser.get_log("browser")])
    if wrong > before:
        print(f"in the page {name}")
browser.quit()
sys.exit(wrong > 0)
