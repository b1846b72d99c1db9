# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors
"""usage: page_run.py PAGE [EXPRESSION]

Prints the run of a page: the value of a Python expression of `run`, or one JSON object on each line, as `replay --json` does. A
page leaves out empty fields and has numbers in place of texts (src/report/page.c); here each step has them as the JSON does.
"""
import json
import re
import sys


def load(path):
    with open(path, encoding="utf-8") as file:
        page = file.read()
    run = json.loads(re.search(r'<script type="application/json" id="run">(.*?)</script>', page, re.S).group(1))
    state = []
    for step in run["steps"]:
        for name in ("events", "text", "violated", "beliefs", "changes", "choices"):
            step.setdefault(name, [])
        for name in ("label", "remark"):
            step.setdefault(name, "")
        for event in step["events"]:
            if "path" in event:
                event["path"] = run["labels"][event["path"]]
        for index, line in step["changes"]:
            state[index:index + 1] = [run["labels"][line]]
        state = state[:step["size"]]
        step["state"] = list(state)
        step["choices"] = [run["labels"][index] for index in step["choices"]]
    return run


if __name__ == "__main__":
    run = load(sys.argv[1])
    if len(sys.argv) > 2:
        print(eval(sys.argv[2]))
    else:
        for line in [run["head"], *run["steps"], run["end"]]:
            print(json.dumps(line))
