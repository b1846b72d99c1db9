# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

"""usage: promise_matrix.py [--build DIR] [--scratch DIR] [--states N] [--recipe NAME]... [--fault NAME]...

Prints reports/promise-matrix.md: which promise of which recipe holds under which fault. See ./dev reports --help.

Words used here:
  row     a fault, perhaps with an option of the world; `none` is the row without a fault
  world   a scenario file: two clients take the lock once, with at most one fault of the row
  cell    what the searches of a world say about one promise of one recipe

A first search judges all promises. A violation ends it, so more searches follow: one for each violated promise alone, which
gives its shortest run, and one for all others, until that one finds nothing more.
"""
import argparse
import json
import os
import subprocess
import sys

PROGRAMS = {"zookeeper": "lockstep", "redis": "lockstep-redis"}
RECIPES = {
    "zookeeper": ["mutex", "textbook", "curator_like", "kazoo_like"],
    "redis": ["redis_mutex", "redis_mutex_confirmed", "dlock", "dlock_mended", "redisson_like", "redisson_mended",
              "naive_setnx", "setnx_owned"],
}
# What a world needs besides, so that a fault can happen in it.
ALWAYS = {"zookeeper": "used", "redis": ""}
NEEDS = {
    "zookeeper": {"late": "servers=2", "lag": "servers=2"},
    "redis": {"lag": "replicas=1", "failover": "replicas=1", "evict": "evicts=1", "jump": "jump-ms=60000",
              "split": "replicas=1 splits=1"},
}
# What all worlds of a recipe need: one that waits for a replica is never granted the lock without one.
RECIPE_NEEDS = {"redis_mutex_confirmed": "replicas=1"}
# Rows that are a fault in one more world.
MORE_ROWS = {"zookeeper": [], "redis": [("server log=0", "server", "log=0")]}
# Who waits for ever: a search of its own, in worlds whose numbers can be renamed. Those of Redis cannot.
LIVE_ON = ("zookeeper",)
LIVE = ["can_always_be_served", "served_under_weak_fairness"]
SHORT = {
    "at_most_one_holder": "holder", "at_most_one_believer": "believer", "no_stale_effect": "effect",
    "no_lost_wakeup": "wake-up", "no_orphan_node": "orphan", "at_most_one_wakeup_per_release": "herd",
    "no_watch_left_behind": "watch", "granted_in_order": "order", "release_matches_acquire": "release",
    "every_loss_is_told": "told", "deadline_is_kept": "deadline", "bounded_work": "work",
    "can_always_be_served": "served", "served_under_weak_fairness": "fair", "contract_is_kept": "contract",
    "hold_keeps_its_node": "node", "answers_have_reasons": "reasons", "belief_ends_in_time": "belief",
    "every_revocation_is_told": "revoked", "all_or_none": "all", "held_lease_is_renewed": "lease",
}
STATES_LIMIT = "(see --max-states)"  # ends the message of a search that this limit has ended
HOLDS, VIOLATED, OPEN, UNJUDGED, IMPOSSIBLE = "✓", "✗", "…", "·", "–"


def fail(text):
    sys.exit("%s: %s" % (os.path.basename(sys.argv[0]), text))


# ---- the program ----

class Subject:
    """A recipe with the program of its coordinator, and the folder of its worlds."""

    def __init__(self, coordinator, recipe, arguments):
        self.coordinator, self.recipe, self.states = coordinator, recipe, arguments.states
        build = os.path.abspath(arguments.build)
        self.program = os.path.join(build, PROGRAMS[coordinator])
        shared = os.path.join(build, "recipes", recipe + ".so")
        self.file = shared if os.path.exists(shared) else recipe
        self.folder = os.path.join(arguments.scratch, recipe)
        os.makedirs(self.folder, exist_ok=True)

    def call(self, *words):
        return subprocess.run([self.program, *words], cwd=self.folder, capture_output=True, text=True, check=False)

    def search(self, names):
        """Records of these worlds by their names; each search could be done."""
        if not names:
            return {}
        done = self.call("check", "--json", "--max-states", str(self.states), "--out", "traces",
                         "--recipe", self.file, *sorted(names))
        if done.returncode not in (0, 1, 3):
            fail("%s with %s: exit status %d\n%s" % (self.program, self.recipe, done.returncode, done.stderr))
        records = [json.loads(line) for line in done.stdout.splitlines()]
        if len(records) != len(names):
            fail("%s with %s: %d of %d worlds were searched" % (self.program, self.recipe, len(records), len(names)))
        return {record["scenario"]: checked(record) for record in records}


