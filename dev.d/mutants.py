# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

"""usage: mutants.py list [--recipe FILE.c]
       mutants.py run --count N --seed S --jobs J [--recipe FILE.c] [--budget B] [--no-tests] [--out FILE] [--only TEXT]
                      [--again FILE] [--resume]

Makes one small mistake after the other in src/lock, or in one recipe, and sees which property and which test notices it.
`list` prints all mistakes that it can make; `run` draws N of them and tries each. See ./dev mutants --help.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import queue
import re
import resource
import shutil
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
        self.text = read(path)
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


def compiler_arguments():
    include = subprocess.check_output(["gcc", "-print-file-name=include"], text=True).strip()
    return ["-std=c11", "-D_GNU_SOURCE", "-Iinclude", "-isystem", include]


LOCK_FOLDERS = ("src/lock", "src/recipes")  # the locks, and how drivers see them
LOCK_ARGUMENTS = ['-DLOCKSTEP_VERSION="0"', "-Isrc", "-Isrc/lock"]
WATCHERS = ("recipe_invariants.c", "recipe_refusals.c")  # a mistake there is none of the lock


def all_mutants(recipe):
    """Those of one recipe's file, or of the locks."""
    if recipe:
        return Source(recipe, [*compiler_arguments(), "-I" + os.path.abspath(os.path.dirname(recipe))]).found
    arguments = [*compiler_arguments(), *LOCK_ARGUMENTS]
    found = []
    for path in lock_files():
        if os.path.basename(path) not in WATCHERS:
            found += Source(path, arguments).found
    return found


def lock_files():
    """All sources of the locks, by name whatever their folder."""
    paths = [os.path.join(folder, name) for folder in LOCK_FOLDERS for name in os.listdir(folder) if name.endswith(".c")]
    return sorted(paths, key=os.path.basename)


# ---- who notices ----

BUDGET_STATES = 3000000  # of the small worlds behind the suite
LOOPS_MAX = 3  # each takes ten seconds of processor time
# The budget counts states. Where a mutant has next to none, because it never starts, the list of small worlds would go on for ever.
SUITE_CPU_S = 5  # processor time of lockstep itself, without its workers; a search of the whole budget needs less than one


class Verdict:
    """The property and the test that notice a mutant, each empty if there is none, and whether a count or a trace differs."""

    def __init__(self, noticed_by_property="", noticed_by_test="", golden=False, compiles=True):
        self.property, self.test, self.golden, self.compiles = noticed_by_property, noticed_by_test, golden, compiles

    def unnoticed(self):
        return self.compiles and self.property == "" and self.test == ""

    def columns(self):
        if not self.compiles:
            return ["does not compile", ""]
        return [self.property or "-", self.test or ("golden" if self.golden else "-")]

    @staticmethod
    def of_columns(noticed_by_property, noticed_by_test):
        if noticed_by_property == "does not compile":
            return Verdict(compiles=False)
        return Verdict("" if noticed_by_property == "-" else noticed_by_property,
                       "" if noticed_by_test in ("-", "golden") else noticed_by_test, noticed_by_test == "golden")

    def text(self):
        by_property, by_test = self.columns()
        return by_property if not self.compiles else f"property: {by_property}  test: {by_test}"


class Answers:
    """What one run of lockstep says, until the first violated property."""

    def __init__(self):
        self.violated, self.error, self.differs, self.loops = "", "", False, 0
        self.lines = 0

    def read(self, line):
        """Takes one line of JSON. Returns whether the next lines can add something."""
        self.lines += 1
        answer = json.loads(line)
        verdict = answer.get("verdict")  # the line about all small worlds has none
        scenario = os.path.basename(answer.get("scenario", "")).removesuffix(".scn")
        if answer.get("scenario", "").startswith("worlds/"):
            scenario = answer["scenario"]
        violated = [name for name, said in answer.get("properties", {}).items() if said == "violated"]
        if verdict == "violated" and violated:  # a file may declare others
            self.violated = f"{violated[0]} in {scenario}"
        elif verdict == "error":
            self.error = self.error or scenario
            self.loops += "does not end" in (answer.get("message") or "")
        self.differs |= verdict == "differs"
        return self.violated == "" and self.loops < LOOPS_MAX


