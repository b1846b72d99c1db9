// SPDX-License-Identifier: Apache-2.0
// Copyright the lockstep authors

// The page of a run. The element #run holds the run as JSON: src/report/page.c writes it, docs/cli.md lists
// its fields. Texts of the run reach the page as text nodes only.
"use strict";
(function () {
const run = JSON.parse(document.getElementById("run").textContent);
const steps = run.steps, head = run.head, end = run.end;
const byId = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";

// ---- elements ----

function element(name, cls, text) {
    const made = document.createElement(name);
    if (cls) made.className = cls;
    if (text !== undefined) made.textContent = text;
    return made;
}

function drawn(name, attributes, cls) {
    const made = document.createElementNS(SVG, name);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    if (cls) made.setAttribute("class", cls);
    return made;
}

// Adds a text, with each place where `word` stands marked.
function addMarked(parent, text, word) {
    const lower = text.toLowerCase();
    let from = 0;
    for (let at; word && (at = lower.indexOf(word, from)) >= 0; from = at + word.length) {
        parent.append(text.slice(from, at), element("mark", "", text.slice(at, at + word.length)));
    }
    parent.append(text.slice(from));
}

// ---- the run: states, messages, bars ----

// The state behind step k: lines of text. A step has its changes only, as [index, line]; `size` is the number of lines.
const KEPT = 64;
const keptStates = new Map();

function stateAt(k) {
    let from = k - (k % KEPT);
    while (from > 0 && !keptStates.has(from)) from -= KEPT;
    let lines = from > 0 ? keptStates.get(from).slice() : [];
    for (let i = from > 0 ? from + 1 : 0; i <= k; i++) {
        for (const [at, line] of steps[i].changes) lines[at] = line;
        lines.length = steps[i].size;
        if (i > 0 && i % KEPT === 0) keptStates.set(i, lines.slice());
    }
    return lines;
}

// Messages as arrows: {from: {lane, step}, to: {lane, step}, kind, text}; `to.step` of a lost one is where it is lost.
// A request begins at its event "requests" and reaches the server of the step "apply". The answer leaves there and
// arrives at the step "deliver" of the same verb. Requests of one process are read in their order.
function findMessages() {
    const open = {}, connects = {}, fired = {}, found = [];
    const of = (table, process) => table[process] || (table[process] = []);
    steps.forEach((step, k) => {
        const words = step.label.split(" ");
        if (step.kind === "connect" || step.kind === "handshake") {
            connects[step.process] = {lane: words[2] || "s1", step: k};
            found.push({from: {lane: step.process, step: k}, to: connects[step.process], kind: "message", text: step.label});
        } else if (step.kind === "apply" || step.kind === "linger") {
            const server = /^s\d+$/.test(words[1]) ? words[1] : "s1", [verb, handle] = words[words.length - 1].split("/");
            const list = of(open, step.process), waits = list.filter((one) => !one.at);
            const request = waits.find((one) => one.verb === verb) || waits[0] || {verb: verb, step: k};
            if (!list.includes(request)) list.push(request);
            request.verb = verb;
            request.handle = handle;
            request.at = {lane: server, step: k};
            found.push({from: {lane: step.process, step: request.step}, to: request.at,
                        kind: step.kind === "linger" ? "message late" : "message", text: step.label});
        } else if (step.kind === "cut") {
            // "1 request is still done": the first requests under way reach the server, their answers are lost.
            const done = /apply=(\d+)/.exec(step.label);
            of(open, step.process).filter((one) => !one.at).slice(0, done ? Number(done[1]) : 0).forEach((request) => {
                request.at = {lane: "s1", step: k};
                found.push({from: {lane: step.process, step: request.step}, to: request.at, kind: "message late", text: request.verb});
            });
        } else if (step.delivers) {
            arrive(step, k, words[words.length - 1], of(open, step.process), connects, of(fired, step.process), found);
        }
        for (const event of step.events) {
            if (event.kind === "request") of(open, event.process).push({verb: event.request, step: k});
            if (event.kind === "watch-gone" && event.change_zxid) of(fired, event.process).push(k);
        }
    });
    for (const process in open) {
        for (const request of open[process]) {
            if (!request.at) continue;
            found.push({from: request.at, to: {lane: process, step: steps.length - 1}, kind: "message late open", text: request.verb + ": no answer yet"});
        }
    }
    return found;
}

function arrive(step, k, word, list, connects, fired, found) {
    const here = {lane: step.process, step: k}, text = step.label + (step.remark ? ": " + step.remark : "");
    // "create-reply", "reply", "reply/2": the answer to the oldest request of that verb, if it is named, and handle.
    const reply = /^(?:(.*)-)?reply(?:\/(\d+))?$/.exec(word), isLost = /^(lost|late)/.test(step.remark);
    const fits = (one) => (!reply[1] || one.verb === reply[1]) && (!one.at || one.handle === reply[2]);
    const at = reply ? Math.max(0, list.findIndex(fits)) : -1;
    const request = at >= 0 ? list.splice(at, 1)[0] : undefined;
    if (request && request.at) {
        found.push({from: request.at, to: here, kind: isLost ? "lost" : "message", text: text});
    } else if (request) {
        found.push({from: {lane: here.lane, step: request.step}, to: {lane: "s1", step: k}, kind: "lost", text: text});
    } else if (/connect|expire/.test(word) && connects[step.process]) {
        if (/connected$/.test(word)) found.push({from: connects[step.process], to: here, kind: "message", text: text});
    } else if (fired.length > 0) {
        const since = fired.shift(), session = connects[step.process];
        found.push({from: {lane: session ? session.lane : "s1", step: since}, to: here, kind: "watch", text: text});
    }
}

// Bars on the lane of a process: {process, track, from, to, text}; `to` is undefined while it lasts. Tracks, from the
// left: session, node, wait, held, belief.
function findBars() {
    const bars = [], open = new Map();
    const begin = (key, process, track, k, text) => {
        finish(key, k);
        const beside = [...open.values()].filter((bar) => bar.process === process && bar.track === track);
        const places = new Set(beside.map((bar) => bar.place));
        let place = 0;
        while (places.has(place)) place++;
        const bar = {process: process, track: track, place: place, from: k, to: undefined, text: text};
        open.set(key, bar);
        bars.push(bar);
    };
    const finish = (key, k) => {
        if (open.has(key)) open.get(key).to = k;
        open.delete(key);
    };
    const finishAll = (start, k) => [...open.keys()].filter((key) => key.startsWith(start)).forEach((key) => finish(key, k));
    const claim = (event) => JSON.stringify([event.process, event.lock, event.owner]);
    // A hold is there as long as its process has a contender node of the lock: nodes has their czxids, by claim's lock.
    const nodes = new Map(), of = (event) => JSON.stringify([event.process, event.lock]);
    steps.forEach((step, k) => {
        for (const event of step.events) {
            switch (event.kind) {
            case "session-opened": begin("session " + event.session, event.process, "session", k, "session " + event.session); break;
            case "session-closing": case "session-closed": finish("session " + event.session, k); break;
            case "node-created":
                if (event.node_role === 1 && event.process) {
                    nodes.set(event.czxid, of(event));
                    begin("node " + event.czxid, event.process, "node", k, event.path + " (" + event.czxid + ")");
                }
                break;
            case "node-deleted":
                finish("node " + event.czxid, k);
                nodes.delete(event.czxid);
                if (![...nodes.values()].includes(of(event))) finishAll("held " + of(event).slice(0, -1), k);
                break;
            case "asked": begin("wait " + claim(event), event.process, "wait", k, "waits for " + event.lock); break;
            case "granted":
                finish("wait " + claim(event), k);
                if ([...nodes.values()].includes(of(event))) {
                    begin("held " + claim(event), event.process, "held", k, "holds " + event.lock + ", token " + event.token);
                }
                break;
            case "failed": finish("wait " + claim(event), k); break;
            case "released": if (event.depth === 0) finish("held " + claim(event), k); break;
            case "hold-lost": finish("held " + claim(event), k); break;
            case "crashed": case "stopped":
                finishAll("wait " + JSON.stringify([event.process]).slice(0, -1), k);
                finishAll("held " + JSON.stringify([event.process]).slice(0, -1), k);
                break;
            }
        }
        const now = new Set();
        for (const belief of step.beliefs) {
            const key = "belief " + claim(belief) + belief.belief;
            now.add(key);
            if (!open.has(key)) {
                begin(key, belief.process, belief.belief === "held" ? "belief" : "doubt", k, "believes " + belief.lock + ": " + belief.belief);
            }
        }
        [...open.keys()].filter((key) => key.startsWith("belief ") && !now.has(key)).forEach((key) => finish(key, k));
    });
    return bars;
}

// The contenders behind step k, in the order in which their nodes were created: [{lock, process, czxid, path, since}].
function lineAt(k) {
    const line = new Map();
    for (let i = 0; i <= k; i++) {
        for (const event of steps[i].events) {
            if (event.kind === "node-created" && event.node_role === 1) {
                line.set(event.czxid, {lock: event.lock, process: event.process, czxid: event.czxid, path: event.path, session: event.session, since: i});
            } else if (event.kind === "node-deleted") {
                line.delete(event.czxid);
            }
        }
    }
    return [...line.values()].sort((a, b) => a.czxid - b.czxid);
}

// ---- where things are ----

const LINE = 18, TEXT = 580, TRACKS = ["session", "node", "wait", "held", "belief"];
const WIDTH = 13, PROCESS = 120, SERVER = 70;
const lanes = [];
let right = TEXT;
for (const name of head.processes) { lanes.push({name: name, at: right + PROCESS / 2}); right += PROCESS; }
for (let s = 1; s <= head.servers; s++) { lanes.push({name: "s" + s, at: right + SERVER / 2}); right += SERVER; }
const laneOf = new Map(lanes.map((lane) => [lane.name, lane.at]));
const messages = findMessages(), bars = findBars();
// Tracks on which bars stand beside each other.
const crowded = new Set(bars.filter((bar) => bar.place > 0).map((bar) => bar.process + " " + bar.track));
const texts = steps.map((step) => (step.label + " " + step.remark + " " + (step.note || "") + "\n" + step.text.join("\n") + "\n" +
                                   step.violated.map((one) => one.property + ": " + one.why).join("\n")).toLowerCase());
let shown = [], top = [], height = 0, rowOf = [];
let picked = 0, word = "", timer = 0;

const FILTERS = [["all", "all steps", () => true],
    ["faults", "faults and their ends", (step) => step.fault || step.heals],
    ["locks", "asked, granted, lost, released", (step) => step.events.some((event) =>
        /^(asked|granted|failed|released|freed|lost|hold-lost|believes|doubts)$/.test(event.kind))],
    ...head.processes.map((name) => ["process " + name, "process " + name, (step) => step.process === name ||
        step.events.some((event) => event.process === name)])];

function layOut() {
    const filter = FILTERS.find((one) => one[0] === byId("filter").value) || FILTERS[0];
    const withClock = byId("clock").checked;
    shown = [];
    top = [];
    rowOf = new Array(steps.length);
    height = 6;
    steps.forEach((step, k) => {
        const plain = step.kind === "advance" && step.text.length === 0 && step.violated.length === 0;
        const wanted = filter[2](step) && (withClock || !plain || filter[0] !== "all");
        if (wanted || step.violated.length > 0 || k === 0) {
            shown.push(k);
            top.push(height);
            height += LINE * (1 + (step.note ? 1 : 0) + step.text.length + step.violated.length) + 2;
        }
        rowOf[k] = shown.length - 1;
    });
    byId("rows").style.height = height + "px";
    byId("rows").style.width = right + 20 + "px";
}

// The y coordinate of a step's line. A step that is not shown is where the next shown one begins.
function y(k) {
    const row = rowOf[k];
    return shown[row] === k ? top[row] + LINE / 2 : (row + 1 < top.length ? top[row + 1] - 1 : height);
}

function rowAt(pixel) {
    let low = 0, high = top.length - 1;
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (top[middle] <= pixel) low = middle; else high = middle - 1;
    }
    return low;
}

// ---- drawing: the rows that can be seen, and what crosses them ----

function drawRow(row) {
    const k = shown[row], step = steps[k], item = element("li");
    item.id = "step-" + k;
    item.style.top = top[row] + "px";
    item.style.height = (row + 1 < top.length ? top[row + 1] : height) - top[row] + "px";
    item.classList.toggle("picked", k === picked);
    item.classList.toggle("fault", Boolean(step.fault));
    item.classList.toggle("bad", step.violated.length > 0);
    item.append(element("span", "number", step.number || "-"));
    const label = element("span", "label");
    label.title = step.label + (step.remark ? ": " + step.remark : "");
    addMarked(label, (step.label || "the beginning") + (step.remark ? ": " + step.remark : ""), word);
    item.append(label);
    for (const line of (step.note ? [step.note] : []).concat(step.text)) {
        const event = element("span", "event");
        event.title = line;
        addMarked(event, line.replace(/^\[ *(\d+)ms\] /, "$1 ms  "), word);
        item.append(event);
    }
    for (const one of step.violated) {
        const why = element("span", "why");
        why.title = one.why;
        addMarked(why, "\u2718 " + one.property, word);
        item.append(why);
    }
    item.addEventListener("click", () => pick(k, false));
    return item;
}

function withTitle(shape, text) {
    const title = drawn("title", {});
    title.textContent = text;
    shape.append(title);
    return shape;
}

function drawBar(svg, bar, first, last) {
    const to = bar.to === undefined ? height - 4 : y(bar.to);
    if (y(bar.from) > last || to < first) return;
    const place = TRACKS.indexOf(bar.track === "doubt" ? "belief" : bar.track);
    const x = laneOf.get(bar.process) - PROCESS / 2 + 14 + place * WIDTH + (place > 2 ? 12 : 0);
    const narrow = bar.track === "session" ? 3 : crowded.has(bar.process + " " + bar.track) ? 4 : 8;
    const size = {x: x + Math.min(bar.place, 2) * 5, y: y(bar.from), width: narrow, height: Math.max(4, to - y(bar.from))};
    svg.append(withTitle(drawn("rect", size, "hover s-" + bar.track), bar.text));
}

function drawMessage(svg, message, first, last) {
    const x1 = laneOf.get(message.from.lane), x2 = laneOf.get(message.to.lane);
    let y1 = y(message.from.step), y2 = y(message.to.step);
    if (x1 === undefined || x2 === undefined || Math.max(y1, y2) < first || Math.min(y1, y2) > last) return;
    const side = x2 > x1 ? 1 : -1, fromX = x1, lost = message.kind === "lost";
    // A lost message ends close to its sender, so that its cross stands on no other lane.
    const part = lost ? Math.min(1, 28 / Math.abs(x2 - x1)) : 1;
    const toX = lost ? x1 + (x2 - x1) * part : x2 - side * 4, toY = lost ? y1 + (y2 - y1) * part : y2;
    svg.append(withTitle(drawn("line", {x1: fromX, y1: y1, x2: toX, y2: toY}, "hover message " + message.kind), message.text));
    if (lost) {
        svg.append(drawn("path", {d: `M${toX - 5} ${toY - 5}l10 10m0 -10l-10 10`}, "cross"));
    } else if (!/open/.test(message.kind)) {
        const angle = Math.atan2(toY - y1, toX - fromX) * 180 / Math.PI;
        svg.append(drawn("path", {d: "M0 0L-8 -3.5L-8 3.5Z", transform: `translate(${toX} ${toY}) rotate(${angle})`}, "head"));
    }
}

function drawMarks(svg, row) {
    const k = shown[row], step = steps[k], at = y(k);
    // A request is read at its server.
    const server = step.kind === "apply" || step.kind === "linger" ? step.label.split(" ")[1] : undefined;
    const x = laneOf.get(laneOf.has(server) ? server : step.process);
    if (x !== undefined) svg.append(drawn("circle", {cx: x, cy: at, r: step.fault ? 5 : 3}, step.fault ? "boom" : "dot"));
    else if (step.fault) svg.append(drawn("rect", {x: right - 8, y: at - 5, width: 10, height: 10}, "boom"));
}

let pending = false;
function draw() {
    pending = false;
    const box = byId("scroll"), printing = window.matchMedia("print").matches;
    const first = printing ? 0 : box.scrollTop - 300, last = printing ? height : box.scrollTop + box.clientHeight + 300;
    const from = rowAt(Math.max(0, first)), to = rowAt(last);
    const story = byId("story"), svg = byId("drawing");
    const rows = [];
    for (let row = from; row <= to; row++) rows.push(drawRow(row));
    story.replaceChildren(...rows);
    const begin = Math.max(0, first);
    svg.setAttribute("width", right + 20);
    svg.setAttribute("height", Math.max(1, Math.min(height, last) - begin));
    svg.setAttribute("viewBox", `0 ${begin} ${right + 20} ${Math.max(1, Math.min(height, last) - begin)}`);
    svg.style.top = begin + "px";
    svg.replaceChildren();
    for (const lane of lanes) svg.append(drawn("line", {x1: lane.at, x2: lane.at, y1: begin, y2: last}, "lane"));
    for (const bar of bars) drawBar(svg, bar, begin, last);
    for (const message of messages) drawMessage(svg, message, begin, last);
    for (let row = from; row <= to; row++) drawMarks(svg, row);
}

function drawSoon() {
    if (!pending) {
        pending = true;
        requestAnimationFrame(draw);
    }
}

// ---- the panel ----

function showState(k) {
    const now = stateAt(k), before = k > 0 ? stateAt(k - 1) : now, known = new Set(before), left = new Set(now);
    const box = byId("state");
    box.replaceChildren();
    for (const line of now) box.append(known.has(line) ? line : element("mark", "", line), "\n");
    for (const line of before) if (!left.has(line)) box.append(element("span", "gone", line), "\n");
}

function showLine(k) {
    const line = lineAt(k), table = element("table");
    const titles = element("tr");
    for (const title of ["lock", "place", "process", "node", "number", "session"]) titles.append(element("th", "", title));
    table.append(titles);
    const places = {};
    for (const one of line) {
        const row = element("tr"), place = places[one.lock] = (places[one.lock] || 0) + 1;
        const name = one.path ? one.path.slice(one.path.lastIndexOf("/") + 1) : String(one.czxid);
        const short = name.length > 20 ? "\u2026" + name.slice(-18) : name;
        for (const text of [one.lock || "", place, one.process || "", short, one.czxid, one.session || ""]) row.append(element("td", "", text));
        row.title = one.path || "";
        table.append(row);
    }
    byId("line").replaceChildren(line.length > 0 ? table : element("p", "", "no contender"));
}

function showChoices(k) {
    const list = byId("choices"), next = steps[k + 1];
    const labels = steps[k].choices.map((index) => run.labels[index]);
    list.replaceChildren();
    if (next !== undefined && next.number > 0 && !labels.includes(next.label)) {
        list.append(element("li", "taken", next.label + "  (this run, by the script)"));
    }
    for (const index of steps[k].choices) {
        const label = run.labels[index], taken = next !== undefined && next.label === label;
        list.append(element("li", taken ? "taken" : "", label + (taken ? "  (this run)" : "")));
    }
    if (steps[k].choices.length === 0) list.append(element("li", "", "nothing"));
}

function showPanel(k) {
    const step = steps[k], detail = byId("detail");
    byId("chosen").textContent = (step.number ? "step " + step.number + ": " : "") + (step.label || "the beginning");
    detail.replaceChildren();
    if (step.remark) detail.append(element("p", "", step.remark));
    if (step.note) detail.append(element("p", "", step.note));
    for (const line of step.text) detail.append(element("p", "", line));
    for (const one of step.violated) detail.append(element("p", "bad", one.property + ": " + one.why));
    if (head.timed) detail.append(element("p", "", "at " + step.now_ms + " ms"));
    showLine(k);
    showState(k);
    showChoices(k);
}

// ---- choosing a step ----

function bring(k) {
    const box = byId("scroll"), at = y(k);
    if (at < box.scrollTop + 40 || at > box.scrollTop + box.clientHeight - 60) box.scrollTop = at - box.clientHeight / 2;
}

function pick(k, scroll) {
    picked = Math.max(0, Math.min(steps.length - 1, k));
    byId("slider").value = picked;
    byId("where").textContent = (steps[picked].number || "-") + " of " + end.actions;
    history.replaceState(null, "", "#step=" + picked);
    showPanel(picked);
    if (scroll !== false) bring(picked);
    drawSoon();
}

function move(by) {
    const row = Math.max(0, Math.min(shown.length - 1, rowOf[picked] + (shown[rowOf[picked]] === picked || by < 0 ? by : 1)));
    pick(shown[row]);
}

function findWord(by) {
    for (let i = 1; word && i <= steps.length; i++) {
        const k = (picked + by * i + steps.length * 2) % steps.length;
        if (texts[k].includes(word)) return pick(k);
    }
}

function play(on) {
    clearInterval(timer);
    timer = on ? setInterval(() => rowOf[picked] + 1 < shown.length ? move(1) : play(false), 400) : 0;
    byId("play").textContent = on ? "stop" : "play";
}

const bad = steps.map((step, k) => step.violated.length > 0 ? k : -1).filter((k) => k >= 0);
function nextBad() {
    if (bad.length > 0) pick(bad.find((k) => k > picked) ?? bad[0]);
}

const KEYS = {ArrowLeft: () => move(-1), ArrowUp: () => move(-1), ArrowRight: () => move(1), ArrowDown: () => move(1),
              Home: () => pick(0), End: () => pick(steps.length - 1), v: nextBad, " ": () => play(!timer),
              "/": () => byId("search").focus(), n: () => findWord(1), N: () => findWord(-1)};

function listen() {
    byId("first").addEventListener("click", () => pick(0));
    byId("last").addEventListener("click", () => pick(steps.length - 1));
    byId("back").addEventListener("click", () => move(-1));
    byId("next").addEventListener("click", () => move(1));
    byId("play").addEventListener("click", () => play(!timer));
    byId("bad").addEventListener("click", nextBad);
    byId("bad").disabled = bad.length === 0;
    byId("slider").addEventListener("input", (event) => pick(Number(event.target.value)));
    byId("filter").addEventListener("change", () => { layOut(); bring(picked); drawSoon(); });
    byId("clock").addEventListener("change", () => { layOut(); bring(picked); drawSoon(); });
    byId("search").addEventListener("input", (event) => {
        word = event.target.value.toLowerCase();
        if (word && !texts[picked].includes(word)) findWord(1);
        drawSoon();
    });
    byId("search").addEventListener("keydown", (event) => {
        if (event.key === "Enter") findWord(event.shiftKey ? -1 : 1);
    });
    byId("scheme").addEventListener("click", () => document.documentElement.classList.toggle("dark"));
    byId("copy").addEventListener("click", copy);
    byId("scroll").addEventListener("scroll", drawSoon);
    window.addEventListener("resize", drawSoon);
    window.addEventListener("beforeprint", draw);
    window.addEventListener("hashchange", fromLink);
    document.addEventListener("keydown", (event) => {
        const field = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) && event.target.id !== "slider";
        if (field || event.ctrlKey || event.altKey || event.metaKey || !KEYS[event.key] ||
            (event.key === " " && event.target.tagName === "BUTTON")) {
            return;
        }
        event.preventDefault();
        KEYS[event.key]();
    });
}

