// SPDX-License-Identifier: Apache-2.0
// Copyright the lockstep authors

// What the page shows of the run (model.js), and what a reader does. Texts of the run reach the page as text nodes only.
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

function withTitle(shape, text) {
    const title = drawn("title", {});
    title.textContent = text;
    shape.append(title);
    return shape;
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

// ---- where things are, from the left: number, clock, text, then a lane for each process and server ----

const LINE = 18, GAP = 14, NUMBER = 46, SERVER = 64, TEXT_MIN = 250, TEXT_NARROW = 215, TEXT_MAX = 900, NARROW = 520;
const THICK = {session: 5, node: 9, wait: 9, held: 9, belief: 9};
const messages = followMessages(), bars = findBars(), spans = findSpans();
const lanes = []; // {name, left, at: the line to which arrows go, right, tracks: left end by group and owner, owners}
const laneOf = new Map();
let laidOutFor = 0, clockWidth = 0, textWidth = 0, columns = 60, right = 0;

// The most bars of a group that stand beside each other.
function placesOf(process, group, owner) {
    const places = bars.filter((bar) => bar.process === process && bar.group === group && bar.owner === owner).map((bar) => bar.place);
    return places.reduce((most, place) => Math.max(most, place), group === "session" ? -1 : 0) + 1;
}

const ownersOf = (process) => [...new Set(bars.filter((bar) => bar.process === process && !/session|node/.test(bar.group)).map((bar) => bar.owner))].sort((a, b) => a - b);

function processLane(name) {
    const lane = {name: name, left: 0, tracks: {}, owners: ownersOf(name)};
    let at = 10;
    const track = (group, owner) => {
        lane.tracks[group + owner] = at;
        at += Math.min(4, placesOf(name, group, owner)) * THICK[group] + 2;
    };
    track("session", 0);
    track("node", 0);
    for (const owner of lane.owners) {
        at += 5;
        for (const group of ["wait", "held", "belief"]) track(group, owner);
    }
    lane.axis = Math.max(at + 12, 44);
    lane.width = lane.axis + 26;
    return lane;
}

for (const name of head.processes) lanes.push(processLane(name));
for (let s = 1; s <= head.servers; s++) lanes.push({name: "s" + s, server: true, axis: SERVER / 2, width: SERVER, tracks: {}, owners: []});
for (const lane of lanes) laneOf.set(lane.name, lane);

function placeLanes() {
    const width = byId("scroll").clientWidth, all = lanes.reduce((sum, lane) => sum + lane.width, 0);
    const wanted = Math.max(width < NARROW ? TEXT_NARROW : TEXT_MIN, Math.min(TEXT_MAX, width - all - 12));
    laidOutFor = width;
    clockWidth = head.timed && width >= NARROW ? 74 : 0;
    textWidth = wanted - NUMBER - clockWidth - 8;
    right = wanted;
    for (const lane of lanes) {
        lane.left = right;
        lane.at = right + lane.axis;
        right += lane.width;
        lane.right = right;
    }
    const probe = element("span", "event", "0".repeat(50));
    probe.style.cssText = "position: absolute; width: auto; visibility: hidden; font-size: 12px";
    byId("story").append(probe);
    columns = Math.max(16, Math.floor((textWidth - 12) / (probe.getBoundingClientRect().width / 50 || 7.3)));
    probe.remove();
    byId("rows").style.width = Math.max(right + 8, width) + "px";
}

// ---- the text of a step ----

function stepLabel(step) {
    const label = step.label || "the beginning";
    if (step.carries === "request") {
        const text = step.brings || (step.request ? step.request.text.replace(/^other /, "") : "");
        const words = label.split(" "), verb = words.pop(), first = text.split(" ")[0].toLowerCase();
        return verb.toLowerCase() === first ? words.join(" ") + " " + text : label + (text ? ": " + text : "");
    }
    const brings = step.remark || step.brings || "";
    return label + (brings ? ": " + brings : "");
}

// The lines of the events. Lines about requests get what the request says.
function eventLines(step) {
    const requests = step.events.filter((event) => event.kind === "request");
    return step.text.map((line) => {
        const told = line.replace(/^\[ *\d+ms\] /, "");
        return /^\S+ +requests \S+$/.test(told) && requests.length > 0 ? told.replace(/requests .*/, "requests " + requestText(requests.shift())) : told;
    });
}

// At rest no message comes any more: whoever waits then was owed one.
function owedLines(step, k) {
    if (step.violated.length === 0 || !step.events.some((event) => event.kind === "rest")) return [];
    const waits = bars.filter((bar) => bar.group === "wait" && bar.from <= k && (bar.to === undefined || bar.to > k));
    return waits.filter((bar) => !messages.underWay(bar.process)).map((bar) => bar.process + " " + bar.text + ": no message to it is under way, so nothing wakes it");
}

// [class, text, whole text]
function linesOf(step, k) {
    const lines = [], add = (cls, text, whole) => wrap(text, cls === "label" ? columns : columns - 2).forEach((line) => lines.push([cls, line, whole || text]));
    const whole = stepLabel(step);
    add("label", short(whole, 32), whole);
    for (const line of (step.note ? [step.note] : []).concat(eventLines(step))) add("event", short(line, 32), line);
    for (const one of step.violated) {
        add("why", "\u2718 " + one.property + ": " + plain(one.why));
        add("owed", "owed: " + one.promised);
    }
    for (const line of owedLines(step, k)) add("owed", line);
    return lines;
}

const texts = steps.map((step) => (stepLabel(step) + " " + (step.note || "") + "\n" + eventLines(step).join("\n") + "\n" +
                                   step.violated.map((one) => one.property + ": " + plain(one.why)).join("\n")).toLowerCase());
let shown = [], top = [], gaps = [], height = 0, rowOf = [], lines = [];
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
    placeLanes();
    shown = [];
    top = [];
    gaps = [];
    lines = [];
    rowOf = new Array(steps.length);
    height = 6;
    steps.forEach((step, k) => {
        const quiet = step.kind === "advance" && step.text.length === 0 && step.violated.length === 0;
        const wanted = filter[2](step) && (withClock || !quiet || filter[0] !== "all");
        if (wanted || step.violated.length > 0 || k === 0) {
            // The clock has moved in steps that are not shown.
            const gap = k > 0 && step.kind !== "advance" ? step.now_ms - steps[shown[shown.length - 1]].now_ms : 0;
            gaps.push(gap);
            shown.push(k);
            top.push(height);
            lines.push(linesOf(step, k));
            height += (gap > 0 ? GAP : 0) + LINE * lines[lines.length - 1].length + 3;
        }
        rowOf[k] = shown.length - 1;
    });
    height += 8;
    byId("rows").style.height = height + "px";
    showLanes();
}

