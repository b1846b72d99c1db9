# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

"""The states that `lockstep replay --step` prints, forward and back, are those of `lockstep replay --json`.

Called as: same_states.py PROGRAM REPLAY-ARGUMENT... TRACE
"""
import json
import subprocess
import sys


def output(*options, text=""):
    """What the replay prints. Its status is 0 or 1, and it says nothing on standard error."""
    done = subprocess.run([sys.argv[1], "replay", *options, *sys.argv[2:]], input=text, capture_output=True, text=True)
    assert done.returncode in (0, 1) and done.stderr == "", (done.returncode, done.stderr)
    return done.stdout


def printed(moves):
    """The output of `print` at the beginning and behind each move. `help` marks where it begins and ends."""
    told = output("--step", text="help\n")
    mark = told[told.index("  next "):]
    commands = "help\nprint\nhelp\n" + "".join(f"{move}\nhelp\nprint\nhelp\n" for move in moves)
    return output("--step", text=commands).split(mark)[1::2]


def lines_of(step):
    """The lines that `print` should print, without the line of contenders."""
    beliefs = [f"  {b['process']} {b['lock']} owner {b['owner']}: {b['belief']}" for b in step["beliefs"]]
    return step["state"] + ["beliefs"] + beliefs


def contenders(steps):
    """The line of contenders behind the last of these steps."""
    line = {}
    for event in (event for step in steps for event in step["events"]):
        if event["kind"] == "node-created" and event["node_role"] == 1:
            line[event["czxid"]] = event
        elif event["kind"] == "node-deleted":
            line.pop(event["czxid"], None)
    places = {}
    told = ["line"]
    for czxid in sorted(line):
        event = line[czxid]
        places[event["lock"]] = places.get(event["lock"], 0) + 1
        told.append(f"  {event['lock']} {places[event['lock']]}: {event['process']}, session {event.get('session', 0)}, "
                    f"number {czxid}, {event.get('path', '')}")
    return told


def main():
    objects = [json.loads(line) for line in output("--json").splitlines()]
    steps = objects[1:-1]
    count = len(steps) - 1
    expected = [lines_of(step) + contenders(steps[:i + 1]) for i, step in enumerate(steps)]
    found = [text.splitlines() for text in printed(["next"] * count + ["back"] * count)]
    assert len(found) == 2 * count + 1, (len(found), count)
    for i, lines in enumerate(found):
        position = i if i <= count else 2 * count - i
        assert lines == expected[position], (i, lines, expected[position])
    print(count, "steps forward and back")


main()