async function copy() {
    const text = byId("paste").textContent;
    try {
        await navigator.clipboard.writeText(text);
    } catch (refused) {
        const range = document.createRange();
        range.selectNodeContents(byId("paste"));
        getSelection().removeAllRanges();
        getSelection().addRange(range);
        document.execCommand("copy");
    }
    byId("copy").textContent = "copied";
}

function fromLink() {
    const match = /^#step=(\d+)$/.exec(location.hash);
    if (match && Number(match[1]) !== picked) pick(Number(match[1]));
}

// ---- the head of the page ----

function showHead() {
    document.title = "lockstep: " + head.scenario;
    byId("title").textContent = head.scenario;
    byId("about").textContent = "recipe " + head.recipe + ", " + head.coordinator + ", " + head.schedule +
        (head.schedule === "directed" ? "" : ", seed " + head.seed) + ", " + end.actions + " steps, lockstep " + head.version;
    byId("paste").textContent = head.again;
    for (const one of end.violated) {
        const box = element("div", "sentence");
        box.append(element("b", "", "\u2718 " + one.property), ": " + one.why, element("span", "promised", "promised: " + one.promised));
        byId("verdict").append(box);
    }
    if (end.violated.length === 0) byId("verdict").append(element("div", "holds", "\u2714 no property is violated in this run"));
    if (end.trouble) byId("verdict").append(element("div", "sentence", end.trouble));
    byId("scenario").textContent = head.text;
}

