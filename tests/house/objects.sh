#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# One recipe object, two worlds (D1): the objects of src/lock are compiled once, and the very same files are in the
# program with the fake and in the library for the real client.
set -euo pipefail
export LC_ALL=C
cd "$LOCKSTEP_BUILD_DIR"

failed=0
wrong()
{
    echo "$*"
    failed=1
}

objects=()
for source in "$LOCKSTEP_SOURCE_DIR"/src/lock/*.c; do
    objects+=("CMakeFiles/lockstep_layer_lock.dir/src/lock/$(basename "$source").o")
done
[[ -f ${objects[0]} ]] || { echo "no object of src/lock in $PWD" && exit 1; }

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
ninja -t inputs lockstep >"$scratch/program"
ninja -t inputs liblockstep.so >"$scratch/shared"
ninja -t targets all | sed -n 's/^\(.*\.o\): .*/\1/p' >"$scratch/all"
(cd "$scratch" && mkdir members && cd members && ar x "$LOCKSTEP_BUILD_DIR/liblockstep.a")

for object in "${objects[@]}"; do
    name=$(basename "$object")
    [[ $(grep -c "/src/lock/$name\$" "$scratch/all") == 1 ]] || wrong "$name is compiled more than once"
    grep -qx "$object" "$scratch/program" || wrong "lockstep is not made of $object"
    grep -qx "$object" "$scratch/shared" || wrong "liblockstep.so is not made of $object"
    cmp "$object" "$scratch/members/$name" || wrong "liblockstep.a has another $name"
done

# The program has the fake inside, and nothing of the real client.
if nm -u lockstep | grep -E ' (zoo_|zookeeper_|zerror|is_unrecoverable)'; then
    wrong "lockstep leaves symbols of the client API open"
fi
nm lockstep | grep -E ' T zookeeper_init$' >/dev/null || wrong "lockstep has no zookeeper_init of its own"
if ldd lockstep | grep zookeeper; then
    wrong "lockstep is linked with the real client"
fi
readelf -d liblockstep.so | grep 'NEEDED.*libzookeeper_mt' >/dev/null || wrong "liblockstep.so does not need the real client"
# Instrumentation for coverage brings symbols of its own.
instrumented=$(nm liblockstep.so | grep -c __gcov_init || true)
if ((instrumented == 0)) && nm -D --defined-only liblockstep.so | grep -vE ' T ls_[a-z0-9_]+$'; then
    wrong "liblockstep.so exports more than its headers declare"
fi
nm -D --undefined-only liblockstep.so | grep -E ' zoo_acreate2?$' >/dev/null || wrong "liblockstep.so creates no nodes"

# A recipe asks its environment for time, memory, threads and randomness, never the C library.
refused='malloc|calloc|realloc|free|strdup|time|clock_gettime|gettimeofday|nanosleep|usleep|sleep|rand|random|getrandom'
refused+='|pthread_[a-z_]*|open|socket|getenv|printf|fprintf'
for object in "${objects[@]}" CMakeFiles/lockstep_layer_broken.dir/src/broken/*.o; do
    [[ -f $object ]] || continue
    if nm -u "$object" | grep -E "^ +U ($refused)\$"; then
        wrong "$(basename "$object") asks the C library for what its environment provides"
    fi
done
exit $failed
