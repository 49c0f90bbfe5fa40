# shellcheck shell=bash disable=SC2154 # common.bash sets it
# Does the kernel have every argument of the commit, and none of those that only the commit before had? ARGUMENTS, GONE: one
# per line. LATER (yes or nothing): it is enough if the next boot is started like that, since the commit before does not set
# the arguments of the next.

# compare LINE: sets what is missing in a line of arguments, and what is left over.
compare() {
    local argument
    missing='' left='' number=0
    while IFS= read -r argument; do
        [ -n "$argument" ] || continue
        number=$((number + 1))
        [[ " $1 " == *" $argument "* ]] || missing="$missing $argument"
    done <<<"$ARGUMENTS"
    while IFS= read -r argument; do
        [ -z "$argument" ] || [[ " $1 " != *" $argument "* ]] || left="$left $argument"
    done <<<"$GONE"
}

line=$(</proc/cmdline)
[ -n "$line" ] || failed "cannot be checked: /proc/cmdline cannot be read"
compare "$line"
if [ -z "$missing$left" ]; then
    passed "the kernel has $(counted "$number" argument) of the commit"
fi
printf '/proc/cmdline: %s\n' "$line"
if [ -n "$LATER" ]; then
    later=$missing$left
    read_entries
    compare "$default_entry"
    [ -n "$missing$left" ] || passed "the next boot gets the arguments of the commit; this one differs in:$later"
    printf 'of the next boot: %s\n' "$default_entry"
fi
[ -z "$missing" ] || failed "arguments of the commit that the kernel was started without:$missing"
failed "arguments that the commit has no more, and the kernel was started with:$left"
