# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

"""usage: mutants.py list | run --count N --seed S --jobs J [--out FILE] [--only TEXT] [--again FILE] [--resume]

Makes one small mistake after the other in src/lock and sees whether anything notices. `list` prints all mistakes that it can
make; `run` draws N of them and tries each in a copy of the tree of its own. See ./dev mutants --help.
"""
import argparse
import hashlib
import os
import queue
import re
import resource
import subprocess
import sys
import threading
import time

import clang.cindex as cindex
import scratch_tree
from clang.cindex import CursorKind as Kind

ROOT = os.getcwd()
FOLDER = os.path.join(ROOT, "build", "mutants")
SWAPS = {"==": "!=", "!=": "==", "<": "<=", "<=": "<", ">": ">=", ">=": ">", "&&": "||", "||": "&&", "&": "|",
         "+": "-", "-": "+"}
# What only says something to a reader of the log is no promise, and an assertion that goes changes no run that is right.
QUIET = re.compile(r"^(LS_ASSERT|ls_log|log_|LS_SOMETIMES|UNREACHABLE|assert|\(void\))")


class Mutant:
    def __init__(self, path, function, kind, start, end, old, new, line):
        self.path, self.function, self.kind = path, function, kind
        self.start, self.end, self.old, self.new, self.line = start, end, old, new, line

    def key(self):
        shown = " ".join(self.old.split())
        if len(shown) > 70:
            shown = shown[:67] + "..."
        return f"{self.path} {self.function}: {self.kind} `{shown}`" + (f" -> `{self.new}`" if self.kind == "swap" else "")


# ---- making them ----

class Source:
    """One file, its text and its mutants."""

    def __init__(self, path, arguments):
        self.path = path
        with open(path, "rb") as file:
            self.text = file.read()
        self.found = []
        unit = cindex.Index.create().parse(path, args=arguments)
        bad = [d for d in unit.diagnostics if d.severity >= cindex.Diagnostic.Error]
        if bad:
            sys.exit(f"mutants: {path} does not compile: {bad[0]}")
        for cursor in unit.cursor.get_children():
            here = cursor.location.file is not None and cursor.location.file.name == path
            if here and cursor.kind == Kind.FUNCTION_DECL and cursor.is_definition():
                self.walk(cursor, cursor.spelling, None)

    def slice(self, cursor):
        return self.text[cursor.extent.start.offset:cursor.extent.end.offset].decode()

    def add(self, function, kind, start, end, new):
        line = self.text.count(b"\n", 0, start) + 1
        self.found.append(Mutant(self.path, function, kind, start, end, self.text[start:end].decode(), new, line))

    def walk(self, cursor, function, parent):
        text = self.slice(cursor)
        if text == "" or QUIET.match(text) or self.only_says(cursor):
            return
        self.visit(cursor, function, parent, text)
        for child in cursor.get_children():
            self.walk(child, function, cursor)

    def visit(self, cursor, function, parent, text):
        start, end = cursor.extent.start.offset, cursor.extent.end.offset
        statement = parent is not None and (parent.kind == Kind.COMPOUND_STMT or self.is_branch(cursor, parent))
        if cursor.kind == Kind.IF_STMT:
            condition = next(cursor.get_children())
            a, b = condition.extent.start.offset, condition.extent.end.offset
            inner = self.text[a:b].decode()
            self.add(function, "never", a, b, f"0 && ({inner})")
            self.add(function, "always", a, b, f"1 || ({inner})")
        elif cursor.kind == Kind.BINARY_OPERATOR or cursor.kind == Kind.COMPOUND_ASSIGNMENT_OPERATOR:
            if statement and re.search(r"[^=!<>]=[^=]", text):
                self.add(function, "skip", start, end, "(void)0")
            elif cursor.kind == Kind.BINARY_OPERATOR:
                self.swap(cursor, function)
        elif cursor.kind == Kind.UNARY_OPERATOR and text.startswith("!"):
            self.add(function, "swap", start, end, text[1:])
        elif cursor.kind == Kind.CALL_EXPR and statement:
            self.add(function, "skip", start, end, "(void)0")
        elif cursor.kind == Kind.CALL_EXPR and self.is_code(cursor) and self.keeps(parent):
            self.add(function, "ignore", start, end, f"({text}, 0)")
        elif cursor.kind == Kind.RETURN_STMT:
            value = text[len("return"):].strip()
            if value in ("true", "false"):
                self.add(function, "swap", start, end, "return " + ("false" if value == "true" else "true"))
            elif re.fullmatch(r"LS_E[A-Z]+|-1", value):
                self.add(function, "ignore", start, end, "return 0")

    def only_says(self, cursor):
        """A condition under which there is nothing but a mark or a word to a reader, and no else."""
        if cursor.kind != Kind.IF_STMT:
            return False
        branches = list(cursor.get_children())[1:]
        return len(branches) == 1 and QUIET.match(self.slice(branches[0]).lstrip("{ \n")) is not None

    @staticmethod
    def is_branch(cursor, parent):
        """A statement without braces behind if, else, for or while."""
        return parent.kind in (Kind.IF_STMT, Kind.FOR_STMT, Kind.WHILE_STMT, Kind.CASE_STMT, Kind.DEFAULT_STMT) and \
            cursor != next(parent.get_children()) and cursor.kind != Kind.UNARY_OPERATOR and \
            (parent.kind != Kind.FOR_STMT or cursor == list(parent.get_children())[-1])

    @staticmethod
    def is_code(cursor):
        return cursor.type.get_canonical().kind == cindex.TypeKind.INT

    @staticmethod
    def keeps(parent):
        return parent is not None and (parent.kind in (Kind.RETURN_STMT, Kind.VAR_DECL) or
                                       parent.kind == Kind.BINARY_OPERATOR)

    def swap(self, cursor, function):
        left, right = list(cursor.get_children())
        a, b = left.extent.end.offset, right.extent.start.offset
        between = self.text[a:b].decode() if a < b else ""
        if between.strip() in SWAPS:
            at = a + between.index(between.strip())
            old = between.strip()
            mutant = Mutant(self.path, function, "swap", at, at + len(old), self.slice(cursor), SWAPS[old],
                            self.text.count(b"\n", 0, at) + 1)
            self.found.append(mutant)


