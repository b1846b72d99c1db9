# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

"""usage: api.py check | list | run [--only TEXT]... [--test NAME]... [--rewrite] [--out FILE]

Which test judges which answer of the public functions? Each row of reports/api-coverage.md is one mistake in the answer of one
function, and the test that turns red for it. See ./dev mutants --help.

All mistakes are compiled at once. In a copy of the tree each public function calls its former body through a wrapper
(dev.d/api_switch.h), and the environment says which mistake the wrapper makes. So a try costs no compilation. One run of all tests
without a mistake marks which test calls what, sees which code, and is in which function while another thread closes. A mistake is
then tried only in tests that can notice it, the quickest first.
"""
import argparse
import copy
import json
import os
import re
import signal
import subprocess
import sys
import threading
import time

import scratch_tree

ROOT = os.getcwd()
INCLUDE = "include/lockstep"
TABLE = "reports/api-coverage.md"
FOLDER = os.path.join(ROOT, "build", "mutants", "api")
SWITCH = "dev.d/api_switch.h"
FUNCTIONS_MAX, CODES = 512, 64  # as in api_switch.h

# ---- what a header cannot say of itself ----

# Blocking functions answer with what their asynchronous counterparts are documented to answer.
INHERITS = {
    "ls_mutex_acquire": ["ls_mutex_acquire_start"],
    "ls_mutex_acquire_outcome": ["ls_mutex_acquire_start"],
    "ls_mutex_participants": ["ls_mutex_participants_start", "on_participants"],
    "ls_mutex_guard_by_me": ["ls_mutex_guard"],
    "ls_mutex_release": ["ls_mutex_release_start", "on_freed"],
    "ls_mutex_request_revoke": ["ls_mutex_request_revoke_start"],
    "ls_semaphore_init": ["ls_mutex_init"],
    "ls_semaphore_acquire_start": ["ls_mutex_acquire_start"],
    "ls_redis_mutex_acquire": ["ls_redis_mutex_acquire_start"],
    "ls_redis_mutex_try": ["ls_redis_mutex_acquire"],
    "ls_redis_mutex_release": ["ls_redis_mutex_release_start", "on_freed of redis_mutex.h"],
}
# Codes that the heading of a section documents.
SECTION = {name: ["LS_EDEADLK"] for name in
           ("ls_mutex_acquire", "ls_mutex_acquire_outcome", "ls_mutex_try", "ls_mutex_release",
            "ls_mutex_request_revoke")}
SECTION["ls_mutex_try"] += ["LS_EBUSY", "LS_ECLOSED"]
# By which callback an answer comes that the function itself does not return.
CALLBACK_OF = {
    "ls_mutex_acquire_start": ["on_done"], "ls_mutex_cancel": ["on_done"], "ls_mutex_release_start": ["on_freed"],
    "ls_mutex_participants_start": ["on_participants"], "ls_mutex_request_revoke_start": ["ls_revoke_fn"],
    "ls_mutex_close": ["on_done", "on_freed", "on_participants"], "ls_session_close": ["on_done"],
    "ls_redis_mutex_acquire_start": ["on_done of redis_mutex.h"], "ls_redis_mutex_cancel": ["on_done of redis_mutex.h"],
    "ls_redis_mutex_close": ["on_done of redis_mutex.h", "on_freed of redis_mutex.h"],
}
# Where the library calls a callback: the header, the file, the call, and which argument is the answer. A name that two headers
# declare has the header behind it.
CALLBACKS = {
    "on_done": ("mutex.h", "src/lock/delivery.c", "ops->on_done(mutex, owner, outcome)", "outcome"),
    "on_freed": ("mutex.h", "src/lock/delivery.c", "ops->on_freed(mutex, owner, outcome->rc)", "outcome->rc"),
    "on_warning": ("mutex.h", "src/lock/delivery.c", "ops->on_warning(mutex, owner, LS_WARN_NODE_GONE)", None),
    "on_revoke": ("mutex.h", "src/lock/delivery.c", "options->ops->on_revoke(mutex, owner, token)", None),
    "on_lost": ("mutex.h", "src/lock/delivery.c", "ops->on_lost(mutex, owner, outcome->token)", None),
    "on_participants": ("mutex.h", "src/lock/participants.c",
                        "options->ops->on_participants(mutex, user, rc, list, count)", "rc"),
    "ls_revoke_fn": ("mutex.h", "src/lock/revoke.c", "done(session, user, rc)", "rc"),
    "on_event": ("session.h", "src/lock/delivery.c", "ops->on_event(session, listener, event, id)", None),
    "write": ("telemetry.h", "src/lock/telemetry.c", "log->write(log, (enum ls_log_level)line.level, line.text)", None),
    "on_done of redis_mutex.h": ("redis_mutex.h", "src/lockredis/owner_queue.c", "ops->on_done(mutex, claim->owner, claim->done_rc, token)",
                                 "claim->done_rc"),
    "on_freed of redis_mutex.h": ("redis_mutex.h", "src/lockredis/owner_queue.c", "ops->on_freed(mutex, claim->owner, claim->freed_rc)",
                                  "claim->freed_rc"),
    "on_lost of redis_mutex.h": ("redis_mutex.h", "src/lockredis/owner_queue.c", "ops->on_lost(mutex, claim->owner, claim->token)", None),
}
# A code that stands in the comment of a function and is no answer of it, or none that any caller can get.
NO_ANSWER = {
    ("ls_mutex_acquire", "LS_EALREADY"): "a thread waits in the one acquire that it has",
    ("ls_mutex_acquire", "LS_ELOST"): "the grant is the answer: nothing lies between it and its telling",
    ("ls_mutex_acquire_outcome", "LS_EALREADY"): "as of `ls_mutex_acquire`",
    ("ls_mutex_release", "LS_EALREADY"): "as of `ls_mutex_acquire`",
    ("ls_mutex_acquire_outcome", "LS_ELOST"): "as of `ls_mutex_acquire`",
}
for name in ("ls_redis_mutex_acquire", "ls_redis_mutex_try"):
    NO_ANSWER[name, "LS_EINVAL"] = "the owner is the calling thread"
    NO_ANSWER[name, "LS_EALREADY"] = "as of `ls_mutex_acquire`"
