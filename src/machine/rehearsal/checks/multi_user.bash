# shellcheck shell=bash
# Is the boot over, and was multi-user.target reached? Units that take longer than WAIT seconds are
# left to the checks that are about them.
timeout "$WAIT" systemctl is-system-running --wait >/dev/null 2>&1
state=$(systemctl is-active multi-user.target)
if [ "$state" != active ]; then
    systemctl list-jobs --no-pager
    systemctl list-units --failed --plain --no-legend --no-pager
    journalctl -b --no-pager -o short-monotonic -p warning -n 20
    failed "multi-user.target is $state"
fi
entered=$(property multi-user.target ActiveEnterTimestampMonotonic)
passed "multi-user.target was reached $((${entered:-0} / 1000000)) s after the kernel started"