// The y coordinate of a step's line. A step that is not shown is where the next shown one begins.
function y(k) {
    const row = rowOf[k];
    return shown[row] === k ? top[row] + (gaps[row] > 0 ? GAP : 0) + LINE / 2 : (row + 1 < top.length ? top[row + 1] - 1 : height);
}

function rowAt(pixel) {
    let low = 0, high = top.length - 1;
    while (low < high) {
        const middle = (low + high + 1) >> 1;
        if (top[middle] <= pixel) low = middle; else high = middle - 1;
    }
    return low;
}

function showLanes() {
    const box = byId("lanes");
    box.replaceChildren();
    box.style.width = byId("rows").style.width;
    const put = (cls, text, x, title) => {
        const name = element("span", cls, text);
        name.style.left = x + "px";
        if (title) name.title = title;
        box.append(name);
    };
    put("unit", "step", NUMBER / 2);
    if (clockWidth > 0) put("unit", "clock", NUMBER + clockWidth / 2);
    for (const lane of lanes) {
        put("", lane.name, lane.at, (lane.server ? "server " : "process ") + lane.name);
        if (lane.owners.length > 1) {
            for (const owner of lane.owners) put("owner", String(owner), lane.left + lane.tracks["held" + owner] + 4, "owner " + owner + " of " + lane.name);
        }
    }
}

