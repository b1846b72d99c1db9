# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

"""What contender.c does, with kazoo's lock.

kazoo names its nodes in a way that others do not take for contenders: <uuid>__lock__<number>. With "-lock-" in its place,
and as a pattern for the nodes of others, it excludes Curator's locks and ours, and they exclude it.
"""
import os
import sys
import time

from kazoo.client import KazooClient
from kazoo.recipe.lock import Lock

SESSION_S = 2.0


class SharedLock(Lock):
    _NODE_NAME = "-lock-"
    _EXCLUDE_NAMES = ["-lock-"]


def add_line(path, line):
    with open(path, "a") as file:
        file.write(line + "\n")


def is_alive(pid):
    """Alive, and no zombie."""
    try:
        with open("/proc/%s/stat" % pid) as file:
            return not file.read().rpartition(")")[2].startswith(" Z")
    except OSError:
        return False


def prepare_entry(room):
    """Makes the file with this process id that is linked to "busy": a reader of "busy" finds it whole."""
    entry = os.path.join(room, "entry-%d" % os.getpid())
    try:
        with open(entry, "x") as file:
            file.write(str(os.getpid()))
    except FileExistsError:
        pass
    return entry


def look_who_is_inside(room, name):
    """A contender that was killed inside has left the file. Linking set the file's ctime: since then it is inside."""
    with open(os.path.join(room, "busy")) as file:
        since = os.fstat(file.fileno()).st_ctime
        inside = file.read()
    if is_alive(inside):
        age_ms = (time.time() - since) * 1000
        add_line(os.path.join(room, "overlaps"), "%s met %s, inside for %d ms" % (name, inside, age_ms))


def enter_room(room, name, token):
    """The room is a file that is there while a contender is inside, with its process id."""
    busy = os.path.join(room, "busy")
    entry = prepare_entry(room)
    try:
        os.link(entry, busy)
    except FileExistsError:
        look_who_is_inside(room, name)
        os.link(entry, entry + "-next")
        os.rename(entry + "-next", busy)
    add_line(os.path.join(room, "log"), "%s %d" % (name, token))


def contend(client, path, room, name, seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        lock = SharedLock(client, path)
        with lock:
            enter_room(room, name, client.exists(path + "/" + lock.node).czxid)
            time.sleep(0.002)
            os.unlink(os.path.join(room, "busy"))


def main():
    if len(sys.argv) != 7 or sys.argv[3] != "contend":
        sys.exit("usage: kazoo_contender.py HOSTS PATH contend ROOM NAME SECONDS")
    hosts, path, _, room, name, seconds = sys.argv[1:]
    client = KazooClient(hosts=hosts, timeout=SESSION_S)
    client.start()
    contend(client, path, room, name, float(seconds))
    client.stop()


if __name__ == "__main__":
    main()
