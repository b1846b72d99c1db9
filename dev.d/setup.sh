# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Installs what is missing, by group, so that nobody installs Java to see the simulator run.

packages_of()
{
    case $1 in
    run) echo gcc libc6-dev cmake ninja-build libzookeeper-mt-dev libcjson-dev libelf-dev liblz4-dev libxml2-dev ;;
    # The server itself is in libzookeeper-java; the package zookeeper adds a desktop Java and scripts not used here. The
    # others from g++ on are for what users of the library do: C++, pkg-config, Debian packages, looking into a recipe.
    test) echo libcmocka-dev libhiredis-dev liblua5.1-0-dev libssl-dev libzookeeper-java libslf4j-java default-jre-headless \
        g++ pkgconf dpkg-dev file python3 git help2man gdb valgrind chromium chromium-driver python3-selenium ;;
    full) echo clang libclang-rt-dev clang-format clang-tidy gcovr afl++ libevent-dev && packages_of redis ;;
    redis) echo redis-tools ;;
    bench) echo spin gcc libc6-dev && packages_of interop ;;
    interop) echo default-jdk-headless libcurator-recipes-java libcurator-framework-java libcurator-client-java \
        libguava-java libslf4j-java libzookeeper-java python3-kazoo ;;
    soak) echo python3 ;;
    mutants) echo python3 python3-clang-14 ;;
    fuzz) echo afl++ clang lld llvm libclang-rt-dev gnuplot-nox ;;
    fresh) echo mmdebstrap git util-linux ;;
    *) usage_error "unknown group '$1', expected one of: run test full redis bench interop soak mutants fuzz fresh" ;;
    esac
}

help_setup()
{
    cat <<'TEXT'
usage: ./dev setup [GROUP...]

Installs the Debian packages of the groups (default: run test) that dpkg does not have yet. For the group test it also
fetches axe-core into ~/.cache/lockstep, if there is npm. With nothing missing it touches neither the network nor the
system. It starts and enables no service. Without root it prints the line to run
and exits 4.

  run     compiler, cmake, ninja, the ZooKeeper C client: enough for ./dev run
  test    cmocka, hiredis, Lua, libcrypto, the ZooKeeper server and a Java to run it, g++, pkgconf, dpkg-dev, file, Python,
          git, help2man, gdb, valgrind, Chromium with Selenium: enough for ./dev test and ./dev real
  full    clang and its tools, gcovr, AFL++, a Redis server, libevent: for ./dev test --full, fmt, lint
  redis   a Redis server: for ./dev real redis and ./dev bench redis
  bench   SPIN, a model checker, for ./dev bench explore; what interop has, for ./dev bench lock
  interop Curator, a Java compiler, kazoo: for examples/interop and its test in ./dev test --full
  soak    Python, for the proxy of ./dev soak lock
  mutants Python and clang's parser for it: for ./dev mutants
  fuzz    AFL++, clang with its linker and profiler, gnuplot: for ./dev fuzz
  fresh   mmdebstrap: for ./dev fresh

examples:
  ./dev setup                 what ./dev test needs
  ./dev setup run test full   everything a developer uses
TEXT
}

cmd_setup()
{
    local group
    (($# > 0)) || set -- run test
    for group in "$@"; do
        packages_of "$group" >/dev/null
    done
    setup_groups "$@"
    [[ " $* " != *' test '* ]] || want_axe
}

# axe-core, which looks for barriers in a page (docs/decisions.md). Debian has no package of it.
AXE_VERSION=4.10.2
AXE_SHA256=9ea2d2d6917da998122bdacfd3b473e31ead53f4b87146c716a12edf89158100 # of the package

axe_path()
{
    echo "${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/lockstep/axe-core-$AXE_VERSION/axe.min.js"
}

# Fetches it if it is missing. Without it, or without npm, report.accessible is skipped.
want_axe()
{
    if [[ ! -e $(axe_path) ]] && command -v npm >/dev/null; then
        step "fetch axe-core $AXE_VERSION" fetch_axe || echo 'dev: without axe-core the test report.accessible is skipped'
    fi
}

# Fetches the package by npm, and keeps the script if the package is the one that is meant.
fetch_axe()
{
    local path scratch status=0
    path=$(axe_path)
    scratch=$(mktemp -d)
    fetch_axe_to "$scratch" "$path" || status=$?
    rm -rf "$scratch"
    return $status
}

fetch_axe_to()
{
    local package=$1/axe-core-$AXE_VERSION.tgz
    command -v npm >/dev/null || return
    (cd "$1" && npm pack --silent "axe-core@$AXE_VERSION" >/dev/null) || return
    echo "$AXE_SHA256  $package" | sha256sum --check --quiet || return
    tar -xzf "$package" -C "$1" package/axe.min.js || return
    mkdir -p "${2%/*}" && mv "$1/package/axe.min.js" "$2"
}

# setup_groups GROUP...: the form that other subcommands call.
setup_groups()
{
    local group packages=() missing
    for group in "$@"; do
        # shellcheck disable=SC2207
        packages+=($(packages_of "$group"))
    done
    missing=$(missing_packages "${packages[@]}")
    if [[ -z $missing ]]; then
        return
    fi
    step "install $missing" install_packages $missing || exit $EXIT_ENVIRONMENT
}

missing_packages()
{
    local installed package missing=()
    command -v dpkg-query >/dev/null || environment_error "no dpkg-query: install by hand what provides: $*"
    # A package name may be a virtual one's, or come with an architecture: status and name decide.
    installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true)
    for package in "$@"; do
        [[ $'\n'$installed$'\n' == *$'\n'"installed $package"$'\n'* ]] || missing+=("$package")
    done
    echo "${missing[*]}"
}

install_packages()
{
    local log=build/setup.log
    if ((EUID != 0)); then
        echo "dev: not root; run this, then try again:" >&2
        echo "apt-get update && apt-get install -y --no-install-recommends $*" >&2
        exit $EXIT_ENVIRONMENT
    fi
    mkdir -p build
    trap allow_services EXIT
    forbid_services
    if ! fetch_and_install "$@" >$log 2>&1; then
        tail -n 30 $log >&2
        return $EXIT_ENVIRONMENT
    fi
}

# Package lists may be absent (a new machine) or name versions that the mirror no longer has.
fetch_and_install()
{
    if ! apt_get --simulate install "$@" >/dev/null; then
        apt_get update || return
    fi
    apt_get install "$@" || { apt_get update && apt_get install "$@"; }
}

apt_get()
{
    DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get -q=2 -y --no-install-recommends -o Dpkg::Use-Pty=0 "$@" </dev/null
}

# Debian's packages ask policy-rc.d before they start a service. Where the machine has one, it stays.
SERVICE_POLICY=/usr/sbin/policy-rc.d
OUR_SERVICE_POLICY=no

forbid_services()
{
    if [[ ! -e $SERVICE_POLICY ]]; then
        printf '#!/bin/sh\nexit 101\n' >$SERVICE_POLICY
        chmod 755 $SERVICE_POLICY
        OUR_SERVICE_POLICY=yes
    fi
}

allow_services()
{
    if [[ $OUR_SERVICE_POLICY == yes ]]; then
        rm -f $SERVICE_POLICY
    fi
}
