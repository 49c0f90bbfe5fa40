# shellcheck shell=bash
# Which commit runs, in which boot? What is mounted at / decides: the link in the kernel's arguments is gone once ostree has
# written its links anew, as it does when a deployment is removed.
for deployment in /sysroot/ostree/deploy/*/deploy/*/; do
    if [ "$deployment" -ef / ]; then
        deployment=${deployment%/}
        deployment=${deployment##*/}
        echo "commit ${deployment%%.*}"
    fi
done
echo "boot $(cat /proc/sys/kernel/random/boot_id)"
