# shellcheck shell=bash disable=SC2154
# What precedes this is made of the command line itself (completion.cpp): _edgegpu_commands, their names; by option
# _edgegpu_values, what its value is; by command _edgegpu_flags and _edgegpu_arguments, what its first argument is.

_edgegpu_complete() { # KIND WORD: what of that kind begins with WORD
    case $1 in
        DIR) compgen -d -- "$2" ;;
        FILE) compgen -f -- "$2" ;;
        BLUEPRINT)
            compgen -f -X '!*.toml' -- "$2"
            compgen -d -- "$2"
            ;;
        [[:lower:]]*) compgen -W "${1//|/ }" -- "$2" ;;
    esac
}

_edgegpu_words() { # WORD PREVIOUS COMMAND
    local kind=${_edgegpu_values[$2]-}
    if [[ -n $kind ]]; then
        _edgegpu_complete "$kind" "$1"
    elif [[ $1 == -* ]]; then
        compgen -W "${_edgegpu_flags[${3:-edgegpu}]-}" -- "$1"
    elif [[ -n $3 ]]; then
        _edgegpu_complete "${_edgegpu_arguments[$3]-}" "$1"
    else
        compgen -W "$_edgegpu_commands" -- "$1"
    fi
}

_edgegpu() {
    local word command=
    for word in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        if [[ " $_edgegpu_commands " == *" $word "* ]]; then
            command=$word
            break
        fi
    done
    mapfile -t COMPREPLY < <(_edgegpu_words "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}" "$command")
}
complete -o filenames -F _edgegpu edgegpu
