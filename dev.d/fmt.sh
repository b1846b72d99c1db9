# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

help_fmt()
{
    cat <<'TEXT'
usage: ./dev fmt [FILE...]

Formats the C sources in place with clang-format, by .clang-format.

examples:
  ./dev fmt                      everything
  ./dev fmt src/lock/mutex.c     one file
TEXT
}

cmd_fmt()
{
    source dev.d/setup.sh
    setup_groups full
    if (($# == 0)); then
        mapfile -t files < <(c_files)
        set -- "${files[@]}"
    fi
    clang-format -i "$@"
}
