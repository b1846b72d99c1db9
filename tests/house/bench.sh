#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The comparison with SPIN and TLC reads its tables and their output right, and fails when a count is another. The benchmark
# itself is not run, but for its smallest searches if SPIN is here, or TLC_JAR names TLC's file.
source "$(dirname "$0")/../cli/lib.sh"
source bench/peers/pan.sh
source bench/peers/tlc.sh

# ---- the table ----

cat >"$scratch/table" <<'TEXT'
| name | model | spin | gcc | pan | states | transitions |
|---|---|---|---|---|---|---|
| a.b | `mutex_x.pml` | `-DN=3 -DK=2` | `-DNOREDUCE` | `-m10` | 1,234,567 | 89 |
| c | `mutex_y.pml` | | `` | `-E -w20` | 5 | 6 |
| no | row | of | the | table | 1 | 2 |
TEXT
same 'a.b|mutex_x.pml|-DN=3 -DK=2|-DNOREDUCE|-m10|1234567|89
c|mutex_y.pml|||-E -w20|5|6' "$(peer_rows "$scratch/table")" 'rows of a table'

rows=0
while IFS='|' read -r name model spin_flags gcc_flags pan_flags states transitions; do
    rows=$((rows + 1))
    [[ -f $PEERS/$model && $states =~ ^[0-9]+$ && $transitions =~ ^[0-9]+$ && -n $spin_flags$gcc_flags$pan_flags ]] ||
        same 'a model and two numbers' "$model $states $transitions" "the row '$name' of $PEERS/README.md"
done < <(peer_rows)
same "$(grep -c '`mutex_[a-z]*\.pml` |' $PEERS/README.md)" "$rows" "rows of $PEERS/README.md"
for model in "$PEERS"/*.pml; do
    grep -q "|${model##*/}|" <<<"$(peer_rows)" || same 'a row' 'none' "$model"
done

# ---- what SPIN prints ----

cat >"$scratch/good" <<'TEXT'
Depth=     209 States=    1e+06 Transitions=  4.7e+06 Memory=   227.390	t=     1.29 R=   8e+05
State-vector 40 byte, depth reached 220, errors: 0
  2379974 states, stored
  8776688 states, matched
 11156662 transitions (= stored+matched)
 30196444 atomic steps
  136.183	equivalent memory usage for states (stored*(State-vector + overhead))
  127.000	actual memory usage for states (compression: 93.53%)
  128.000	memory used for hash table (-w24)
  301.023	total actual memory usage
TEXT
same '2379974 11156662 0 133169152 134217728' "$(for what in states transitions errors bytes table; do
    pan_number "$scratch/good" $what
done | xargs)" 'figures'
grep -v 'actual memory usage for' "$scratch/good" >"$scratch/equivalent"
same 142798225 "$(pan_number "$scratch/equivalent" bytes)" 'bytes without compression'
grep -v ' memory usage for' "$scratch/good" >"$scratch/silent"
same '' "$(pan_number "$scratch/silent" bytes)" 'bytes that are not told'

# refused NAME LINE STATES TRANSITIONS: the comparison fails with that line.
refused()
{
    local status=0
    pan_compare "$scratch/$1" "$3" "$4" 2>"$scratch/said" || status=$?
    same "1 $2" "$status $(<"$scratch/said")" "the comparison of '$1'"
}
pan_compare "$scratch/good" 2379974 11156662 || same 0 1 'a comparison that holds'
refused good 'states: expected 2379973, found 2379974' 2379973 11156662
refused good 'transitions: expected 1, found 11156662' 2379974 1
sed 's/errors: 0/errors: 1/' "$scratch/good" >"$scratch/violated"
refused violated 'errors: expected 0, found 1' 2379974 11156662
(cat "$scratch/good" && echo 'error: max search depth too small') >"$scratch/shallow"
refused shallow 'the search did not come to its end' 2379974 11156662
(cat "$scratch/good" && echo 'Warning: Search not completed') >"$scratch/stopped"
refused stopped 'the search did not come to its end' 2379974 11156662
: >"$scratch/empty"
refused empty 'states: expected 1, found nothing
transitions: expected 2, found nothing
errors: expected 0, found nothing' 1 2

# ---- TLC ----

