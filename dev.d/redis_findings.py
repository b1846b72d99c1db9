# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

"""usage: redis_findings.py [--build DIR] [--scratch DIR] [--rows FILE] [--flaw TEXT]

Prints reports/findings-redis.md: what is found in locks on Redis that do as published ones do. See ./dev reports --help.

Each row of dev.d/redis_findings.tsv is run twice. With the flaw the run must violate the property of the row. With the recipe
that lacks the flaw it must violate nothing. Whatever fails is told, and the exit status is 1: the page would promise too much.
"""
import argparse
import csv
import json
import os
import subprocess
import sys

from promise_matrix import fail, table

ROWS = os.path.join("dev.d", "redis_findings.tsv")
SCENARIOS = os.path.join("tests", "coordredis", "scenarios")
PROGRAM = "lockstep-redis"


class Row:
    """One flaw: a recipe that has it, the run that shows it, and a recipe that lacks it."""

    def __init__(self, words):
        self.section, self.flaw, self.recipe, self.command, scenario, self.promise, self.mend = words
        self.scenario = os.path.join(SCENARIOS, scenario + ".scn")
        self.steps, self.sentence, self.story, self.verdict = 0, "", "", ""

    def words(self, recipe):
        more = ["--no-search"] if "--seeds" in self.command else []
        return [*self.command.split(), *more, "--recipe", recipe, self.scenario]

    def line(self, recipe):
        return " ".join([PROGRAM, *self.words(recipe)])

    def anchor(self):
        kept = "".join(letter for letter in "%s: %s" % (self.section, self.flaw) if letter.isalnum() or letter in " -")
        return kept.lower().replace(" ", "-")


def read_rows(path, wanted):
    with open(path, encoding="utf-8", newline="") as file:
        lines = csv.reader((line for line in file if not line.startswith("#")), delimiter="\t", quoting=csv.QUOTE_NONE)
        rows = [Row(words) for words in lines]
    return [row for row in rows if wanted in row.flaw]


# ---- the program ----

class Runner:
    """Runs rows, and collects complaints."""

    def __init__(self, arguments):
        self.program = os.path.join(os.path.abspath(arguments.build), PROGRAM)
        self.scratch = arguments.scratch
        self.complaints = []

    def call(self, *words):
        return subprocess.run([self.program, *words], capture_output=True, text=True, check=False)

    def record(self, row, recipe):
        done = self.call(*row.words(recipe), "--json", "--out", self.scratch)
        if done.returncode not in (0, 1, 3) or not done.stdout.startswith("{"):
            fail("%s: exit status %d\n%s%s" % (row.line(recipe), done.returncode, done.stdout, done.stderr))
        return json.loads(done.stdout.splitlines()[0])

    def complain(self, row, recipe, text):
        self.complaints.append("%s: %s: %s" % (row.flaw, row.line(recipe), text))

    def find(self, row):
        """Runs the recipe that has the flaw. The story is the shrunk run, or a directed one as it is."""
        record = self.record(row, row.recipe)
        if record["properties"].get(row.promise) != "violated":
            self.complain(row, row.recipe, "expected %s to be violated, found %s" % (row.promise, record["verdict"]))
            return
        told = self.call("replay", record["shrunk"] or record["trace"]).stdout
        row.story = told.replace(record["scenario"], row.scenario).strip("\n")
        line = next((line for line in told.splitlines() if line.startswith(row.promise + " is violated at step ")), None)
        if line is None:
            self.complain(row, row.recipe, "the shortest run does not violate %s" % row.promise)
            return
        place, row.sentence = line.split(": ", 1)
        row.steps = int(place.split(" at step ")[1].split()[0])

    def acquit(self, row):
        """Runs the recipe that lacks the flaw."""
        record = self.record(row, row.mend)
        draws = record["verdict"] == "limit" and "--seeds" in row.command
        if record["verdict"] != "holds" and not draws:
            self.complain(row, row.mend, "expected that it holds, found %s: %s" % (record["verdict"], record["message"]))
        elif draws:
            row.verdict = "nothing in %s random runs" % row.command.split()[-1]
        elif record["states"]:
            row.verdict = "holds, {:,} states".format(record["states"])
        else:
            row.verdict = "holds in this run"


# ---- the page ----

INTRODUCTION = """<!-- Written by `./dev reports findings-redis`. -->
# What is found in locks on Redis

Each row is a flaw of a lock that does as a published one does. The command of its run finds it. `steps` is the step of that run in which the property is
violated: the shortest one that was found, or a directed one. The recipe of the last columns lacks the flaw, and the same command finds nothing in it. Below the tables stand the runs.
See [docs/findings.md](../docs/findings.md#locks-on-redis) for the consequences of each flaw. `coordredis.findings` compares this page.
"""


def sections(rows):
    for name in dict.fromkeys(row.section for row in rows):
        yield name, [row for row in rows if row.section == name]


def page(rows):
    lines = INTRODUCTION.splitlines() + [""]
    for name, some in sections(rows):
        lines += ["## " + name, ""]
        lines += table(["flaw", "recipe", "violated", "steps", "recipe without it", "verdict"],
                       [("[%s](#%s)" % (row.flaw, row.anchor()), "`%s`" % row.recipe, "`%s`" % row.promise, str(row.steps),
                         "`%s`" % row.mend, row.verdict) for row in some])
    lines += ["## Runs", ""]
    for row in rows:
        lines += ["### %s: %s" % (row.section, row.flaw), "", "`%s`" % row.line(row.recipe), "", "```", row.story, "```", ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", default=os.path.join("build", "release"))
    parser.add_argument("--scratch", default=os.path.join("build", "findings-redis"))
    parser.add_argument("--rows", default=ROWS)
    parser.add_argument("--flaw", default="", help="rows whose flaw has this text alone")
    arguments = parser.parse_args()
    os.makedirs(arguments.scratch, exist_ok=True)
    rows, runner = read_rows(arguments.rows, arguments.flaw), Runner(arguments)
    if not rows:
        fail("no row has such a flaw")
    for row in rows:
        runner.find(row)
        runner.acquit(row)
    sys.stdout.write(page(rows))
    for complaint in runner.complaints:
        print(complaint, file=sys.stderr)
    sys.exit(1 if runner.complaints else 0)


if __name__ == "__main__":
    main()