def checked(record):
    if record["verdict"] not in ("holds", "violated", "limit"):
        fail("%s with %s: %s\n%s" % (record["scenario"], record["recipe"], record["verdict"], record["message"]))
    return record


# ---- rows and worlds ----

def all_rows(program, coordinator):
    """(name, fault, options) of each row, those of MORE_ROWS behind their fault."""
    listed = subprocess.run([program, "list", "faults"], capture_output=True, text=True, check=True).stdout
    rows = [("none", None, "")]
    for fault in listed.splitlines()[-1].split():
        if fault != "total":
            rows.append((fault, fault, NEEDS[coordinator].get(fault, "")))
            rows += [row for row in MORE_ROWS[coordinator] if row[1] == fault]
    return rows


def world_lines(subject, row, properties=None):
    _, fault, options = row
    options = " ".join((ALWAYS[subject.coordinator], RECIPE_NEEDS.get(subject.recipe, ""), options)).split()
    options = sorted(set(options), key=options.index)
    return (["coordinator " + subject.coordinator] + (["world " + " ".join(options)] if options else []) +
            ["mutex /locks/x"] + (["properties " + " ".join(properties)] if properties else []) +
            ["process a b: acquire release", "explore %s<=1" % fault if fault else "explore total<=0"])


def write_world(subject, row, properties=None, suffix=""):
    """Writes one world; returns the name of its file."""
    name = row[0].replace(" ", "-") + suffix + ".scn"
    with open(os.path.join(subject.folder, name), "w", encoding="utf-8") as file:
        file.write("\n".join(world_lines(subject, row, properties)) + "\n")
    return name


def refusal(subject, row):
    """What the program says that the line with this fault lacks; None if it takes the line."""
    name = write_world(subject, row)
    done = subject.call("check", "--quiet", "--max-states", "1", "--no-shrink", "--out", "traces",
                        "--recipe", subject.file, name)
    refused = "%s:%d:" % (name, len(world_lines(subject, row)))
    if done.returncode != 2:
        return None
    if not done.stderr.startswith(refused) or ": expected " not in done.stderr:
        fail(done.stderr)
    return done.stderr.split(": expected ")[1].split(", found ")[0]


# ---- searches of one recipe ----

class Result:
    """What the searches of a world have said about the promises of a recipe."""

    def __init__(self):
        self.violated = {}  # promise -> (steps, sentence)
        self.last = {}      # group -> record of the search in which nothing more was found

    def cell(self, promise):
        if promise in self.violated:
            return VIOLATED
        record = self.last.get(group_of(promise))
        if record is None:
            return IMPOSSIBLE
        if promise not in record["properties"]:
            return UNJUDGED
        was_judged = record["properties"][promise] == "holds"
        if is_limited(record) and (was_judged or promise in LIVE):
            return OPEN
        return HOLDS if was_judged else UNJUDGED

    def never(self, fault):
        """No run of a search that has ended had this fault."""
        record = self.last["safe"]
        return record["exhausted"] and fault in record["not_tried"]


def is_limited(record):
    return record["verdict"] == "limit"


def group_of(promise):
    return "live" if promise in LIVE else "safe"


def violated_in(record):
    return sorted(name for name, verdict in record["properties"].items() if verdict == "violated")


def steps_of(subject, record):
    """The steps of the shrunk run, or of the run itself, and what is said of it."""
    told = record["violations"][0]
    if record["shrunk"] is None:
        return told["step"], told["sentence"]
    with open(os.path.join(subject.folder, record["shrunk"]), encoding="utf-8") as file:
        choices = next(line for line in file if line.startswith("choices "))
    return int(choices.split()[1]), told["sentence"]


