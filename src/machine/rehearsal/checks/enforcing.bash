# shellcheck shell=bash
# Does SELinux enforce the policy that the image configures?
explain_mode() {
    local word
    for word in $(</proc/cmdline); do
        case $word in selinux=* | security=* | lsm=* | enforcing=*) echo "$word" ;; esac
    done
    journalctl -b --no-pager -o short-monotonic -g '[Ss][Ee][Ll]inux' -n 10 2>&1
}
[ -r /sys/fs/selinux/enforce ] || {
    explain_mode
    failed "SELinux is off in this kernel"
}
mode=$(</sys/fs/selinux/enforce)
[ "$mode" = 1 ] || {
    explain_mode
    failed "SELinux is permissive: it denies nothing"
}
passed "SELinux is enforcing"
