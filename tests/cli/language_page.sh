#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The examples of the reference page work as they stand there.
source "$(dirname "$0")/lib.sh"
page=docs/scenario-language.md

# example N: the Nth fenced block of the page.
example()
{
    awk -v n="$1" '/^```/ { inside = !inside; count += inside; next } inside && count == n' "$page"
}
example 1 >"$scratch/directed.scn"
example 2 >"$scratch/exploring.scn"
grep -q '^expire a' "$scratch/directed.scn" || { echo 'the first example is another one'; failed=1; }
grep -q '^explore ' "$scratch/exploring.scn" || { echo 'the second example is another one'; failed=1; }
expect 0 '1 passed, 0 failed' "$LOCKSTEP" run --out "$scratch/reports" "$scratch/directed.scn"
expect 0 '1 passed, 0 failed' "$LOCKSTEP" run --out "$scratch/reports" "$scratch/exploring.scn"

# Outside the tree, with every header and command of the page in one file.
cat >"$scratch/everything.scn" <<'TEXT'
# Everything that the language has. The run only has to come to its end.
world servers=3 latency=10ms session-timeout=2s tick=100ms seed=7 rc=-7 used containers=yes timed keep-fresh
mutex /locks/x
mutex /locks/y as other
chroot /app
contents "hello"
process a b
process c asleep
show all
properties bounded_work no_orphan_node

a acquire x
b acquire x owner=1 timeout=10s
a try other
c start
settle
b cancel x owner=1
a write x
a write x guarded
a release x
before apply s1 a delete
after apply s1 a delete
settle
----

cut a keep=0 apply=0 rc=-4
refuse a
partition b
advance 1s
heal b
pause b
resume b
crash c
restart c
fail-alloc b n=2
fail-call b n=2
freeze s2
lag s3
thaw s2
heal all
settle
----

expire a
do bury a
restart-server s1
create /app/locks/x/content
remove /app/locks/x/content
advance 5s
a release other
b stop
settle
heal all
settle
rest
----
TEXT
(cd "$scratch" && expect 0 'rewritten' "$LOCKSTEP" run --out "$scratch/reports" --rewrite everything.scn
    expect 0 '1 passed, 0 failed' "$LOCKSTEP" run --out "$scratch/reports" --seeds 100 everything.scn
    exit $failed) || failed=1
finish