def told_first(record, promise):
    """What the search that judges several promises has said of this one: its run is not shrunk."""
    told = next(one for one in record["violations"] if one["property"] == promise)
    return told["step"], told["sentence"]


def search_alone(subject, rows, results, group):
    """Searches for each newly violated promise alone. Returns the rows that have one."""
    names = {}
    for row, result in results.items():
        for promise in violated_in(result.last[group]):
            if promise not in result.violated:
                result.violated[promise] = told_first(result.last[group], promise)
                names[write_world(subject, rows[row], [promise], "." + promise)] = (row, promise)
    for name, record in subject.search(names).items():
        row, promise = names[name]
        if record["violations"]:
            results[row].violated[promise] = steps_of(subject, record)
    return {row for row, _ in names.values()}


def search_others(subject, rows, results, group, found):
    """Searches for what is not violated yet, in these rows."""
    names = {}
    for row in found:
        rest = [name for name in results[row].last[group]["properties"] if name not in results[row].violated]
        if rest:
            names[write_world(subject, rows[row], rest, ".others")] = row
    for name, record in subject.search(names).items():
        results[names[name]].last[group] = record


def search_recipe(subject, rows):
    """Results by the names of rows; `rows` has those that are possible."""
    results = {name: Result() for name in rows}
    searches = [("safe", None, "")] + ([("live", LIVE, ".live")] if subject.coordinator in LIVE_ON else [])
    for group, properties, suffix in searches:
        names = {write_world(subject, row, properties, suffix): name for name, row in rows.items()}
        for name, record in subject.search(names).items():
            results[names[name]].last[group] = record
        while found := search_alone(subject, rows, results, group):
            search_others(subject, rows, results, group, found)
    return results


# ---- the page ----

INTRODUCTION = """<!-- Written by `./dev reports promise-matrix`. -->
# Which promise holds under which fault

Two clients take a mutex once each (`process a b: acquire release`), with at most one fault of the row. `lockstep check` and
`lockstep-redis check` search all runs of each such world, without a clock, up to {states} states.

| sign | meaning |
|---|---|
| ✓ | the promise holds in all runs of the world, and some run has put it to the test |
| ✗ 9 | the promise is violated; the shortest run that was found has 9 steps |
| … | not tried to the end: nothing was found in the states that were searched |
| · | not judged: no run that was searched has put the promise to the test |
| – | not tried: the fault cannot happen in this world, or no search can judge the promise there |

A violation that needs no fault is in the row `none`, and so in all other rows. A promise that is violated hides no other one: a further
search judges all others, and its states are counted. Run `./dev reports promise-matrix`, and each world is in `build/promise-matrix`.
`lockstep check` or `lockstep-redis check` with that file and `--recipe` shows the run again.

A world of this page shows no flaw that takes a longer program. In it no client keeps the lock, takes it twice, or has two owners in one process.
Redlock is not here: with one server it is a lock like `setnx_owned`, and worlds of several servers are larger.
"""


