#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What recipes and properties write for a look inside: it stands in the story at its place, in a directed run on standard error,
# and never in a report. A property that crashes or loops is named.
source "$(dirname "$0")/lib.sh"
[[ $LOCKSTEP_SANITIZE != *thread* ]] || exit 77 # crashes of a child, see memory.sh
scenario=scenarios/suite/three_clients.scn

# recipe OUT LINES: the tutorial's recipe with these lines in its acquire().
recipe()
{
    local text place='    claim->trying = timeout_ms == 0;'
    text=$(<examples/recipes/next_in_line.c)
    [[ $text == *"$place"* ]] || { echo 'the recipe has no such place'; exit 1; }
    printf '#include <stdio.h>\n#include <errno.h>\n%s\n' "${text/"$place"/"$place"$'\n'"$2"}" >"$scratch/mine.c"
    cc -std=c11 -D_GNU_SOURCE "${@:3}" -w -fPIC -shared -Iinclude -o "$1" "$scratch/mine.c"
}

# ---- recipes ----

lines='fprintf(stderr, "one\n");
    printf("two %d\n", 2); puts("three"); fputs("fo", stdout); putchar(117); putc(114, stderr); fputc(10, stdout);
    fwrite("five\tsix", 1, 8, stdout); fflush(stdout); vprintf("\n", (va_list){0}); errno = ENOENT; perror("seven");'
wanted='one
two 2
three
four
five six
seven: No such file or directory'
for how in -O0 '-O2 -D_FORTIFY_SOURCE=2'; do
    # shellcheck disable=SC2086
    recipe "$scratch/mine.so" "$lines" $how -include stdarg.h
    # Nothing of it in what is searched and passes, and not a count that differs.
    "$LOCKSTEP" check --out "$scratch/reports" --recipe "$scratch/mine.so" "$scenario" >"$scratch/output" 2>"$scratch/errors"
    grep -qF '(9517 states, 25686 transitions, depth 38)' "$scratch/output" || { cat "$scratch/output"; failed=1; }
    same '' "$(<"$scratch/errors")" "standard error of a search ($how)"
    # In the story of what fails each line stands with its process, before what comes of it.
    recipe "$scratch/bad.so" "$lines"' if (owner == 0) { char *gone = malloc(8); free(gone); gone[0] = 1; }' $how -include stdarg.h
    expect 1 'violates contract_is_kept' "$LOCKSTEP" check --out "$scratch/reports" --recipe "$scratch/bad.so" "$scenario"
    same "$wanted" "$(sed -n 's/^  |  *[abc] prints   //p' "$scratch/output" | head -n 6)" "what the story has ($how)"
    expect 1 ' prints   four' bash -c "$(sed -n 's/^again: //p' "$scratch/output")"
done

# A directed run shows it on standard error, JSON stays JSON, and random schedules say nothing.
write_small "$scratch/small.scn"
"$LOCKSTEP" run --json --out "$scratch/reports" --recipe "$scratch/mine.so" "$scratch/small.scn" >"$scratch/output" 2>"$scratch/errors" || true
python3 -m json.tool "$scratch/output" >/dev/null || { cat "$scratch/output"; failed=1; }
grep -qx 'two 2' "$scratch/errors" || { cat "$scratch/errors"; failed=1; }
same 1 "$(grep -cx three "$scratch/errors")" 'times that it is shown'
"$LOCKSTEP" run --seeds 50 --no-search --out "$scratch/reports" --recipe "$scratch/mine.so" "$scenario" 2>&1 >/dev/null | grep -q two &&
    { echo 'random schedules write'; failed=1; }

# ---- properties ----

# property OUT LINES: a judge that does this at each grant.
property()
{
    cat >"$scratch/property.c" <<TEXT
#include <lockstep/property.h>
#include <stdio.h>
static void observe(void *state, const struct event *event, struct ls_judge *judge)
{
    (void)state, (void)event;
    judge->premise(judge);
    $2
}
static const struct ls_property property = {
    .name = "$(basename "$1" .so)", .sentence = "nothing.", .premise = "grants", .blind_to = "all.",
    .modes = LS_PROPERTY_ALWAYS, .wants = EVENT_BIT(EVENT_GRANTED), .observe = observe, .canon = ls_property_keeps_no_numbers};
LS_PROPERTY_MODULE(property);
TEXT
    cc -std=c11 -w -Iinclude -fPIC -shared -o "$1" "$scratch/property.c"
}

property "$scratch/talks.so" 'printf("a word\n"); fflush(stdout);'
"$LOCKSTEP" check --json --property "$scratch/talks.so" --out "$scratch/reports" "$scenario" >"$scratch/output" 2>"$scratch/errors"
python3 -m json.tool "$scratch/output" >/dev/null || { head -n 3 "$scratch/output"; failed=1; }
grep -qx 'a word' "$scratch/errors" || { echo 'the property is not heard'; failed=1; }

property "$scratch/crashes.so" '*(volatile int *)0 = 1;'
property "$scratch/loops.so" 'for (volatile int i = 0;; i = 1) { }'
for recipe in mutex "$scratch/mine.so"; do
    ASAN_OPTIONS=${ASAN_OPTIONS:-}:handle_segv=0 expect 4 'the worker died in the property crashes: ' "$LOCKSTEP" check --property "$scratch/crashes.so" --recipe "$recipe" \
        --out "$scratch/reports" "$scenario"
done
# Of several processes of one search the one that loops is told from the others.
is_slow_build ||
    expect 4 'the property loops does not come back: it has used 10 s of processor time' "$LOCKSTEP" check --workers 2 \
        --property "$scratch/loops.so" --recipe "$scratch/mine.so" --out "$scratch/reports" "$scenario"
# What is read beyond memory is found where nobody takes the output, too.
recipe "$scratch/wild.so" 'fwrite((void *)8, 1, 64, stderr);'
[[ -n $LOCKSTEP_SANITIZE ]] || # which would take the fault itself
    expect 1 'violates contract_is_kept' "$LOCKSTEP" check --out "$scratch/reports" --recipe "$scratch/wild.so" "$scenario"
finish
