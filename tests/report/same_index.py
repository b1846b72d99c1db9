# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors
"""usage: same_index.py DIR JSON

Compares the index of `--html DIR` with the output of `--json` of the same call: the verdict of each scenario, the matrix of
promises, the violated sentences and the links. Exit status 1 with a line for each difference.
"""
import html.parser
import json
import os
import re
import sys

folder, json_path = sys.argv[1:]
differences = 0
VOID = {"meta", "link", "input", "br"}
WORDS = {"holds": "\u2714 pass", "violated": "\u2718 FAIL", "differs": "\u2260 differs", "limit": "\u2026 limit", "error": "\u26a0 ERROR"}
CELLS = {"held": "holds", "broken": "violated", "broken, as the file says": "violated", "not put to the test": "not-judged"}


def differs(what, expected, found):
    global differences
    if expected != found:
        differences += 1
        print(f"{what}: expected {expected!r:.300}, found {found!r:.300}")


def as_shown(name):
    """The text of a name in the page: docs/cli.md."""
    text = name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    hidden = r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
    return re.sub(hidden, lambda match: "\\u{%x}" % ord(match.group()), text)


class Index(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.section, self.rows, self.cell, self.links = [], "", {}, None, []
        self.tables, self.captions, self.headers, self.scripts = 0, 0, [], 0

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag not in VOID:
            self.open.append(tag)
        self.section = attrs.get("id", "") if tag == "section" else self.section
        self.tables += tag == "table"
        self.captions += tag == "caption"
        self.scripts += tag in ("script", "img", "iframe", "object", "i>")
        self.headers += [attrs.get("scope")] if tag == "th" else []
        self.links += [attrs["href"]] if "href" in attrs else []
        differs("attributes that run something", [], [name for name in attrs if name.startswith("on")])
        if tag == "tr":
            self.rows.setdefault(self.section, []).append([])
        if tag in ("td", "th"):
            self.rows[self.section][-1].append("")

    def handle_endtag(self, tag):
        differs("the element that ends", self.open.pop() if self.open else None, tag)

    def handle_data(self, data):
        if {"td", "th"} & set(self.open):
            cell = self.rows[self.section][-1]
            cell[-1] += ("|" if "i" in self.open else "") + data


with open(os.path.join(folder, "index.html"), "rb") as file:
    page = file.read()
index = Index()
index.feed(page.decode("utf-8"))
differs("elements left open", [], index.open)
differs("control bytes", [], [byte for byte in page if byte < 32 and byte != 10])
differs("a caption for each table", index.tables, index.captions)
differs("headers without a scope", [], [scope for scope in index.headers if scope not in ("row", "col")])
differs("scripts and what loads something", 1, index.scripts)

with open(json_path, encoding="utf-8", errors="surrogateescape") as file:
    items = [json.loads(line) for line in file]
by_name = {as_shown(item["scenario"]): item for item in items}
listed = {row[0]: row for row in index.rows["scenarios"][1:]}
differs("the scenarios", sorted(by_name), sorted(listed))
titles = index.rows["promises"][0][1:]
matrix = {row[0]: row[1:] for row in index.rows["promises"][1:]}
wakeups = {row[0]: row[1] for row in index.rows.get("wakeups", [])[1:]}
for name, item in by_name.items():
    row = listed.get(name, [""] * 8)
    differs(f"the verdict of {name}", WORDS[item["verdict"]], row[1])
    differs(f"the recipe of {name}", item["recipe"], row[2])
    differs(f"the states of {name}", str(item["states"] or "-"), row[3])
    for one in item["violations"]:
        differs(f"{name} has the sentence", True, as_shown(f"{one['property']}: {one['sentence']}") in row[6])
    found = {}
    for title, cell in zip(titles, matrix.get(name, [])):
        word = cell.split("|")[-1]
        if word != "not judged":
            found[title] = CELLS[word]
    differs(f"the promises of {name}", {as_shown(key): value for key, value in item["properties"].items()}, found)
    herd = item["properties"].get("at_most_one_wakeup_per_release", "not-judged")
    differs(f"wake-ups in {name}", herd != "not-judged", name in wakeups)
    differs(f"herd in {name}", herd == "violated", "more than" in wakeups.get(name, "").replace("no more than", ""))
    trace = item["shrunk"] or item["trace"]
    link = re.match(r"[0-9a-f]*", os.path.basename(trace)).group() + ".html" if trace and item["verdict"] != "limit" and "\\x" not in name else None
    differs(f"the link of {name}", True, link is None or link in index.links)
for link in index.links:
    if not link.startswith(("#", "data:")):
        differs(f"the page {link} is there", True, os.path.exists(os.path.join(folder, link)))
    elif link.startswith("#"):
        differs(f"the part {link} is there", True, f'id="{link[1:]}"'.encode() in page)
sys.exit(differences > 0)