function showLegend() {
    const kinds = [["session", "session alive"], ["node", "contender's node is there"], ["wait", "waits"],
        ["held", "holds by the coordinator: granted, and its node is there"], ["belief", "believes that it holds"], ["doubt", "no longer sure"]];
    for (const [track, text] of kinds) {
        const box = element("span"), svg = drawn("svg", {width: 12, height: 14});
        svg.append(drawn("rect", {x: 2, y: 1, width: track === "session" ? 3 : 8, height: 12}, "s-" + track));
        box.append(svg, text);
        byId("legend").append(box);
    }
    for (const [cls, text] of [["message", "message"], ["message late", "late, or still under way"], ["message lost", "lost"], ["message watch", "watch fired"]]) {
        const box = element("span"), svg = drawn("svg", {width: 28, height: 14});
        svg.append(drawn("line", {x1: 1, x2: 27, y1: 7, y2: 7}, cls));
        box.append(svg, text);
        byId("legend").append(box);
    }
    const box = element("span"), svg = drawn("svg", {width: 14, height: 14});
    svg.append(drawn("circle", {cx: 7, cy: 7, r: 5}, "boom"));
    box.append(svg, "fault");
    byId("legend").append(box);
    for (const lane of lanes) {
        const name = element("span", "", lane.name);
        name.style.left = lane.at + "px";
        byId("lanes").append(name);
    }
    byId("lanes").style.width = right + 20 + "px";
}

if (window.matchMedia("(prefers-color-scheme: dark)").matches) document.documentElement.classList.add("dark");
for (const [value, text] of FILTERS) {
    const option = element("option", "", text);
    option.value = value;
    byId("filter").append(option);
}
byId("slider").max = steps.length - 1;
byId("clock").checked = false;
showHead();
showLegend();
layOut();
listen();
const link = /^#step=(\d+)$/.exec(location.hash);
pick(link ? Number(link[1]) : bad.length > 0 ? bad[0] : 0);
window.lockstep = {run: run, stateAt: stateAt, picked: () => picked, pick: pick};
})();