NO_ANSWER["ls_redis_mutex_try", "LS_ETIMEDOUT"] = "it has no deadline"
# The core of the mutex answers for the semaphore, too. Tests of the mutex ask for these.
for code in ("LS_EAUTHFAILED", "LS_ECANCELED", "LS_EDEADLK", "LS_EGAVEUP", "LS_ELOST", "LS_ENOAUTH", "LS_EOVERFLOW", "LS_ESEQUENCE",
             "LS_ETIMEDOUT", "LS_EZK"):
    NO_ANSWER["ls_semaphore_acquire_start", code] = "as of `ls_mutex_acquire_start`"
NO_ANSWER["ls_semaphore_init", "LS_EOVERFLOW"] = "as of `ls_mutex_init`"
NO_ANSWER["ls_semaphore_acquire", "LS_EDEADLK"] = "as of `ls_mutex_acquire`"
# The outcome of on_done, and what becomes of a release: tests/promises/multi has a break for each.
for name, code in (("ls_multi_acquire_start", "LS_ETIMEDOUT"), ("ls_multi_acquire_start", "LS_ECANCELED"),
                   ("ls_multi_cancel", "LS_ECANCELED"), ("ls_multi_close", "LS_EUNSURE")):
    NO_ANSWER[name, code] = "a callback has it, of which `./dev promises multi` asks"
# A function that no other thread may be in while the object is closed.
NO_PAIR = {
    ("ls_mutex_init", "ls_mutex_close"): "there is no mutex before it, and no close of one",
    ("ls_participants_free", "ls_mutex_close"): "the list is no part of the mutex any more",
    ("ls_participants_free", "ls_session_close"): "the list is no part of the session any more",
    ("ls_session_init", "ls_session_close"): "there is no session before it, and no close of one",
    ("ls_loan_init", "ls_session_close"): "the loan is not lent to any session yet",
    ("ls_session_listener_init", "ls_session_close"): "the listener is not added to any session yet",
    ("ls_retry_delay_ms", "ls_session_close"): "it is about no session",
    ("ls_redis_mutex_init", "ls_redis_mutex_close"): "there is no mutex before it, and no close of one",
    ("ls_redis_init", "ls_redis_close"): "there is no client before it, and no close of one",
    ("ls_redis_process", "ls_redis_close"): "both are legal on the thread of the loop alone",
}
# The close of a mutex and that of its session or client, by the header that declares a function.
CLOSES = {
    "mutex.h": ("ls_mutex_close", "ls_session_close"), "session.h": ("ls_mutex_close", "ls_session_close"),
    "redis_mutex.h": ("ls_redis_mutex_close", "ls_redis_close"), "redis.h": ("ls_redis_mutex_close", "ls_redis_close"),
}
NO_CLOSE_OF_A_MUTEX = ("session.h", "redis.h")  # functions that are about no mutex
# Not asked: what a driver calls in a recipe, and what a judge's shared object has inline.
PASSED_OVER = {"ls_property_keeps_no_numbers": "does nothing, inline, in a judge's own shared object"}


