# shellcheck shell=bash
# Can root write to /usr? And to /sysroot, if ostree is to mount it read-only?
writable=
for directory in /usr /usr/bin /usr/etc; do
    if touch "$directory/.edgegpu-test" 2>/dev/null; then
        rm -f "$directory/.edgegpu-test"
        writable="$writable $directory"
    fi
done
what=/usr
wanted=$(ostree config --repo=/ostree/repo get sysroot.readonly 2>/dev/null)
if [ "$wanted" = true ]; then
    what='/usr and /sysroot'
    if touch /sysroot/.edgegpu-test 2>/dev/null; then
        rm -f /sysroot/.edgegpu-test
        writable="$writable /sysroot"
    fi
fi
[ -z "$writable" ] || {
    findmnt -n -o TARGET,SOURCE,OPTIONS --target /usr
    failed "root can write to$writable"
}
passed "$what cannot be written to"
