#!/bin/bash
# A health check of edgegpu's rehearsal, for greenboot: only commit @COMMIT@ is good.
for deployment in /sysroot/ostree/deploy/*/deploy/@COMMIT@.*/; do
    if [ "$deployment" -ef / ]; then
        exit 0
    fi
done
echo "edgegpu test: this commit is to be taken back"
exit 1