def computed_by(pid):
    """Seconds that a process has computed, without its children."""
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        used = file.read().rpartition(")")[2].split()
    return (int(used[11]) + int(used[12])) / os.sysconf("SC_CLK_TCK")


def stop_when_spent(child, spent):
    """For a thread of its own: ends a child that has used its processor time."""
    while child.poll() is None:
        try:
            if computed_by(child.pid) > SUITE_CPU_S:
                spent.set()
                os.killpg(child.pid, 9)
        except (OSError, IndexError):
            return  # it has ended
        time.sleep(0.5)


def ask(lockstep, folder, reports, *arguments):
    """Runs lockstep in a folder. What it says ends with the first violated property."""
    child = subprocess.Popen([lockstep, *arguments, "--no-shrink", "--json", "--jobs", "1", "--out", reports], cwd=folder,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True)
    answers, spent = Answers(), threading.Event()
    threading.Thread(target=stop_when_spent, args=(child, spent), daemon=True).start()
    for line in child.stdout:
        if line.startswith("{") and not answers.read(line):
            break
    scratch_tree.stop_children(child)
    shutil.rmtree(reports, ignore_errors=True)
    if answers.lines == 0 and not spent.is_set():
        answers.error = "lockstep itself"  # it has died before its first answer
    return answers


def ask_the_suite(lockstep, folder, reports, budget, *arguments):
    """The situations first. The small worlds have a call of their own, because a situation that fails would end it."""
    answers = ask(lockstep, folder, reports, "check", "--suite", "--budget", "0", *arguments)
    if answers.violated or budget == 0:
        return answers
    worlds = ask(lockstep, folder, reports, "check", "--suite", "--filter", "worlds/*", "--budget", str(budget), *arguments)
    worlds.error, worlds.differs = answers.error or worlds.error, answers.differs or worlds.differs
    return worlds


# ---- trying them ----

# A test that loops is ended by the time that it computes, which other work on the machine does not change: so many times what it
# needs without any mistake, and never less than the least. One that sleeps for ever is ended by the clock.
TEST_CPU_FACTOR = 5
TEST_CPU_LEAST_S = 10
TEST_WAIT_S = 600


