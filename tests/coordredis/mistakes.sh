#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Mistakes in liblockstep_redis, one at a time: each is caught in some world of Redis, by the property that stands beside it.
source "$(dirname "$0")/../cli/lib.sh"
redis=$LOCKSTEP_BUILD_DIR/lockstep-redis
[[ -x $redis ]] || { echo "no program $redis" && exit 1; }
if is_slow_build; then
    exit 77
fi
here=$PWD/tests/coordredis/scenarios
tree=$scratch/tree

# The mutex as a recipe in a shared object: with RECIPE, or with CONFIRMED, which waits for a replica.
which=RECIPE
copy()
{
    rm -rf "$tree"
    mkdir -p "$tree"
    cp -r src/lockredis "$tree"
    sed -i '/^__attribute__((constructor))/,$d; /scenario\/recipes.h/d' "$tree/lockredis/world/redis_mutex.c"
    echo "LS_RECIPE_MODULE($which);" >>"$tree/lockredis/world/redis_mutex.c"
}

build()
{
    cc -std=gnu11 -D_GNU_SOURCE -O1 -shared -fPIC -Iinclude -I"$tree" "$tree"/lockredis/*.c "$tree"/lockredis/world/*.c -o "$scratch/recipe.so"
}

# mistake PROPERTY SCENARIO FILE FROM TO: caught once the text FROM of the file is TO.
mistake()
{
    local property=$1 scenario=$2 file=$tree/lockredis/$3
    copy
    FROM=$4 TO=$5 perl -0pi -e 's/\Q$ENV{FROM}\E/$ENV{TO}/' "$file"
    if cmp -s "$file" "src/lockredis/$3"; then
        echo "no such text in $3: $4"
        failed=1
        return
    fi
    build
    expect 1 "in 1 scenario: $property" "$redis" check --verbose --recipe "$scratch/recipe.so" --out "$scratch/reports" "$here/$scenario"
}

copy
build
expect 0 '2 passed' "$redis" check --recipe "$scratch/recipe.so" "$here/no_fault.scn" "$here/given_up.scn"

mistake hold_keeps_its_node keeps.scn request.c "if v~=ARGV[1] and v~=ARGV[2] then return 0 end" ""
mistake at_most_one_holder no_fault.scn request.c "if v and v~=ARGV[2] then return {0,redis.call('pttl',KEYS[1])} end" ""
mistake no_stale_effect threads.scn request.c "local token=redis.call('incr',KEYS[2])" "local token=tonumber(redis.call('get',KEYS[2]) or redis.call('incr',KEYS[2]))"
mistake no_stale_effect again.scn lock.c "if (lock->granted || !lockredis_lock_has_id(lock->id))" "if (!lockredis_lock_has_id(lock->id))"
mistake hold_keeps_its_node given_up_again.scn lock.c "if (lock->stage == STAGE_GIVING && lock->repeated) {" "if (lock->closing) {"
mistake held_lease_is_renewed stops.scn lock.c 'ls_env_timer_start(env_of(lock), &lock->lease_timer, "lease"' 'ls_env_timer_start(env_of(lock), &lock->poll_timer, "poll"'
mistake answers_have_reasons no_fault.scn lock.c "return lock->renews ? REQUEST_RENEW : REQUEST_NONE;" "return REQUEST_NONE;"
mistake answers_have_reasons no_fault.scn lock.c "    case ANSWER_YES:
        confirm(lock);
        break;" "    case ANSWER_YES:
        break;"
mistake no_lost_wakeup no_fault.scn lock.c "    lock->redis->hears = true;
    poll_in(lock, poll_ms);" ""
mistake release_matches_acquire no_fault.scn lock.c "enter(lock, STAGE_GIVING);
    }
}

/* Ends the hold" "freed(lock, LS_OK);
    }
}

/* Ends the hold"
mistake answers_have_reasons tries.scn lock.c "    lockredis_claim_answer_all(lock, true, LS_EBUSY);
    if (!is_waited_for(lock)) {" "    if (!is_waited_for(lock)) {"
mistake answers_have_reasons keeps.scn lock.c "lockredis_claim_lose(lockredis_claim_first(lock, HOLDS));" "lockredis_claim_first(lock, HOLDS)->phase = CLAIM_LOST;"
mistake contract_is_kept canceled.scn lock.c "    if (!is_waited_for(lock)) {
        enter(lock, STAGE_GIVING);
    } else if (lockredis_lock" "    if (lockredis_lock"
mistake answers_have_reasons canceled.scn redis_mutex.c "lockredis_claim_answer(claim, LS_ECANCELED, 0);" "claim->phase = CLAIM_OVER;"
mistake contract_is_kept short_of_memory.scn redis_mutex.c "    if (claim == NULL) {
        return LS_ENOMEM;
    }
    if (timeout" "    if (timeout"
mistake contract_is_kept stops.scn client.c "    lockredis_lock_free_all(redis);
" ""
mistake release_matches_acquire again.scn owner_queue.c "(claim->owner != owner || !is_in(claim, phases))" "(claim->owner != owner || !is_in(claim, phases | 1u << CLAIM_LEAVES))"
# A late copy of a take may have taken the key again. A renewal sees that by the token, and the key is given back.
mistake held_lease_is_renewed late_and_expire.scn request.c "if redis.call('get',KEYS[2])~=ARGV[3] then return -1 end" ""

which=CONFIRMED
mistake at_most_one_holder failover_unheard.scn lock.c "answer->kind == ANSWER_YES && answer->number >= lockredis_client_options(lock->redis)->replicas;" "answer->kind == ANSWER_YES;"
mistake answers_have_reasons failover_unheard.scn lock.c "enough ? LS_EBUSY : LS_EREFUSED" "LS_EBUSY"
mistake answers_have_reasons failover_unheard.scn lock.c "enter(lock, STAGE_CONFIRMING);
        watch_lease(lock);" "enter(lock, STAGE_CONFIRMING);"

finish
