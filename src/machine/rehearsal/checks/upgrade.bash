# shellcheck shell=bash
# Upgrades with PROGRAM, the image's own, to commit WANTED, which is then to be started next.
case $PROGRAM in
    rpm-ostree) rpm-ostree upgrade 2>&1 ;;
    *) ostree admin upgrade 2>&1 ;;
esac || {
    status=$?
    journalctl -b --no-pager -n 20 -u rpm-ostreed 2>/dev/null | grep -v '^-- '
    failed "the upgrade failed: $PROGRAM ended with status $status"
}
ostree admin status 2>&1
next=$(ostree admin status | sed -n 's/^[* ] [^ ]* \([0-9a-f]\{64\}\)\..*/\1/p' | head -n 1)
[ "$next" = "$WANTED" ] || failed "after the upgrade commit ${next:0:12} is to be started, not ${WANTED:0:12}"
passed "$PROGRAM fetched and deployed commit ${WANTED:0:12}"
