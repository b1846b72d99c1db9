#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors
"""Counts functions and assertions, by folder of src.

usage: asserts.py [--check] [ROOT]

An assertion is a use of LS_ASSERT, LS_ALWAYS or LS_NEVER (src/base/assert.h). It is a NULL check if its expression is
comparisons with NULL and nothing else. A function is a body whose brace stands alone in the first column.

Without an option it prints, by folder: functions, assertions, NULL checks, assertions for each function, and the floor.
With --check it compares them with dev.d/asserts.tsv. Each folder has a row there; its assertions for each function are at
least the floor; at most a third of them are NULL checks. The libraries of locks and the recipes have the floor 0: they run
inside programs of users, and never end these. Their invariants are asked by wrong() (lockstep/recipe.h).

Exit status 0 without a finding, 1 with, 2 usage.
"""
import os
import re
import sys

TABLE = os.path.join("dev.d", "asserts.tsv")
BODY = re.compile(r"^\{$", re.M)
USE = re.compile(r"\bLS_(?:ASSERT|ALWAYS|NEVER)\(")
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
DEFINE = re.compile(r"^#define .*$", re.M)
NULL_CHECK = re.compile(r"[\w.\->\[\]&* ]+ [!=]= NULL$")
NULL_SHARE = 1 / 3


def expression_at(text, start):
    depth, at = 1, start
    while depth > 0 and at < len(text):
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        at += 1
    return " ".join(text[start:at - 1].split())


def is_null_check(expression):
    return all(NULL_CHECK.match(part.strip()) for part in re.split(r"&&|\|\|", expression))


def count_file(path):
    with open(path, encoding="utf-8") as file:
        text = COMMENT.sub('""', file.read())
    text = DEFINE.sub("", text)
    expressions = [expression_at(text, match.end()) for match in USE.finditer(text)]
    return len(BODY.findall(text)), len(expressions), sum(map(is_null_check, expressions))


def count_tree(root):
    """Folder of src -> (functions, assertions, NULL checks). A folder below one of them counts with it."""
    counts = {}
    source = os.path.join(root, "src")
    for folder, _, files in os.walk(source):
        name = os.path.relpath(folder, source).split(os.sep)[0]
        for file in files:
            if name != "." and file.endswith((".c", ".h")):
                found = count_file(os.path.join(folder, file))
                counts[name] = tuple(a + b for a, b in zip(counts.get(name, (0, 0, 0)), found))
    return counts


def read_floors(root):
    with open(os.path.join(root, TABLE), encoding="utf-8") as file:
        rows = [line.split("\t") for line in file.read().splitlines() if line and not line.startswith("#")]
    return {row[0]: float(row[1]) for row in rows}


def findings(counts, floors):
    for name, (functions, asserts, nulls) in sorted(counts.items()):
        if name not in floors:
            yield f"{TABLE} has no row for src/{name}"
            continue
        ratio = asserts / functions if functions else 0
        if ratio < floors[name]:
            yield f"src/{name}: {ratio:.3f} assertions for each function, the floor is {floors[name]:.2f}"
        if floors[name] > 0 and nulls > asserts * NULL_SHARE:
            yield f"src/{name}: {nulls} of {asserts} assertions are NULL checks, more than a third"
    for name in sorted(set(floors) - set(counts)):
        yield f"{TABLE}: there is no folder src/{name}"


def show(counts, floors):
    print(f"{'folder':12} {'functions':>9} {'assertions':>10} {'NULL':>5} {'each':>6} {'floor':>6}")
    total = (0, 0, 0)
    for name, found in sorted(counts.items()):
        total = tuple(a + b for a, b in zip(total, found))
        floor = f"{floors[name]:.2f}" if name in floors else "none"
        print(f"{name:12} {found[0]:9} {found[1]:10} {found[2]:5} {found[1] / max(found[0], 1):6.3f} {floor:>6}")
    print(f"{'all':12} {total[0]:9} {total[1]:10} {total[2]:5} {total[1] / max(total[0], 1):6.3f}")


def main(arguments):
    if "--help" in arguments or "-h" in arguments:
        print(__doc__.strip())
        return 0
    check = "--check" in arguments
    rest = [argument for argument in arguments if argument != "--check"]
    if len(rest) > 1 or (rest and rest[0].startswith("-")):
        print(f"unknown argument '{rest[0]}', see --help", file=sys.stderr)
        return 2
    root = rest[0] if rest else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    counts, floors = count_tree(root), read_floors(root)
    if not check:
        show(counts, floors)
        return 0
    found = list(findings(counts, floors))
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
