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
        COMMIT) _edgegpu_there commits "$2" ;;
        'NAME|DIR')
            _edgegpu_there bundles "$2"
            compgen -d -- "$2"
            ;;
        'ID|NAME') _edgegpu_there gpus "$2" ;;
        'LOCK|REF')
            compgen -f -- "$2"
            _edgegpu_there commits "$2"
            ;;
        COMMAND) compgen -W "$_edgegpu_commands" -- "$2" ;;
        [[:lower:]]*) compgen -W "${1//|/ }" -- "$2" ;;
    esac
}

_edgegpu_there() { # KIND WORD: what edgegpu itself knows of that kind, in the repository that the command line names
    local -a of=()
    local i found
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
            --repo)
                # --repo=DIR is three words, unless COMP_WORDBREAKS is changed.
                if [[ ${COMP_WORDS[i + 1]} == '=' ]]; then i=$((i + 1)); fi
                of=(--repo "${COMP_WORDS[i + 1]}")
                ;;
            --repo=*) of=("${COMP_WORDS[i]}") ;;
        esac
    done
    # Not compgen -W, which would execute what the words contain.
    while read -r found; do
        if [[ $found == "$2"* ]]; then printf '%s\n' "$found"; fi
    done < <("${COMP_WORDS[0]}" completion "$1" "${of[@]}" 2>/dev/null)
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
