# What precedes this is made of the command line itself (completion.cpp): _edgegpu_commands, NAME:DESCRIPTION of each;
# and as _arguments(zshcompsys) takes them, _edgegpu_options, and _edgegpu_arguments_COMMAND of each command.

# [OPTION OF COMPADD]... KIND: the words that edgegpu itself knows, of the repository that the command line names.
_edgegpu_there() {
    local -a of found
    (( ${+opt_args[--repo]} )) && of=(--repo ${(Q)opt_args[--repo]})
    found=(${(f)"$(edgegpu completion ${@[-1]} $of 2>/dev/null)"})
    compadd "${@[1,-2]}" -a found
}

_edgegpu_command() {
    _describe command _edgegpu_commands
}

_edgegpu_bundle() {
    _alternative 'bundles:bundle:_edgegpu_there bundles' 'directories:directory:_files -/'
}

_edgegpu_lock_or_ref() {
    _alternative 'files:lockfile:_files' 'commits:commit:_edgegpu_there commits'
}

_edgegpu() {
    local curcontext=$curcontext state line
    typeset -A opt_args
    _arguments -C "${_edgegpu_options[@]}" '1:command:->command' '*::argument:->argument'
    case $state in
        command) _edgegpu_command ;;
        argument)
            local arguments=_edgegpu_arguments_$line[1]
            (( ${(P)+arguments} )) && _arguments "${(@P)arguments}" ;;
    esac
}
_edgegpu "$@"
