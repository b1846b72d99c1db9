# SPDX-License-Identifier: Apache-2.0
# Copyright the lockstep authors

# Completion for bash. Commands, options and values are those that the program itself tells: --help and list.
_lockstep()
{
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} program=${COMP_WORDS[0]}
    local command=${COMP_WORDS[1]-} words=''
    if ((COMP_CWORD == 1)); then
        words="$("$program" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z]*\)   *.*/\1/p') help"
    else
        case $before in
        --recipe) words=$("$program" list recipes 2>/dev/null | awk '{ print $1 }') ;;
        --property) words=$("$program" list properties 2>/dev/null | awk '/^[a-z]/ { print $1 }') ;;
        --color) words='auto always never' ;;
        *)
            case $command:$word in
            *:-*) words=$("$program" "$command" --help 2>/dev/null | grep -oE '^ +--[a-z-]+') ;;
            help:*) words=$("$program" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z]*\)   *.*/\1/p') ;;
            list:*) words='recipes properties faults verbs scenarios' ;;
            new:*) words='recipe redis-recipe' ;;
            esac
            ;;
        esac
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    if ((COMP_CWORD > 1)) && [[ $word != -* && $before != --color ]]; then
        local file
        while read -r file; do
            COMPREPLY+=("$file")
        done < <(compgen -f -- "$word")
    fi
}
complete -o filenames -F _lockstep lockstep
