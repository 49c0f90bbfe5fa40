# shellcheck shell=bash disable=SC2154 # common.bash sets it
# Is the boot over, and was multi-user.target reached? Units that take longer than WAIT seconds are
# left to the checks that are about them.
timeout "$WAIT" systemctl is-system-running --wait >/dev/null 2>&1
state multi-user.target
state=$answer
if [ "$state" != active ]; then
    systemctl list-jobs --no-pager
    systemctl list-units --failed --plain --no-legend --no-pager
    journalctl -b --no-pager -o short-monotonic -p warning -n 20
    failed "multi-user.target is $state"
fi
property multi-user.target ActiveEnterTimestampMonotonic
[[ $answer =~ ^[1-9][0-9]{0,17}$ ]] || failed "cannot be checked: systemctl says that multi-user.target was reached at '$answer'"
passed "multi-user.target was reached $((answer / 1000000)) s after the kernel started"
