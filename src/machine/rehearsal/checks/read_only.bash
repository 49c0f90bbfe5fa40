# shellcheck shell=bash
# Can root write to /usr? And to /sysroot, which edgegpu's disks have ostree mount read-only? bash itself tries, since a program
# that is missing writes nothing, either; where it can write, it has to be able to.
try() {
    local file=$1/.edgegpu-test said
    if said=$({ : >"$file"; } 2>&1); then
        rm -f "$file"
        writable="$writable $1"
    elif [[ $said != *'Read-only file system'* ]]; then
        failed "cannot be checked: $said"
    fi
}
writable=
try /run
[ "$writable" = ' /run' ] || failed "cannot be checked: nothing can be written to /run"
writable=
for directory in /usr /usr/bin /usr/etc /sysroot; do try "$directory"; done
[ -z "$writable" ] || {
    findmnt -n -o TARGET,SOURCE,OPTIONS --target /usr
    findmnt -n -o TARGET,SOURCE,OPTIONS --target /sysroot
    failed "root can write to$writable"
}
passed "/usr and /sysroot cannot be written to"
