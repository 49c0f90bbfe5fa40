# shellcheck shell=bash
# Is the deployment that runs the one of commit WANTED? The kernel argument decides, not what ostree
# would boot next.
link=$(tr ' ' '\n' </proc/cmdline | sed -n 's/^ostree=//p' | head -n 1)
[ -n "$link" ] || failed "the kernel was started without ostree=: no deployment is booted"
deployment=$(readlink -f "/sysroot$link")
booted=${deployment##*/}
booted=${booted%%.*}
ostree admin status 2>&1
if [ "$booted" != "$WANTED" ]; then
    failed "the machine runs commit ${booted:0:12}, not ${WANTED:0:12}"
fi
passed "the machine runs commit ${WANTED:0:12}"