# ---- the headers ----

class Function:
    def __init__(self, header, name, kind, parameters, comment):
        self.header, self.name, self.type, self.parameters = header, name, kind, parameters
        self.codes = []
        if self.is_int() or name in CALLBACKS:
            self.codes = list(dict.fromkeys(re.findall(r"\bLS_E[A-Z]+\b", comment)))

    def is_int(self):
        return self.type == "int"

    def is_callback(self):
        return self.name in CALLBACKS


def error_numbers():
    with open(f"{INCLUDE}/error.h", encoding="utf-8") as file:
        return {name: int(number) for name, number in re.findall(r"X\((LS_E\w+), (-\d+),", file.read())}


PROTOTYPE = re.compile(r"^(?!typedef)(?:static inline )?((?:const )?(?:enum |struct )?\w+ \**)(\w+)\(([^{};]*)\)\s*(?=[;{])", re.M)
FIELD = re.compile(r"^ +void \(\*(\w+)\)\(", re.M)
CALLBACK_TYPE = re.compile(r"^typedef void \(\*(\w+)\)\(", re.M)


def read_header(header):
    """Its functions and callbacks. One comment stands before all declarations up to the next empty line."""
    with open(os.path.join(INCLUDE, header), encoding="utf-8") as file:
        text = file.read()
    text = re.sub(r"^#define(?:.*\\\n)*.*$", "", text, flags=re.M)
    found = []
    for block in re.split(r"\n\s*\n(?! \*)", text):
        comment = " ".join(re.findall(r"/\*.*?\*/", block, re.S))
        code = re.sub(r"/\*.*?\*/", "", block, flags=re.S)
        for match in PROTOTYPE.finditer(code):
            if not match.group(2).startswith("__"):
                found.append(Function(header, match.group(2), match.group(1).strip(),
                                      " ".join(match.group(3).split()), comment))
        for field in FIELD.findall(code) + CALLBACK_TYPE.findall(code):
            for name in (field, f"{field} of {header}"):
                if name in CALLBACKS and CALLBACKS[name][0] == header:
                    found.append(Function(header, name, "void", "", comment))
    return found


def declared():
    """All functions of all installed headers, with the codes that are documented for each."""
    headers = [name for name in sorted(os.listdir(INCLUDE)) if name.endswith(".h")]
    functions = [function for header in headers for function in read_header(header)
                 if function.name not in PASSED_OVER]
    by_name = {function.name: function for function in functions}
    missing = (set(CALLBACKS) | set(INHERITS) | set(SECTION) | set(CALLBACK_OF) | {name for closes in CLOSES.values() for name in closes}) - set(by_name)
    if missing:
        sys.exit(f"api: no header declares {', '.join(sorted(missing))}")
    for name, others in INHERITS.items():
        for other in others:
            by_name[name].codes += by_name[other].codes
    for name, codes in SECTION.items():
        by_name[name].codes += codes
    for function in functions:
        function.codes = [code for code in dict.fromkeys(function.codes) if (function.name, code) not in NO_ANSWER]
    return functions


def pairs_of(function):
    """The closes that another thread may be in meanwhile."""
    closes = CLOSES.get(function.header, ())
    closes = closes[1:] if function.header in NO_CLOSE_OF_A_MUTEX else closes
    return [] if function.is_callback() else [close for close in closes if (function.name, close) not in NO_PAIR]


# ---- the copy of the tree ----

DEFINITION = r"^(?!static (?!inline)|typedef)((?:static inline )?(?:const )?(?:enum |struct )?\w+ \**)(%s)\(([^{};]*?)\)\n\{"


class Place:
    """One definition of a function, or one callback: what has a number in the trace."""

    def __init__(self, number, function, path):
        self.number, self.function, self.path = number, function, path

    def title(self, places):
        twins = [place for place in places if place.function.name == self.function.name]
        return self.function.name if len(twins) == 1 else f"{self.function.name} in {self.path}"


def object_arguments(function):
    """The mutex and the session, or client, of a call, as C."""
    mutex = re.search(r"struct ls_(?:redis_)?mutex \*(\w+)", function.parameters)
    session = re.search(r"struct ls_(?:session|redis) \*(\w+)", function.parameters)
    loan = re.search(r"struct ls_loan \*(\w+)", function.parameters)
    if session:
        return "NULL", session.group(1)
    if mutex:
        name = mutex.group(1)
        field = "redis" if function.header == "redis_mutex.h" else "session"
        return name, f"__atomic_load_n(&{name}->{field}, __ATOMIC_ACQUIRE)"
    return "NULL", f"{loan.group(1)}->session" if loan and function.name != "ls_loan_init" else "NULL"


