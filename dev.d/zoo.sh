# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The bug zoo: which situation of the standard suite, and which property, catches which recipe with a published bug.

ZOO_PAGE=reports/kill-matrix.md

help_zoo()
{
    cat <<'TEXT'
usage: ./dev zoo [--rewrite | --check] [CANARY...]

Runs the standard suite with each recipe of tests/canary, as it is and mended (-DFIXED), and prints what catches what: by
property, by situation, and by canary. With --rewrite it also writes reports/kill-matrix.md, with --check it compares the
page with what it finds. CANARY is the beginning of a name; then nothing is written or compared.

examples:
  ./dev zoo
  ./dev zoo z02 c09
  ./dev zoo --rewrite
  ./dev zoo --check
TEXT
}

# Searches end earlier than those of the suite, so that all recipes are done in minutes; random schedules follow all the same.
ZOO_STATES=${ZOO_STATES:-100000}
# Of the small worlds behind the suite, in states: only mended recipes come to them, since the suite ends where a situation fails.
ZOO_BUDGET=${ZOO_BUDGET:-300000}

# What awk can ask of the line that a record of `check --json` is: the text or the number behind a key, and the names of the
# violated properties, each behind a blank.
RECORD_AWK='
function after(key) { return substr($0, index($0, "\"" key "\":") + length(key) + 3) }
function value(key,   rest) { rest = substr(after(key), 2); sub(/".*/, "", rest); return rest }
function number(key,   rest) { rest = after(key); sub(/[^0-9].*/, "", rest); return rest }
function violated(   rest, count, pair, i, names) {
    rest = substr(after("properties"), 2); sub(/}.*/, "", rest)
    count = split(rest, pair, ",")
    for (i = 1; i <= count; i++)
        if (pair[i] ~ /"violated"/) { gsub(/"|:.*/, "", pair[i]); names = names " " pair[i] }
    return names
}
'

# zoo_run LOCKSTEP RECIPE OUT: a line for each failed situation, its name and the violated properties; then `passed N`.
zoo_run()
{
    local status=0
    "$1" check --suite --max-states $ZOO_STATES --budget $ZOO_BUDGET --no-shrink --json --recipe "$2" --out "$3" >"$3.json" 2>"$3.err" || status=$?
    if ((status > 1)) || ! grep -q ' passed, ' "$3.err"; then
        echo "error $(tail -n 1 "$3.err")"
        return
    fi
    awk "$RECORD_AWK"'
        { name = value("scenario"); sub(name ~ /suite\// ? ".*suite/" : ".*/", "", name); sub(/\.scn$/, "", name); verdict = value("verdict") }
        verdict == "violated" { print name violated() }
        verdict == "differs" || verdict == "error" { print name, verdict }' "$3.json"
    sed -n 's/^\([0-9]*\) passed.*/passed \1/p' "$3.err"
}

# Of the small worlds alone, in states.
ZOO_WORLDS=${ZOO_WORLDS:-10000000}

# zoo_worlds LOCKSTEP RECIPE OUT: the small world that catches it, how many worlds and states the search has gone through until
# then, and the violated properties; `none`, and the two numbers, if none does.
zoo_worlds()
{
    local status=0
    "$1" check --suite --filter 'worlds/*' --budget $ZOO_WORLDS --no-shrink --json --recipe "$2" --out "$3" >"$3.json" 2>"$3.err" || status=$?
    if ((status > 1)); then
        echo "error $(tail -n 1 "$3.err")"
        return
    fi
    awk "$RECORD_AWK"'
        /^{"scenario"/ && found == "" { found = value("scenario"); sub(/^worlds\//, "", found); properties = violated() }
        /^{"worlds"/ { print (found == "" ? "none" : found), number("worlds"), number("states") properties }' "$3.json"
}

# zoo_collect LOCKSTEP RECIPES SCRATCH [NAME...]: runs all, and puts `canary situation property...` lines into SCRATCH/caught,
# `canary world worlds states property...` into SCRATCH/worlds, and what is wrong with mended ones into SCRATCH/wrong.
zoo_collect()
{
    local lockstep=$1 folder=$2 scratch=$3 recipe name line
    shift 3
    : >"$scratch/caught"
    : >"$scratch/worlds"
    : >"$scratch/wrong"
    for recipe in "$folder"/*.so; do
        name=$(basename "$recipe" .so)
        zoo_wanted "${name%-fixed}" "$@" || continue
        while read -r line; do
            if [[ $line == error* ]]; then
                echo "$name: $line" >>"$scratch/wrong"
            elif [[ $line == passed* ]]; then
                echo "$name $line" >>"$scratch/passed"
            elif [[ $name == *-fixed ]]; then
                echo "$name fails $line" >>"$scratch/wrong"
            else
                echo "$name $line" >>"$scratch/caught"
            fi
        done < <(zoo_run "$lockstep" "$recipe" "$scratch/$name")
        if [[ $name != *-fixed ]]; then
            line=$(zoo_worlds "$lockstep" "$recipe" "$scratch/$name")
            [[ $line != error* ]] || echo "$name in small worlds: $line" >>"$scratch/wrong"
            [[ -z $line ]] || echo "$name $line" >>"$scratch/worlds" # small worlds have mutexes
        fi
        rm -rf "${scratch:?}/$name"
        grep -q "^$name " "$scratch/caught" || [[ $name == *-fixed ]] || echo "$name is not caught" >>"$scratch/wrong"
    done
}

# zoo_names RECIPES: of all canaries.
zoo_names()
{
    local recipe
    for recipe in "$1"/*.so; do
        [[ $recipe == *-fixed.so ]] || basename "$recipe" .so
    done
}

zoo_wanted()
{
    local name=$1 start
    shift
    (($# > 0)) || return 0
    for start in "$@"; do
        [[ $name != "$start"* ]] || return 0
    done
    return 1
}

# zoo_page SCRATCH: the page, from what was collected.
zoo_page()
{
    cat <<'TEXT'
<!-- Written by `./dev zoo --rewrite`. -->
# What catches what

Each recipe in [tests/canary](../tests/canary) is a bug that a published lock recipe has had; its file tells the story. The
standard suite is run with each of them (`lockstep check --suite`, with searches of at most 100,000 states). Each mended recipe
(`-DFIXED`) passes the whole suite, and then small worlds of 300,000 states. `m01` to `m08` are no published bugs. They are errors of
memory, one of each kind, in a recipe that otherwise makes none ([memory.c](../tests/canary/memory/memory.c)).
`./dev zoo --check` compares this page; `./dev test --full` compares it for a draw of canaries.

## By property

Canaries that the property catches in some situation, and those that it alone catches.

| property | catches | alone |
|---|---|---|
TEXT
    awk '{ for (i = 3; i <= NF; i++) { if (!(($1, $i) in seen)) { seen[$1, $i] = 1; list[$i] = list[$i] " " $1; kinds[$1]++; last[$1] = $i } } }
        END { for (p in list) { n = split(list[p], c, " "); text = ""; alone = ""
            for (i = 1; i <= n; i++) { short = c[i]; sub(/_.*/, "", short); text = text (i > 1 ? ", " : "") short
                if (kinds[c[i]] == 1) alone = alone (alone == "" ? "" : ", ") short }
            printf "| %s | %s | %s |\n", p, text, alone } }' "$1/caught" | sort
    cat <<'TEXT'

Properties that are not here, or catch nothing alone, each have a recipe of src/broken that they catch (`lockstep list recipes`):
`no_stale_effect` judges tokens and writes, and none of these recipes fails by them alone. `contract_is_kept` is about memory,
crashes and the like. A wait in vain is seen at rest by `no_lost_wakeup`. In circles that never come to rest it is seen by
`can_always_be_served`, `served_under_weak_fairness` and `bounded_work`. An orphan (`no_orphan_node`) sooner or later stands before
another contender.
TEXT
    printf '\n## By situation\n\nSituations of scenarios/suite in which some canary is caught.\n\n| situation | catches |\n|---|---|\n'
    awk '{ short = $1; sub(/_.*/, "", short); list[$2] = list[$2] (list[$2] == "" ? "" : ", ") short }
        END { for (s in list) printf "| %s | %s |\n", s, list[s] }' "$1/caught" | sort
    printf '\n## By canary\n\n| canary | situations | properties |\n|---|---|---|\n'
    awk '{ count[$1]++; for (i = 3; i <= NF; i++) if (!(($1, $i) in seen)) { seen[$1, $i] = 1; list[$1] = list[$1] (list[$1] == "" ? "" : ", ") $i } }
        END { for (c in count) printf "| %s | %d | %s |\n", c, count[c], list[c] }' "$1/caught" | sort
    printf '\n## By small world\n\n'
    cat <<TEXT
The small worlds alone (\`--filter 'worlds/*'\`), up to $ZOO_WORLDS states: the first that catches the canary, and how many worlds and
states the search goes through until then. A million states take two to five seconds.
Small worlds have mutexes, so canaries of other locks are not here.
TEXT
    printf '\n| canary | world | worlds | states | properties |\n|---|---|---|---|---|\n'
    awk '{ text = ""; for (i = 5; i <= NF; i++) text = text (i > 5 ? ", " : "") $i
        printf "| %s | %s | %d | %d | %s |\n", $1, $2, $3, $4, text }' "$1/worlds" | sort
}

cmd_zoo()
{
    local action='' scratch
    if [[ ${1:-} == --rewrite || ${1:-} == --check ]]; then
        action=$1
        shift
    fi
    source dev.d/setup.sh
    source dev.d/build.sh
    setup_groups run test
    step "build release" build_preset release ON lockstep canaries || exit 1
    scratch=$(mktemp -d)
    zoo_collect build/release/lockstep build/release/canary "$scratch" "$@"
    zoo_page "$scratch" | sed -n '/^## By property/,$p'
    if [[ $action == --rewrite && $# == 0 && ! -s $scratch/wrong ]]; then
        zoo_page "$scratch" >"$ZOO_PAGE"
    elif [[ $action == --check && $# == 0 ]]; then
        zoo_page "$scratch" | diff "$ZOO_PAGE" - >>"$scratch/wrong" || true
    fi
    cat "$scratch/wrong"
    [[ ! -s $scratch/wrong ]] || exit 1
    rm -rf "$scratch"
}
