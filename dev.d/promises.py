# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

"""usage: promises.py [--check | --rewrite] [--draw N [--seed S]] [NAME...]

The promises of the public headers, each with a planted break and the test that notices it. See ./dev promises --help.

Words used here:
  sentence   one sentence of a header's comments
  row        tests/promises/HEADER/NAME.patch: `Promise:` lines, one `Watcher:` line, and a diff that breaks the promise
  watcher    what must turn red when the row's diff is applied
"""
import argparse
import glob
import json
import os
import random
import re
import shlex
import subprocess
import sys
import time

import scratch_tree

ROWS = os.path.join("tests", "promises")
HEADERS = os.path.join("include", "lockstep")
PAGE = os.path.join("reports", "promises.md")
FOLDER = os.path.join("build", "promises")
LINES_MAX = 5        # added, and removed, by one break
TEST_WAIT_S = 240    # a test that a break sends to sleep is ended then
SCENARIO_WAIT_S = 600


# ---- sentences of a header ----

COMMENT = re.compile(r'/\*(.*?)\*/|//([^\n]*)|"(?:\\.|[^"\\\n])*"', re.S)
HEADING = re.compile(r"^-{3,} .* -{3,}$")
SENTENCE_END = re.compile(r"(?<=[.?!]) ")


def comments_of(text):
    for match in COMMENT.finditer(text):
        comment = match.group(1) if match.group(1) is not None else match.group(2)
        if comment is not None:
            yield comment


def paragraphs_of(comment):
    """Lines joined; an empty line, a heading and the dash of a list end a paragraph."""
    words = []
    for line in comment.split("\n"):
        line = re.sub(r"^\s*\*?\s*", "", line).rstrip()
        item = line.startswith("- ")
        if not line or HEADING.match(line) or item:
            if words:
                yield " ".join(words)
            words = []
            line = line[2:].lstrip() if item else ""
        if line:
            words.append(line)
    if words:
        yield " ".join(words)


def folded(text):
    return " ".join(text.split())


def sentences_of(path):
    """The sentences of all comments but the licence and the end of the include guard."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    found = []
    for comment in comments_of(text):
        if "SPDX-License-Identifier" in comment or re.fullmatch(r"\s*LOCKSTEP_\w+_H\s*", comment):
            continue
        for paragraph in paragraphs_of(comment):
            found += [sentence for sentence in SENTENCE_END.split(folded(paragraph)) if re.search(r"\w", sentence)]
    return found


# ---- rows ----

class Row:
    """One patch: what it breaks, and what notices it."""

    def __init__(self, path):
        self.path = path
        self.header, name = path.split(os.sep)[-2:]
        self.name = f"{self.header}/{name[:-len('.patch')]}"
        self.promises, self.watcher, self.files = [], None, []
        self.added = self.removed = 0
        self.read()

    def read(self):
        with open(self.path, encoding="utf-8") as file:
            head, mark, diff = ("\n" + file.read()).partition("\ndiff --git ")
        for line in head.split("\n"):
            if line.startswith("Promise: "):
                self.promises.append(folded(line[len("Promise: "):]))
            elif line.startswith("Watcher: "):
                self.watcher = Watcher(line[len("Watcher: "):])
        for line in (mark + diff).split("\n"):
            if line.startswith("+++ b/"):
                self.files.append(line[len("+++ b/"):].strip())
            elif line.startswith("+") and not line.startswith("+++ "):
                self.added += 1
            elif line.startswith("-") and not line.startswith("--- "):
                self.removed += 1

    def wrong(self):
        """What is wrong with its form, a line each."""
        if not self.promises:
            yield "has no line `Promise: `"
        if not self.watcher:
            yield "has no line `Watcher: `"
        elif self.watcher.wrong:
            yield self.watcher.wrong
        if not self.files:
            yield "has no diff"
        if self.added > LINES_MAX or self.removed > LINES_MAX:
            yield f"adds {self.added} lines and removes {self.removed}, at most {LINES_MAX} each are allowed"


class Watcher:
    """What a row's line `Watcher: ` names."""

    KINDS = {"test": (1, 2), "real": (1, 2), "compile": (1, 1), "scenario": (2, 3), "suite": (1, 2)}

    def __init__(self, text):
        self.text = folded(text)
        words = self.text.split()
        self.kind, self.words = words[0], words[1:]
        least, most = self.KINDS.get(self.kind, (0, -1))
        self.wrong = None
        if not least <= len(self.words) <= most:
            self.wrong = f"does not understand the watcher `{self.text}`"
        self.recipe = next((word for word in self.words if word.endswith(".c")), None)

    def key(self):
        """Watchers with one key are green together: a program's tests all run at once."""
        return " ".join([self.kind, self.words[0]]) if self.kind in ("test", "real", "compile") else self.text