def wrapper(place, head):
    """The C text of the function that calls the former body."""
    function, number = place.function, place.number
    names = [re.search(r"(\w+)(\[\w*\])?$", part.strip()).group(1)
             for part in function.parameters.split(",") if part.strip() not in ("void", "")]
    call = f"api_body_{function.name}({', '.join(names)})"
    nothing = function.type == "void"
    back = "return" if nothing else f"return ({function.type})(intptr_t)api_state.to"
    lines = [f"{head}{function.name}({function.parameters})", "{", f"    if (api_once({number}))", f"        {back};"]
    own_closes = CLOSES.get(function.header, ())
    paired = pairs_of(function) != [] or function.name in own_closes
    if paired:
        mutex, session = object_arguments(function)
        closes = "0"
        if function.name in own_closes:
            # One that is refused in a callback, or finds nothing to close, is no close.
            closes = f"api_watching() && api_session && !ls_env_in_callback(api_session->env) ? {own_closes.index(function.name) + 1} : 0"
        kind = "ls_redis" if function.header.startswith("redis") else "ls_session"
        lines += [f"    const struct {kind} *api_session = {session};",
                  f"    int api_place = api_enter({number}, {closes}, {mutex}, api_session);",
                  "    if (api_beside(api_place)) {", "        api_leave(api_place);", f"        {back};", "    }"]
    lines.append(f"    {call};" if nothing else f"    {function.type} api_answer = {call};")
    if paired:
        lines += ["    bool api_wrong = api_beside(api_place);", "    api_leave(api_place);",
                  f"    if (api_wrong)\n        {back};"]
    if function.is_int():
        lines.append(f"    return api_code({number}, api_answer);")
    elif not nothing:
        lines.append("    return api_answer;")
    return "\n".join(lines) + "\n}\n"


def wrap(text, place):
    """The text of a source file with this function wrapped."""
    match = re.search(DEFINITION % place.function.name, text, re.M)
    end = text.index("\n}\n", match.end()) + 3
    place.function.parameters = " ".join(match.group(3).split())  # here they all have names
    head = match.group(1)
    body = f"{'' if head.startswith('static') else 'static '}{head}api_body_{place.function.name}({match.group(3)})\n{{"
    return text[:match.start()] + body + text[match.end():end] + "\n" + wrapper(place, head) + text[end:]


def call_back(text, place):
    """The same with this callback called through the switch."""
    _, _, call, answer = CALLBACKS[place.function.name]
    changed = call
    if answer == "outcome":
        changed = call.replace("outcome)", f"&(struct ls_outcome){{api_code({place.number}, outcome->rc), outcome->zk_rc, "
                               "outcome->depth, outcome->token})")
    elif answer:
        changed = call.replace(answer, f"api_code({place.number}, {answer})")
    if text.count(call) != 1:
        sys.exit(f"api: {place.path} does not have '{call}' once")
    return text.replace(call, f"api_once({place.number}) ? (void)0 : {changed}")


def find_places(functions):
    """Each function where it is defined; what is defined nowhere is a mistake."""
    paths = sorted(os.path.join(folder, name) for top in ("src", INCLUDE) for folder, _, names in os.walk(top)
                   for name in names if name.endswith(".c") or top == INCLUDE)
    defined = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for match in re.finditer(DEFINITION % r"\w+", file.read(), re.M):
                defined.setdefault(match.group(2), []).append(path)
    places = []
    for function in functions:
        found = [CALLBACKS[function.name][1]] if function.is_callback() else defined.get(function.name)
        if not found:
            sys.exit(f"api: {function.name} of {function.header} is not defined anywhere")
        places += [Place(len(places) + i, function, path) for i, path in enumerate(found)]
    assert len(places) < FUNCTIONS_MAX
    return places