def table(heads, lines):
    return (["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)] +
            ["| " + " | ".join(line) + " |" for line in lines] + [""])


def names_of(program, what):
    """The names that `lockstep list` has at the beginnings of its lines."""
    listed = subprocess.run([program, "list", what], capture_output=True, text=True, check=True).stdout
    return [line.split()[0] for line in listed.splitlines() if line[:1].strip()]


class Matrix:
    """All that was found: results[coordinator][recipe][row]."""

    def __init__(self):
        self.rows, self.refused, self.possible, self.results, self.subjects = {}, {}, {}, {}, {}
        self.promises = []

    def search(self, coordinator, recipes, arguments):
        program = os.path.join(arguments.build, PROGRAMS[coordinator])
        rows = all_rows(program, coordinator)
        self.rows[coordinator] = [row for row in rows if not arguments.fault or row[0] in arguments.fault]
        self.results[coordinator] = {}
        for recipe in recipes:
            subject = self.subjects[recipe] = Subject(coordinator, recipe, arguments)
            self.refused[coordinator] = {row[0]: refusal(subject, row) for row in self.rows[coordinator]}
            self.possible[coordinator] = {row[0]: row for row in self.rows[coordinator]
                                          if self.refused[coordinator][row[0]] is None}
            self.results[coordinator][recipe] = search_recipe(subject, self.possible[coordinator])
        self.promises += [name for name in names_of(program, "properties") if name not in self.promises]

    def recipes(self):
        return [(coordinator, name) for coordinator in self.results for name in self.results[coordinator]]

    def row_names(self):
        names = []
        for rows in self.rows.values():
            names += [row[0] for row in rows if row[0] not in names]
        return names

    def never(self, coordinator, recipe, row):
        """No run of this world had the fault of the row."""
        return self.results[coordinator][recipe][row].never(self.possible[coordinator][row][1])

    def cell(self, coordinator, recipe, row, promise):
        if row not in self.possible[coordinator] or self.never(coordinator, recipe, row):
            return IMPOSSIBLE
        return self.results[coordinator][recipe][row].cell(promise)

    def cells(self, coordinator, recipe, rows, promises):
        return [self.cell(coordinator, recipe, row, promise) for row in rows for promise in promises]

    def is_judged(self, promise, coordinators):
        return any(cell in (HOLDS, VIOLATED) for coordinator, recipe in self.recipes() if coordinator in coordinators
                   for cell in self.cells(coordinator, recipe, self.row_names(), [promise]))


def summed(cells):
    """One sign for many cells: the worst, how often it is there if it is a violation, and whether some cell is open."""
    if VIOLATED in cells:
        sign = "%s %d" % (VIOLATED, cells.count(VIOLATED))
    else:
        sign = next((sign for sign in (HOLDS, OPEN, UNJUDGED, IMPOSSIBLE) if sign in cells))
    return sign + " " + OPEN if OPEN in cells and sign != OPEN else sign


def short(promise):
    return SHORT.get(promise, promise)


def legend_lines(matrix):
    judged = [name for name in matrix.promises if matrix.is_judged(name, matrix.results)]
    left_out = [name for name in matrix.promises if name not in judged]
    lines = ["## Promises", "", "`lockstep list properties` has the sentences. Short names head the columns.", ""]
    lines += table(["short", "promise"], [(short(name), "`%s`" % name) for name in judged])
    return lines + (["No world of this page puts these to the test: %s." % ", ".join("`%s`" % name for name in left_out), ""]
                    if left_out else [])


def world_text(matrix, coordinator, name):
    subject = next(matrix.subjects[recipe] for recipe in matrix.results[coordinator])
    row = matrix.possible[coordinator].get(name)
    if row is None:
        lacks = matrix.refused[coordinator].get(name)
        return "%s (expected %s)" % (IMPOSSIBLE, lacks) if lacks else IMPOSSIBLE
    lines = world_lines(subject, row)
    return "; ".join("`%s`" % line for line in lines if line.startswith(("world", "explore")))


def world_rows(matrix):
    lines = ["## Worlds", "", "The lines of each world besides `coordinator`, `mutex` and `process`."]
    lines += ["All worlds of %s have `%s` too." % (recipe, RECIPE_NEEDS[recipe])
              for _, recipe in matrix.recipes() if recipe in RECIPE_NEEDS] + [""]
    return lines + table(["fault", *matrix.results],
                         [(name, *(world_text(matrix, coordinator, name) for coordinator in matrix.results))
                          for name in matrix.row_names()])


def heads_of(matrix):
    return ["%s" % recipe for _, recipe in matrix.recipes()]


def by_fault(matrix):
    lines = ["## By fault", "", "How many promises are violated. ✓: all that are judged hold. … behind it: some cells are open.", ""]
    return lines + table(["fault", *heads_of(matrix)],
                         [(row, *(summed(matrix.cells(coordinator, recipe, [row], matrix.promises))
                                  for coordinator, recipe in matrix.recipes())) for row in matrix.row_names()])


def by_promise(matrix):
    judged = [name for name in matrix.promises if matrix.is_judged(name, matrix.results)]
    lines = ["## By promise", "", "In how many rows the promise is violated. Signs are as above.", ""]
    return lines + table(["promise", *heads_of(matrix)],
                         [(short(promise), *(summed(matrix.cells(coordinator, recipe, matrix.row_names(), [promise]))
                                             for coordinator, recipe in matrix.recipes())) for promise in judged])


def states_text(result):
    record = result.last["safe"]
    if is_limited(record) and STATES_LIMIT not in record["message"]:
        return "{:,}: {}".format(record["states"] or 0, record["message"].strip().splitlines()[0])
    return "{:,}{}".format(record["states"] or 0, ", not all" if is_limited(record) else "")


def cell_text(matrix, coordinator, recipe, row, promise):
    sign = matrix.cell(coordinator, recipe, row, promise)
    if sign != VIOLATED:
        return sign
    return "**%s %d**" % (VIOLATED, matrix.results[coordinator][recipe][row].violated[promise][0])


def recipe_lines(matrix, coordinator, recipe, promises):
    lines = []
    for name in matrix.possible[coordinator]:
        result = matrix.results[coordinator][recipe][name]
        lines.append((name, *(cell_text(matrix, coordinator, recipe, name, promise) for promise in promises),
                      IMPOSSIBLE if matrix.never(coordinator, recipe, name) else states_text(result)))
    return table(["fault", *(short(promise) for promise in promises), "states"], lines)


def shortest_lines(matrix, coordinator, recipe, promises):
    """Of each violated promise the row with the shortest run."""
    lines = []
    for promise in promises:
        runs = [(result.violated[promise][0], place, row, result.violated[promise][1])
                for place, (row, result) in enumerate(matrix.results[coordinator][recipe].items())
                if cell_text(matrix, coordinator, recipe, row, promise).startswith("**")]
        if runs:
            steps, _, row, sentence = min(runs)
            world = "%s/%s.%s.scn" % (recipe, row.replace(" ", "-"), promise)
            lines.append(("`%s`" % promise, "`%s`" % world, str(steps), sentence))
    return table(["violated", "shortest in", "steps", "what is said of that run"], lines) if lines else []


def page(matrix, states):
    lines = INTRODUCTION.format(states="{:,}".format(states)).splitlines() + [""]
    lines += legend_lines(matrix) + world_rows(matrix) + by_fault(matrix) + by_promise(matrix)
    for coordinator, recipe in matrix.recipes():
        promises = [name for name in matrix.promises if matrix.is_judged(name, [coordinator])]
        lines += ["## %s on %s" % (recipe, coordinator), ""]
        lines += recipe_lines(matrix, coordinator, recipe, promises)
        lines += shortest_lines(matrix, coordinator, recipe, promises)
    return "\n".join(lines).rstrip("\n") + "\n"


def chosen(coordinator, arguments):
    """The recipes of this coordinator; of those that are wanted, those that its program alone knows."""
    if not arguments.recipe:
        return RECIPES[coordinator]
    if coordinator == "zookeeper":
        known = names_of(os.path.join(arguments.build, PROGRAMS["zookeeper"]), "recipes") + RECIPES["zookeeper"]
        return [name for name in arguments.recipe if name in known]
    return [name for name in arguments.recipe if name not in chosen("zookeeper", arguments)]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--build", default=os.path.join("build", "release"))
    parser.add_argument("--scratch", default=os.path.join("build", "promise-matrix"))
    parser.add_argument("--states", type=int, default=1500000)
    parser.add_argument("--recipe", action="append", default=[])
    parser.add_argument("--fault", action="append", default=[])
    arguments = parser.parse_args()
    matrix = Matrix()
    for coordinator in PROGRAMS:
        recipes = chosen(coordinator, arguments)
        if recipes:
            matrix.search(coordinator, recipes, arguments)
    sys.stdout.write(page(matrix, arguments.states))


if __name__ == "__main__":
    main()
