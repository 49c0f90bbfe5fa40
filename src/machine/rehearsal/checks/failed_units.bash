# shellcheck shell=bash disable=SC2154 # common.bash sets it
# Has any unit failed? Each is shown with its journal. systemd's own count has to be that of the list.
property '' NFailedUnits
number=$answer
[[ $number =~ ^[0-9]{1,9}$ ]] || failed "cannot be checked: systemctl says that '$number' units have failed"
[ "$number" != 0 ] || passed "no unit has failed"
listed=$(systemctl list-units --failed --plain --no-legend --no-pager)
units='' shown=0
while read -r unit _; do
    [ -n "$unit" ] || continue
    units="$units, $unit"
    shown=$((shown + 1))
    [ "$shown" -gt 10 ] || explain "$unit"
done <<<"$listed"
[ "$shown" -le 10 ] || echo "and $((shown - 10)) more"
failed "$(counted "$number" unit) failed: ${units#, }"
