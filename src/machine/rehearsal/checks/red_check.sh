#!/bin/bash
# A health check of edgegpu's rehearsal, for greenboot: only commit @COMMIT@ is good. Any other is found bad late: after
# everything else that starts in this boot, or after @WAIT@ seconds, so that the way back is not saved by a quick end.
for deployment in /sysroot/ostree/deploy/*/deploy/@COMMIT@.*/; do
    if [ "$deployment" -ef / ]; then
        exit 0
    fi
done
others=yes limit=@WAIT@
while [ -n "$others" ] && [ "$SECONDS" -lt "$limit" ]; do
    sleep 2
    others=''
    # What waits for greenboot is not started before its verdict.
    while read -r _ unit _ state; do
        case $state-$unit in running-greenboot-healthcheck.service) ;; running-*) others=yes ;; esac
    done <<<"$(systemctl list-jobs --no-legend --no-pager)"
done
echo "edgegpu test: this commit is to be taken back, after $SECONDS s"
exit 1
