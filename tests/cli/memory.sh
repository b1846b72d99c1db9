#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Memory errors: each is one line or a few in the finished recipe of the tutorial. Each violates contract_is_kept, and its trace is
# shrunk. Without these lines the recipe passes, with the same counts as ever; so it does with memory that it uses as it may.
source "$(dirname "$0")/lib.sh"
# What comes back out of a signal's handler is more than the thread sanitizer's bookkeeping survives; there is one thread.
[[ $LOCKSTEP_SANITIZE != *thread* ]] || exit 77
recipe=$scratch/mine.so
scenario=scenarios/suite/three_clients.scn

# The places of the recipe where lines go: behind this text of its source.
fields='    bool stopping;'
acquire='    claim->trying = timeout_ms == 0;'
created='    claim->named = true;'
listed='static void on_list(int rc, const struct String_vector *names, const void *ctx)
{
    struct claim *claim = (struct claim *)(uintptr_t)ctx;'
released='    if (--claim->depth == 0) {'
stopped='    r->stopping = true;'

# build [PLACE LINES]...: the recipe with these lines behind these places.
build()
{
    local text place
    text=$(<examples/recipes/next_in_line.c)
    while (($# > 0)); do
        place=${!1}
        [[ $text == *"$place"* ]] || { echo "the recipe has no place '$1'"; exit 1; }
        text=${text/"$place"/"$place"$'\n'"$2"}
        shift 2
    done
    printf '%s\n' "$text" >"$scratch/mine.c"
    cc -std=c11 -D_GNU_SOURCE -g -O1 -w -fPIC -shared -Iinclude -o "$recipe" "$scratch/mine.c"
}

# caught STEPS SENTENCE [PLACE LINES]...: it is found, shown, and shrunk to that many steps.
caught()
{
    local most=$1 sentence="the recipe of [abc] $2" trace took
    shift 2
    build "$@"
    rm -rf "$scratch/reports"
    expect 1 'violated contract_is_kept' "$LOCKSTEP" check --verbose --out "$scratch/reports" --recipe "$recipe" "$scenario"
    grep -q "contract_is_kept: $sentence" "$scratch/output" || { cat "$scratch/output"; echo "no '$sentence' with: $*"; failed=1; }
    trace=$(sed -n 's/^shrunk: .* replay \([^ ]*\).*/\1/p' "$scratch/output")
    [[ -n $trace ]] || trace=$(sed -n 's/^replay: .* replay //p' "$scratch/output")
    took=$(steps "$trace" contract_is_kept)
    ((took > 0 && took <= most)) || { echo "'$sentence' after '$took' steps in place of $most with: $*"; failed=1; }
}

# passes [PLACE LINES]...: no more and no fewer states than the recipe of the tutorial has.
passes()
{
    build "$@"
    expect 0 '(9517 states, 25686 transitions, depth 38)' "$LOCKSTEP" check --verbose --out "$scratch/reports" --recipe "$recipe" \
        "$scenario"
}

passes
passes fields 'char *spare;' acquire 'free(r->spare);
    r->spare = malloc(100);
    r->spare[99] = 1;' stopped 'free(r->spare);
    r->spare = NULL;' released 'free(claim->recipe->spare);
        claim->recipe->spare = NULL;'
# What has not been set may be moved.
passes acquire 'struct { char set; char unset[63]; } *one = malloc(64), *two = malloc(64);
    one->set = 1;
    *two = *one;
    claim->trying |= two->set == 2;
    free(one);
    free(two);'

outside='writes outside of its state'
caught 1 "$outside" acquire 'memset(r + 1, 0x55, 8);'
caught 1 "$outside" acquire 'memset(r + 1, 0x55, 1024);'
caught 1 "$outside" acquire '((volatile char *)r)[-1] = 1;'
caught 1 'crashes: SIGSEGV' acquire 'memset(r + 1, 0x55, 65536);'
caught 1 'crashes: SIGSEGV in acquire()' acquire '((volatile char *)(r + 1))[65536] = 1;'

block='writes outside of a block of memory'
caught 1 "$block" acquire 'volatile char *block = malloc(10);
    block[10] = 1;
    free((void *)block);'
caught 5 "$block" fields 'char *block;' acquire 'r->block = malloc(10);' created 'claim->recipe->block[10] = 1;'
caught 5 "$block" fields 'char *block;' acquire 'r->block = malloc(10);' created 'claim->recipe->block[-1] = 1;'
caught 5 "$block" fields 'char *block;' acquire 'r->block = malloc(10);' created 'memset(claim->recipe->block, 1, 1000);'

caught 1 'writes to memory that it has freed' acquire 'volatile char *block = malloc(10);
    free((void *)block);
    block[3] = 1;'
caught 5 'writes to memory that it has freed' fields 'char *block;' acquire 'r->block = malloc(10);
    free(r->block);' created 'claim->recipe->block[3] = 1;'
caught 1 'frees memory that it does not own' acquire 'char *volatile block = malloc(10);
    free(block);
    free(block);'
caught 1 'frees memory that it does not own' acquire 'ls_env_lock(r->env);
    ls_env_free(r->env, malloc(10));
    ls_env_unlock(r->env);'

stale='reads memory that it has freed'
caught 1 "$stale" acquire 'volatile int *block = malloc(16);
    *block = 0;
    free((void *)block);
    claim->trying |= *block != 0;'
caught 5 "$stale" fields 'int *block;' acquire 'r->block = malloc(16);
    *r->block = 0;
    free(r->block);' created 'claim->trying |= *claim->recipe->block != 0;'
caught 1 "$stale" acquire 'volatile int *block = calloc(2, sizeof(int));
    claim->trying |= block[2] != 0;
    free((void *)block);'

unset='is not deterministic: two runs of this step differ; a read of uninitialised memory? try valgrind'
caught 1 "$unset" acquire 'volatile int *block = malloc(16);
    claim->trying |= *block > 0;
    free((void *)block);'
caught 1 "$unset" acquire 'volatile bool sometimes[2];
    claim->trying |= sometimes[0];'
caught 5 "$unset" created 'volatile int left[30];
    claim->number -= left[7] == 0;'
caught 5 "$unset" fields 'struct { int set, unset; } *pair;' acquire 'r->pair = malloc(8);
    r->pair->set = 1;' created 'claim->number -= claim->recipe->pair->unset != 0;'

lent='uses what the client library lent to a callback that is over'
caught 7 "$lent" fields 'const char *path;' created 'claim->recipe->path = value;' listed 'const char *path = claim->recipe->path;
    claim->trying |= path != NULL && path[0] != 47;'
caught 7 "$lent" fields 'const struct Stat *stat;' created 'claim->recipe->stat = stat;' \
    listed 'const struct Stat *old = claim->recipe->stat;
    claim->trying |= old != NULL && old->ephemeralOwner != claim->recipe->session;'
caught 8 "$lent" fields 'const struct String_vector *names;' listed 'claim->recipe->names = names;' \
    released 'claim->depth += claim->recipe->names->count > 2;'
caught 8 "$lent" fields 'char *name;' listed 'claim->recipe->name = names->data[0];' released 'claim->recipe->name[0] = 0;'

scenario=scenarios/suite/stop_and_start.scn
caught 10 'stops without closing its handle' stopped 'r->zh = NULL;'
scenario=scenarios/suite/contents.scn
caught 10 'creates a contender with other data than its configuration names' fields 'struct ls_recipe_config other;' \
    acquire 'r->other = *r->config;
    r->other.contents_size--;
    r->config = &r->other;'
scenario=scenarios/suite/three_clients.scn
caught 10 'leaks memory: stop() leaves 10 bytes in 1 block' acquire 'char *volatile block = malloc(10);'
caught 10 'leaks memory: stop() leaves 24 bytes in 1 block' acquire 'ls_env_lock(r->env);
    ls_env_alloc(r->env, 24);
    ls_env_unlock(r->env);'
caught 1 'calls its environment without the mutex: ls_env_alloc' acquire 'ls_env_free(r->env, ls_env_alloc(r->env, 10));'
caught 1 'calls its environment without the mutex: ls_env_free' acquire 'ls_env_free(r->env, NULL);'
caught 1 'calls its environment without the mutex: ls_env_wake' acquire 'struct ls_waiter waiter;
    ls_env_waiter_init(r->env, &waiter);
    ls_env_wake(r->env, &waiter);'

# What goes by an address is no reading of memory: it is said to be the recipe's all the same.
build fields 'uintptr_t at;' acquire 'char here;
    r->at = (uintptr_t)&here;'
expect 4 'the recipe is not deterministic: two runs of the same steps differ at step ' "$LOCKSTEP" check --verbose --out "$scratch/reports" \
    --recipe "$recipe" "$scenario"

# What it prints is told once, though its steps are done twice.
caught 1 'calls its environment without the mutex' acquire 'fprintf(stderr, "owner %d\n", owner);
    ls_env_free(r->env, NULL);'
trace=$(sed -n 's/^replay: .* replay //p' "$scratch/output")
[[ -n $trace ]] || { echo 'no trace'; failed=1; }
expect 1 'prints   owner 0' "$LOCKSTEP" replay "$trace"
same 1 "$(grep -c ' prints   owner 0$' "$scratch/output")" 'how often a replay shows what the recipe says'
finish
