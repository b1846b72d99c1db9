// SPDX-License-Identifier: Apache-2.0
// Copyright the lockstep authors

// The run behind the page: states, messages, bars and spans. The element #run holds it as JSON: src/report/page.c
// writes it, docs/cli.md lists its fields.
const run = JSON.parse(document.getElementById("run").textContent);
const steps = run.steps, head = run.head, end = run.end;
const lastStep = steps.length - 1;
for (const step of steps) {
    for (const name of ["events", "text", "violated", "beliefs", "changes", "choices"]) step[name] ??= [];
    for (const name of ["label", "remark"]) step[name] ??= "";
    for (const event of step.events) if (event.path !== undefined) event.path = run.labels[event.path];
}

// ---- texts ----

// Cuts words of a text that are longer than `most` in their middle.
function short(text, most) {
    const half = (most - 1) >> 1;
    return text.replace(/\S+/g, (word) => word.length > most ? word.slice(0, half) + "\u2026" + word.slice(-half) : word);
}

// Sessions and tokens have one form on the page: decimal numbers, as in the lines of the events.
function plain(text) {
    return text.replace(/\b0x([0-9a-f]+)\b/g, (number) => BigInt(number).toString());
}

function duration(ms) {
    return ms < 1000 ? ms + " ms" : Number((ms / 1000).toFixed(3)) + " s";
}

// Splits a text into lines of `columns` characters at most: between words, or else within a name or a path.
function wrap(text, columns) {
    const lines = [];
    while (text.length > columns) {
        const blank = text.lastIndexOf(" ", columns), part = Math.max(...["/", "_", "-"].map((sign) => text.lastIndexOf(sign, columns - 1))) + 1;
        const at = blank > columns / 3 ? blank : part > columns / 2 ? part : columns;
        lines.push(text.slice(0, at));
        text = "  " + text.slice(at).trimStart();
    }
    lines.push(text);
    return lines;
}

// ---- states ----

// The state behind step k: lines of text. A step has its changes only, as [index, index of the line in run.labels]; `size` is
// the number of lines.
const KEPT = 64;
const keptStates = new Map();

function stateAt(k) {
    let from = k - (k % KEPT);
    while (from > 0 && !keptStates.has(from)) from -= KEPT;
    let lines = from > 0 ? keptStates.get(from).slice() : [];
    for (let i = from > 0 ? from + 1 : 0; i <= k; i++) {
        for (const [at, line] of steps[i].changes) lines[at] = run.labels[line];
        lines.length = steps[i].size;
        if (i > 0 && i % KEPT === 0) keptStates.set(i, lines.slice());
    }
    return lines;
}

// ---- messages ----

const listOf = (table, key) => table[key] || (table[key] = []);

// The request that an event tells: its verb and its node, or all its words.
function requestText(event) {
    const path = event.path || "";
    return event.request === "other" && path !== "" && path[0] !== "/" ? path : event.request + (path ? " " + path : "");
}