cat >"$scratch/table" <<'TEXT'
| name | model | constants | states | transitions |
|---|---|---|---|---|
| a.b | `mutex_x.tla` | `N=3 K=2` | 1,234,567 | 89 |
| a.b | `mutex_x.pml` | `-DN=3 -DK=2` | `-DNOREDUCE` | `-m10` | 1 | 2 |
TEXT
same 'a.b|mutex_x.tla|N=3 K=2|1234567|89' "$(tlc_rows "$scratch/table")" 'rows of a table for TLC'
# Each model that is there for both has the counts that SPIN has to find with the same constants.
rows=0
while IFS='|' read -r name model constants states transitions; do
    rows=$((rows + 1))
    grep -q "^${name#tlc.}|${model%.tla}\.pml|-D${constants// / -D}|-DNOREDUCE.*|$states|$transitions\$" <<<"$(peer_rows)" ||
        same "a row '${name#tlc.}' for SPIN" 'none like it' "the row '$name' of $PEERS/README.md"
done < <(tlc_rows)
same "$(grep -c '`mutex_[a-z]*\.tla` |' $PEERS/README.md)" "$rows" "rows for TLC of $PEERS/README.md"
tlc_prepare "$scratch/tlc" mutex_atomic.tla 'N=3 K=2'
same 'CONSTANTS N=3 K=2 INIT Init NEXT Next INVARIANT Alone' "$(xargs <"$scratch/tlc/mutex_atomic.cfg")" 'what TLC is to check'
cat >"$scratch/good.tlc" <<'TEXT'
Progress(13) at 2026-11-22 18:29:09: 46,193 states generated (46,193 s/min), 16,821 distinct states found (16,821 ds/min), 4,766 states left on queue.
Model checking completed. No error has been found.
137050 states generated, 39856 distinct states found, 0 states left on queue.
TEXT
tlc_compare "$scratch/good.tlc" 39856 137050 || same 0 1 'a comparison with TLC that holds'

# tlc_refused FILE LINES STATES TRANSITIONS: the comparison fails with these lines.
tlc_refused()
{
    local status=0
    tlc_compare "$scratch/$1" "$3" "$4" 2>"$scratch/said" || status=$?
    same "1 $2" "$status $(<"$scratch/said")" "the comparison of '$1'"
}
tlc_refused good.tlc 'states: expected 39857, found 39856' 39857 137050
tlc_refused good.tlc 'transitions: expected 137049, found 137050' 39856 137049
sed 's/^Model checking.*/Error: Invariant Alone is violated./' "$scratch/good.tlc" >"$scratch/violated.tlc"
tlc_refused violated.tlc 'TLC does not say that there is no error' 39856 137050
sed 's/0 states left/7 states left/' "$scratch/good.tlc" >"$scratch/stopped.tlc"
tlc_refused stopped.tlc 'states: expected 39856, found nothing
transitions: expected 137050, found nothing' 39856 137050
if [[ -n ${TLC_JAR:-} ]]; then
    IFS='|' read -r name model constants states transitions < <(tlc_rows | grep '\.small|')
    tlc_prepare "$scratch/$name" "$model" "$constants"
    tlc_run "$scratch/$name" "$model" >"$scratch/small"
    tlc_compare "$scratch/small" "$states" "$transitions" || same 0 1 "the counts of $name"
fi

# ---- without SPIN, and with it ----

mkdir "$scratch/bin"
ln -s /usr/bin/* "$scratch/bin/"
rm -f "$scratch/bin/spin"
status=0
PATH=$scratch/bin ./dev bench explore >"$scratch/said" 2>&1 || status=$?
same '4 dev: bench explore compares with SPIN, which is not here; to install it: ./dev setup bench' \
    "$status $(<"$scratch/said")" 'without SPIN'
status=0
./dev bench explore moon >"$scratch/said" 2>&1 || status=$?
same "2 dev: bench explore: unexpected 'moon'" "$status $(<"$scratch/said")" 'an argument'
if command -v spin >/dev/null; then
    status=0
    TLC_JAR=$scratch/nowhere.jar ./dev bench explore >"$scratch/said" 2>&1 || status=$?
    same "4 dev: bench explore: expected the file of TLC in TLC_JAR, found '$scratch/nowhere.jar'" "$status $(<"$scratch/said")" \
        'a file of TLC that is not there'
    IFS='|' read -r name model spin_flags gcc_flags pan_flags states transitions < <(peer_rows | grep '\.small|')
    pan_build "$scratch/$name" "$model" "$spin_flags" "$gcc_flags" || same 0 1 "compiling $name"
    # shellcheck disable=SC2086
    "$scratch/$name/pan" $pan_flags >"$scratch/small"
    pan_compare "$scratch/small" "$states" "$transitions" || same 0 1 "the counts of $name"
fi
exit $failed
