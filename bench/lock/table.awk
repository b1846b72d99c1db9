# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The tables of `./dev bench lock` and `./dev bench redis`. Reads one line for each run:
#
#   ROUND SIDE CONTENDERS LOCKS NANOSECONDS CLIENT_US SERVER_US OTHERS_US REQUESTS
#
# where the last four are processor time and requests at the server for the whole run; OTHERS is who has nothing to do with
# the benchmark. Prints medians over the rounds
# with the slowest and the fastest, then ratios: each is the median of the ratios within a round, because what else the
# machine does is nearly the same for all that run in one round. Exit status 1 if a peer is so slow beside the first
# floor that rather the peer's set-up is wrong than the peer slow.

function median(values, count,    i, j, value)
{
    for (i = 2; i <= count; i++) {
        value = values[i]
        for (j = i - 1; j >= 1 && values[j] > value; j--)
            values[j + 1] = values[j]
        values[j + 1] = value
    }
    return count % 2 ? values[(count + 1) / 2] : (values[count / 2] + values[count / 2 + 1]) / 2
}

function print_run(run,    count, i, rates, client, server, others, requests, middle)
{
    count = split(rounds[run], of_run)
    for (i = 1; i <= count; i++) {
        rates[i] = rate[of_run[i], run]
        client[i] = client_us[of_run[i], run]
        server[i] = server_us[of_run[i], run]
        others[i] = other_share[of_run[i], run]
        requests[i] = asked[of_run[i], run]
    }
    middle = median(rates, count)
    printf "%-14s %10s %9.0f %9.0f %9.0f %7.0f%% %9.0f %9.0f %9.1f %6.0f%%\n", side_of[run], contenders_of[run], middle,
        rates[1], rates[count], (rates[count] - rates[1]) / middle * 100, median(client, count),
        median(server, count), median(requests, count), median(others, count)
}

# The median of the ratios within the rounds; the slowest and the fastest go to low and high. 0: not both were measured.
function ratio(a, b,    count, i, n, values)
{
    count = split(rounds[a], of_run)
    n = 0
    for (i = 1; i <= count; i++)
        if ((of_run[i], b) in rate)
            values[++n] = rate[of_run[i], a] / rate[of_run[i], b]
    if (!n)
        return 0
    middle_ratio = median(values, n)
    low = values[1]
    high = values[n]
    return middle_ratio
}

function print_ratio(a, b, contenders, goal,    value, verdict)
{
    value = ratio(a " " contenders, b " " contenders)
    if (!value)
        return
    verdict = goal ? sprintf("goal %.2f: %s", goal, value >= goal ? "reached" : "missed") : ""
    printf "%-26s %3s contender%s %6.2f  (%.2f to %.2f)  %s\n", a " : " b, contenders, contenders == 1 ? " " : "s",
        value, low, high, verdict
}

# Ours alone and among four beside Curator's, and both beside the floor.
function print_kind(kind)
{
    print_ratio("ours-" kind, "curator-" kind, 1, 1.3)
    print_ratio("ours-" kind, "tuned", 1, 0)
    print_ratio("curator-" kind, "tuned", 1, 0)
    print_ratio("ours-" kind, "curator-" kind, 4, 1.1)
}

function suspect(peer,    value)
{
    value = ratio(peer " 1", "create+delete 1")
    if (value && value < 0.45) {
        printf "peer suspect: %s takes %.2f times as many locks as the first floor, expected 0.45 or more\n", peer, value
        return 1
    }
    return 0
}

NF == 9 && $4 > 0 && $5 > 0 {
    run = $2 " " $3
    if (!(run in rounds))
        order[++runs] = run
    rounds[run] = rounds[run] " " $1
    side_of[run] = $2
    contenders_of[run] = $3
    rate[$1, run] = $4 / ($5 / 1e9)
    client_us[$1, run] = $6 / $4
    server_us[$1, run] = $7 / $4
    other_share[$1, run] = $8 * 1000 / $5 * 100
    asked[$1, run] = $9 / $4
    next
}

{
    printf "line %d is no run: %s\n", NR, $0
    broken = 1
    exit 1
}

END {
    if (broken)
        exit 1
    printf "%-14s %10s %9s %9s %9s %8s %9s %9s %9s %7s\n", "locks/s", "contenders", "median", "slowest", "fastest", "spread",
        "client us", "server us", "requests", "others"
    for (i = 1; i <= runs; i++)
        print_run(order[i])
    print ""
    print_ratio("ours", "curator", 1, 1.6)
    print_ratio("ours", "flight+delete", 1, 0.9)
    print_ratio("ours", "tuned", 1, 0.9)
    print_ratio("ours", "kazoo", 1, 0)
    print_ratio("curator", "create+delete", 1, 0)
    print_ratio("kazoo", "create+delete", 1, 0)
    print_ratio("ours", "curator", 4, 1.5)
    print_ratio("ours", "kazoo", 4, 0)
    print_ratio("ours-write", "curator-write", 1, 1.3)
    print_ratio("ours-write", "tuned", 1, 0.9)
    print_ratio("curator-write", "tuned", 1, 0)
    print_ratio("ours-read", "curator-read", 1, 1.3)
    print_ratio("ours-read", "tuned", 1, 0.9)
    print_ratio("ours-write", "curator-write", 4, 1.1)
    print_ratio("ours-mixed", "curator-mixed", 4, 1.1)
    print_kind("lease")
    print_ratio("ours-leases", "curator-leases", 4, 1.1)
    print_kind("latch")
    print_kind("selector")
    print_ratio("ours", "floor", 1, 0)
    print_ratio("dlock", "floor", 1, 0)
    print_ratio("ours", "dlock", 1, 0)
    print_ratio("ours", "dlock", 4, 0)
    status = suspect("curator")
    status += suspect("kazoo")
    exit status > 0
}
