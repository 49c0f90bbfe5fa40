# shellcheck shell=bash
# Is the deployment that runs the one of commit WANTED? What is mounted at / decides, not what ostree would boot next.
[[ " $(</proc/cmdline) " == *' ostree='* ]] || failed "the kernel was started without ostree=: no deployment is booted"
booted=
for deployment in /sysroot/ostree/deploy/*/deploy/*/; do
    if [ "$deployment" -ef / ]; then
        deployment=${deployment%/}
        booted=${deployment##*/}
        booted=${booted%%.*}
    fi
done
ostree admin status 2>&1
[ -n "$booted" ] || failed "what is mounted at / is no deployment"
if [ "$booted" != "$WANTED" ]; then
    failed "the machine runs commit ${booted:0:12}, not ${WANTED:0:12}"
fi
passed "the machine runs commit ${WANTED:0:12}"
