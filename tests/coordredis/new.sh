#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# lockstep-redis new redis-recipe: the folder that it makes works as its last line says. The program without Redis has no such thing.
source "$(dirname "$0")/../cli/lib.sh"
[[ -z $LOCKSTEP_SANITIZE ]] || exit 77 # the recipe is not instrumented
redis=$LOCKSTEP_BUILD_DIR/lockstep-redis
cd "$scratch"
program=$LOCKSTEP
unset LOCKSTEP # the Makefile would take it
expect 0 "  my_lock/my_lock.c
  my_lock/first.scn
  my_lock/Makefile
next: make -C my_lock check" "$redis" new redis-recipe my_lock
expect 0 '1 passed, 0 failed' make -C my_lock check
grep -q 'faults in a run: at most 1 (loss, expire, pause, crash, late)' output || { cat output; failed=1; }
grep -qx '    .name = "my_lock",' my_lock/my_lock.c || { echo 'the recipe has another name'; failed=1; }
printf '#!/bin/sh\nexec %q "$@" --budget 100000\n' "$redis" >soon
chmod +x soon
is_slow_build || expect 0 '23 passed, 0 failed' make -C my_lock suite LOCKSTEP="$PWD/soon"
# One line of the recipe that is wrong is found by the same command.
sed -i "s/#define GIVE .*/#define GIVE \"return redis.call('del', KEYS[1])\"/" my_lock/my_lock.c
expect 2 'violates hold_keeps_its_node' make -C my_lock check
expect_line "lockstep new: expected recipe or redis-recipe, found 'the end of the line'" "$redis" new
expect_line "lockstep new: expected recipe, found 'redis-recipe'" "$program" new redis-recipe x
finish