def headers():
    """The headers whose promises are written down; a folder without none.txt is not complete yet."""
    if not os.path.isdir(ROWS):
        return []
    return [name for name in sorted(os.listdir(ROWS)) if os.path.exists(os.path.join(ROWS, name, "none.txt"))]


def rows_of(header):
    folder = os.path.join(ROWS, header)
    return [Row(os.path.join(folder, name)) for name in sorted(os.listdir(folder)) if name.endswith(".patch")]


def none_of(header):
    """Sentences that promise nothing, and why: {sentence: why}; None stands for a why that is missing."""
    found = {}
    with open(os.path.join(ROWS, header, "none.txt"), encoding="utf-8") as file:
        for line in filter(str.strip, file):
            sentence, _, why = line.partition("\t")
            found[folded(sentence)] = folded(why) or None
    return found


def header_path(header):
    return os.path.join(HEADERS, header + ".h")


# ---- the page ----

def cell(text):
    return text.replace("|", "\\|")


def page_of_header(header):
    rows, none = rows_of(header), none_of(header)
    by_promise = {promise: row for row in rows for promise in row.promises}
    promised, silent = [], []
    for sentence in sentences_of(header_path(header)):
        row = by_promise.get(sentence)
        if row:
            name = row.name.split("/")[1]
            promised.append(f"| {cell(sentence)} | `{cell(row.watcher.text)}` | [{name}](../{row.path}) |")
        elif sentence in none:
            silent.append(f"| {cell(sentence)} | {cell(none[sentence] or '')} |")
    return [f"## {header}.h", "", f"{len(promised)} promises, {len(rows)} breaks.", "",
            "| sentence | watcher | break |", "|---|---|---|", *promised, "",
            f"{len(silent)} sentences promise nothing:", "", "| sentence | why |", "|---|---|", *silent, ""]


def page():
    lines = ["<!-- written by ./dev promises --rewrite -->", "# The promises of the headers", "",
             "Each sentence of these public headers is a row: the test that watches it, and a small change of the code that breaks it.",
             "`./dev promises` applies each break in a copy of the tree and sees its watcher turn red. `./dev promises --help` says how.", ""]
    for header in headers():
        lines += page_of_header(header)
    return "\n".join(lines)


def write_page():
    os.makedirs(os.path.dirname(PAGE), exist_ok=True)
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(page())
    return 0


# ---- --check: nothing is built ----

