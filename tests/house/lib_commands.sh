# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Sourced by commands.sh and slow_clone_commands.sh: the command lines of the pages, and which test runs each.
#
# tests/house/commands.tsv has a row for each: WHO, PAGE, EXIT STATUS and the COMMAND as it stands on the page, in the order of the
# page. WHO is
#   quick     commands.sh runs it
#   full      slow_clone_commands.sh runs it: it needs more than half a minute, a server or an installation
#   LAYER.NAME or .ci/run   the test of that name does, which follows its page to the letter
#   fresh     ./dev fresh does, because it installs packages for the whole system
#   synopsis  nobody: it says what a call looks like
set -euo pipefail
export LC_ALL=C
cd "$LOCKSTEP_SOURCE_DIR"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
rows=$PWD/tests/house/commands.tsv

# commands_of PAGE...: PAGE and command, one a line. A command begins with `$ ` or with a word that only commands begin with, and
# goes on behind a backslash; what stands behind three blanks or ` #` is a comment. In a block of `sh` each line is one.
commands_of()
{
    awk -v words='./dev lockstep cmake cpack (cd cc gcc make git bash valgrind for' '
        BEGIN { count = split(words, list, " "); for (i = 1; i <= count; i++) begins[list[i]] = 1 }
        function tell(text) {
            sub(/^\$ /, "", text); sub(/(   | #).*$/, "", text); gsub(/[ \t]+$/, "", text)
            print FILENAME "\t" text
        }
        FNR == 1 { inside = 0; rest = "" }
        /^```/ { inside = inside ? 0 : $0 == "```sh" ? 2 : $0 == "```" ? 1 : 3; next }
        !inside || inside == 3 { next }
        rest != "" { line = rest $0; sub(/\\[ ]*[ \t]+/, "", line); $0 = line; rest = "" }
        { known = /^\$ / || ($1 in begins) || $1 ~ /^build\// || (inside == 2 && NF > 0 && $1 !~ /^#/) }
        known && /\\$/ { rest = substr($0, 1, length($0) - 1) "\\ "; next }
        known { tell($0) }' "$@"
}

# rows_of WHO: the rows whose first column matches the pattern.
rows_of()
{
    awk -F '\t' -v who="$1" '$1 ~ "^(" who ")$"' "$rows"
}

# run_rows WHO FOLDER: runs the rows in the order of their pages. prepare() makes what a page expects to be there, and
# as_here() says for a command what nobody knows before it runs: the name of a trace, the address of a server.
run_rows()
{
    local who page status command found last='' ran=0
    while IFS=$'\t' read -r -u 3 who page status command; do
        found=0
        (
            cd "$2"
            [[ $page == "$last" ]] || prepare "$page"
            bash -c "$(as_here "$command")"
        ) >"$scratch/output" 2>&1 </dev/null 3<&- || found=$?
        last=$page
        ran=$((ran + 1))
        if [[ $found != "$status" ]]; then
            echo "$page: '$command' ends with $found, not $status:"
            tail -n 20 "$scratch/output"
            failed=1
        fi
    done 3< <(rows_of "$1")
    echo "$ran command lines ran"
    if ((ran != $(rows_of "$1" | wc -l))); then
        echo "that is not all of them"
        failed=1
    fi
}
