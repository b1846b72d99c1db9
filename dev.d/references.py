#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors
"""Looks up what comments, pages and scenarios refer to: decisions, rules, published bugs, and files.

usage: references.py [--list] [ROOT]

A reference is one of

  D7, D3b       a decision: a heading of docs/decisions.md
  F30           a rule of ZooKeeper: a row of docs/fidelity.tsv
  R9            a rule of Redis: a row of docs/fidelity-redis.md
  Z02, C01, E03, R04, S01   a published bug: a recipe tests/canary/z02_….c
  check/state.h, tests/real/x.sh   a file: found from the root, from src, include or tests, or from the file's own folder

Not looked at: reports/, CHANGELOG.md and docs/moved.md, which tell of former files; files of build/, of other packages, and of the
reader ("mine.c"); and names with a word of capitals, which stand for many.

Each that is found nowhere is told as FILE:LINE: what. Exit status 0 without one, 1 with, 2 usage. --list prints the number of
references of each sort.
"""
import collections
import os
import re
import subprocess
import sys

WORD = re.compile(r"(?<![\w.#-])([DFR][1-9]\d{0,2}[a-z]?|[ZCERS]\d\d)(?![\w-]|\.\d)")
PATH = re.compile(r"(?<![\w./$}{*<-])((?:\.\./)*(?:[A-Za-z0-9_-]+/)+[A-Za-z0-9_.-]*[A-Za-z0-9_-]\.(?:c|h|hpp|sh|py|tsv|scn|md|cmake))(?![\w/(])")
PATCH_HEAD = re.compile(r"^(diff --git|---|\+\+\+) [ab/].*$", re.M)
LANGUAGES = {"C11", "C99", "C17", "C89"}
SUFFIXES = (".c", ".h", ".hpp", ".md", ".sh", ".scn", ".py")
HISTORY = ("reports/", "docs/moved.md", "CHANGELOG.md")
# Files that are made, or that belong to the reader or to other packages.
FOREIGN = re.compile(r"^(build|/|\.\./|hiredis/|zookeeper/|sys/|event2/|linux/|netinet/|arpa/|my|adapters/|usr/|etc/|proc/|jute|async)")

PLACEHOLDER = re.compile(r"[A-Z]{2}")


def comments_of(path, text):
    """(offset, text) of each place where prose stands: comments of C, whole pages and scripts."""
    if path.endswith((".c", ".h", ".hpp")):
        for match in re.finditer(r"/\*.*?\*/|//[^\n]*", text, re.S):
            yield match.start(), match.group(0)
    elif path.endswith((".sh", ".py", ".scn")):
        for match in re.finditer(r"(?m)^\s*#[^\n]*", text):
            yield match.start(), match.group(0)
    else:
        yield 0, text


def definitions(root):
    def matches(path, pattern):
        with open(os.path.join(root, path), encoding="utf-8") as file:
            return set(re.findall(pattern, file.read(), re.M))

    known = matches("docs/decisions.md", r"^## (D\d+[a-z]?):") | matches("docs/fidelity.tsv", r"^(F\d+[a-z]?)\t")
    known |= matches("docs/fidelity-redis.md", r"^\| (R\d+) \|")
    for name in os.listdir(os.path.join(root, "tests/canary")):
        match = re.match(r"([zcers]\d\d)_", name)
        if match:
            known.add(match.group(1).upper())
    return known


def resolves(root, files, here, path):
    places = ["", "src", "include", "tests", "include/lockstep", "tests/check", os.path.dirname(here)]
    return any(os.path.normpath(os.path.join(place, path)) in files for place in places)


def look_up(root, path, known, files, counts):
    with open(os.path.join(root, path), encoding="utf-8", errors="replace") as file:
        text = file.read()
    if path.endswith(".md"):
        text = PATCH_HEAD.sub(lambda head: " " * len(head.group(0)), text)
    for start, prose in comments_of(path, text):
        for match in WORD.finditer(prose):
            word = match.group(1)
            if word in LANGUAGES:
                continue
            counts[word[0]] += 1
            if word not in known:
                yield text.count("\n", 0, start + match.start()) + 1, f"{word} is defined nowhere"
        for match in PATH.finditer(prose):
            if FOREIGN.match(match.group(1)) or PLACEHOLDER.search(match.group(1)):
                continue
            counts["file"] += 1
            if not resolves(root, files, path, match.group(1)):
                yield text.count("\n", 0, start + match.start()) + 1, f"no file '{match.group(1)}'"


def main(arguments):
    listing = "--list" in arguments
    rest = [argument for argument in arguments if argument != "--list"]
    if len(rest) > 1 or (rest and not os.path.isdir(rest[0])):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    root = rest[0] if rest else "."
    listed = subprocess.run(["git", "-C", root, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True, check=True)
    files = set(listed.stdout.split("\n"))
    known, counts, wrong = definitions(root), collections.Counter(), 0
    for path in sorted(files):
        if path.endswith(SUFFIXES) and not path.startswith(HISTORY) and os.path.isfile(os.path.join(root, path)):
            for line, what in look_up(root, path, known, files, counts):
                print(f"{path}:{line}: {what}")
                wrong += 1
    if listing:
        print(", ".join(f"{count} of {sort}" for sort, count in sorted(counts.items())))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
