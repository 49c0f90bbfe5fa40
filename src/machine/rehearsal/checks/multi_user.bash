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
reached=$((answer / 1000000))
# Where something that it requires is restarted, it is restarted as well, and active again.
property multi-user.target ActiveExitTimestampMonotonic
[[ $answer =~ ^[0-9]{1,18}$ ]] || failed "cannot be checked: systemctl says that multi-user.target was left at '$answer'"
if [ "$answer" != 0 ]; then
    journalctl -b --no-pager -o short-monotonic -n 20 -u multi-user.target 2>&1
    failed "multi-user.target was left again, $((answer / 1000000)) s after the kernel started"
fi
passed "multi-user.target was reached $reached s after the kernel started"
