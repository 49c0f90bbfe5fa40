# What precedes this is made of the command line itself (completion.cpp): _edgegpu_commands, NAME:DESCRIPTION of each;
# and as _arguments(zshcompsys) takes them, _edgegpu_options, and _edgegpu_arguments_COMMAND of each command.

_edgegpu() {
    local curcontext=$curcontext state line
    typeset -A opt_args
    _arguments -C "${_edgegpu_options[@]}" '1:command:->command' '*::argument:->argument'
    case $state in
        command) _describe command _edgegpu_commands ;;
        argument)
            local arguments=_edgegpu_arguments_$line[1]
            (( ${(P)+arguments} )) && _arguments "${(@P)arguments}" ;;
    esac
}
_edgegpu "$@"