// ---- drawing: the rows that can be seen, and what crosses them ----

function drawRow(row) {
    const k = shown[row], step = steps[k], item = element("li");
    item.id = "step-" + k;
    item.style.top = top[row] + "px";
    item.style.height = (row + 1 < top.length ? top[row + 1] : height) - top[row] + "px";
    item.style.paddingLeft = NUMBER + clockWidth + 8 + "px";
    item.classList.toggle("picked", k === picked);
    item.classList.toggle("fault", Boolean(step.fault));
    item.classList.toggle("bad", step.violated.length > 0);
    if (k === picked) item.setAttribute("aria-current", "step");
    if (gaps[row] > 0) item.append(element("span", "gap", "clock +" + duration(gaps[row])));
    item.append(element("span", "number", step.number || "-"));
    if (clockWidth > 0) item.append(element("span", "clock", duration(step.now_ms)));
    for (const [cls, text, whole] of lines[row]) {
        const line = element("span", cls);
        line.style.width = textWidth + "px";
        line.title = whole;
        addMarked(line, text, word);
        item.append(line);
    }
    item.addEventListener("click", () => pick(k, false));
    return item;
}

// A span of a fault stands behind the lane of its process or server, or behind those of all servers.
function drawSpan(svg, span, first, last) {
    const from = y(span.from), to = span.to === undefined ? height - 4 : y(span.to);
    if (from > last || to < first) return;
    for (const lane of lanes) {
        if (lane.name === span.process || lane.name === span.server || (!span.process && !span.server && lane.server)) {
            const size = {x: lane.left + 2, y: from, width: lane.width - 4, height: Math.max(6, to - from)};
            svg.append(withTitle(drawn("rect", size, "over span"), span.text));
        }
    }
}

function drawBar(svg, bar, first, last) {
    const from = y(bar.from), to = bar.to === undefined ? height - 4 : y(bar.to);
    if (from > last || to < first) return;
    const lane = laneOf.get(bar.process), thick = THICK[bar.group];
    const x = lane.left + lane.tracks[bar.group + bar.owner] + Math.min(bar.place, 3) * thick;
    const piece = (begin, stop, cls) => svg.append(withTitle(drawn("rect",
        {x: x, y: begin, width: thick - 2, height: Math.max(4, stop - begin)}, "over " + cls), bar.text));
    const over = bar.over === undefined ? to : Math.min(to, y(bar.over));
    if (over > from || bar.over === undefined) piece(from, over, "s-" + bar.track);
    if (over < to) piece(over, to, bar.track === "session" ? "untold" : "ended");
    if (bar.mark) {
        const at = {d: `M${x - 3} ${over - 4}l8 8m0 -8l-8 8`};
        svg.append(withTitle(drawn("path", at, "over " + (bar.mark === "expired" ? "cross" : "shut")), bar.text));
    }
}

function drawMessage(svg, message, first, last) {
    const from = laneOf.get(message.from.lane), to = laneOf.get(message.to.lane);
    let y1 = y(message.from.step), y2 = y(message.to.step);
    if (!from || !to || message.kind === "none" || Math.max(y1, y2) < first || Math.min(y1, y2) > last) return;
    const x1 = from.at, x2 = to.at, side = x2 > x1 ? 1 : -1, lost = message.kind === "lost", open = /open/.test(message.kind);
    // A lost message ends close to its sender, so that its cross stands on no other lane.
    const part = lost ? Math.min(1, 30 / Math.abs(x2 - x1)) : 1;
    if (open) y2 = Math.max(y2, y1) + LINE * 0.6;
    const toX = lost ? x1 + (x2 - x1) * part : open ? x2 - side * 10 : x2 - side * 4, toY = lost ? y1 + (y2 - y1) * part : y2;
    const group = drawn("g", {}, "arrow"), ends = {x1: x1, y1: y1, x2: toX, y2: toY};
    withTitle(group, message.text);
    group.append(drawn("line", ends, "near"), drawn("line", ends, "message " + message.kind));
    if (lost) {
        const text = drawn("text", {x: toX + side * 8, y: toY + 4, "text-anchor": side > 0 ? "start" : "end"}, "told lost-text");
        text.textContent = "lost";
        group.append(drawn("path", {d: `M${toX - 5} ${toY - 5}l10 10m0 -10l-10 10`}, "cross"), text);
    } else {
        const angle = Math.atan2(toY - y1, toX - x1) * 180 / Math.PI;
        group.append(drawn("path", {d: "M0 0L-8 -3.5L-8 3.5Z", transform: `translate(${toX} ${toY}) rotate(${angle})`},
                           open ? "head hollow" : /watch/.test(message.kind) ? "head woken" : "head"));
    }
    group.addEventListener("click", () => pick(message.to.step, false));
    svg.append(group);
}

