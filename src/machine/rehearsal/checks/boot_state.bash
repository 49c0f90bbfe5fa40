# shellcheck shell=bash
# Which commit runs, in which boot?
link=$(tr ' ' '\n' </proc/cmdline | sed -n 's/^ostree=//p' | head -n 1)
deployment=$(readlink -f "/sysroot$link")
deployment=${deployment##*/}
echo "commit ${deployment%%.*}"
echo "boot $(cat /proc/sys/kernel/random/boot_id)"