def all_mutants():
    folder = "src/lock"
    include = os.path.join(subprocess.check_output(["gcc", "-print-file-name=include"], text=True).strip())
    arguments = ["-std=c11", "-D_GNU_SOURCE", '-DLOCKSTEP_VERSION="0"', "-Iinclude", "-Isrc", "-Isrc/lock", "-isystem", include]
    found = []
    for name in sorted(os.listdir(folder)):
        if name.endswith(".c"):
            found += Source(os.path.join(folder, name), arguments).found
    return found


# ---- trying them ----

# A test that loops is ended by the time that it computes, which other work on the machine does not change: so many times what it
# needs without any mistake, and never less than the least. One that sleeps for ever is ended by the clock.
TEST_CPU_FACTOR = 5
TEST_CPU_LEAST_S = 10
TEST_WAIT_S = 600
BUDGET_STATES = 3000000  # of the small worlds behind the suite

def computed_by_children():
    """Seconds that all ended children have computed."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Tree:
    """A copy of the project that is built beside others."""

    def __init__(self, number):
        self.folder = os.path.join(FOLDER, f"tree-{number}")
        self.build = os.path.join(self.folder, "build")
        self.reports = os.path.join(self.folder, "reports")

    def prepare(self):
        scratch_tree.copy_tree(self.folder)
        scratch_tree.configure(self.folder, self.build)
        self.targets = [line.split(":")[0] for line in subprocess.check_output(
            ["ninja", "-C", self.build, "-t", "targets", "all"], text=True).splitlines()
            if re.match(r"test_lock_\w+: phony$", line)]
        if not self.compile("lockstep", *self.targets):
            sys.exit(f"mutants: the tree in {self.folder} does not build")
        self.measure()

    def compile(self, *targets):
        return subprocess.call(["ninja", "-C", self.build, *targets], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL) == 0

    def run(self, *arguments):
        """Runs lockstep until the first word of a violation. Returns what was violated, `differs`, or None."""
        program = os.path.join(self.build, "lockstep")
        child = subprocess.Popen([program, *arguments, "--no-shrink", "--json", "--jobs", "1", "--out", self.reports],
                                 cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                 start_new_session=True)
        result = None
        for line in child.stdout:
            if line.startswith('{"worlds":'):
                continue  # what the enumeration behind the suite has come to
            violated = re.search(r'"(\w+)":"violated"', line.partition('"properties"')[2])
            verdict = re.search(r'"verdict":"(\w+)"', line)
            verdict = verdict.group(1) if verdict else "error"
            if verdict == "violated" and violated:  # a file may declare others
                result = violated.group(1)
                break
            if verdict in ("error", "differs"):
                result = verdict
                if verdict == "error":
                    break
        scratch_tree.stop_children(child)
        return result

    def judge(self):
        """What notices the mistake that is in the tree, the quickest first."""
        directed = [os.path.join("scenarios", name) for name in sorted(os.listdir("scenarios"))
                    if name not in ("explore", "suite")]
        golden = False
        for arguments in (["run", *directed], ["check", "--suite", "--max-states", "2000", "--budget", "0"]):
            result = self.run(*arguments)
            if result == "differs":
                golden = True
            elif result is not None:
                return "property " + result
        result = self.unit_tests() or self.run("check", "--suite", "--budget", str(BUDGET_STATES))
        if result is None or result == "differs":
            return "golden" if golden or result else "survived"
        return result if result.startswith("api") or result == "does not compile" else "property " + result

    def measure(self):
        """What each unit test computes without any mistake; the quickest comes first from now on."""
        self.limits = {}
        for target in self.targets:
            before = computed_by_children()
            if self.unit_test(target, TEST_WAIT_S) is not None:
                sys.exit(f"mutants: without any mistake: {target} fails in {self.folder}")
            self.limits[target] = max(TEST_CPU_LEAST_S, round(TEST_CPU_FACTOR * (computed_by_children() - before)))
        self.targets.sort(key=self.limits.get)

    def unit_tests(self):
        """The first that fails, or None."""
        if not self.compile(*self.targets):
            return "does not compile"
        return next(filter(None, (self.unit_test(target, self.limits[target]) for target in self.targets)), None)

    def unit_test(self, target, cpu_s):
        """What there is to say of a failure, or None."""
        environment = dict(os.environ, LOCKSTEP=os.path.join(self.build, "lockstep"), LOCKSTEP_SOURCE_DIR=self.folder,
                           LOCKSTEP_BUILD_DIR=self.build, LOCKSTEP_SANITIZE="")
        program = os.path.join(self.build, "tests", "lock", target[len("test_lock_"):])
        try:
            done = subprocess.run(["prlimit", f"--cpu={cpu_s}", program], cwd=self.folder, timeout=TEST_WAIT_S,
                                  env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return f"api {target} (does not end)"
        return f"api {target}" if done.returncode != 0 else None

    def attempt(self, mutant):
        path = os.path.join(self.folder, mutant.path)
        with open(path, "rb") as file:
            text = file.read()
        with open(path, "wb") as file:
            file.write(text[:mutant.start] + mutant.new.encode() + text[mutant.end:])
        try:
            return self.judge() if self.compile("lockstep") else "does not compile"
        finally:
            with open(path, "wb") as file:
                file.write(text)


def attempt_all(trees, drawn, wanted, tell):
    """Tries them in order until so many have compiled. Results come as they are there."""
    work = queue.Queue()
    for mutant in drawn:
        work.put(mutant)
    lock, counted = threading.Lock(), [0]

    def worker(tree):
        while True:
            with lock:
                if counted[0] >= wanted or work.empty():
                    return
                mutant = work.get()
                counted[0] += 1
            before = time.time()
            verdict = tree.attempt(mutant)
            with lock:
                if verdict == "does not compile":
                    counted[0] -= 1
                tell(mutant, verdict, time.time() - before)

    threads = [threading.Thread(target=worker, args=(tree,), daemon=True) for tree in trees]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def explained():
    """Survivors that docs/mutants.md says why no run can tell apart: what stands before those that it has no argument for."""
    try:
        with open("docs/mutants.md", encoding="utf-8") as file:
            return file.read().partition("\n## Not caught yet")[0]
    except OSError:
        return ""


def draw(found, seed):
    """All of them, in an order that goes by what each of them is: a change of the source leaves the others where they are."""
    twins = {}
    def place(mutant):
        twins[mutant.key()] = twins.get(mutant.key(), 0) + 1
        return hashlib.sha256(f"{seed} {twins[mutant.key()]} {mutant.key()}".encode()).digest()
    return [mutant for _, mutant in sorted(((place(mutant), mutant) for mutant in found), key=lambda pair: pair[0])]


def results_of(path):
    """Verdict and key of each line of a file of results."""
    with open(path, encoding="utf-8") as file:
        return [(row[0], row[2]) for row in (line.rstrip("\n").split("\t") for line in file)]


def unnoticed(path):
    """The keys of those that a file of results has as survived, or as a golden's alone."""
    return {key for verdict, key in results_of(path) if verdict in ("survived", "golden")}