// Follows the messages of a run, step by step. A request is
// {process, verb, text, step, at: where a server has done it, connection, lost: its broken arrow}.
class Messages {
    constructor() {
        this.found = []; // arrows: {from: {lane, step}, to: {lane, step}, kind, text}
        this.open = {}; // by process: requests without an answer, in their order
        this.limbo = {}; // by process: requests whose loss was told before a server has done them
        this.connects = {}; // by process and connection: connects without an answer
        this.servers = {}; // by process: the server of its last connect
        this.sent = {}; // by process: notices under way
    }
    add(from, to, kind, text) {
        const arrow = {from: from, to: to, kind: kind, text: text};
        this.found.push(arrow);
        return arrow;
    }
    server(step) {
        return step.server || this.servers[step.process] || "s1";
    }
    connect(step, k) {
        const here = {lane: this.server(step), step: k};
        this.servers[step.process] = here.lane;
        this.connects[step.process + "/" + step.connection] = this.connects[step.process] = here;
        this.add({lane: step.process, step: k}, here, "message", step.label);
    }
    // A server does a request: one with these words, or with this verb, or the oldest.
    request(step, k) {
        const late = step.kind !== "apply", words = step.label.split(" "), verb = words[words.length - 1].split("/")[0];
        const waiting = listOf(this.open, step.process).filter((one) => !one.at && (late || !one.broken));
        const list = late ? listOf(this.limbo, step.process).concat(waiting) : waiting;
        const request = list.find((one) => one.text === step.brings) || list.find((one) => one.verb === verb) || list[0];
        if (request === undefined) return;
        request.at = {lane: this.server(step), step: k};
        request.connection = step.connection;
        step.request = request;
        if (request.lost) request.lost.kind = "none";
        this.add({lane: step.process, step: request.step}, request.at, late ? "message late" : "message",
                 step.process + " to " + request.at.lane + ": " + request.text + (late ? " (late)" : ""));
    }
    // "1 request is still done": the first requests under way reach the server. No request under way gets an answer.
    cut(step, k) {
        const done = /apply=(\d+)/.exec(step.label), link = /link=(\d+)/.exec(step.label), connection = link ? Number(link[1]) - 1 : undefined;
        const broken = listOf(this.open, step.process).filter((one) => !one.at || one.connection === connection);
        broken.filter((one) => !one.at).slice(0, done ? Number(done[1]) : 0).forEach((request) => {
            request.at = {lane: this.server(step), step: k};
            this.add({lane: step.process, step: request.step}, request.at, "message late", request.text + ": still done");
        });
        for (const one of broken) one.broken = true;
    }
    // The request that a reply answers: the first that fits, by its verb and its connection. A lost one was on a link that broke.
    answered(step) {
        const words = step.label.split(" "), verb = /^(.*)-reply/.exec(words[words.length - 1]), list = listOf(this.open, step.process);
        const fits = (one) => !verb || one.verb === verb[1], done = (one) => fits(one) && one.at && one.connection === step.connection;
        const tests = step.lost ? [(one) => fits(one) && one.broken, (one) => done(one) || (fits(one) && !one.at)]
            : [(one) => done(one) && !one.broken, (one) => fits(one) && !one.at, done];
        const index = tests.map((test) => list.findIndex(test)).find((at) => at >= 0);
        return list.splice(index ?? 0, 1)[0];
    }
    reply(step, k) {
        const here = {lane: step.process, step: k}, request = this.answered(step), answer = step.remark || step.brings || "";
        if (request === undefined) return;
        step.request = request;
        if (!request.at && step.lost) {
            const to = {lane: this.server(step), step: k};
            request.lost = this.add({lane: here.lane, step: request.step}, to, "lost", request.text + ": never done by a server. " + answer);
            listOf(this.limbo, step.process).push(request);
            return;
        }
        if (!request.at) {
            // The server has answered in the step of a fault: it has refused the request.
            const since = (step) => step.fault && step.process === here.lane;
            const fault = steps.findLastIndex((step, i) => i > request.step && i < k && since(step));
            request.at = {lane: this.server(step), step: fault >= 0 ? fault : k};
            this.add({lane: here.lane, step: request.step}, request.at, "message", request.text);
        }
        if (step.lost) {
            this.add(request.at, here, "lost", request.text + ": done, and the answer was lost. " + answer);
        } else {
            this.add(request.at, here, "message", request.at.lane + " answers " + step.process + ": " + request.text + (answer ? ": " + answer : ""));
        }
    }
    link(step, k) {
        const key = step.process + "/" + step.connection, since = this.connects[key] || this.connects[step.process];
        const is = (kind) => step.events.some((event) => event.kind === kind);
        if (since && !is("link-down")) this.add(since, {lane: step.process, step: k}, "message", step.label);
        delete this.connects[key];
        delete this.connects[step.process];
    }
    notice(step, k) {
        const from = listOf(this.sent, step.process).shift();
        if (from) this.add(from, {lane: step.process, step: k}, "watch", step.label + (step.brings ? ": " + step.brings : ""));
    }
    // Notices that are sent in step k: the step names the process of each one that is under way behind it.
    send(step, k) {
        const from = {lane: step.server || "s1", step: k};
        for (const process of head.processes) {
            const count = (step.notices || []).filter((name) => name === process).length, list = listOf(this.sent, process);
            while (list.length < count) list.push(from);
            this.drop(process, count, k);
        }
    }
    drop(process, kept, k) {
        for (const from of listOf(this.sent, process).splice(kept)) {
            this.add(from, {lane: process, step: k}, "lost", "a message to " + process + " that never arrives");
        }
    }
    step(step, k) {
        if (step.kind === "connect" || step.kind === "handshake") this.connect(step, k);
        else if (step.kind === "cut") this.cut(step, k);
        else if (step.carries === "request") this.request(step, k);
        else if (step.carries === "reply") this.reply(step, k);
        else if (step.carries === "link") this.link(step, k);
        else if (step.carries === "notice") this.notice(step, k);
        for (const event of step.events) {
            if (event.kind === "request") {
                const text = requestText(event), verb = event.request === "other" ? text.split(" ")[0] : event.request;
                listOf(this.open, event.process).push({process: event.process, verb: verb === "children" ? "list" : verb, text: text, step: k});
            } else if (event.kind === "crashed") {
                delete this.open[event.process];
            }
        }
        this.send(step, k);
    }
    // What is still under way behind the last step.
    finish() {
        const openTo = (from, lane, kind, text) => this.add(from, {lane: lane, step: lastStep}, kind + " late open", text);
        for (const process in this.open) {
            for (const one of this.open[process]) {
                if (one.at) openTo(one.at, process, "message", one.text + ": the answer is still under way");
                else openTo({lane: process, step: one.step}, this.servers[process] || "s1", "message", one.text + ": still under way");
            }
        }
        for (const process in this.sent) {
            for (const from of this.sent[process]) openTo(from, process, "watch", "a wake-up for " + process + ": still under way");
        }
    }
    // Returns whether a message from or to the process is under way behind the last step.
    underWay(process) {
        return listOf(this.open, process).length > 0 || listOf(this.sent, process).length > 0;
    }
}

