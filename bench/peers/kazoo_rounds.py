# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

"""kazoo's side of `./dev bench lock`: its Lock, by the protocol of bench/lock/rounds.h.

Each contender has a process of its own, because Python's threads keep each other from running. It keeps one Lock: a new
one for each acquire would send as many requests, and is slower (docs/performance.md)."""

import logging
import multiprocessing
import signal
import sys
import time

from kazoo.client import KazooClient


def contend(hosts, pipe):
    """One contender: its session, and rounds as the pipe asks for them."""
    client = KazooClient(hosts=hosts, timeout=30)
    client.start(timeout=20)
    lock = client.Lock("/bench/kazoo", "contender")
    lock.acquire()
    lock.release()
    pipe.send(None)
    for start_ns, length_ns in iter(pipe.recv, None):
        pipe.send(one_round(lock, start_ns, length_ns))
    client.stop()
    client.close()


def one_round(lock, start_ns, length_ns):
    """Returns what was held, and when the last was given back. All processes start at start_ns."""
    clock = time.monotonic_ns
    holds = []
    time.sleep(max(0, start_ns - clock()) / 1e9)
    end_ns = start_ns + length_ns
    ended_ns = start_ns
    while ended_ns < end_ns:
        lock.acquire()
        granted_ns = clock()
        released_ns = clock()
        lock.release()
        holds.append((granted_ns, released_ns))
        ended_ns = clock()
    return holds, ended_ns


def run(pipes, length_ms, path):
    """One round of the contenders behind the pipes."""
    start_ns = time.monotonic_ns() + 20_000_000
    for pipe in pipes:
        pipe.send((start_ns, length_ms * 1_000_000))
    results = [pipe.recv() for pipe in pipes]
    with open(path, "w", encoding="ascii") as file:
        for holds, _ in results:
            file.writelines(f"{granted_ns} {released_ns}\n" for granted_ns, released_ns in holds)
    locks = sum(len(holds) for holds, _ in results)
    print(locks, max(ended_ns for _, ended_ns in results) - start_ns, flush=True)


def main():
    """Serves standard input until its end."""
    if len(sys.argv) != 3:
        sys.exit("usage: kazoo_rounds.py HOST:PORT CONTENDERS")
    logging.disable(logging.CRITICAL)
    pipes = []
    for _ in range(int(sys.argv[2])):
        ours, theirs = multiprocessing.Pipe()
        multiprocessing.Process(target=contend, args=(sys.argv[1], theirs), daemon=True).start()
        pipes.append(ours)
    # Who is told to end takes the processes along, as at a regular end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    for pipe in pipes:
        pipe.recv()
    print("ready", flush=True)
    for line in sys.stdin:
        if line == "quit\n":
            break
        count, length_ms, path = line.split()
        run(pipes[: int(count)], int(length_ms), path)
    for pipe in pipes:
        pipe.send(None)
    for child in multiprocessing.active_children():
        child.join(10)


main()
