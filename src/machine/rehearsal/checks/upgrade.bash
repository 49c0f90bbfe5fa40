# shellcheck shell=bash disable=SC2154 # common.bash sets it
# Upgrades with PROGRAM, the image's own, to commit WANTED, which is then to be started next.
case $PROGRAM in
    edgegpu-update) edgegpu-update now --no-restart 2>&1 ;;
    rpm-ostree) rpm-ostree upgrade 2>&1 ;;
    # Staged, as rpm-ostree does it: deployed when the machine goes down, before which greenboot begins to count.
    *) ostree admin upgrade --stage 2>&1 ;;
esac || {
    status=$?
    journalctl -b --no-pager -q -n 20 -u rpm-ostreed 2>/dev/null
    failed "the upgrade failed: $PROGRAM ended with status $status"
}
# systemd starts what deploys it; a machine that goes down before that keeps the old deployment.
if [ -e /run/ostree/staged-deployment ]; then
    for ((waited = 0; waited < 120; waited++)); do
        state ostree-finalize-staged.service
        [ "$answer" != active ] || break
        sleep 1
    done
    [ "$waited" -lt 120 ] || {
        explain ostree-finalize-staged.service
        explain ostree-finalize-staged.path
        failed "the upgrade is staged, and ostree-finalize-staged.service, which deploys it, does not start"
    }
fi
ask ostree admin status
printf '%s\n' "$answer"
next=''
while IFS= read -r line; do
    if [[ $line =~ ^[*\ ]\ [^\ ]+\ ([0-9a-f]{64})\. ]]; then
        next=${BASH_REMATCH[1]}
        break
    fi
done <<<"$answer"
[ "$next" = "$WANTED" ] || failed "after the upgrade commit ${next:0:12} is to be started, not ${WANTED:0:12}"
passed "$PROGRAM fetched and deployed commit ${WANTED:0:12}"
