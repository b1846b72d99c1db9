#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# The command lines of the pages that need more than half a minute, a server or an installation, in a clone of what is committed.
source "${BASH_SOURCE[0]%/*}/lib_commands.sh"
if [[ -n $LOCKSTEP_SANITIZE || $LOCKSTEP_BUILD_DIR != "$PWD/build/release" ]] || ! git rev-parse HEAD >/dev/null 2>&1; then
    echo "only beside a release build, in a git repository"
    exit 77
fi
clone=$scratch/clone
git clone --quiet . "$clone"
export PATH=$clone/build/release:$PATH PKG_CONFIG_PATH=$scratch/opt/lib/pkgconfig
export LD_LIBRARY_PATH=$scratch/opt/lib

prepare()
{
    case $1 in
    docs/fuzzing.md)
        cp build/release/recipes/next_in_line.so mine.so
        ;;
    docs/install.md)
        # A recipe that is compiled into its test has a name, and is no module.
        sed 's/^static const struct ls_recipe next_in_line = {/const struct ls_recipe my_recipe = {/; /^LS_RECIPE_MODULE/d' \
            examples/recipes/next_in_line.c >my_recipe.c
        rm -rf build/reports
        ;;
    esac
}

as_here()
{
    local command=$1 trace
    trace=$(compgen -G 'build/reports/????????.min.trace' | head -n 1)
    command=${command/ build\/reports\/XXXXXXXX.min.trace/ $trace}
    command=${command//\/opt\/lockstep/$scratch/opt}
    if [[ $command == *127.0.0.1:2181* ]]; then
        command="bash dev.d/with_zookeeper build/zookeeper/commands bash -c '${command/127.0.0.1:2181/\$LOCKSTEP_ZK}'"
    fi
    echo "$command"
}

run_rows full "$clone"
exit $failed
