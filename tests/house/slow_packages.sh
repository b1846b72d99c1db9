#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The Debian packages: what is in which, what they depend on, and that program and library work when they are unpacked.
# ./dev fresh installs and removes them.
set -euo pipefail
export LC_ALL=C
cd "$LOCKSTEP_BUILD_DIR"
if [[ -n $LOCKSTEP_SANITIZE ]] || nm liblockstep.a 2>/dev/null | grep __gcov_init >/dev/null; then
    echo "nobody packs an instrumented build"
    exit 77
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
root=$scratch/root
failed=0

wrong()
{
    echo "$*"
    failed=1
}

cpack -G DEB -B "$scratch" >"$scratch/log" 2>&1 || { tail -n 20 "$scratch/log" && exit 1; }
version=$("$LOCKSTEP" --version)
version=${version#lockstep }
library=liblockstep${version%.*}
[[ $version == 0.* ]] || library=liblockstep${version%%.*}
architecture=$(dpkg --print-architecture)

# check_package NAME DEPENDS FILES: a pattern for its dependencies, and the files that it has to have; it has no others but
# those below share/.
check_package()
{
    local name=$1 depends=$2 files=$3 package=$scratch/${1}_${version}_$architecture.deb
    if [[ ! -f $package ]]; then
        wrong "there is no package $(basename "$package"), but: $(cd "$scratch" && echo *.deb)"
        return
    fi
    dpkg-deb -f "$package" Depends | grep -qE "$depends" || wrong "$name depends on: $(dpkg-deb -f "$package" Depends)"
    dpkg-deb -c "$package" | awk '$1 !~ /^d/ { print $6 }' | sed 's|^\./usr/||' | grep -v '^share/' | sort >"$scratch/found"
    printf '%s\n' $files | sort >"$scratch/wanted"
    diff -u "$scratch/wanted" "$scratch/found" || wrong "$name has other files than it should"
    dpkg-deb -c "$package" | grep "/usr/share/doc/$name/copyright\$" >/dev/null || wrong "$name has no copyright"
    dpkg-deb -x "$package" "$root"
}

headers=$(cd "$LOCKSTEP_SOURCE_DIR" && echo include/lockstep/*.h include/lockstep/*.hpp)
check_package "$library" '(^|, )libzookeeper-mt2' "lib/liblockstep.so.${library#liblockstep} lib/liblockstep.so.$version"
check_package liblockstep-dev "^$library \\(= ${version//./[.]}\\), libzookeeper-mt-dev\$" \
    "$headers lib/liblockstep.so lib/liblockstep.a lib/liblockstep_fake.a lib/liblockstep_sim.a
    lib/pkgconfig/lockstep.pc lib/pkgconfig/lockstep-fake.pc lib/pkgconfig/lockstep-sim.pc lib/cmake/lockstep/lockstepConfig.cmake lib/cmake/lockstep/lockstepConfigVersion.cmake
    lib/cmake/lockstep/lockstepTargets.cmake lib/cmake/lockstep/lockstepTargets-relwithdebinfo.cmake
    lib/cmake/lockstep/zookeeper.cmake"
check_package lockstep '(^|, )libcjson1' bin/lockstep
check_package lockstep-redis '(^|, )libhiredis0[.]14' \
    "bin/lockstep-redis lib/liblockstep_redis.so lib/liblockstep_redis.so.${library#liblockstep} lib/liblockstep_redis.so.$version
    lib/liblockstep_redis.a lib/pkgconfig/lockstep-redis.pc lib/cmake/lockstep/lockstepRedisTargets.cmake
    lib/cmake/lockstep/lockstepRedisTargets-relwithdebinfo.cmake"
# What the documents call the packages and the library. The change log tells what was.
for package in "$scratch"/*.deb; do
    dpkg-deb -f "$package" Package
done | sort >"$scratch/made"
sed -n 's/^| `\([a-z0-9.-]*\)` | `\(library\|dev\|program\|redis\)` |.*/\1/p' "$LOCKSTEP_SOURCE_DIR/docs/install.md" | sort >"$scratch/named"
diff -u "$scratch/made" "$scratch/named" || wrong "docs/install.md names other packages than are made"
(cd "$LOCKSTEP_SOURCE_DIR" && grep -noE 'liblockstep(\.so\.)?[0-9][0-9.]*[0-9]' README.md docs/*.md) |
    grep -vE ":liblockstep(\.so\.)?${library#liblockstep}\$" >"$scratch/stale" || true
[[ ! -s $scratch/stale ]] || wrong "this is not the library's version:"$'\n'"$(<"$scratch/stale")"
((failed == 0)) || exit 1

# The program runs, with the scenarios that come with it; it needs none of the libraries that the packages hold.
found=$("$root/usr/bin/lockstep" --version)
[[ $found == "lockstep $version" ]] || wrong "the packed program says $found"
(cd "$scratch" && "$root/usr/bin/lockstep" run "$root/usr/share/lockstep/scenarios/regress") >"$scratch/log" ||
    wrong "the packed program and its scenarios: $(tail -n 3 "$scratch/log")"
scenarios=$(cd "$LOCKSTEP_SOURCE_DIR" && find scenarios -name '*.scn' | sort)
[[ $scenarios == "$(cd "$root/usr/share/lockstep" && find scenarios -name '*.scn' | sort)" ]] ||
    wrong "other scenarios are packed than those of the project"

# A program is built with the two library packages alone, and finds the library by its SOVERSION.
cc=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' CMakeCache.txt)
"$cc" -std=c11 "$LOCKSTEP_SOURCE_DIR/examples/critical_section.c" -o "$scratch/critical_section" \
    $(PKG_CONFIG_PATH=$root/usr/lib/pkgconfig pkg-config --cflags --libs lockstep) || wrong "no program can be built"
rm "$root/usr/lib/liblockstep.so"
found=$(LD_LIBRARY_PATH=$root/usr/lib "$scratch/critical_section" 2>&1 || true)
[[ $found == 'usage: critical_section HOST:PORT' ]] || wrong "a program with the packed library says: $found"
exit $failed
