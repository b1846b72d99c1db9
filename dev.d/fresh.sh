# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# What a person meets who has Debian 12 and nothing else: an empty root, the commit, the README's two commands.

help_fresh()
{
    cat <<'TEXT'
usage: ./dev fresh [--keep] [COMMIT]

Makes an empty Debian 12 root in build/fresh with mmdebstrap (from the mirrors that this machine's apt uses), clones
the commit (default HEAD; uncommitted changes are left out) into it, and runs `./dev run` and `./dev test` there, in a
chroot with mount and process namespaces of its own. Then it follows the tutorial there (docs/your-own-recipe.md), makes the
Debian packages, installs, uses and removes them, and follows the page about CI (docs/ci.md). Needs root and about 1.5 GB; says so and exits 4 otherwise.

  --keep   leave build/fresh where it is, also after success

examples:
  ./dev fresh
  ./dev fresh --keep HEAD~1
TEXT
}

cmd_fresh()
{
    local commit=HEAD keep=no root=$ROOT/build/fresh
    while (($# > 0)); do
        case $1 in
        --keep) keep=yes ;;
        -*) usage_error "fresh: unknown option '$1', expected --keep" ;;
        *) commit=$1 ;;
        esac
        shift
    done
    source dev.d/setup.sh
    fresh_require
    setup_groups fresh
    git rev-parse --verify --quiet "$commit^{commit}" >/dev/null || usage_error "fresh: '$commit' is no commit"
    rm -rf --one-file-system "$root"
    mkdir -p "$root"
    step "make an empty Debian 12" fresh_root "$root" || exit $EXIT_ENVIRONMENT
    step "clone $(git rev-parse --short "$commit")" fresh_clone "$root" "$commit" || exit $EXIT_ENVIRONMENT
    step "./dev run in it" fresh_inside "$root" ./dev run || exit
    step "./dev test in it" fresh_inside "$root" ./dev test || exit
    step "the tutorial in it, to the letter" fresh_inside "$root" ctest --test-dir build/release -R '^cli\.recipe_page$' || exit
    step "the packages in it" fresh_inside "$root" bash dev.d/try_packages || exit
    step "the page about CI in it, to the letter" fresh_inside "$root" bash dev.d/try_ci_page || exit
    if [[ $keep == no ]]; then
        rm -rf --one-file-system "$root"
    fi
    echo "fresh: both commands, the tutorial, the packages and the page about CI pass on an empty Debian 12"
}

fresh_require()
{
    if ((EUID != 0)) || ! unshare --mount --pid --fork true 2>/dev/null; then
        environment_error "fresh needs root and the right to make mount and process namespaces (unshare, chroot)"
    fi
}

# The mirrors and transport settings are this machine's: the project names none.
fresh_root()
{
    local root=$1 sources=$1.list settings=$1.conf
    apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' |
        grep ' bookworm' | sort -u >"$sources" || {
        echo "fresh: apt on this machine has no source for bookworm (Debian 12)" >&2
        return 1
    }
    apt-config dump --format '%F "%v";%n' Acquire | grep -E '^Acquire::(https?::|Check-|Retries)' >"$settings" || true
    mmdebstrap --quiet --variant=apt --aptopt="$settings" '' "$root" "$sources"
}

fresh_clone()
{
    local root=$1 commit
    commit=$(git rev-parse "$2^{commit}") || return
    git clone --quiet --no-checkout --no-hardlinks "$ROOT" "$root/root/lockstep" || return
    git -C "$root/root/lockstep" -c advice.detachedHead=false checkout --quiet "$commit"
}

# Everything that is started inside ends with the namespace. Java needs /proc; sanitizers and shared memory need /dev.
fresh_inside()
{
    local root=$1
    shift
    [[ -d $root/root/lockstep ]] || return
    unshare --mount --pid --fork --kill-child bash -c '
        set -e
        root=$1
        shift
        mount -t proc proc "$root/proc"
        mkdir -p "$root/dev/shm"
        mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
        [[ ! -e /etc/resolv.conf ]] || cp -L /etc/resolv.conf "$root/etc/resolv.conf"
        [[ -e $root/etc/hosts ]] || echo "127.0.0.1 localhost" >"$root/etc/hosts"
        exec chroot "$root" env -i HOME=/root TERM="${TERM:-dumb}" \
            ${http_proxy:+http_proxy="$http_proxy"} ${https_proxy:+https_proxy="$https_proxy"} \
            PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
            bash -c "cd /root/lockstep && exec \"\$@\"" fresh "$@" </dev/null
    ' fresh "$root" "$@"
}
