# shellcheck shell=bash
# Does the kernel have every argument of the commit, and none of those that only the commit before had? ARGUMENTS, GONE: one
# per line. On a machine that was UPGRADED (yes or nothing) it is enough if the next boot is started like that: a new
# deployment is first started with the arguments of the one before.

# The arguments of the next boot: of ostree's entries, that with the highest version is the default.
next_arguments() {
    local entry
    if have rpm-ostree; then
        rpm-ostree kargs | tail -n 1
        return
    fi
    for entry in /boot/loader/entries/ostree-*.conf; do
        printf '%s %s\n' "$(sed -n 's/^version //p' "$entry")" "$(sed -n 's/^options //p' "$entry")"
    done | sort -n | tail -n 1 | cut -d ' ' -f 2-
}

# compare LINE: sets what is missing in a line of arguments, and what is left over.
compare() {
    local argument
    missing='' left=''
    while IFS= read -r argument; do
        [ -z "$argument" ] || [[ " $1 " == *" $argument "* ]] || missing="$missing $argument"
    done <<<"$ARGUMENTS"
    while IFS= read -r argument; do
        [ -z "$argument" ] || [[ " $1 " != *" $argument "* ]] || left="$left $argument"
    done <<<"$GONE"
}

line=$(cat /proc/cmdline)
compare "$line"
if [ -z "$missing$left" ]; then
    passed "the kernel has $(counted "$(wc -l <<<"$ARGUMENTS")" argument) of the commit"
fi
printf '/proc/cmdline: %s\n' "$line"
if [ -n "$UPGRADED" ]; then
    later=$missing$left
    line=$(next_arguments)
    compare "$line"
    [ -n "$missing$left" ] || passed "the next boot gets the arguments of the commit; this one differs in:$later"
    printf 'of the next boot: %s\n' "$line"
fi
[ -z "$missing" ] || failed "arguments of the commit that the kernel was started without:$missing"
failed "arguments that the commit has no more, and the kernel was started with:$left"
