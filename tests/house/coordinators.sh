#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The world, the drivers and the judges know coordinators by src/coord/coordinator.h alone: none of their files has a name of a
# fake or of a client library, in code or in a comment. And what the program exports for recipes in shared objects is what the
# coordinators' tables let them call.
set -euo pipefail
export LC_ALL=C
cd "$LOCKSTEP_SOURCE_DIR"

FOLDERS='base state trace coord sim check scenario replay explore fuzz report plugin cli'
NAMES='(fakezk|FAKEZK|coordzk|fakeredis)_[A-Za-z]|\b(zoo_|ZOO_|zookeeper_|ZOOKEEPER_)[a-zA-Z]|\bzhandle_t\b|\bstruct (Stat|ACL|String)_vector\b'
NAMES+='|\bZ(OK|NONODE|NODEEXISTS|CONNECTIONLOSS|SESSIONEXPIRED|CLOSING|INVALIDSTATE|OPERATIONTIMEOUT|NOAUTH|BADVERSION)\b'

# names_in ROOT: each line with such a name.
names_in()
{
    local folder
    for folder in $FOLDERS; do
        [[ ! -d $1/src/$folder ]] || grep -rnE --include='*.[ch]' "$NAMES" "$1/src/$folder" || true
    done
}

failed=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# The checker sees what it is for.
mkdir -p "$scratch/src/sim" "$scratch/src/coordzk"
printf '%s\n' 'fakezk_steps(out);' 'int rc = ZNONODE;' 'zhandle_t *zh;' 'zoo_aget(zh);' >"$scratch/src/sim/wrong.c"
printf '%s\n' 'a world of zookeepers, fakezk and all' 'ZOOM(1)' >"$scratch/src/sim/right.c"
echo 'fakezk_steps(out);' >"$scratch/src/coordzk/right.c"
if [[ $(names_in "$scratch" | wc -l) != 4 ]]; then
    echo "the checker itself is wrong:"
    names_in "$scratch"
    failed=1
fi

found=$(names_in .)
if [[ -n $found ]]; then
    echo "names of a fake or a client library:"
    echo "$found"
    failed=1
fi

exported=$(sed -nE 's/^set\(CLIENT_NAMES (.*)\)$/\1/p' CMakeLists.txt | tr ' ' '\n' | sort)
allowed=$(sed -n '/SYMBOLS\[\] = {/,/};/p' src/coordzk/coordzk.c | grep -oE '"[^"]+"' | tr -d '"' | sort)
if [[ -z $allowed || $exported != "$allowed" ]]; then
    echo "CMakeLists.txt exports other names than src/coordzk allows:"
    diff <(echo "$exported") <(echo "$allowed") || true
    failed=1
fi
exit $failed
