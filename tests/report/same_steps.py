# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors
"""usage: same_steps.py PAGE JSON TEXT

Compares the page of a run with `replay --json` and `replay` of its trace. Exit status 1 with a line for each difference.
"""
import json
import sys

import page_run

page_path, json_path, text_path = sys.argv[1:]
differences = 0


def differs(what, expected, found):
    global differences
    if expected != found:
        differences += 1
        print(f"{what}: expected {expected!r:.300}, found {found!r:.300}")


run = page_run.load(page_path)
with open(json_path, encoding="utf-8") as file:
    lines = [json.loads(line) for line in file]
head, steps, end = lines[0], lines[1:-1], lines[-1]

differs("the head", {**head, "again": run["head"]["again"]}, run["head"])
differs("the end", end, run["end"])
differs("the number of steps", len(steps), len(run["steps"]))
for k, (step, shown) in enumerate(zip(steps, run["steps"])):
    differs(f"the number of step {k}", k, step["step"])
    differs(f"the state of step {k}", step["state"], shown["state"])
    differs(f"the choices of step {k}", step["choices"], shown["choices"])
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