def known(path, drawn):
    """What a file of results says already, and which mutants are left."""
    verdicts, results, left = {}, [], []
    for verdict, key in results_of(path):
        verdicts.setdefault(key, []).append(verdict)
    for mutant in drawn:
        said = verdicts.get(mutant.key())
        if said:
            results.append((mutant, said.pop(0)))
        else:
            left.append(mutant)
    return results, left


def run(options):
    found = all_mutants()
    drawn = draw(found, options.seed)
    if options.only:
        drawn = [mutant for mutant in found if options.only in mutant.key()]
    if options.again:
        left = unnoticed(options.again)
        drawn = [mutant for mutant in drawn if mutant.key() in left]
    trees = [Tree(number) for number in range(1, options.jobs + 1)]
    for tree in trees:
        tree.prepare()
    verdict = trees[0].judge()
    if verdict != "survived":
        sys.exit(f"mutants: without any mistake: {verdict}")
    print(f"{len(found)} mutants can be made, {min(options.count, len(drawn))} are tried, seed {options.seed}", flush=True)
    started = time.time()
    results, drawn = known(options.out, drawn) if options.resume else ([], drawn)
    out = open(options.out, "a" if options.resume else "w", encoding="utf-8")

    def tell(mutant, verdict, seconds):
        results.append((mutant, verdict))
        print(f"{verdict}\t{mutant.path}:{mutant.line}\t{mutant.key()}\t{seconds:.0f} s", file=out, flush=True)
        tried = sum(verdict != "does not compile" for _, verdict in results)
        if verdict in ("survived", "golden"):
            print(f"{verdict:8}  {mutant.path}:{mutant.line}: {mutant.key()}", flush=True)
        elif sys.stdout.isatty():
            print(f"\r{tried} tried, {time.time() - started:.0f} s ", end="", flush=True)

    attempt_all(trees, drawn, options.count - sum(verdict != "does not compile" for _, verdict in results), tell)
    out.close()
    return summary(results)


