# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What ./dev bench lock makes of the figures that it has collected. Sourced; needs no server and no peer.

# lock_handovers FILE: reads lines `GRANTED RELEASED`, one for each time that a lock was held, and prints the nanoseconds
# from each release to the next grant. Status 1 if two have held it at once.
lock_handovers()
{
    sort -n "$1" | awk '
        NR > 1 && $1 < released {
            print "granted at " $1 " although released only at " released >"/dev/stderr"
            exit 1
        }
        NR > 1 { printf "%.0f\n", $1 - released }
        { released = $2 }'
}

# lock_waits CONTENDERS FILE: reads lines `GRANTED RELEASED CONTENDER` of one run. Prints the share of the contender that held least, in
# percent of an equal share, and the longest time in ms from one grant of a contender, or the first of all, to its next.
lock_waits()
{
    sort -n "$2" | awk -v contenders="$1" '
        NR == 1 { for (i = 0; i < contenders; i++) last[i] = $1 }
        { wait = $1 - last[$3]; longest = wait > longest ? wait : longest; last[$3] = $1; held[$3]++ }
        END {
            least = NR
            for (i = 0; i < contenders; i++) least = held[i] < least ? held[i] + 0 : least
            printf "%.1f %.1f\n", least * contenders / NR * 100, longest / 1e6
        }'
}

# lock_percentile P: of the numbers on standard input the smallest that P percent do not exceed; nothing of nothing.
lock_percentile()
{
    sort -n | awk -v p="$1" '{ value[NR] = $1 }
        END { if (NR) { at = int((NR * p + 99) / 100); print value[at < 1 ? 1 : at] } }'
}

# lock_handover_row NAME FILE: the row of a side whose hand-overs FILE has.
lock_handover_row()
{
    awk -v name="$1" -v n="$(wc -l <"$2")" -v median="$(lock_percentile 50 <"$2")" -v late="$(lock_percentile 99 <"$2")" \
        'BEGIN { printf "%-14s %10d %9.0f %9.0f\n", name, n, median / 1000, late / 1000 }'
}

# lock_metric FILE NAME: a number of the server's answer to mntr.
lock_metric()
{
    awk -v name="zk_$2" '$1 == name { printf "%.0f\n", $2; found = 1 } END { exit !found }' "$1"
}

# lock_metric_growth BEFORE AFTER NAME
lock_metric_growth()
{
    echo $(($(lock_metric "$2" "$3") - $(lock_metric "$1" "$3")))
}

# lock_crowd_verdict WAITERS WATCHES DELETED WOKEN WOKEN_MAX GRANTS OUT_OF_TURN: status 1 if there was a herd, or an
# order that is not fair.
lock_crowd_verdict()
{
    local waiters=$1 watches=$2 deleted=$3 woken=$4 woken_max=$5 grants=$6 out_of_turn=$7 status=0
    ((watches == waiters)) || lock_crowd_wrong "watches while all wait: expected $waiters, found $watches"
    ((deleted == waiters)) || lock_crowd_wrong "deletions that woke somebody: expected $waiters, found $deleted"
    ((woken == waiters)) || lock_crowd_wrong "watches that fired: expected $waiters, found $woken"
    ((woken_max == 1)) || lock_crowd_wrong "woken by one deletion at most: expected 1, found $woken_max"
    ((grants == waiters)) || lock_crowd_wrong "grants: expected $waiters, found $grants"
    ((out_of_turn == 0)) || lock_crowd_wrong "grants out of turn: expected 0, found $out_of_turn"
    return $status
}

lock_crowd_wrong()
{
    echo "$1"
    status=1
}
