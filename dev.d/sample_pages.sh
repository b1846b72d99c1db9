# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The sample pages of reports/pages, with the traces of their runs.

# Name, program, and the command that finds the run.
SAMPLE_PAGES='lost_create lockstep run --recipe broken-no-protection scenarios/mutex/create_reply_lost.scn
herd lockstep check --recipe broken-herd scenarios/explore/mutex_3.scn
lease_not_renewed lockstep-redis check --recipe naive_setnx tests/coordredis/scenarios/no_fault.scn'

# sample_page PROGRAMS ROOT NAME PROGRAM COMMAND...: finds the run, and writes its trace and its page below ROOT/reports/pages. The
# page has no path of the machine: the program is called by its name alone, and the trace by its path in the repository.
sample_page()
{
    local programs root=$2 name=$3 program=$4 found status=0
    programs=$(realpath "$1")
    found=$(mktemp -d)
    PATH=$programs:$PATH "$program" "$5" --out "$found" "${@:6}" >"$found/said" || status=$?
    if ((status != 1)); then
        cat "$found/said"
        rm -rf "$found"
        return 1
    fi
    mkdir -p "$root/reports/pages"
    cp "$found"/*.min.trace "$root/reports/pages/$name.trace"
    rm -rf "$found"
    (cd "$root" && PATH=$programs:$PATH "$program" report --explain -o "reports/pages/$name.html" "reports/pages/$name.trace")
}

# sample_pages PROGRAMS ROOT: all of them. Pages of a program that is not built are left out.
sample_pages()
{
    local words
    while read -ra words; do
        [[ ! -x $1/${words[1]} ]] || sample_page "$1" "$2" "${words[@]}" >/dev/null || return
    done <<<"$SAMPLE_PAGES"
}

# sample_picture PAGE FILE.png: a picture of the page as Chromium opens it. Its bytes depend on the fonts of the machine.
sample_picture()
{
    chromium --headless=new --no-sandbox --disable-gpu --hide-scrollbars --disable-lcd-text --force-device-scale-factor=1 --window-size=880,860 \
        --virtual-time-budget=2000 --screenshot="$2" "file://$1" >/dev/null 2>&1
}
