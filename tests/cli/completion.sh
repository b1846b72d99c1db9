#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Completion says what the program understands: its commands, the options of each, recipes and properties. The man pages that are
# made from --help have each option too.
source "${BASH_SOURCE[0]%/*}/lib.sh"
# shellcheck source=completion/lockstep.bash
source completion/lockstep.bash

# completes WORD WORD...: what the last word may become, sorted, on one line.
completes()
{
    COMP_WORDS=("$LOCKSTEP" "$@")
    COMP_CWORD=$#
    COMPREPLY=()
    _lockstep
    printf '%s\n' "${COMPREPLY[@]}" | sort | tr '\n' ' '
}

commands=$("$LOCKSTEP" nothing 2>&1 | sed -E 's/.*expected (.*) \(see.*/\1/; s/,| or/ /g' || true)
same "$(printf '%s\n' $commands help | sort | tr '\n' ' ')" "$(completes '')" 'commands'
same 'check ' "$(completes ch)" 'the command that begins with ch'
same '--shard ' "$(completes check --sh)" 'the option that begins with --sh'
same '--bitstate --budget ' "$(completes check --b)" 'the options of check that begin with --b'
same 'broken-no-sort ' "$(completes run --recipe broken-no-so)" 'the recipe'
same 'no_lost_wakeup ' "$(completes shrink --property no_l)" 'the property'
same 'always auto never ' "$(completes run --color '')" 'when to use colours'
same 'scenarios/explore ' "$(completes check scenarios/exp)" 'a path'
same 'faults ' "$(completes list fa)" 'what can be listed'

# Each option that a command takes is one that it completes.
for command in $commands; do
    for option in $("$LOCKSTEP" "$command" --help | grep -oE '^ +--[a-z-]+' | sort -u); do
        [[ " $(completes "$command" "$option")" == *" $option "* ]] || { echo "$command $option is not completed"; failed=1; }
        page=$LOCKSTEP_BUILD_DIR/man/lockstep-$command.1
        [[ ! -f $page ]] || grep -qF -- "${option//-/\\-}" "$page" || { echo "$page has no $option"; failed=1; }
    done
done

if command -v zsh >/dev/null; then
    # The words without the completion system around them.
    found=$(zsh -fc 'source completion/_lockstep 2>/dev/null; words=("$1" check --b); CURRENT=3; _lockstep_words' zsh "$LOCKSTEP" |
        grep '^--b' | tr '\n' ' ')
    same '--budget --bitstate ' "$found" 'the options in zsh'
fi
finish