def git_apply(folder, row, *options):
    """Outside of a repository around the folder, or git would leave out what lies below the folder. Returns (done, message)."""
    environment = dict(os.environ, GIT_CEILING_DIRECTORIES=os.path.dirname(os.path.abspath(folder)))
    done = subprocess.run(["git", "apply", *options, os.path.abspath(row.path)], cwd=folder, env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode == 0, done.stdout.strip().split("\n")[0]


def complaint_of_git(row):
    done, message = git_apply(".", row, "--check")
    return None if done else "does not apply: " + message


def wrong_with_rows(rows, sentences):
    for row in rows:
        for complaint in row.wrong():
            yield f"{row.path}: {complaint}"
        if row.files:
            complaint = complaint_of_git(row)
            if complaint:
                yield f"{row.path}: {complaint}"
        for promise in row.promises:
            if promise not in sentences:
                yield f"{row.path}: not in the header: {promise}"


def wrong_with_header(header):
    path = header_path(header)
    sentences, rows, none = sentences_of(path), rows_of(header), none_of(header)
    yield from wrong_with_rows(rows, set(sentences))
    places = [promise for row in rows for promise in row.promises] + list(none)
    for sentence in dict.fromkeys(sentences):
        if sentence not in places:
            yield f"{path}: no row: {sentence}"
        elif places.count(sentence) > 1:
            yield f"{path}: {places.count(sentence)} rows: {sentence}"
        if sentence not in none and sentences.count(sentence) > 1:
            yield f"{path}: stands there {sentences.count(sentence)} times: {sentence}"
    for sentence, why in none.items():
        if sentence not in sentences:
            yield f"{os.path.join(ROWS, header, 'none.txt')}: not in the header: {sentence}"
        elif why is None:
            yield f"{os.path.join(ROWS, header, 'none.txt')}: does not say why: {sentence}"


def check():
    complaints = [complaint for header in headers() for complaint in wrong_with_header(header)]
    if not complaints:
        try:
            with open(PAGE, encoding="utf-8") as file:
                same = file.read() == page()
        except OSError:
            same = False
        if not same:
            complaints.append(f"{PAGE}: is not what ./dev promises --rewrite writes")
    for complaint in complaints:
        print(complaint)
    count = {header: len(rows_of(header)) for header in headers()}
    print(f"{sum(count.values())} rows of {len(count)} headers, {len(complaints)} complaints")
    return 1 if complaints else 0


# ---- trying the rows ----

# Rules of ninja that make a program or a library; the last one makes liblockstep.so from liblockstep.so.N.
LINKED = re.compile(r": (C(XX)?_(EXECUTABLE|(SHARED|STATIC|MODULE)_LIBRARY)_LINKER|CMAKE_SYMLINK_LIBRARY)")


class Failure(Exception):
    """A row's verdict other than red or green."""


class Tree:
    """A copy of the project in which the breaks are planted."""

    def __init__(self):
        self.folder = os.path.abspath(os.path.join(FOLDER, "tree"))
        self.build = os.path.join(self.folder, "build")
        self.out = os.path.join(self.build, "promises-out")
        self.log = ""

    def prepare(self):
        scratch_tree.copy_tree(self.folder)
        scratch_tree.configure(self.folder, self.build, "-DLOCKSTEP_WERROR=OFF")  # what a break leaves unused may stay
        self.tests = self.known_tests()
        targets = subprocess.check_output(["ninja", "-C", self.build, "-t", "targets", "all"], text=True).splitlines()
        linked = [line.split(": ") for line in targets if LINKED.search(line)]
        self.programs = [name for name, _ in linked]

    def known_tests(self):
        """{name: words of its command}. `ctest --show-only` leaves out the command of a program that is not built yet."""
        found = []
        for path in glob.glob(os.path.join(self.build, "**", "CTestTestfile.cmake"), recursive=True):
            with open(path, encoding="utf-8") as file:
                found += re.findall(r'^add_test\((?:\[=\[)?([\w.]+)(?:\]=\])? (.*)\)$', file.read(), re.M)
        return {name: shlex.split(command) for name, command in found}

    def targets(self, name):
        """What a ctest test needs: its program, or for a script every program that is no test."""
        if name not in self.tests:
            raise Failure(f"no test {name}")
        inside = [os.path.relpath(word, self.build) for word in self.tests[name]]
        own = [word for word in self.programs if word in inside]
        return own or [word for word in self.programs if not re.match(r"tests/[a-z]+/(test|slow)_", word)]

    def compile(self, *targets):
        done = subprocess.run(["ninja", "-C", self.build, *targets], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.log = done.stdout
        return done.returncode == 0

    def must_compile(self, *targets):
        if not self.compile(*targets):
            raise Failure("does not build")

    def plant(self, row):
        """What to put back: {path: bytes}."""
        saved = {}
        for name in row.files:
            path = os.path.join(self.folder, name)
            if os.path.exists(path):
                with open(path, "rb") as file:
                    saved[path] = file.read()
        if not git_apply(self.folder, row)[0]:
            raise Failure("does not apply")
        return saved

    # Each of these returns True if the watcher is red.

    def watch(self, watcher):
        return getattr(self, "watch_" + watcher.kind)(*watcher.words)

    def watch_test(self, name, inner=None):
        self.must_compile(*self.targets(name))
        done = subprocess.run(["ctest", "--test-dir", self.build, "-R", f"^{re.escape(name)}$", "--output-on-failure",
                               "--no-tests=error", "--timeout", str(TEST_WAIT_S)],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        self.log = done.stdout
        for verdict in "Skipped", "Not Run":
            if "***" + verdict in self.log:
                raise Failure(verdict.lower())
        return done.returncode != 0 and (inner is None or self.inner_failed(inner))

    watch_real = watch_test

    def inner_failed(self, inner):
        """A test of cmocka has failed, or the program has ended within it."""
        if re.search(rf"^.*\[  FAILED  \] {re.escape(inner)}\b", self.log, re.M):
            return True
        begun = re.findall(r"\[ RUN      \] (\w+)", self.log)
        ended = re.findall(r"\[(?:       OK|  FAILED |  ERROR ).*\] (\w+)", self.log)
        return bool(begun) and begun[-1] == inner and inner not in ended

    def watch_compile(self, name):
        if self.compile(*self.targets(name)):
            return False
        if "static assertion failed" not in self.log:
            raise Failure("does not build")
        return True

    def watch_scenario(self, file, prop, recipe=None):
        with open(os.path.join(self.folder, file), encoding="utf-8") as text:
            searched = re.search(r"^explore\b", text.read(), re.M)
        return self.lockstep(prop, recipe, "check" if searched else "run", file)

    def watch_suite(self, prop, recipe=None):
        return self.lockstep(prop, recipe, "check", "--suite", "--budget", "0")

    def lockstep(self, prop, recipe, *arguments):
        self.must_compile("lockstep")
        self.log = ""
        if recipe:
            arguments += ("--recipe", self.shared_object(recipe))
        child = subprocess.Popen([os.path.join(self.build, "lockstep"), *arguments, "--no-shrink", "--json", "--out", self.out],
                                 cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
        started, red = time.time(), False
        for line in child.stdout:
            self.log += line
            violated = re.findall(r'"(\w+)":"violated"', line.partition('"properties"')[2].partition("}")[0])
            red = red or prop in violated
            if red or time.time() - started > SCENARIO_WAIT_S:
                break
        scratch_tree.stop_children(child)
        return red

    def shared_object(self, recipe):
        """The recipe as ./dev would build it, by the rules of the file that it stands beside."""
        target = os.path.join(self.build, "promises-recipe.so")
        includes = ["-I" + os.path.join(self.folder, name) for name in ("include", "tests/exam", "tests")]
        base = ["tests/exam/base/recipe.c"] if recipe.startswith("tests/exam/") else []
        sources = [os.path.join(self.folder, name) for name in [recipe, *base]]
        compiler = shlex.split(os.environ.get("CC", "gcc"))
        done = subprocess.run([*compiler, "-std=c11", "-O1", "-D_GNU_SOURCE", "-DTHREADED", "-fPIC", "-shared", "-fvisibility=hidden", *includes,
                               *sources, "-o", target], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.log = done.stdout
        if done.returncode != 0:
            raise Failure("does not build")
        return target

    def seen_green(self, watcher):
        """None, or why the watcher says nothing: it is red though nothing is broken."""
        try:
            inner = watcher.kind in ("test", "real")
            red = self.watch_test(watcher.words[0]) if inner else self.watch(watcher)
            return "red without the break" if red else None
        except Failure as failure:
            return f"{failure} without the break"

    def attempt(self, row):
        saved = {}
        try:
            saved = self.plant(row)
            return "red" if self.watch(row.watcher) else "NOT NOTICED"
        except Failure as failure:
            return str(failure)
        finally:
            for path, text in saved.items():
                with open(path, "wb") as file:
                    file.write(text)


def drawn(rows, options):
    if options.draw is None:
        return rows
    seed = options.seed if options.seed is not None else time.time_ns() // 1000000
    some = random.Random(seed).sample(rows, min(options.draw, len(rows)))
    print(f"{len(some)} of {len(rows)} rows, drawn by seed {seed}: again with --draw {options.draw} --seed {seed}", flush=True)
    return some


def is_wanted(row, names):
    return not names or any(row.name == name or row.header == name or name in row.name.split("/")[1] for name in names)


def tell_log(tree, lines):
    for line in tree.log.rstrip().split("\n")[-lines:]:
        print("    " + line)


def run(options):
    rows = [row for header in sorted(os.listdir(ROWS)) if os.path.isdir(os.path.join(ROWS, header))
            for row in rows_of(header) if is_wanted(row, options.names)]
    if not rows:
        sys.exit("promises: no row has such a name")
    for row in rows:
        for complaint in row.wrong():
            sys.exit(f"promises: {row.path}: {complaint}")
    rows = drawn(rows, options)
    tree = Tree()
    tree.prepare()
    green, kinds = {}, {}
    for row in rows:
        key = row.watcher.key()
        if key not in green:
            green[key] = tree.seen_green(row.watcher)
        started = time.time()
        verdict = green[key] or tree.attempt(row)
        kinds[verdict] = kinds.get(verdict, 0) + 1
        print(f"{verdict:11}  {row.name}  {time.time() - started:.1f} s", flush=True)
        if verdict != "red" and options.verbose:
            tell_log(tree, 30)
    red, missed = kinds.get("red", 0), kinds.get("NOT NOTICED", 0)
    print(f"{red} rows red, {missed} not noticed, {len(rows) - red - missed} not tried")
    return 0 if red == len(rows) else 1


def main():
    parser = argparse.ArgumentParser(prog="./dev promises")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--rewrite", action="store_true")
    parser.add_argument("--draw", type=int)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--verbose", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args()
    if options.rewrite:
        return write_page()
    return check() if options.check else run(options)


if __name__ == "__main__":
    sys.exit(main())
