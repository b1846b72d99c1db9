#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The servers of Redis have copies of attempt ids, which are not shown to the canonical fingerprint. So states are compared as they
# are, also for a recipe with canon().
source "$(dirname "$0")/lib.sh"

sed -e 's/^    char id\[ID_SIZE\];/    uint8_t raw[16];\n&/' -e 's/^    ls_env_unique_id(claim->recipe->env, id);/&\n    memcpy(claim->raw, id, sizeof id);/' \
    -e 's/^static const struct ls_recipe /static void canon(const void *state, struct ls_rename *rename)\n{\n    const struct recipe *r = state;\n    for (int i = 0; i < CLAIMS_MAX; i++) {\n        rename->attempt(rename, r->claim[i].raw);\n    }\n}\n\n&/' \
    -e 's/^    \.query = query,/&\n    .canon = canon,/' examples/redis/leased.c >"$scratch/shows.c"
for text in 'uint8_t raw' 'memcpy(claim->raw' '\.canon = canon'; do
    same 1 "$(grep -c "$text" "$scratch/shows.c")" "lines with $text"
done
cc -std=c11 -D_GNU_SOURCE -O1 -w -fPIC -shared -Iinclude -I/usr/include/hiredis "$scratch/shows.c" -o "$scratch/shows.so"
printf '%s\n' 'coordinator redis' 'world untimed' 'mutex /locks/x' 'process a b: acquire release acquire release' 'explore expire<=1' \
    'properties at_most_one_holder' >"$scratch/twice.scn"
states()
{
    "$redis" check --verbose --recipe "$scratch/shows.so" --out "$scratch/reports" "$@" "$scratch/twice.scn" | grep -o '[0-9]* states, [0-9]* transitions' | head -n 1 || true
}
shown=$(states)
[[ -n $shown ]] || { echo 'nothing is searched' && failed=1; }
same "$(states --no-renaming)" "$shown" 'states of a recipe with canon()'
finish