def computed_by_children():
    """Seconds that all ended children have computed."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, text):
    with open(path, "wb") as file:
        file.write(text)


def with_mistake(text, mutant):
    return text[:mutant.start] + mutant.new.encode() + text[mutant.end:]


LOCKSTEP = os.path.join(FOLDER, "lockstep")  # without any mistake; a copy, so that another build may go on meanwhile
WARNINGS = ["-Wall", "-Wextra", "-Werror"]
SHARED = ["-fPIC", "-O1", "-g"]
# What makes a lock of src/lock a recipe of a shared object: the mutex, whose session opens its handles or has them on loan, the
# read-write lock, the semaphore, and the election.
MODULE = """#include <lockstep/recipe.h>
#include "recipes/recipe_mutex.h"
LS_RECIPE_MODULE(%s);
"""
MODULES = {"recipe.so": "ls_recipe_mutex", "recipe-lent.so": "ls_recipe_mutex_lent", "recipe-rwlock.so": "ls_recipe_rwlock",
           "recipe-semaphore.so": "ls_recipe_semaphore", "recipe-election.so": "ls_recipe_election"}


class SharedObject:
    """What is tried as a recipe in a shared object, so that crashes, endless loops, memory and leaks are judged, too. Properties alone
    judge it."""

    def __init__(self, name, budget):
        self.folder = os.path.join(FOLDER, name)
        self.reports = os.path.join(self.folder, "reports-of-mutants")
        self.recipe = os.path.join(self.folder, "recipe.so")
        self.recipes = [self.recipe]
        self.budget = budget

    def judge(self):
        """Of several recipes the first that is noticed counts."""
        for recipe in self.recipes:
            suite = ask_the_suite(LOCKSTEP, ROOT, self.reports, self.budget, "--recipe", recipe)
            if suite.violated:
                break
        error = "error in " + suite.error if suite.error and not suite.violated else ""
        return Verdict(suite.violated, error, suite.differs)

    def attempt(self, mutant):
        return self.judge() if self.compile(mutant) else Verdict(compiles=False)


def module_of(recipe):
    """The source file that makes a mutex the recipe of this shared object."""
    return "module-" + os.path.basename(recipe).removesuffix(".so") + ".c"


class LockObject(SharedObject):
    """src/lock, of which one file has the mistake."""

    def __init__(self, number, budget):
        super().__init__(f"object-{number}", budget)
        self.arguments = [*compiler_arguments(), *LOCK_ARGUMENTS, *SHARED, *WARNINGS]
        self.recipes = [os.path.join(self.folder, name) for name in MODULES]

    def prepare(self):
        os.makedirs(self.folder, exist_ok=True)
        self.units = {os.path.basename(path): read(path) for path in lock_files()}
        modules = {module_of(recipe): (MODULE % symbol).encode() for recipe, symbol in MODULES.items()}
        for name, text in {**self.units, **modules}.items():
            if not self.compile_unit(name, text, self.object_of(name), stderr=None):
                sys.exit(f"mutants: {name} of the locks does not compile")
        if not self.link():
            sys.exit("mutants: src/lock is no shared object")

    def object_of(self, name):
        return os.path.join(self.folder, name.removesuffix(".c") + ".o")

    def compile_unit(self, name, text, output, stderr=subprocess.DEVNULL):
        path = os.path.join(self.folder, name)
        write(path, text)
        return subprocess.call(["gcc", "-c", *self.arguments, "-o", output, path], stderr=stderr) == 0

    def link(self, **instead):
        """Of the units with these names, the objects are others."""
        objects = [instead.get(name, self.object_of(name)) for name in self.units]
        return all(subprocess.call(["gcc", "-shared", "-o", recipe, self.object_of(module_of(recipe)), *objects]) == 0
                   for recipe in self.recipes)

    def compile(self, mutant):
        name, mutated = os.path.basename(mutant.path), os.path.join(self.folder, "mutated.o")
        return self.compile_unit(name, with_mistake(self.units[name], mutant), mutated) and self.link(**{name: mutated})


class RecipeObject(SharedObject):
    """A recipe of one file."""

    def __init__(self, number, budget, source):
        super().__init__(f"recipe-{number}", budget)
        self.source, self.warnings = source, WARNINGS

    def prepare(self):
        os.makedirs(self.folder, exist_ok=True)
        self.text = read(self.source)
        if not self.compile_text(self.text):  # a recipe that has warnings of its own is tried with them
            self.warnings = []
            if not self.compile_text(self.text, stderr=None):
                sys.exit(f"mutants: {self.source} does not compile")

    def compile_text(self, text, stderr=subprocess.DEVNULL):
        path = os.path.join(self.folder, os.path.basename(self.source))
        write(path, text)
        return subprocess.call(["gcc", "-shared", *SHARED, *compiler_arguments(), *self.warnings,
                                "-I" + os.path.abspath(os.path.dirname(self.source)), "-o", self.recipe, path],
                               stderr=stderr) == 0

    def compile(self, mutant):
        return self.compile_text(with_mistake(self.text, mutant))


class Tree:
    """A copy of the project that is built beside others, for the tests, and the lock as a shared object, for the properties."""

    def __init__(self, number, budget):
        self.folder = os.path.join(FOLDER, f"tree-{number}")
        self.build = os.path.join(self.folder, "build")
        self.reports = os.path.join(self.folder, "reports-of-mutants")
        self.lockstep = os.path.join(self.build, "lockstep")
        self.properties = LockObject(number, budget)

    def prepare(self):
        scratch_tree.copy_tree(self.folder)
        scratch_tree.configure(self.folder, self.build)
        self.targets = [line.split(":")[0] for line in subprocess.check_output(
            ["ninja", "-C", self.build, "-t", "targets", "all"], text=True).splitlines()
            if re.match(r"test_lock_\w+: phony$", line)]
        if not self.compile():
            sys.exit(f"mutants: the tree in {self.folder} does not build")
        self.measure()
        self.properties.prepare()

    def compile(self):
        return subprocess.call(["ninja", "-C", self.build, "lockstep", *self.targets], stdout=subprocess.DEVNULL,
                               stderr=subprocess.DEVNULL) == 0

    def judge(self):
        """Properties and tests are asked apart: neither is left out because the other one notices."""
        by_property, test = self.properties.judge(), self.unit_tests()
        golden = by_property.golden
        if test == "":
            directed = [os.path.join("scenarios", name) for name in sorted(os.listdir("scenarios"))
                        if name not in ("explore", "suite")]
            answers = ask(self.lockstep, self.folder, self.reports, "run", *directed)
            golden |= answers.differs
            test = "scenario " + (answers.violated or answers.error) if answers.violated or answers.error else ""
        # A search that ends with an error: noticed, and no property has a word for it.
        return Verdict(by_property.property, test or by_property.test, golden)

    def measure(self):
        """What each unit test computes without any mistake; the quickest comes first from now on."""
        self.limits = {}
        for target in self.targets:
            before = computed_by_children()
            if self.unit_test(target, TEST_WAIT_S):
                sys.exit(f"mutants: without any mistake: {target} fails in {self.folder}")
            self.limits[target] = max(TEST_CPU_LEAST_S, round(TEST_CPU_FACTOR * (computed_by_children() - before)))
        self.targets.sort(key=self.limits.get)

    def unit_tests(self):
        """The first that fails, or nothing."""
        return next(filter(None, (self.unit_test(target, self.limits[target]) for target in self.targets)), "")

    def unit_test(self, target, cpu_s):
        """What there is to say of a failure, or nothing."""
        environment = dict(os.environ, LOCKSTEP=self.lockstep, LOCKSTEP_SOURCE_DIR=self.folder,
                           LOCKSTEP_BUILD_DIR=self.build, LOCKSTEP_SANITIZE="")
        program = os.path.join(self.build, "tests", "lock", target[len("test_lock_"):])
        try:
            done = subprocess.run(["prlimit", f"--cpu={cpu_s}", program], cwd=self.folder, timeout=TEST_WAIT_S,
                                  env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return f"{target.removeprefix('test_lock_')} (does not end)"
        return target.removeprefix("test_lock_") if done.returncode != 0 else ""

    def attempt(self, mutant):
        path = os.path.join(self.folder, mutant.path)
        text = read(path)
        write(path, with_mistake(text, mutant))
        try:
            compiles = self.properties.compile(mutant) and self.compile()
            return self.judge() if compiles else Verdict(compiles=False)
        finally:
            write(path, text)


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
                if not verdict.compiles:
                    counted[0] -= 1
                tell(mutant, verdict, time.time() - before)

    with concurrent.futures.ThreadPoolExecutor(len(trees)) as pool:
        for done in concurrent.futures.as_completed([pool.submit(worker, tree) for tree in trees]):
            done.result()  # raises what the worker has raised: a mutant that was not tried is not to be overlooked


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
        rows = [line.rstrip("\n").split("\t") for line in file]
    if any(len(row) != 5 for row in rows):
        sys.exit(f"mutants: {path} is no file of results of this version")
    return [(Verdict.of_columns(row[0], row[1]), row[3]) for row in rows]


def unnoticed(path):
    """The keys of those that nothing has noticed, by a file of results."""
    return {key for verdict, key in results_of(path) if verdict.unnoticed()}


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


def chosen(options, found):
    drawn = draw(found, options.seed)
    if options.only:
        drawn = [mutant for mutant in found if options.only in mutant.key()]
    if options.again:
        left = unnoticed(options.again)
        drawn = [mutant for mutant in drawn if mutant.key() in left]
    return drawn


def prepared(options):
    """Where mutants are tried. Without any mistake nothing may be noticed there."""
    numbers = range(1, options.jobs + 1)
    if options.recipe:
        trees = [RecipeObject(number, options.budget, options.recipe) for number in numbers]
    else:
        kind = LockObject if options.no_tests else Tree
        trees = [kind(number, options.budget) for number in numbers]
    for tree in trees:
        tree.prepare()
    verdict = trees[0].judge()
    if not verdict.unnoticed() or verdict.golden:
        sys.exit(f"mutants: without any mistake: {verdict.text()}")
    return trees


def run(options):
    shutil.copy2(os.environ.get("LOCKSTEP", os.path.join(ROOT, "build", "release", "lockstep")), LOCKSTEP)
    found = all_mutants(options.recipe)
    drawn = chosen(options, found)
    trees = prepared(options)
    print(f"{len(found)} mutants can be made, {min(options.count, len(drawn))} are tried, seed {options.seed}, "
          f"small worlds up to {options.budget} states", flush=True)
    started = time.time()
    results, drawn = known(options.out, drawn) if options.resume else ([], drawn)
    out = open(options.out, "a" if options.resume else "w", encoding="utf-8")

    def tell(mutant, verdict, seconds):
        results.append((mutant, verdict))
        place = f"{mutant.path}:{mutant.line}"
        print("\t".join([*verdict.columns(), place, mutant.key(), f"{seconds:.0f} s"]), file=out, flush=True)
        if verdict.compiles and not verdict.property:
            by = f"test only: {verdict.test}" if verdict.test else "golden alone" if verdict.golden else "survived"
            print(f"{by}: {place}: {mutant.key()}", flush=True)
        elif sys.stdout.isatty():
            print(f"\r{len(results)} tried, {time.time() - started:.0f} s ", end="", flush=True)

    attempt_all(trees, drawn, options.count - sum(verdict.compiles for _, verdict in results), tell)
    out.close()
    return summary(results, options)


def percent(part, whole):
    return f"{100 * part / max(1, whole):.1f} %"


PAGE = "reports/mutants.md"


def record(options, *figures):
    """A row of the page, behind the others."""
    recipe = f" --recipe {options.recipe}" if options.recipe else ""
    budget = f" --budget {options.budget}" if options.budget != BUDGET_STATES else ""
    command = f"`./dev mutants{recipe} --seed {options.seed} --count {options.count}{budget}`"
    with open(PAGE, "a", encoding="utf-8") as page:
        page.write("| " + " | ".join([command, *map(str, figures)]) + " |\n")


def summary(results, options):
    properties_only = options.recipe or options.no_tests
    tried = [(mutant, verdict) for mutant, verdict in results if verdict.compiles]
    by_property = sum(verdict.property != "" for _, verdict in tried)
    by_test = sum(verdict.test != "" for _, verdict in tried)
    noticed = sum(not verdict.unnoticed() for _, verdict in tried)
    golden = sum(verdict.unnoticed() and verdict.golden for _, verdict in tried)
    text = explained()
    bare = [mutant for mutant, verdict in tried if verdict.unnoticed() and mutant.key() not in text]
    print(f"{len(tried)} compiled; not noticed {len(tried) - noticed}, of these only a golden differs {golden}, "
          f"without an argument in docs/mutants.md {len(bare)}")
    if options.record and properties_only:
        record(options, len(tried), by_property, "–", "–", by_property, percent(by_property, len(tried)))
    elif options.record:
        record(options, len(tried), by_property, by_test, by_property + by_test - noticed, noticed, percent(by_property, noticed))
    if properties_only:
        print(f"noticed by a property {by_property} of {len(tried)}, an error {by_test}; "
              f"properties alone {percent(by_property, len(tried))}")
        return 0
    print(f"noticed by a property {by_property}, by a test {by_test}, by both {by_property + by_test - noticed}, "
          f"by anything {noticed} of {len(tried)}; properties alone {percent(by_property, noticed)}")
    return 1 if bare else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["list", "run"])
    parser.add_argument("--recipe", default="")
    parser.add_argument("--budget", type=int, default=BUDGET_STATES)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", default="")
    parser.add_argument("--again", default="")
    parser.add_argument("--resume", action="store_true")
    parser.add_argument("--no-tests", action="store_true")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--out", default=os.path.join(FOLDER, "results.tsv"))
    options = parser.parse_args()
    os.makedirs(FOLDER, exist_ok=True)
    if options.command == "list":
        for mutant in all_mutants(options.recipe):
            print(f"{mutant.path}:{mutant.line}: {mutant.key()}")
        return 0
    return run(options)


if __name__ == "__main__":
    sys.exit(main())
