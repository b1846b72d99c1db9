# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

"""usage: clock_worlds.py [--build DIR] [--scratch DIR] [--states N] [--seeds N] [--recipe NAME]...

Prints reports/clock-redis.md: what worlds of Redis without a clock and with one say of the same recipes.
See ./dev reports --help.

A situation is a file of scenarios/suite/redis with one or two clients. Without a clock all its runs are searched. With a
clock it has random runs. Each kind has one search that judges all promises; a violation ends it, so another one follows
that judges the rest, until nothing more is found.
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys

from promise_matrix import checked, fail, table

RECIPES = ["redis_mutex", "dlock", "dlock_mended", "redisson_like", "redisson_mended", "naive_setnx", "setnx_owned"]
CLOCK = "timed latency=1ms..300ms"
# With a clock a lease ends by its time alone, so a holder whose timers are late stands for an early end.
COUNTERPARTS = {"expire": "pause"}


# ---- situations ----

def situations(folder="scenarios/suite/redis"):
    """(name, lines) of each file with one or two clients."""
    found = []
    for path in sorted(glob.glob(os.path.join(folder, "*.scn"))):
        with open(path, encoding="utf-8") as file:
            lines = [line.rstrip("\n") for line in file if line.strip() and not line.startswith("#")]
        clients = {name for line in lines if line.startswith("process ")
                   for name in line.split(":")[0].split()[1:] if "=" not in name}
        if len(clients) <= 2:
            found.append((os.path.basename(path)[:-len(".scn")], lines))
    return found


def with_clock(lines):
    """The same situation with a clock."""
    out = []
    for line in lines:
        if line.startswith("world "):
            continue
        if line.startswith("mutex "):
            options = " ".join(other[len("world "):] for other in lines if other.startswith("world "))
            out.append(" ".join(["world", CLOCK, options]).strip())
        if line.startswith("explore "):
            line = re.sub(r"\b(%s)<=" % "|".join(COUNTERPARTS), lambda match: COUNTERPARTS[match.group(1)] + "<=", line)
        out.append(line)
    return out


# ---- verdicts ----

class Verdict:
    """What the runs of one kind have said of a recipe in a situation."""

    def __init__(self):
        self.judged, self.violated, self.to_the_end = set(), {}, False

    def word(self, promise):
        """What these runs say of a promise that none of them violates."""
        if promise not in self.judged:
            return "not judged"
        return "holds" if self.to_the_end else "not found"


def run(program, recipe, path, words):
    done = subprocess.run([program, *words, "--json", "--no-shrink", "--out", os.path.dirname(path), "--recipe", recipe, path],
                          capture_output=True, text=True, check=False)
    if done.returncode not in (0, 1, 3):
        fail("%s with %s: exit status %d\n%s" % (path, recipe, done.returncode, done.stderr))
    return checked(json.loads(done.stdout.splitlines()[0]))


def verdict_of(program, recipe, name, lines, words, arguments):
    verdict, rest = Verdict(), None
    while rest is None or rest:
        path = os.path.join(arguments.scratch, name + ".scn")
        with open(path, "w", encoding="utf-8") as file:
            judged = ["properties " + " ".join(rest)] if rest else []
            at = next(i for i, line in enumerate(lines) if line.startswith("mutex ")) + 1
            file.write("\n".join(lines[:at] + judged + lines[at:]) + "\n")
        record = run(program, recipe, path, words)
        found = {one["property"]: one["sentence"] for one in record["violations"]}
        verdict.judged |= {one for one, said in record["properties"].items() if said != "not-judged"}
        verdict.violated.update(found)
        if not found:
            verdict.to_the_end = record["verdict"] == "holds"
            break
        rest = [one for one in (rest or record["properties"]) if one not in verdict.violated]
    return verdict


def compare(program, recipe, arguments):
    """(situation, verdict without a clock, verdict with one) of each situation."""
    for name, lines in situations():
        search = ["check", "--max-states", str(arguments.states)]
        draws = ["run", "--no-search", "--seeds", str(arguments.seeds)]
        yield (name, verdict_of(program, recipe, name, lines, search, arguments),
               verdict_of(program, recipe, name + ".clock", with_clock(lines), draws, arguments))


# ---- the page ----

INTRODUCTION = """<!-- Written by `./dev reports clock-redis`. -->
# Worlds of Redis without a clock, and with one

Each situation of `scenarios/suite/redis` with one or two clients is tried in two kinds of worlds:

- Without a clock, `lockstep-redis check` searches all runs, up to {states} states. The recipe decides when a lease may end
  ([docs/fidelity-redis.md](../docs/fidelity-redis.md#worlds)).
- With a clock (`world {clock}`), `lockstep-redis run` makes {seeds} random runs. A lease ends at its time on the server. A fault
  `expire` becomes a fault `pause`: with a clock no lease ends early.

The first three counts are of promises that both kinds judge, over all situations. A violation with a clock alone has one of two reasons.
The search without a clock has not come to its end ("not found"), or it misses a possible run ("holds").
"""


def count_row(recipe, results):
    counts = [0, 0, 0, 0, 0]
    for _, untimed, timed in results:
        shared = untimed.judged & timed.judged
        u, t = set(untimed.violated), set(timed.violated)
        for i, some in enumerate((u & t, (u - t) & shared, (t - u) & shared, u - timed.judged, t - untimed.judged)):
            counts[i] += len(some)
    return (recipe, *map(str, counts))


def difference_rows(results):
    for name, *verdicts in results:
        for promise in sorted(set().union(*(verdict.violated for verdict in verdicts))):
            for verdict, other, kind in zip(verdicts, reversed(verdicts), ("without a clock", "with a clock")):
                if promise not in other.violated:
                    yield (name, "`%s`" % promise, kind, other.word(promise), verdict.violated[promise])


def page(found, arguments):
    lines = INTRODUCTION.format(states="{:,}".format(arguments.states), seeds="{:,}".format(arguments.seeds),
                                clock=CLOCK).splitlines() + [""]
    lines += table(["recipe", "violated in both", "without a clock alone", "with a clock alone", "not judged with a clock",
                    "not judged without one"], [count_row(recipe, results) for recipe, results in found])
    for recipe, results in found:
        agree = sum(set(untimed.violated) == set(timed.violated) for _, untimed, timed in results)
        lines += ["## " + recipe, "", "%d of %d situations have the same violations in both kinds." % (agree, len(results)), ""]
        rows = list(difference_rows(results))
        lines += table(["situation", "promise", "violated", "in the other kind", "what is said"], rows) if rows else []
    return "\n".join(lines).rstrip("\n") + "\n"


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", default=os.path.join("build", "release"))
    parser.add_argument("--scratch", default=os.path.join("build", "clock-redis"))
    parser.add_argument("--states", type=int, default=200000)
    parser.add_argument("--seeds", type=int, default=2000)
    parser.add_argument("--recipe", action="append", default=[])
    arguments = parser.parse_args()
    os.makedirs(arguments.scratch, exist_ok=True)
    program = os.path.join(os.path.abspath(arguments.build), "lockstep-redis")
    found = [(recipe, list(compare(program, recipe, arguments))) for recipe in arguments.recipe or RECIPES]
    sys.stdout.write(page(found, arguments))


if __name__ == "__main__":
    main()