// A step stands on the lane where it happens: at its server, or at its process.
function drawMarks(svg, row) {
    const k = shown[row], step = steps[k], at = y(k);
    const sends = step.delivers || step.kind === "connect" || step.kind === "handshake";
    const lane = laneOf.get(step.server && !sends ? step.server : step.process);
    if (lane !== undefined) svg.append(drawn("circle", {cx: lane.at, cy: at, r: step.fault ? 5 : 3}, step.fault ? "boom" : "dot"));
    else if (step.fault) svg.append(drawn("rect", {x: right - 10, y: at - 5, width: 10, height: 10}, "boom"));
}

function drawPatterns(svg) {
    const patterns = drawn("defs", {}), hatch = drawn("pattern", {id: "hatch", width: 5, height: 5, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)"});
    hatch.append(drawn("rect", {width: 5, height: 5}, "hatch-back"), drawn("rect", {width: 2.4, height: 5}, "hatch-line"));
    patterns.append(hatch);
    svg.append(patterns);
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
    const begin = Math.max(0, first), size = Math.max(1, Math.min(height, last) - begin);
    svg.setAttribute("width", right);
    svg.setAttribute("height", size);
    svg.setAttribute("viewBox", `0 ${begin} ${right} ${size}`);
    svg.style.top = begin + "px";
    svg.replaceChildren();
    drawPatterns(svg);
    for (const span of spans) drawSpan(svg, span, begin, last);
    for (const lane of lanes) svg.append(drawn("line", {x1: lane.at, x2: lane.at, y1: begin, y2: last}, "lane"));
    for (const bar of bars) drawBar(svg, bar, begin, last);
    for (const message of messages.found) drawMessage(svg, message, begin, last);
    for (let row = from; row <= to; row++) drawMarks(svg, row);
}

function drawSoon() {
    if (!pending) {
        pending = true;
        requestAnimationFrame(draw);
    }
}

function layOutAgain() {
    layOut();
    bring(picked);
    drawSoon();
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
    for (const title of ["lock", "place", "process", "node", "zxid", "session"]) {
        const cell = element("th", "", title);
        cell.scope = "col";
        titles.append(cell);
    }
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

// What a search has found behind a choice of step k; "" if nothing was searched.
const BEHIND = {breaks: "breaks the promise", always: "each run behind it breaks the promise", never: "no run behind it breaks the promise",
    sometimes: "some runs behind it break the promise, some keep it", undecided: "not decided"};
function behindChoice(k, label) {
    const answers = (run.behind && run.behind.steps[k]) || [], found = answers.find((one) => one[0] === label);
    return found === undefined ? "" : BEHIND[found[1]] + (found[2] > 0 ? " (" + found[2] + " states)" : "");
}

function choiceItem(k, label, taken, note) {
    const item = element("li", taken ? "taken" : "", label + note), behind = behindChoice(k, label);
    if (behind !== "") item.append(element("span", "behind", behind));
    return item;
}

function showChoices(k) {
    const list = byId("choices"), next = steps[k + 1];
    const labels = steps[k].choices.map((index) => run.labels[index]);
    list.replaceChildren();
    if (next !== undefined && next.number > 0 && !labels.includes(next.label)) {
        list.append(choiceItem(k, next.label, true, "  (this run, by the script)"));
    }
    for (const index of steps[k].choices) {
        const label = run.labels[index], taken = next !== undefined && next.label === label;
        list.append(choiceItem(k, label, taken, taken ? "  (this run)" : ""));
    }
    const others = ((run.behind && run.behind.steps[k]) || []).map((one) => one[0]);
    for (const label of others.filter((other) => !labels.includes(other) && !(next && next.label === other))) {
        list.append(choiceItem(k, label, false, "  (a fault of this run, at this step)"));
    }
    if (list.children.length === 0) list.append(element("li", "", "nothing"));
}

function showPanel(k) {
    const step = steps[k], detail = byId("detail");
    byId("chosen").textContent = (step.number ? "step " + step.number + ": " : "") + (step.label || "the beginning");
    detail.replaceChildren();
    if (step.request) detail.append(element("p", "", "request: " + step.request.text));
    if (step.carries === "request" && step.brings && !step.request) detail.append(element("p", "", "request: " + step.brings));
    const answer = step.remark || (step.carries !== "request" ? step.brings : "");
    if (answer) detail.append(element("p", "", (step.carries === "reply" ? "answer: " : "") + answer));
    if (step.note) detail.append(element("p", "", step.note));
    for (const line of eventLines(step)) detail.append(element("p", "", line));
    for (const one of step.violated) {
        detail.append(element("p", "bad", one.property + ": " + plain(one.why)), element("p", "owed", "owed: " + one.promised));
    }
    for (const line of owedLines(step, k)) detail.append(element("p", "owed", line));
    if (head.timed) detail.append(element("p", "", "at " + duration(step.now_ms)));
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
    byId("now").setAttribute("aria-live", on ? "off" : "polite"); // a run that plays is not read out
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
    byId("filter").addEventListener("change", layOutAgain);
    byId("clock").addEventListener("change", layOutAgain);
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
    window.addEventListener("resize", () => byId("scroll").clientWidth === laidOutFor ? drawSoon() : layOutAgain());
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

function clockWords() {
    if (!head.timed) return "without a clock: messages, timers and expiries take any time";
    const latency = head.latency_min_ms === head.latency_max_ms ? duration(head.latency_min_ms) : duration(head.latency_min_ms) + " to " + duration(head.latency_max_ms);
    return "a message takes " + latency + (head.session_timeout_ms === undefined ? "" : ", sessions time out after " + duration(head.session_timeout_ms));
}

function linkTo(k, text) {
    const link = element("a", "", text);
    link.href = "#step=" + k;
    return link;
}

// The first faults, where a reader looks for the cause.
function showFaults() {
    const faults = steps.map((step, k) => k).filter((k) => steps[k].fault), box = element("div", "", "faults: ");
    faults.slice(0, 6).forEach((k, i) => box.append(i > 0 ? ", " : "", linkTo(k, "step " + steps[k].number + ", " + steps[k].label)));
    box.append(faults.length > 6 ? " and " + (faults.length - 6) + " more" : faults.length > 0 ? "" : "none");
    byId("verdict").append(box);
}

// The sentences of `lockstep explain`; each "step N" leads to that step.
function showCause() {
    const box = byId("sentences");
    if (!run.cause) return;
    for (const part of run.cause.split(/(step \d+)/)) {
        const k = /^step \d/.test(part) ? steps.findIndex((step) => step.number === Number(part.slice(5))) : -1;
        box.append(k >= 0 ? linkTo(k, part) : part);
    }
    byId("cause").hidden = false;
    byId("cause").open = true;
}

function showHead() {
    document.title = "lockstep: " + head.scenario;
    byId("title").textContent = head.scenario;
    const journal = head.schedule === "journal"; // of a real run: it has no recipe, no seed and no world
    const of = journal ? "the journal of a real run" : "recipe " + head.recipe + ", " + head.coordinator + ", " + head.schedule +
        (head.schedule === "directed" ? "" : ", seed " + head.seed);
    byId("about").textContent = of + ", " + end.actions + " steps, lockstep " + head.version + (journal ? "" : "; " + clockWords());
    byId("paste").textContent = head.again;
    for (const one of end.violated) {
        const box = element("div", "sentence"), k = steps.findIndex((step) => step.violated.some((other) => other.property === one.property));
        const name = element("b", "", "\u2718 " + one.property);
        box.append(name, ": " + plain(one.why) + " ");
        if (k >= 0) {
            const link = linkTo(k, "show");
            link.setAttribute("aria-label", "show the violation of " + one.property);
            box.append(link);
        }
        box.append(element("span", "promised", "promised: " + one.promised));
        byId("verdict").append(box);
    }
    if (end.violated.length === 0) byId("verdict").append(element("div", "holds", journal ? "\u2714 the journal shows no overlap and no lost update" : "\u2714 no property is violated in this run"));
    showFaults();
    if (end.trouble) byId("verdict").append(element("div", "sentence", end.trouble));
    byId("scenario").textContent = head.text;
    showCause();
}

// Adds a mark and its meaning to the legend.
function explain(width, shapes, text) {
    const box = element("span"), svg = drawn("svg", {width: width, height: 14, "aria-hidden": "true"});
    svg.append(...shapes);
    box.append(svg, text);
    byId("legend").append(box);
}

// The marks that this page has, and what they mean.
function showLegend() {
    const has = (test) => bars.some(test), arrow = (pattern) => messages.found.some((one) => pattern.test(one.kind));
    const over = (group) => has((bar) => bar.group === group && bar.over !== undefined && bar.over !== bar.to);
    const kinds = [["session", "session alive"], ["untold", "session over, its process not told yet", over("session")], ["node", "contender is there"],
        ["ended", "its session is over", over("node")], ["wait", "waits"], ["held", "holds: granted, and its contender is there"],
        ["belief", "believes that it holds"], ["doubt", "no longer sure"]];
    for (const [track, text, there] of kinds) {
        const width = /session|untold/.test(track) ? 3 : 7;
        if (there ?? has((bar) => bar.track === track)) explain(12, [drawn("rect", {x: 2, y: 1, width: width, height: 12}, /untold|ended/.test(track) ? track : "s-" + track)], text);
    }
    for (const [cls, text, pattern] of [["message", "message", /^message/], ["message late", "late, or still under way", /late/], ["message lost", "lost", /^lost$/], ["message watch", "message that wakes", /^watch/]]) {
        if (arrow(pattern)) explain(28, [drawn("line", {x1: 1, x2: 27, y1: 7, y2: 7}, cls)], text);
    }
    if (steps.some((step) => step.fault)) explain(14, [drawn("circle", {cx: 7, cy: 7, r: 5}, "boom")], "fault");
    if (spans.length > 0) explain(14, [drawn("rect", {x: 1, y: 1, width: 12, height: 12}, "span")], "a fault lasts: pause, cut off, outage");
    if (has((bar) => bar.mark === "expired")) explain(14, [drawn("path", {d: "M3 3l8 8m0 -8l-8 8"}, "cross")], "expired");
}

if (window.matchMedia("(prefers-color-scheme: dark)").matches) document.documentElement.classList.add("dark");
for (const [value, text] of FILTERS) {
    const option = element("option", "", text);
    option.value = value;
    byId("filter").append(option);
}
byId("slider").max = steps.length - 1;
byId("clock").checked = false;
byId("marks").open = window.innerWidth >= 700;
showHead();
showLegend();
layOut();
listen();
const link = /^#step=(\d+)$/.exec(location.hash);
pick(link ? Number(link[1]) : bad.length > 0 ? bad[0] : 0);
window.lockstep = {run: run, stateAt: stateAt, picked: () => picked, pick: pick, messages: messages.found, bars: bars, spans: spans, lanes: lanes, y: y, plain: plain};
