# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

"""A copy of the project in build/, in which mistakes are planted: for mutants.py and promises.py."""
import os
import shutil
import subprocess


def is_same(name, target):
    if not os.path.exists(target):
        return False
    with open(name, "rb") as one, open(target, "rb") as other:
        return one.read() == other.read()


def source_files():
    """What git knows, and what it does not ignore."""
    listed = subprocess.check_output(["git", "ls-files", "-co", "--exclude-standard", "-z"], text=True).split("\0")
    return [name for name in listed if name and os.path.exists(name)]


def remove_others(folder, names):
    """Removes what the sources do not have any more, which a build would still find. What lies in build/ stays."""
    for path, folders, files in os.walk(folder):
        if path == folder and "build" in folders:
            folders.remove("build")
        for file in files:
            full = os.path.join(path, file)
            if os.path.relpath(full, folder) not in names:
                os.remove(full)


def copy_tree(folder):
    """Copies the sources into the folder. Files that are the same keep their time."""
    files = source_files()
    remove_others(folder, set(files))
    for name in files:
        target = os.path.join(folder, name)
        os.makedirs(os.path.dirname(target), exist_ok=True)
        if not is_same(name, target):
            shutil.copy(name, target)


def configure(folder, build, *options):
    """Optimises little, so that one changed file is compiled and linked in a second or two."""
    subprocess.check_call(["cmake", "-G", "Ninja", "-S", folder, "-B", build, "-DCMAKE_BUILD_TYPE=Release",
                           "-DCMAKE_C_FLAGS_RELEASE=-O1", "--log-level=WARNING", *options], stdout=subprocess.DEVNULL)


def stop_children(child):
    """Kills the child, which leads a session of its own, and whatever it has started."""
    try:
        os.killpg(child.pid, 9)
    except ProcessLookupError:
        pass
    child.wait()