class Tree:
    """The copy in which every mistake is compiled, and none is made unless the environment says so."""

    def __init__(self):
        self.folder, self.build = os.path.join(FOLDER, "tree"), os.path.join(FOLDER, "tree", "build")

    def write(self, name, data):
        target = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if not os.path.exists(target) or open(target, "rb").read() != data:
            with open(target, "wb") as file:
                file.write(data)
            if os.path.exists(name):
                os.chmod(target, os.stat(name).st_mode)

    def copy(self, places):
        edited = {}
        for place in places:
            text = edited.get(place.path) or open(place.path, encoding="utf-8").read()
            edited[place.path] = call_back(text, place) if place.function.is_callback() else wrap(text, place)
        for path, text in edited.items():
            if path.endswith(".h"):
                edited[path] = re.sub(r"^(#include)", r"#include <lockstep_api_switch.h>\n\1", text, count=1, flags=re.M)
            else:
                edited[path] = "#include <lockstep_api_switch.h>\n" + text
        names = scratch_tree.source_files()
        scratch_tree.remove_others(self.folder, {*names, "include/lockstep_api_switch.h"})
        for name in names:
            self.write(name, edited[name].encode() if name in edited else open(name, "rb").read())
        self.write("include/lockstep_api_switch.h", open(SWITCH, "rb").read())

    def prepare(self, places, asked):
        self.copy(places)
        if not os.path.exists(os.path.join(self.build, "build.ninja")):
            subprocess.check_call(["cmake", "-G", "Ninja", "-S", self.folder, "-B", self.build, "-DCMAKE_BUILD_TYPE=Release",
                                   "-DCMAKE_C_FLAGS_RELEASE=-O1", "-DLOCKSTEP_WERROR=OFF", "--log-level=WARNING"],
                                  stdout=subprocess.DEVNULL)
        subprocess.check_call(["ninja", "-C", self.build, "-j", str(jobs()), "--quiet", *self.targets(asked)])

    def targets(self, asked):
        if asked:
            return [re.sub(r"^(.*)/(\w+)\.c$", lambda match: f"test_{match[1].split('/')[-1]}_{match[2]}", source_of(name)) for name in asked]
        names = subprocess.check_output(["ninja", "-C", self.build, "-t", "targets", "all"], text=True)
        slow = [f"test_{name.replace('.', '_slow_')}" for name in SLOW_TESTS]
        return ["lockstep"] + re.findall(rf"^(test_(?:{'|'.join(LAYERS)})_test_\w+|{'|'.join(slow)}): phony$", names, re.M)

    def tests(self, asked):
        listed = json.loads(subprocess.check_output(["ctest", "--test-dir", self.build, "--show-only=json-v1"]))
        found = [Test(entry) for entry in listed["tests"] if "command" in entry and wanted_test(entry["name"])
                 and entry["name"] in (asked or [entry["name"]])]
        return [part for test in found for part in (programs_of(test) if test.name == THREADS else [test])]


def jobs():
    return int(os.environ.get("LOCKSTEP_API_JOBS", os.cpu_count() or 1))


# ---- the tests ----

LAYERS = ["lock", "sim", "coord", "fakezk", "replay", "scenario", "broken", "explore", "fuzz", "cli", "real", "realredis"]
# Shell tests are slow and say little about which answer was wrong; these say what no other test says.
SHELL_TESTS = ["cli.plugin", "cli.memory"]
SLOW_TESTS = ["realredis.mutex"]
WAIT_S = 120
THREADS = "lock.threads"


def wanted_test(name):
    source = source_of(name)
    return name.split(".")[0] in LAYERS and source is not None and \
        (name in SHELL_TESTS or source.endswith(".c") and ("/slow_" not in source or name in SLOW_TESTS))


def source_of(name):
    """The file of a ctest test, None if there is none."""
    layer, _, short = name.partition(".")
    for path in (f"tests/{layer}/test_{short}.c", f"tests/{layer}/{short}.sh", f"tests/{layer}/slow_{short}.c"):
        if os.path.exists(path):
            return path
    return None


# What a test prints when it has found something: the cmocka test, or the thread program.
FAILURES = [re.compile(r"^(?P<name>[a-z][\w ,]*):(?: \d+=\d+)* seed \d+: "), re.compile(r"\[  FAILED  \] (?P<name>\w+)$")]


class Test:
    def __init__(self, entry):
        self.name, self.command = entry["name"], entry["command"]
        properties = {item["name"]: item["value"] for item in entry["properties"]}
        self.environment = dict(item.split("=", 1) for item in properties["ENVIRONMENT"])
        self.folder = properties["WORKING_DIRECTORY"]
        self.seconds, self.trace = 0.0, b""

    def run(self, more, limit_s):
        """None if it passes; else what it has found first: the name of a test, or how it ended."""
        child = subprocess.Popen(self.command, cwd=self.folder, env={**os.environ, **self.environment, **more},
                                 stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                 text=True, errors="replace", start_new_session=True)
        timer = threading.Timer(limit_s, lambda: end_group(child))
        late = time.time() + limit_s
        timer.start()
        found = None
        for line in child.stdout:
            match = next(filter(None, (pattern.search(line.rstrip()) for pattern in FAILURES)), None)
            if match:
                found = match.group("name")
                break
        if found:
            end_group(child)
        status = child.wait()
        timer.cancel()
        end_group(child)
        if found or status == 0:
            return found
        return "does not end" if time.time() >= late else "ends early" if status < 0 or status >= 128 else "fails"

    def measure(self):
        """Runs it without a mistake and keeps what was called. False if it does not pass."""
        path = os.path.join(FOLDER, "trace")
        with open(path, "wb") as file:
            file.write(bytes(FUNCTIONS_MAX * (1 + CODES + 2)))
        before = time.time()
        failed = self.run({"LOCKSTEP_API_TRACE": path}, 10 * WAIT_S)
        self.seconds = time.time() - before
        with open(path, "rb") as file:
            self.trace = file.read()
        return failed is None

    def calls(self, number):
        return self.trace[number] != 0

    def sees(self, number, code):
        return self.trace[FUNCTIONS_MAX + number * CODES + (-code if code <= 0 else 32 + code)] != 0

    def is_beside(self, number, close):
        return self.trace[FUNCTIONS_MAX * (1 + CODES) + 2 * number + close] != 0


