# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors
"""usage: same_steps.py PAGE JSON TEXT

Compares the page of a run with `replay --json` and `replay` of its trace. Exit status 1 with a line for each difference.
"""
import json
import re
import sys

page_path, json_path, text_path = sys.argv[1:]
differences = 0


def differs(what, expected, found):
    global differences
    if expected != found:
        differences += 1
        print(f"{what}: expected {expected!r:.300}, found {found!r:.300}")


with open(page_path, encoding="utf-8") as file:
    page = file.read()
run = json.loads(re.search(r'<script type="application/json" id="run">(.*?)</script>', page, re.S).group(1))
with open(json_path, encoding="utf-8") as file:
    lines = [json.loads(line) for line in file]
head, steps, end = lines[0], lines[1:-1], lines[-1]

differs("the head", {**head, "again": run["head"]["again"]}, run["head"])
differs("the end", end, run["end"])
differs("the number of steps", len(steps), len(run["steps"]))
for step in run["steps"]:
    for name in ("events", "text", "violated", "beliefs", "changes", "choices"):
        step.setdefault(name, [])
    for name in ("label", "remark"):
        step.setdefault(name, "")
    for event in step["events"]:
        if "path" in event:
            event["path"] = run["labels"][event["path"]]
state = []
for k, (step, shown) in enumerate(zip(steps, run["steps"])):
    differs(f"the number of step {k}", k, step["step"])
    for index, line in shown["changes"]:
        state[index:index + 1] = [run["labels"][line]]
    state = state[:shown["size"]]
    differs(f"the state of step {k}", step["state"], state)
    differs(f"the choices of step {k}", step["choices"], [run["labels"][i] for i in shown["choices"]])
    for name in step:
        if name not in ("state", "choices"):
            differs(f"{name} of step {k}", step[name], shown.get(name))
    # A script may do what the budgets do not list.
    if k + 1 < len(steps) and steps[k + 1]["number"] > 0 and head["schedule"] != "directed":
        differs(f"the choice behind step {k} is possible", True, steps[k + 1]["label"] in step["choices"])

with open(text_path, encoding="utf-8") as file:
    told = file.read()
for step in steps:
    for line in step["text"]:
        differs(f"a line of step {step['step']} in the text", True, line in told)
    for one in step["violated"]:
        differs(f"a violation of step {step['step']} in the text", True, f"! {one['property']}: {one['why']}" in told)
sys.exit(differences > 0)
