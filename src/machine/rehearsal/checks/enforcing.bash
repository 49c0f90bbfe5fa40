# shellcheck shell=bash
# Does SELinux enforce the policy that the image configures?
[ -r /sys/fs/selinux/enforce ] || {
    grep -o -E '(selinux|security|lsm|enforcing)=[^ ]*' /proc/cmdline
    failed "SELinux is off in this kernel"
}
mode=$(cat /sys/fs/selinux/enforce)
[ "$mode" = 1 ] || {
    grep -o -E '(selinux|security|lsm|enforcing)=[^ ]*' /proc/cmdline
    journalctl -b --no-pager -o short-monotonic -g '[Ss][Ee][Ll]inux' -n 10 2>&1
    failed "SELinux is permissive: it denies nothing"
}
passed "SELinux is enforcing"