def programs_of(test):
    """The thread programs, each as a test of its own."""
    with open(source_of(THREADS), encoding="utf-8") as file:
        names = re.findall(r'\{\.name = "([^"]+)"', file.read())
    parts = []
    for name in names:
        part = copy.copy(test)
        part.environment = {**test.environment, "LOCKSTEP_THREADS": name}
        parts.append(part)
    return parts


def end_group(child):
    try:
        os.killpg(child.pid, signal.SIGTERM)
        if child.poll() is None:
            time.sleep(0.2)
        os.killpg(child.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def kind_of(watcher):
    """What a test runs in: a world, threads, or a real server."""
    test = watcher.partition(":")[0]
    if test == THREADS:
        return "thread program"
    if test.startswith(("real.", "realredis.")):
        return "real server"
    with open(source_of(test), encoding="utf-8") as file:
        text = file.read()
    return "world" if re.search(r'"stage\.h"|world_|fakezk_|ls_replay_run', text) else "unit test"


# ---- the rows ----

class Row:
    """One mistake. `section` is the table that it stands in."""

    def __init__(self, section, place, title, answer, mistake, switch, can):
        self.section, self.place, self.title, self.answer, self.mistake = section, place, title, answer, mistake
        self.switches, self.can = switch, can  # each mistake that would do; which tests can notice one
        self.watcher = None

    def key(self):
        return f"{self.title} | {self.answer}"


def other_code(function, code, numbers):
    """Another code that the function is documented to answer; one of all if it has no other."""
    others = [other for other in function.codes if other != code] or ["LS_ENOMEM", "LS_EINVAL"]
    return next(other for other in others if numbers[other] != numbers[code])


def function_rows(places):
    for place in places:
        mistake = "is not called" if place.function.is_callback() else "returns at once"
        values = [0] if place.function.type == "void" else [0, 1]
        yield Row("functions", place, place.title(places), "any", mistake,
                  [f"once {place.number} 0 {value}" for value in values],
                  lambda test, number=place.number: test.calls(number))


def code_rows(places, numbers):
    by_name = {place.function.name: place for place in places}
    for place in places:
        function = place.function
        if function.name == "on_warning":
            continue
        channels = [place] if function.is_int() or function.is_callback() else []
        channels += [by_name[name] for name in CALLBACK_OF.get(function.name, [])]
        for code in function.codes:
            for channel in channels:
                other = other_code(function, code, numbers)
                how = f"`{code}`" if channel is place else f"`{code}` by {channel.function.name}"
                yield Row("codes", place, place.title(places), how, f"becomes {other}",
                          [f"code {channel.number} {numbers[code]} {numbers[other]}"],
                          lambda test, number=channel.number, value=numbers[code]: test.sees(number, value))


def pair_rows(places, numbers):
    for place in places:
        function = place.function
        wrong = [0, 1]
        if function.is_int():
            wrong = [0] + [numbers[code] for code in function.codes] + [numbers["LS_ENOMEM"], numbers["LS_EZK"]]
        for close in pairs_of(function):
            at = CLOSES[function.header].index(close)
            yield Row("pairs", place, place.title(places), f"beside {close}", "",
                      [f"beside {place.number} {at} {value}" for value in dict.fromkeys(wrong)],
                      lambda test, number=place.number, at=at: test.is_beside(number, at))


def all_rows(places):
    numbers = error_numbers()
    return [*function_rows(places), *code_rows(places, numbers), *pair_rows(places, numbers)]


def attempt(row, tests, former):
    """The first test that turns red, as TEST: WHERE. The one that the table names comes first."""
    named = former.get(row.key(), "").partition(":")[0]
    candidates = [test for test in tests if row.can(test)]
    candidates.sort(key=lambda test: (test.name != named, test.seconds))
    if row.section == "pairs":
        candidates.sort(key=lambda test: test.name != THREADS)
    for test in candidates:
        for switch in row.switches:
            found = test.run({"LOCKSTEP_API": switch}, max(20, 4 * test.seconds + 5))
            if found:
                if row.section == "pairs":
                    row.mistake = said_of(row.place.function, int(switch.split()[3]))
                return f"{test.name}: {found}"
    return None


def said_of(function, value):
    names = {number: name for name, number in error_numbers().items()}
    return "returns at once" if function.type == "void" else f"answers {names.get(value, value)}"


# ---- the table ----

HEAD = """<!-- Written by `./dev mutants --api --rewrite`. -->
# Which test judges which answer of the public functions

Each row is one mistake in the answer of one function. The watcher is a test that turned red with this mistake and no other.
`house.api_coverage` fails if a function or a documented code of a header has no row here. It also fails if a watcher no longer exists.
See [docs/mutants.md](../docs/mutants.md) for the mistakes.

"""
TITLES = {
    "functions": ("Functions", "The function returns at once, with nothing, with 0, or with 1 where 0 is right; or the callback is not called.",
                  "| header | function | watcher | by | in |\n|---|---|---|---|---|\n"),
    "codes": ("Codes", "The function answers with another code in place of the documented one.",
              "| function | answer | mistake | watcher | by | in |\n|---|---|---|---|---|---|\n"),
    "pairs": ("Beside a close", "The function gives the wrong answer only while another thread is in the close of the same object. "
              "A thread program runs such a pair in all schedules with few deviations.",
              "| function | beside | mistake | watcher | by | in |\n|---|---|---|---|---|---|\n"),
}


def row_line(row):
    test, _, found = row.watcher.partition(": ")
    cells = {"functions": [row.place.function.header, f"`{row.title}`"],
             "codes": [f"`{row.title}`", row.answer, row.mistake],
             "pairs": [f"`{row.title}`", f"`{row.answer.partition(' ')[2]}`", row.mistake]}[row.section]
    return "| " + " | ".join(cells + [test, found, kind_of(test)]) + " |\n"


def write_table(rows):
    text = HEAD
    for section, (title, sentence, head) in TITLES.items():
        own = [row for row in rows if row.section == section and row.watcher]
        text += f"## {title}\n\n{sentence} Rows: {len(own)}.\n\n{head}{''.join(map(row_line, own))}\n"
    text += exceptions()
    os.makedirs(os.path.dirname(TABLE), exist_ok=True)
    with open(TABLE, "w", encoding="utf-8") as file:
        file.write(text)


def exceptions():
    text = "## Not asked\n\n| function | what | why |\n|---|---|---|\n"
    for (name, code), why in NO_ANSWER.items():
        text += f"| `{name}` | `{code}` | {why} |\n"
    for (name, close), why in NO_PAIR.items():
        text += f"| `{name}` | beside `{close}` | {why} |\n"
    for name, why in PASSED_OVER.items():
        text += f"| `{name}` | any | {why} |\n"
    return text


def read_table():
    """Watchers by the key of their row."""
    found, section = {}, None
    titles = {title: section for section, (title, _, _) in TITLES.items()}
    try:
        lines = open(TABLE, encoding="utf-8").read().splitlines()
    except OSError:
        return found
    for line in lines:
        if line.startswith("## "):
            section = titles.get(line[3:])
        if section is None or not line.startswith("| ") or line.startswith(("| header", "| function |")):
            continue
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if section == "functions":
            key = f"{cells[1].strip('`')} | any"
        else:
            key = f"{cells[0].strip('`')} | {cells[1] if section == 'codes' else 'beside ' + cells[1].strip('`')}"
        found[key] = (section, f"{cells[-3]}: {cells[-2]}", cells[2] if section == "pairs" else "")
    return found


# ---- commands ----

def text_of(source):
    """A test and the headers of tests that it includes: sequences of calls stand in one."""
    with open(source, encoding="utf-8") as file:
        text = file.read()
    for name in re.findall(r'^#include "(\S+)"', text, re.M):
        path = next(filter(os.path.exists, (os.path.join(folder, name) for folder in (os.path.dirname(source), "tests"))), None)
        if path:
            with open(path, encoding="utf-8") as file:
                text += file.read()
    return text


def wrong_watcher(watcher):
    """What is wrong with a watcher, None if it exists."""
    test, _, found = watcher.partition(": ")
    source = source_of(test)
    if source is None:
        return f"no test is called {test}"
    text = text_of(source)
    if found in ("does not end", "ends early", "fails"):
        return None
    return None if re.search(rf'\b{re.escape(found)}\b', text) else f"{source} has no '{found}'"


def check():
    """Every function, every documented code and every pair has a row, and every row's watcher exists."""
    table, wrong = read_table(), []
    places = find_places(declared())
    rows = all_rows(places)
    wanted = {row.key() for row in rows if row.section != "codes"}
    wrong += [f"no row: {key}" for key in sorted(wanted - set(table))]
    for place in places:
        for code in place.function.codes if place.function.name != "on_warning" else []:
            keys = [row.key() for row in rows if row.section == "codes" and row.place is place and f"`{code}`" in row.answer]
            if not any(key in table for key in keys):
                wrong.append(f"no row: {place.function.name} answers {code}")
    wrong += [f"nothing of the headers: {key}" for key in sorted(set(table) - {row.key() for row in rows})]
    for key, (_, watcher, _) in table.items():
        said = wrong_watcher(watcher)
        if said:
            wrong.append(f"{key}: {said}")
    for line in wrong:
        print(line)
    print(f"{len(table)} rows of {len(places)} functions, {len(wrong)} wrong")
    return 1 if wrong or not table else 0


def measure(tests):
    """What each test calls and how long it takes. A test that does not pass without a mistake is left out."""
    passed = []
    for test in tests:
        if test.measure():
            passed.append(test)
        else:
            print(f"left out: {test.name} does not pass without a mistake", flush=True)
    return passed


def run(options):
    os.makedirs(FOLDER, exist_ok=True)
    places = find_places(declared())
    tree, table = Tree(), read_table()
    tree.prepare(places, options.test)
    tests = measure(tree.tests(options.test))
    rows, former = all_rows(places), {key: entry[1] for key, entry in table.items()}
    out = open(options.out, "a", encoding="utf-8")
    missing = []
    for row in rows:
        if not is_asked_for(options.only, row):
            if row.key() in table:
                _, row.watcher, mistake = table[row.key()]
                row.mistake = mistake or row.mistake
            continue
        before = time.time()
        if row.section == "codes" and not any(row.can(test) for test in tests):
            continue  # told below, if the code comes by no other way either
        row.watcher = attempt(row, tests, former)
        print(f"{'red' if row.watcher else 'NOT NOTICED':11}  {row.section}: {row.key()}  {row.watcher or ''}  "
              f"{time.time() - before:.0f} s", flush=True)
        print(f"{row.section}\t{row.key()}\t{row.mistake}\t{row.watcher}", file=out, flush=True)
        if not row.watcher:
            missing.append(row)
    unseen = unseen_codes(places, rows, options.only)
    for line in unseen:
        print(f"NOT SEEN     {line}")
    undocumented = undocumented_codes(places, tests)
    for line in undocumented:
        print(f"NOT TOLD     {line}")
    if options.rewrite:
        write_table(rows)
    watched = sum(row.watcher is not None for row in rows)
    print(f"{watched} rows have a watcher, {len(missing)} mistakes were not noticed, {len(unseen)} codes were not seen by any test, "
          f"{len(undocumented)} stand in no comment")
    return 1 if missing or unseen or undocumented else 0


def is_asked_for(only, row):
    return not only or any(text in f"{row.section}: {row.key()}" for text in only)


def unseen_codes(places, rows, only):
    """Documented codes that no test has got by any way."""
    found = []
    for place in places:
        for code in place.function.codes if place.function.name != "on_warning" else []:
            own = [row for row in rows if row.section == "codes" and row.place is place and f"`{code}`" in row.answer]
            if not any(row.watcher for row in own) and any(is_asked_for(only, row) for row in own):
                found.append(f"{place.function.name}: {code}")
    return found


def undocumented_codes(places, tests):
    """Codes that a function answers in some test, and that its comment lacks. One without codes returns numbers of another kind."""
    return [f"{place.function.name}: {code}, in {test.name}" for place in places
            if place.function.is_int() and place.function.codes
            for code, number in error_numbers().items() if code not in place.function.codes
            for test in [next((test for test in tests if test.sees(place.number, number)), None)] if test]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("command", choices=["check", "list", "run"])
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--test", action="append", default=[])
    parser.add_argument("--rewrite", action="store_true")
    parser.add_argument("--out", default=os.path.join(FOLDER, "results.tsv"))
    options = parser.parse_args()
    if options.command == "check":
        return check()
    if options.command == "list":
        for row in all_rows(find_places(declared())):
            print(f"{row.section}: {row.key()}  {row.mistake}")
        return 0
    return run(options)


if __name__ == "__main__":
    sys.exit(main())
