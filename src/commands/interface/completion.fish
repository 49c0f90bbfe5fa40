# What follows is made of the command line itself (completion.cpp): one declaration for each command and option.

# No file names, except where a declaration asks for them.
complete -c edgegpu -f