function followMessages() {
    const messages = new Messages();
    steps.forEach((step, k) => messages.step(step, k));
    messages.finish();
    return messages;
}

// ---- bars ----

// Bars on the lane of a process: {process, track, owner, place, from, to, text}; `to` is undefined while it lasts.
// Tracks: session, node, and for each owner wait, held, belief. `over` is the step at which the session of a node or of a
// session's bar has ended, `mark` says how.
class Bars {
    constructor() {
        this.list = [];
        this.open = new Map();
        this.nodes = new Map(); // by czxid: process and lock. A hold lasts as long as its process has a node there.
    }
    begin(key, process, track, owner, k, text) {
        this.finish(key, k);
        const group = track === "doubt" ? "belief" : track;
        const beside = [...this.open.values()].filter((bar) => bar.process === process && bar.group === group && bar.owner === owner);
        const places = new Set(beside.map((bar) => bar.place));
        let place = 0;
        while (places.has(place)) place++;
        const bar = {process: process, track: track, group: group, owner: owner, place: place, from: k, to: undefined, text: text};
        this.open.set(key, bar);
        this.list.push(bar);
        return bar;
    }
    finish(key, k) {
        if (this.open.has(key)) this.open.get(key).to = k;
        this.open.delete(key);
    }
    finishAll(start, k) {
        for (const key of [...this.open.keys()]) if (key.startsWith(start)) this.finish(key, k);
    }
    // A lease of its own has ended.
    expires(bar, k) {
        bar.over = k;
        bar.mark = "expired";
        bar.text += ", expired at step " + (steps[k].number || k);
    }
    // The session is over for the servers; its nodes stand until they go, and its process learns of it later.
    sessionEnds(event, k, expires) {
        const bar = this.open.get("session " + event.session);
        if (!bar || bar.over !== undefined) return;
        bar.over = k;
        bar.mark = event.time_is_up || expires ? "expired" : "closed";
        bar.text += ", " + bar.mark + " at step " + (steps[k].number || k);
        for (const node of this.open.values()) {
            if (node.track === "node" && node.session === event.session) node.over = k;
        }
    }
    event(event, k, expires) {
        const at = [event.process, event.lock], claim = JSON.stringify([...at, event.owner]), place = JSON.stringify(at);
        switch (event.kind) {
        case "session-opened": this.begin("session " + event.session, event.process, "session", 0, k, "session " + event.session); break;
        case "session-closing": case "session-closed": this.sessionEnds(event, k, expires); break;
        case "expired": this.finish("session " + event.session, k); break;
        case "node-created":
            if (event.node_role === 1 && event.process) {
                this.nodes.set(event.czxid, place);
                const bar = this.begin("node " + event.czxid, event.process, "node", 0, k, event.path + " (" + event.czxid + ")");
                bar.session = event.session;
            }
            break;
        case "node-deleted":
            if (expires && this.open.has("node " + event.czxid)) this.expires(this.open.get("node " + event.czxid), k);
            this.finish("node " + event.czxid, k);
            this.nodes.delete(event.czxid);
            if (![...this.nodes.values()].includes(place)) this.finishAll("held " + place.slice(0, -1), k);
            break;
        case "asked": this.begin("wait " + claim, event.process, "wait", event.owner, k, "waits for " + event.lock); break;
        case "granted":
            this.finish("wait " + claim, k);
            if ([...this.nodes.values()].includes(place)) {
                this.begin("held " + claim, event.process, "held", event.owner, k, "holds " + event.lock + ", token " + event.token);
            }
            break;
        case "failed": this.finish("wait " + claim, k); break;
        case "released": if (event.depth === 0) this.finish("held " + claim, k); break;
        case "hold-lost": this.finish("held " + claim, k); break;
        case "crashed": case "stopped":
            for (const track of ["wait ", "held "]) this.finishAll(track + JSON.stringify([event.process]).slice(0, -1), k);
            for (const [key, bar] of [...this.open]) {
                if (bar.track === "session" && bar.process === event.process && bar.over !== undefined) this.finish(key, k);
            }
            break;
        }
    }
    beliefs(beliefs, k) {
        const now = new Set();
        for (const belief of beliefs) {
            const key = "belief " + JSON.stringify([belief.process, belief.lock, belief.owner]) + belief.belief;
            now.add(key);
            if (!this.open.has(key)) {
                const sure = belief.belief === "held";
                this.begin(key, belief.process, sure ? "belief" : "doubt", belief.owner, k,
                           sure ? "believes that it holds " + belief.lock : "no longer sure whether it holds " + belief.lock);
            }
        }
        for (const key of [...this.open.keys()]) if (key.startsWith("belief ") && !now.has(key)) this.finish(key, k);
    }
}

function findBars() {
    const bars = new Bars();
    steps.forEach((step, k) => {
        for (const event of step.events) bars.event(event, k, step.kind === "expire");
        bars.beliefs(step.beliefs, k);
    });
    for (const bar of bars.list) bar.text += bar.owner > 0 ? ", owner " + bar.owner : "";
    return bars.list;
}

// ---- faults that last ----

// Spans {process, server, from, to, text}: from the step behind which the end of a fault is possible until it is not.
function findSpans() {
    const spans = [], open = new Map();
    steps.forEach((step, k) => {
        const now = new Set();
        for (const one of step.lasting || []) {
            now.add(one.end);
            if (open.has(one.end)) continue;
            const span = {process: one.process, server: one.server, from: k, to: undefined, text: (step.label || "fault") + ", until " + one.end};
            open.set(one.end, span);
            spans.push(span);
        }
        for (const [key, span] of [...open]) {
            if (!now.has(key)) {
                span.to = k;
                open.delete(key);
            }
        }
    });
    return spans;
}

// ---- the line of contenders ----

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
