# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The exam: recipes with mistakes that were made from the public headers alone, by authors who did not know what the properties
# see. Which of them does the suite find, and under the right name?
#
# Each tests/exam/NAME.c says in a line `/* breaks: PROPERTY */` which promise its mistake breaks; compiled with -DFIXED it is
# correct. NAME.scn is a directed scenario in which the mistake can be seen.

EXAM_PAGE=reports/exam.md
EXAM_FIRST=tests/exam/first.tsv

help_exam()
{
    cat <<'TEXT'
usage: ./dev exam [--rewrite] [NAME...]

Runs the standard suite with each recipe of tests/exam and prints a line for each: found (the first situation that fails names the
property that the mistake breaks), wrong name (it fails, and names others), or missed. A scenario beside each recipe shows its
mistake; with -DFIXED the recipe passes that scenario, and the suite. Recipes that are equal when mended go through the suite
once. With --rewrite it also writes reports/exam.md. NAME is the beginning of a name; then nothing is written.

exit status: 0 unless a recipe that is mended fails, or a scenario does not show its mistake

examples:
  ./dev exam
  ./dev exam levels_outlive
  ./dev exam --rewrite
TEXT
}

# exam_violated: reads records of `check --json` up to the first situation that fails; its name and the violated properties, in one
# line; nothing if none fails.
exam_violated()
{
    awk "$RECORD_AWK"'
        value("verdict") == "violated" {
            name = value("scenario"); sub(/^worlds\//, "", name)
            if (name !~ /^random-/) sub(/.*\//, "", name)
            sub(/\.scn$/, "", name)
            print name violated(); exit }'
}

# exam_answer WANTED VIOLATED...: found, wrong-name or missed.
exam_answer()
{
    local wanted=$1 name
    shift
    (($# > 0)) || { echo missed; return; }
    for name in "$@"; do
        [[ $name != "$wanted" ]] || { echo found; return; }
    done
    echo wrong-name
}

# exam_one LOCKSTEP FOLDER SCRATCH SOURCE: one line `NAME WANTED ANSWER SITUATION VIOLATED...`; what is not as it should be goes to SCRATCH/wrong.
exam_one()
{
    local lockstep=$1 folder=$2 scratch=$3 source=$4 name wanted first situation
    name=$(basename "$source" .c)
    wanted=$(sed -n 's|^/\* breaks: \([a-z_]*\) \*/$|\1|p' "$source")
    "$lockstep" run --quiet --recipe "$folder/$name-fixed.so" --out "$scratch/out" "${source%.c}.scn" &>"$scratch/log" ||
        echo "$name: mended, it does not pass its scenario" >>"$scratch/wrong"
    if "$lockstep" run --quiet --no-shrink --recipe "$folder/$name.so" --out "$scratch/out" "${source%.c}.scn" &>"$scratch/log"; then
        echo "$name: its scenario does not show the mistake" >>"$scratch/wrong"
    fi
    # The rest of the suite is not asked for: the check ends where nobody reads on.
    first=$("$lockstep" check --suite --no-shrink --json --recipe "$folder/$name.so" --out "$scratch/out" 2>"$scratch/log" | exam_violated) || true
    situation=${first%% *}
    # shellcheck disable=SC2086
    echo "$name $wanted $(exam_answer "$wanted" ${first#"$situation"}) ${situation:--} ${first#"$situation"}"
    rm -rf "$scratch/out"
}

# exam_code RECIPE: a number for its machine code and constants, equal for equal recipes.
exam_code()
{
    objdump --full-contents --section=.text --section=.rodata --section=.data.rel.ro "$1" | tail -n +3 | cksum
}

# exam_twins LOCKSTEP FOLDER SCRATCH [NAME...]: each mended recipe goes through the suite, equal ones once.
exam_twins()
{
    local lockstep=$1 folder=$2 scratch=$3 source name code count=0
    local -A passed=()
    shift 3
    for source in tests/exam/*.c; do
        name=$(basename "$source" .c)
        zoo_wanted "$name" "$@" || continue
        code=$(exam_code "$folder/$name-fixed.so")
        [[ -z ${passed[$code]:-} ]] || continue
        passed[$code]=$name
        count=$((count + 1))
        "$lockstep" check --suite --quiet --recipe "$folder/$name-fixed.so" --out "$scratch/out" &>"$scratch/log" ||
            echo "$name: mended, it does not pass the suite: $(tail -n 1 "$scratch/log")" >>"$scratch/wrong"
    done
    echo "mended: $count different recipes, $(wc -l <"$scratch/wrong") complaints"
}

# exam_collect LOCKSTEP FOLDER SCRATCH [NAME...]: a line for each recipe, to SCRATCH/answers and standard output.
exam_collect()
{
    local lockstep=$1 folder=$2 scratch=$3 source
    shift 3
    : >"$scratch/answers"
    : >"$scratch/wrong"
    for source in tests/exam/*.c; do
        zoo_wanted "$(basename "$source" .c)" "$@" || continue
        exam_one "$lockstep" "$folder" "$scratch" "$source" | tee -a "$scratch/answers"
    done
    exam_count "$scratch/answers"
}

# The last line: how many of each.
exam_count()
{
    awk '{ n[$3]++ } END { printf "%d found, %d missed, %d wrong name\n", n["found"], n["missed"], n["wrong-name"] }' "$1"
}

exam_page()
{
    cat <<'TEXT'
<!-- written by ./dev exam --rewrite -->
# The exam

The recipes of [tests/exam](../tests/exam) have one mistake each. Their authors had the public headers and no other part of this
project, so no mistake was chosen by whether it is found. `check --suite` runs with each of them. *Found* means that the first
situation that fails names the property that the mistake breaks. The list is never shortened. A mistake that is added later has as its
first run that of the program at that time.

TEXT
    printf 'First run: %s. Now: %s.\n\n' "$(exam_count "$EXAM_FIRST")" "$(exam_count "$1/answers")"
    printf '| mistake | breaks | first run | now | first situation that fails | violated there |\n|---|---|---|---|---|---|\n'
    awk 'NR == FNR { first[$1] = $3; next }
        { text = ""; for (i = 5; i <= NF; i++) text = text (i > 5 ? ", " : "") $i
          printf "| %s | %s | %s | %s | %s | %s |\n", $1, $2, first[$1], $3, $4, text }' "$EXAM_FIRST" "$1/answers"
}

cmd_exam()
{
    local rewrite=0 scratch
    if [[ ${1:-} == --rewrite ]]; then
        rewrite=1
        shift
    fi
    source dev.d/setup.sh
    source dev.d/build.sh
    source dev.d/zoo.sh
    setup_groups run test
    step "build release" build_preset release ON lockstep exam || exit 1
    scratch=$(mktemp -d)
    exam_collect build/release/lockstep build/release/exam "$scratch" "$@"
    exam_twins build/release/lockstep build/release/exam "$scratch" "$@"
    if ((rewrite && $# == 0)) && [[ ! -s $scratch/wrong ]]; then
        mkdir -p "$(dirname "$EXAM_PAGE")"
        exam_page "$scratch" >"$EXAM_PAGE"
    fi
    cat "$scratch/wrong"
    [[ ! -s $scratch/wrong ]] || exit 1
    rm -rf "$scratch"
}
