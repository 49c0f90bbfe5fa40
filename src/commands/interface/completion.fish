# What follows is made of the command line itself (completion.cpp): one declaration for each command and option.

# No file names, except where a declaration asks for them.
complete -c edgegpu -f

function __edgegpu_there --description 'The words of a kind that edgegpu itself knows, of the repository that the command line names'
    set -l words (commandline -opc)
    set -l of
    for i in (seq (count $words))
        if test "$words[$i]" = --repo -a $i -lt (count $words)
            set of --repo $words[(math $i + 1)]
        else if string match -q -- '--repo=*' $words[$i]
            set of $words[$i]
        end
    end
    edgegpu completion $argv[1] $of 2>/dev/null
end
