# shellcheck shell=bash
# Does the kernel have every argument of the commit? ARGUMENTS: one per line.
line=" $(cat /proc/cmdline) "
missing=
while IFS= read -r argument; do
    [[ $line == *" $argument "* ]] || missing="$missing $argument"
done <<<"$ARGUMENTS"
[ -z "$missing" ] || {
    printf '/proc/cmdline:%s\n' "$line"
    failed "arguments of the commit that the kernel was started without:$missing"
}
passed "the kernel has $(counted "$(wc -l <<<"$ARGUMENTS")" argument) of the commit"