def summary(results):
    tried = [(mutant, verdict) for mutant, verdict in results if verdict != "does not compile"]
    kinds = {}
    for _, verdict in tried:
        kinds[verdict.split()[0]] = kinds.get(verdict.split()[0], 0) + 1
    killed = kinds.get("property", 0) + kinds.get("api", 0)
    text = explained()
    bare = [mutant for mutant, verdict in tried if verdict in ("survived", "golden") and mutant.key() not in text]
    print(f"{len(tried)} compiled; killed by a property {kinds.get('property', 0)}, by an API check {kinds.get('api', 0)}; "
          f"only a golden differs {kinds.get('golden', 0)}; survived {kinds.get('survived', 0)}, "
          f"of these two without an argument in docs/mutants.md {len(bare)}")
    print(f"score {100 * killed / max(1, len(tried)):.1f} %")
    return 1 if bare else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["list", "run"])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", default="")
    parser.add_argument("--again", default="")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--out", default=os.path.join(FOLDER, "results.tsv"))
    options = parser.parse_args()
    os.makedirs(FOLDER, exist_ok=True)
    if options.command == "list":
        for mutant in all_mutants():
            print(f"{mutant.path}:{mutant.line}: {mutant.key()}")
        return 0
    return run(options)


if __name__ == "__main__":
    sys.exit(main())
